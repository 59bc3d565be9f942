"""Files of small agents for tests."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent, indent

_FILE = """\
apiVersion: caesura/v1
kind: Agent
metadata: {{name: {name}, description: For tests.}}
spec:
{spec}"""


def put(folder: Path, name: str, spec: str) -> Path:
    """Write an agent's file into the folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(_FILE.format(name=name, spec=indent(dedent(spec), "  ")))
    return path


def forget() -> None:
    """Act as if the process had been started again, as far as it has loaded code of agents."""
    for name in [name for name in sys.modules if name.startswith("caesura_agents_")]:
        del sys.modules[name]
