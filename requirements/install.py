"""Installs the locked packages that develop and test this project, and the project itself, into the
environment of the Python that runs this.

uv does it in a tenth of pip's time. It reads no configuration of pip's, so it is told where pip would look.
Where pip is configured in a way that uv does not know, or uv fails, pip installs.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

LOCKS = Path(__file__).parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
#: Most packages are never imported. The others are compiled when they are imported.
LOCKED = ["--require-hashes", "-r", str(LOCKS / "dev.txt")]
PROJECT = ["--no-deps", "--no-build-isolation", "--editable", str(LOCKS.parent)]
#: Where pip looks for packages, and uv's name for it. An option with several values has spaces between them.
PLACES = {
    "index-url": "--default-index",
    "extra-index-url": "--index",
    "find-links": "--find-links",
    "trusted-host": "--allow-insecure-host",
}
#: These do not decide where a package comes from. The authorities are also in SSL_CERT_FILE.
ALIKE = {
    *(
        "break-system-packages",
        "cache-dir",
        "cert",
        "default-timeout",
        "disable-pip-version-check",
        "no-cache-dir",
    ),
    *("no-color", "no-compile", "no-input", "no-python-version-warning", "progress-bar", "quiet"),
    *("require-virtualenv", "retries", "root-user-action", "timeout", "verbose"),
}


def main() -> None:
    settings = configured(_run([*PIP, "config", "list"], read=True))
    options = places(settings)
    if options is not None:
        environment = {**os.environ}
        if authorities := settings.get("cert"):
            environment.setdefault("SSL_CERT_FILE", authorities)
        try:
            _run([*PIP, "install", "--no-deps", "--require-hashes", "-r", str(LOCKS / "uv.txt")])
            uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet"]
            uv += ["--python", sys.executable, *options]
            _run([*uv, *LOCKED], environment)
            _run([*uv, *PROJECT], environment)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"uv could not install the packages, pip does: {error}", file=sys.stderr)
        else:
            return
    _run([*PIP, "install", "--no-compile", *LOCKED])
    _run([*PIP, "install", *PROJECT])


def configured(listed: str) -> dict[str, str]:
    """pip's settings, from what `pip config list` prints. A variable counts more than a file."""
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listed.splitlines():
        key, _, value = line.partition("=")
        section, _, name = key.rpartition(".")
        if section in sections:
            sections[section][name] = str(ast.literal_eval(value))
    return {name: value for section in sections.values() for name, value in section.items()}


def places(settings: dict[str, str]) -> list[str] | None:
    """The same places as options of uv, or None if pip is told something that uv does not know."""
    if settings.keys() - PLACES.keys() - ALIKE - {"no-index"}:
        return None
    # pip takes the best version of all places, and the hashes say which file it may be.
    found = ["--index-strategy", "unsafe-best-match"]
    for name, option in PLACES.items():
        for value in settings.get(name, "").split():
            found += [option, value]
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        found.append("--no-index")
    return found


def _run(command: list[str], environment: dict[str, str] | None = None, read: bool = False) -> str:
    done = subprocess.run(
        command, check=True, env=environment, stdout=subprocess.PIPE if read else None, text=True
    )
    return done.stdout or ""


if __name__ == "__main__":
    main()
