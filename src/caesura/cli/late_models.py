"""Models that are built when they are first used. Pydantic compiles what checks a model when its class is
defined; FastAPI alone defines about fifty for documents that a server may never write."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import BaseModel, ConfigDict
from pydantic.warnings import UnsupportedFieldAttributeWarning


@contextmanager
def built_late() -> Iterator[None]:
    """Models whose classes are defined in this context, also by other packages, are built on first use."""
    # FastAPI ignores this where it builds what checks a parameter, which now happens later.
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
    usual = BaseModel.model_config
    BaseModel.model_config = ConfigDict(**{**usual, "defer_build": True})
    try:
        yield
    finally:
        BaseModel.model_config = usual
