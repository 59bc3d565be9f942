"""Logs: one line of JSON each, with the ids of its request and turn. No query, no secret."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from contextvars import ContextVar
from typing import Any

from caesura.core import json_data, shown

request_id: ContextVar[str | None] = ContextVar("request_id", default=None)

_TASK = "run-"
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


def configure(level: str, form: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    for noisy in ("uvicorn.error", "httpx", "httpx2", "httpcore", "alembic"):
        logging.getLogger(noisy).setLevel(max(logging.WARNING, root.level))
    # It logs what servers say and the ids of sessions. What happens to a server is logged where it is used.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        known = {key: value for key, value in self._fields(record).items() if value}
        return shown.json(json_data.dumps(known).decode())

    def _fields(self, record: logging.LogRecord) -> dict[str, Any]:
        extra = {key: value for key, value in vars(record).items() if key not in _OWN}
        return {
            "at": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "request": request_id.get(),
            "turn": _turn(),
            **extra,
            "error": self.formatException(record.exc_info) if record.exc_info else None,
        }


class TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(message)s%(ids)s", "%H:%M:%S")

    def format(self, record: logging.LogRecord) -> str:
        record.ids = "".join(f" [{id}]" for id in (request_id.get(), _turn()) if id)
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The message on one line, so that nobody can forge lines."""
        return shown.line(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:
        """The traceback on several lines, none of which can look like the line of another record."""
        return "\n".join(f"    {shown.line(line)}" for line in super().formatException(ei).splitlines())


def _time(record: logging.LogRecord) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(record.created))}.{int(record.msecs):03d}Z"


def _turn() -> str | None:
    """The id of the turn: the name of a run's task."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return None
    name = task.get_name() if task is not None else ""
    return name.removeprefix(_TASK) if name.startswith(_TASK) else None
