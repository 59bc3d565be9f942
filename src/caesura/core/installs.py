"""Commands that install what is missing. They can be typed as they are, in any folder."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path

#: The folder of a checkout. For an installed package it is some folder without the files of one.
_ROOT = Path(__file__).parents[3]


def add_extra(name: str) -> str:
    """The command that adds this extra of Caesura: to a checkout with its own environment from the lock, to
    every other environment with its installer."""
    if not (_ROOT / "pyproject.toml").is_file():
        return add_package(f"caesura[{name}]")
    is_locked = (_ROOT / "requirements" / "extras" / f"{name}.txt").is_file()
    if is_locked and Path(sys.prefix).resolve() == (_ROOT / ".venv").resolve():
        return f"make -C {shlex.quote(str(_ROOT))} setup EXTRAS={name}"
    return f"{_installer()} -e {shlex.quote(f'{_ROOT}[{name}]')}"


def add_package(name: str) -> str:
    """The command that adds this package to the environment in which Caesura runs."""
    return f"{_installer()} {shlex.quote(name)}"


def _installer() -> str:
    program = shlex.quote(sys.executable)
    if importlib.util.find_spec("pip") is None:  # an environment of uv
        return f"uv pip install --python {program}"
    return f"{program} -m pip install"
