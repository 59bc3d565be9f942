"""What tests need and a machine may lack, programs and rights: there a test is skipped, in CI it fails."""

import os
import shutil

import pytest


def required() -> bool:
    """Whether something that is missing is a fault, and no reason to skip a test."""
    return os.environ.get("CI") == "true" or os.environ.get("CAESURA_TESTS_REQUIRE_SERVERS") == "1"


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(program) is None and not required(), reason=f"{program} is not installed"
    )


def needs_root(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(os.geteuid() != 0 and not required(), reason=reason)
