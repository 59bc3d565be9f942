"""Drafts: the files of a new agent, to begin with."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template

from caesura.agents.loader import BUILTIN
from caesura.agents.spec import NAME
from caesura.core import shown
from caesura.core.errors import StartupError

_LONGEST = 60
_TEMPLATES = Path(__file__).parent / "templates"


def agent(name: str, folder: Path) -> None:
    """Write the files of an agent, and say what to do with them."""
    if not re.fullmatch(NAME, name) or len(name) > _LONGEST:
        known = f"lower-case letters, digits, - and _, at most {_LONGEST}"
        raise StartupError(f"{shown.text(name)} cannot be the name of an agent: use {known}")
    module = name.replace("-", "_")
    files = {
        folder / f"{name}.yaml": "agent.yaml",
        folder / f"tools_{module}.py": "tools.py",
        folder / f"test_{module}.py": "test.py",
    }
    if taken := [path for path in files if path.exists()]:
        raise StartupError(f"{shown.text(str(taken[0]))} is there already: choose another name")
    folder.mkdir(parents=True, exist_ok=True)
    for path, template in files.items():
        text = (_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")
        with path.open("x", encoding="utf-8") as file:
            file.write(Template(text).substitute(name=name, module=module))
        print(f"wrote {shown.text(str(path))}")
    if (BUILTIN / f"{name}.yaml").exists():
        print(f"{name} is also the name of an agent that ships with Caesura: yours is used in its place")
