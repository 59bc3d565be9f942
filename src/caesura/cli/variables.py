"""Variables of the environment that begin like ours, but that nothing reads: misspelled ones."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from caesura.cli.credentials import PASSWORD, TOKEN
from caesura.settings import PREFIX, Settings

#: What commands read besides the settings, and how the variables of the tests begin.
_OTHERS = (f"{PREFIX}URL", f"{PREFIX}USER", TOKEN, PASSWORD)
_TESTS = f"{PREFIX}TESTS_"
#: What Kubernetes tells every container of a service whose name begins with `caesura`.
_OF_A_SERVICE = re.compile(
    r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)"
)
_ADDRESS_OF_A_SERVICE = ("tcp://", "udp://", "sctp://")
_NAME = re.compile(rf"\b{PREFIX}\w+")
#: Where an operator's own tools and agents may name variables of their own, below the folder of agent files.
_FILES = ("*.yaml", "*.yml", "*.py", "*/*.py")


def unread(environ: Mapping[str, str], agents_dir: Path | None) -> list[str]:
    """A line for each variable that nothing reads. An empty one is as good as none."""
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields} | {*_OTHERS}
    given = [name for name, value in environ.items() if value and _is_ours(name, value)]
    unknown = [name for name in given if name.upper() not in known]
    named = {*_named(agents_dir)} if unknown and agents_dir is not None else set()
    return [f"{name} counts for nothing: {_hint(name, known)}" for name in sorted({*unknown} - named)]


def _is_ours(name: str, value: str) -> bool:
    upper = name.upper()
    if not upper.startswith(PREFIX) or upper.startswith(_TESTS):
        return False
    of_a_service = _OF_A_SERVICE.fullmatch(upper.removeprefix(PREFIX))
    return of_a_service is None and not value.startswith(_ADDRESS_OF_A_SERVICE)


def _named(folder: Path) -> Iterator[str]:
    for path in (path for pattern in _FILES for path in folder.glob(pattern)):
        with suppress(OSError):  # the server tells which agent files it cannot read
            yield from _NAME.findall(path.read_text(errors="replace"))


def _hint(name: str, known: set[str]) -> str:
    """Names are compared without the prefix, with which all of them are alike."""
    words = sorted(item.removeprefix(PREFIX) for item in known)
    close = difflib.get_close_matches(name.upper().removeprefix(PREFIX), words, n=1)
    return f"did you mean {PREFIX}{close[0]}?" if close else "no setting has this name"
