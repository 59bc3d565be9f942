"""What a provider's refusal means: a status with a body, or an error inside a reply."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from caesura.models.failures import Kind, ModelError

#: The most bytes of a refusal that are read.
BODY_BYTES = 64 * 1024
#: How many characters of a refusal are looked at, and how many are told.
_LOOKED_AT, _EXCERPT = 2_000, 240
#: From this many characters on a part of a key is hidden, and so many of a key are looked at.
_PART, _LONGEST = 8, 8_192

_TOO_LONG = re.compile(
    r"context[_ ](length|size|window|limit)|prompt (is )?too long|input (length|is too long|token count)"
    r"|maximum (prompt|model) length|model token limit|range of input length|reduce the length of the"
    r"|input tokens exceed|exceed_context|request_too_large|too many tokens|longer than the maximum",
)
#: Where a refusal of a history that is too long names the window, the surest first.
_WINDOWS = tuple(
    re.compile(pattern)
    for pattern in (
        r">=? ?([\d,]{1,12})",  # 210000 tokens > 200000 maximum
        r"<= ?([\d,]{1,12})",
        r"\[1, ?([\d,]{1,12})\]",
        r"([\d,]{1,12}) maximum context",
        r"(?:context|prompt|model) (?:length|size|window|limit)[^\d]{0,40}?([\d,]{1,12})",
        r"(?:tokens allowed|token limit|limit)[^\d]{0,12}([\d,]{1,12})",
    )
)
_KINDS: dict[str, Kind] = {
    "authentication_error": "key",
    "invalid_api_key": "key",
    "permission_error": "key",
    "permission_denied": "key",
    "not_found_error": "missing",
    "model_not_found": "missing",
    "invalid_model": "missing",
    "rate_limit_error": "busy",
    "rate_limit_exceeded": "busy",
    "overloaded_error": "busy",
    "overloaded": "busy",
    "engine_overloaded_error": "busy",
    "timeout_error": "busy",
    "server_busy": "busy",
    "invalid_request_error": "request",
    "badrequesterror": "request",
    "content_filter": "request",
}
_NO_CREDIT = re.compile(
    r"credit balance|insufficient[_ ](user[_ ])?(balance|credits?|quota|funds)"
    r"|exceeded[_ ](your[_ ])?current[_ ]quota|billing_(error|hard_limit|not_active)|arrearage"
)
_NO_MODEL = re.compile(
    r"model.{0,80}(does not exist|not found|not a valid model|is not supported)|no such model"
)


def from_status(
    status: int, headers: Mapping[str, str], body: bytes, host: str, secrets: Iterable[str], doubt: str = ""
) -> ModelError:
    """The refusal that a provider has sent with this status. `secrets` stay out of its message. `doubt` is
    what may be wrong with the address if nothing is there."""
    error = _error_in(body)
    said = (_said(error) or body[:_LOOKED_AT].decode(errors="replace"))[:_LOOKED_AT]
    told = f"{host} answered {status}: {scrubbed(said, secrets)}"
    kind = _kind(status, error, said.lower())
    if doubt and kind == "missing":
        told += f" ({doubt})"
    return ModelError(kind, told, retry_after=_pause(headers), context_tokens=_window(kind, error, said))


def from_inside(error: Any, host: str, secrets: Iterable[str]) -> ModelError:
    """The refusal that a provider has sent in the midst of its reply."""
    said = _said(error)[:_LOOKED_AT] or "no reason"
    told = f"{host} broke off with an error: {scrubbed(said, secrets)}"
    code = error.get("code", error.get("status")) if isinstance(error, dict) else None
    known = isinstance(code, int | str) and str(code).isdecimal() and len(str(code)) == 3
    status = int(str(code)) if known else None
    kind = _kind(status, error, said.lower())
    return ModelError(kind, told, context_tokens=_window(kind, error, said))


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The beginning of this text in one line, for the log, without anything that looks like a key."""
    text = text[:_LOOKED_AT]
    for secret in secrets:
        if len(secret) >= 16:  # a provider may show the beginning or the end of a key
            text = re.sub(rf"{re.escape(secret[:8])}\S*|\S*{re.escape(secret[-8:])}", "***", text)
        elif secret:
            text = text.replace(secret, "***")
        text = _without_parts(text, secret)
    text = re.sub(r"(?i)\bbearer\s+\S+|\b(sk|pk|gsk|xai|key)-[\w-]{8,}\S*", "***", text)
    line = "".join(character if character.isprintable() else " " for character in text)
    line = " ".join(line.split())
    return line if len(line) <= _EXCERPT else line[:_EXCERPT] + "…"


