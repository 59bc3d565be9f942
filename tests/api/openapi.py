"""The OpenAPI document of all APIs, made once."""

from functools import cache
from typing import Any

from caesura.app import create_app
from caesura.settings import Settings


@cache
def document() -> dict[str, Any]:
    return create_app(Settings.load(data_dir="unused")).openapi()
