"""The server started as the documentation says, and its walk with curl, as printed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.programs import needs
from tests.servers.server import free_port

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def walks() -> dict[str, str]:
    """The block that goes from the registration to a reply, by page. Pages that divide it have tests of their
    own."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = ((page.name, block) for page in pages for block in BLOCK.findall(page.read_text()))
    return {name: block for name, block in found if "/api/auth/register" in block and "count to 20" in block}


class Started:
    """The command that `make run` starts, in a folder of its own, with its output in a file."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.log = folder / "printed"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
        command = [str(Path(sys.executable).with_name("caesura")), "serve"]
        with self.log.open("wb") as printed:
            self.process = subprocess.Popen(
                command, cwd=folder, env=clean | {"CAESURA_PORT": str(self.port)}, stderr=printed
            )

    def wait(self) -> str:
        deadline = time.monotonic() + 60
        while " is at http" not in (printed := self.log.read_text()):
            assert self.process.poll() is None, printed
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
        return printed


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    server = Started(tmp_path_factory.mktemp("walk"))
    try:
        yield server
    finally:
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(30) == 0


def test_make_run_starts_this_command() -> None:
    """Without a flag, which would count more than the variable of somebody who has set it."""
    recipe = re.search(r"^run: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert recipe is not None
    assert recipe[1] == "\t$(BIN)/caesura serve\n"


def test_in_a_file_serve_writes_nothing_but_lines_of_its_log(started: Started) -> None:
    told = [json.loads(line)["message"] for line in started.wait().splitlines()]
    assert any(f"is at http://127.0.0.1:{started.port}, model: " in message for message in told)


@needs("curl")
@pytest.mark.parametrize("page", walks())
def test_the_walk_works_as_printed(started: Started, page: str) -> None:
    started.wait()
    script = (
        walks()[page]
        .replace("127.0.0.1:8000", f"127.0.0.1:{started.port}")
        .replace("alice", page.split(".")[0].lower())
    )
    walked = subprocess.run(["sh", "-eu"], input=script, capture_output=True, text=True, timeout=60)
    assert (walked.returncode, walked.stderr) == (0, "")
    assert '"message":"User registered successfully"' in walked.stdout
    assert " 20" in walked.stdout
    assert "wrote 8 bytes to hello.py" in walked.stdout
    assert walked.stdout.count("event: finished") == 2