def _without_parts(text: str, secret: str) -> str:
    """The text without the parts of the secret that are long enough to be of use to somebody."""
    parts = {secret[place : place + _PART] for place in range(min(len(secret), _LONGEST) - _PART + 1)}
    kept, end = list[str](), 0
    for place in range(len(text) - _PART + 1):
        if text[place : place + _PART] in parts:
            if place > end or not kept:
                kept += text[end:place], "***"
            end = place + _PART
    return "".join(kept) + text[end:]


def _error_in(body: bytes) -> Any:
    try:
        data = orjson.loads(body)
    except ValueError:
        return None
    if isinstance(data, list) and data:
        data = data[0]
    return data.get("error") or data if isinstance(data, dict) else data


def _said(error: Any) -> str:
    """What an error says, with its type and its code."""
    if isinstance(error, str):
        return error
    if not isinstance(error, dict):
        return ""
    parts = [error.get(name) for name in ("message", "detail", "msg", "type", "code")]
    deeper = error.get("metadata")  # OpenRouter's own, with what the model's provider said
    if isinstance(deeper, dict):
        parts.append(deeper.get("raw"))
    return " ".join(part if isinstance(part, str) else str(part) for part in parts if part)


def _kind(status: int | None, error: Any, said: str) -> Kind:
    """Without a status the error's own name says most. A provider that is busy or failed itself may call
    that by any name."""
    if status == 407:
        return "connection"  # the proxy's refusal, not the provider's
    if status not in (401, 403, 408, 409, 425, 429) and _TOO_LONG.search(said):
        return "context"
    if status == 402 or _NO_CREDIT.search(said):
        return "key"
    if status in (None, 400, 403, 404, 422) and _NO_MODEL.search(said):
        return "missing"
    named = _named(error)
    if status in (None, 400) and named is not None:
        return named
    return "busy" if named == "busy" and status == 500 else _by_status(status or 500)


def _named(error: Any) -> Kind | None:
    if not isinstance(error, dict):
        return None
    for name in ("code", "type", "status"):
        found = _KINDS.get(str(error.get(name)).lower())
        if found is not None:
            return found
    return None


def _by_status(status: int) -> Kind:
    if status in (401, 403):
        return "key"
    if status in (404, 410) or 300 <= status < 400:
        return "missing"
    if status == 413:
        return "context"
    if status in (408, 409, 425, 429, 503, 529):
        return "busy"
    return "provider" if status >= 500 or status < 300 else "request"


def _window(kind: Kind, error: Any, said: str) -> int | None:
    if kind != "context":
        return None
    if isinstance(error, dict) and isinstance(error.get("n_ctx"), int):
        return _sensible(error["n_ctx"])
    for pattern in _WINDOWS:
        if found := pattern.search(said.lower()):
            return _sensible(int(found[1].replace(",", "")[:12] or 0))
    return None


def _sensible(tokens: int) -> int | None:
    return tokens if 128 <= tokens <= 100_000_000 else None


def _pause(headers: Mapping[str, str]) -> float | None:
    """How many seconds the provider wants to be left alone."""
    if (exact := _number(headers.get("retry-after-ms"))) is not None:
        return exact / 1000
    given = headers.get("retry-after")
    if given is None or (seconds := _number(given)) is not None:
        return None if given is None else seconds
    try:
        at = parsedate_to_datetime(given)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        return max((at - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, OverflowError):  # no date, or one that its zone moves out of all years
        return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None
