"""A dialect: one way to speak with the service over HTTP."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter

from caesura.http.errors import Form


@dataclass(frozen=True, slots=True)
class Dialect:
    """How it says errors, and its routes. `headers` are those that only its clients send: a page of another
    origin may send them too."""

    form: Form
    router: APIRouter
    headers: tuple[str, ...] = ()
