"""Programs that tests need and a machine may lack: there a test is skipped, in CI it fails."""

import os
import shutil

import pytest


def required() -> bool:
    """Whether a program that is missing is a fault, and no reason to skip a test."""
    return os.environ.get("CI") == "true" or os.environ.get("CAESURA_TESTS_REQUIRE_SERVERS") == "1"


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(program) is None and not required(), reason=f"{program} is not installed"
    )
