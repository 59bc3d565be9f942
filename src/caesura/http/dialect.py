"""A dialect: one HTTP API of the service."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fastapi import APIRouter

from caesura.http.errors import Form


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of its errors, and its routes. `headers` are request headers that only its clients send: CORS
    must allow them. A PUT to a path like `uploads` has a file as its body."""

    form: Form
    router: APIRouter
    headers: tuple[str, ...] = ()
    uploads: re.Pattern[str] | None = None
