"""Failures of model calls: which are worth another attempt, after how long, and what people are told."""

from __future__ import annotations

from typing import Any

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


def pause(error: Exception, otherwise: float) -> float | None:
    """The seconds after which the same model may be tried again; None if that is of no use."""
    kind = _kind(error)
    if kind is None or not ModelError(kind, "").transient:
        return None
    wanted = _retry_after(error)
    if wanted is None:
        return otherwise
    return wanted if wanted <= LONGEST_PAUSE else None


def _kind(error: Exception) -> Kind | None:
    """What went wrong, if that can be told: a model of an operator or of a library has errors of its own."""
    if isinstance(error, ModelError):
        return error.kind
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _of_status(status)
    names = [kind.__name__ for kind in type(error).__mro__]
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        return "silent"
    if isinstance(error, ConnectionError) or any(
        word in name for name in names for word in ("Connection", "TransportError")
    ):
        return "connection"
    return None


def _of_status(status: int) -> Kind:
    if status in (401, 403):
        return "key"
    if status == 404:
        return "missing"
    if status in (408, 409, 425, 429, 529):
        return "busy"
    return "provider" if status >= 500 else "request"


def _retry_after(error: Exception) -> float | None:
    if isinstance(error, ModelError):
        return error.retry_after
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return max(float(headers.get("retry-after", "")), 0.0)
    except (ValueError, TypeError, AttributeError):
        return None
