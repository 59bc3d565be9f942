"""Puts the web page into a wheel: builds it if it is stale and Node is there, else takes the last build."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # An editable installation serves what `make web` and `make run` build.
        if version == "editable":
            return
        page = _builder(Path(self.root))
        if not page.stale():
            return
        try:
            page.build()
        except (page.NoNode, OSError, subprocess.CalledProcessError) as error:
            if (page.PAGE / "index.html").is_file():
                self.app.display_warning(f"the web page is an older build: {error}")
            else:
                self.app.display_warning(f"this package has no web page: {error}")


def _builder(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("page_build", root / "web" / "build.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("web/build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
