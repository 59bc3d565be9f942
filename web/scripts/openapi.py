"""Print the part of the OpenAPI document that the page uses: the native API and signing in."""

from __future__ import annotations

import json
import re
from typing import Any

from caesura.app import create_app
from caesura.settings import Settings

PREFIXES = ("/api/v2", "/api/auth")
_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


def document() -> dict[str, Any]:
    whole = create_app(Settings.load(data_dir="unused")).openapi()
    paths = {path: item for path, item in whole["paths"].items() if path.startswith(PREFIXES)}
    schemas = whole["components"]["schemas"]
    used: set[str] = set()
    wanted = set(_REFERENCE.findall(json.dumps(paths)))
    while wanted:
        used |= wanted
        found = (_REFERENCE.findall(json.dumps(schemas[name])) for name in wanted)
        wanted = {name for names in found for name in names} - used
    return {
        "openapi": whole["openapi"],
        "info": {"title": whole["info"]["title"], "version": "0"},
        "paths": paths,
        "components": {"schemas": {name: schemas[name] for name in sorted(used)}},
    }


if __name__ == "__main__":
    print(json.dumps(document(), indent=1, sort_keys=True, ensure_ascii=False))
