"""The page's types are made from a copy of the OpenAPI document: the copy is current."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"


def test_the_pages_copy_of_the_document_is_current() -> None:
    document = runpy.run_path(str(WEB / "scripts" / "openapi.py"))["document"]()
    copy = json.loads((WEB / "src" / "api" / "openapi.json").read_text(encoding="utf-8"))
    assert copy == json.loads(json.dumps(document)), "run `npm run types` in web/"
