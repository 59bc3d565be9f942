"""Models that are built when they are first used. Pydantic compiles what checks a model when its class is
defined; FastAPI alone defines about fifty for documents that a server may never write, and asks for some of
them to be built."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.warnings import UnsupportedFieldAttributeWarning

_rebuild = BaseModel.model_rebuild.__func__  # type: ignore[attr-defined]


@contextmanager
def built_late() -> Iterator[None]:
    """Models whose classes are defined in this context, also by other packages, are built on first use."""
    # FastAPI ignores this where it builds what checks a parameter, which now happens later.
    warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
    usual = BaseModel.model_config
    rebuild = BaseModel.__dict__["model_rebuild"]
    BaseModel.model_config = ConfigDict(**{**usual, "defer_build": True})
    BaseModel.model_rebuild = classmethod(_put_off)  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        BaseModel.model_config = usual
        BaseModel.model_rebuild = rebuild  # type: ignore[method-assign]


def _put_off(model: type[BaseModel], /, **how: Any) -> bool | None:
    """In place of `model_rebuild`, which its first use calls with arguments."""
    return _rebuild(model, **how) if how else None
