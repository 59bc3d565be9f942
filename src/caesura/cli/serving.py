"""Serving: settings are checked before anything heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caesura.settings import Settings


def serve(flags: Mapping[str, Any]) -> None:
    settings = Settings.load(**flags)
    from caesura import app

    app.serve(settings)
