"""Errors that a client raises.

ClientError
├── Unreachable   no answer came for as long as the client is patient
└── Rewound       the server lost power, and with it the newest events of a turn
"""

from __future__ import annotations

from typing import Any

import httpx

from caesura.core import json_data


class ClientError(Exception):
    """The server refused. `code` is that of the native API. `extra` is everything else in its error, such as
    the pending `interrupts` or the `decision` of the first answer."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        extra: dict[str, Any] | None = None,
        retry_after: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.extra = extra or {}
        self.retry_after = retry_after


class Unreachable(ClientError):
    """`code` differs if no retry can help, for example `bad_address`."""

    def __init__(self, message: str, code: str = "unreachable") -> None:
        super().__init__(0, code, message)


class Rewound(ClientError):
    """Events read after the event `seq` are no longer valid: read the turn again from there."""

    def __init__(self, seq: int) -> None:
        super().__init__(0, "rewound", "the server has lost the newest events of this turn")
        self.seq = seq


def refusal(response: httpx.Response) -> ClientError:
    """The error in a response of 400 or more, whether it is from the server or from a proxy."""
    try:
        body = json_data.loads(response.content)
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    fault = body.get("error")
    fault = dict(fault) if isinstance(fault, dict) else {"message": body.get("detail")}
    code, message = fault.pop("code", "http"), fault.pop("message", None)
    return ClientError(
        response.status_code,
        str(code),
        str(message or response.reason_phrase or response.status_code),
        fault,
        _seconds(response.headers.get("retry-after", "")),
    )


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() else 0.0
