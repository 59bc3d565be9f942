"""Failures of model calls: which are worth another attempt, after how long, and what people are told."""

from __future__ import annotations

import logging
from typing import Any

from caesura.agents.models import ModelUnavailable
from caesura.engine.failures import ModelFailed
from caesura.models import refusals
from caesura.models.failures import Kind, ModelError

#: A provider that wants to be left alone for longer is not waited for.
LONGEST_PAUSE = 20.0
_UNKNOWN = "the model is not available"
_TOLD: dict[Kind, str] = {
    "key": "the model is not available: its provider refuses the server's key",
    "missing": "the model is not available: its provider does not have it",
    "request": "the model is not available: its provider refused the request",
    "context": "the conversation is too long for the model",
    "busy": "the model is not available: its provider has too much to do, try again later",
    "provider": "the model is not available: its provider failed",
    "connection": "the model is not available: its provider cannot be reached",
    "broken": "the model is not available: it broke off before its first word",
    "silent": "the model is not available: it said nothing for too long",
}


def told(error: Exception | None) -> str:
    """What people are told. The provider's own words are in the server's log."""
    kind = _kind(error) if error is not None else None
    return _TOLD[kind] if kind is not None else _UNKNOWN


def reason(error: BaseException) -> str | None:
    """Why a model could not be used, in one line for the log. None if that is not known: then the log needs
    to say where the error came from."""
    if isinstance(error, ModelUnavailable):
        return error.message
    if isinstance(error, ModelFailed):
        why = reason(error.cause) if error.cause is not None else None
        return f"{error.message}: {error.model}: {why}" if why is not None else None
    if isinstance(error, ModelError):
        return str(error)
    if isinstance(error, Exception) and _kind(error) in ("key", "missing"):
        return f"{type(error).__name__}: {refusals.scrubbed(str(error), ())}"
    return None


def log(logger: logging.Logger, level: int, what: str, error: Exception) -> None:
    """Log that something failed: in one line if the reason is known, else with where the error came from."""
    why = reason(error)
    if why is not None:
        logger.log(level, "%s: %s", what, why)
    else:
        logger.log(level, "%s", what, exc_info=error)


def pause(error: Exception, otherwise: float) -> float | None:
    """The seconds after which the same model may be tried again; None if that is of no use."""
    kind = _kind(error)
    if kind is None or not ModelError(kind, "").transient:
        return None
    wanted = _retry_after(error)
    if wanted is None:
        return otherwise
    return wanted if wanted <= LONGEST_PAUSE else None


def too_long(error: Exception) -> ModelError | None:
    """The same error, if it is that the history is too long for the model. Errors of libraries say so in
    their texts."""
    if isinstance(error, ModelError):
        return error if error.kind == "context" else None
    read = _refusal(error)
    return read if read is not None and read.kind == "context" else None


def _kind(error: Exception) -> Kind | None:
    """What went wrong, if that can be told: a model of an operator or of a library has errors of its own."""
    if isinstance(error, ModelError):
        return error.kind
    if (refusal := _refusal(error)) is not None:
        return refusal.kind
    names = [kind.__name__ for kind in type(error).__mro__]
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        return "silent"
    if isinstance(error, ConnectionError) or any(
        word in name for name in names for word in ("Connection", "TransportError")
    ):
        return "connection"
    return None


def _refusal(error: Exception) -> ModelError | None:
    """The refusal of a provider behind the error of a library."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    return refusals.from_status(status, {}, str(error).encode("utf-8", "replace"), "the provider", ())


def _retry_after(error: Exception) -> float | None:
    if isinstance(error, ModelError):
        return error.retry_after
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(float(headers.get("retry-after", "")), 0.0)
    except (ValueError, TypeError, AttributeError):
        return None
