"""Variables that begin like ours, but that nothing reads."""

import logging
import re
from pathlib import Path

import pytest

from caesura.cli import serving
from caesura.cli.variables import unread
from caesura.settings import PREFIX, Settings
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
#: In place of any name, in a sentence about all of them.
ANY = f"{PREFIX}NAME"


def test_a_misspelled_variable_is_named_with_what_was_meant() -> None:
    given = {
        f"{PREFIX}DATADIR": "x",
        f"{PREFIX}JWT_ISSUR": "x",
        f"{PREFIX}ZZZ": "x",
        f"{PREFIX}prot".lower(): "1",
        f"{PREFIX}EMPTY": "",
    }
    assert unread(given, None) == [
        f"{PREFIX}DATADIR counts for nothing: did you mean {PREFIX}DATA_DIR?",
        f"{PREFIX}JWT_ISSUR counts for nothing: did you mean {PREFIX}JWT_ISSUER?",
        f"{PREFIX}ZZZ counts for nothing: no setting has this name",
        f"{PREFIX}prot".lower() + f" counts for nothing: did you mean {PREFIX}PORT?",
    ]


def test_no_variable_that_this_repository_names_is_called_unread() -> None:
    named = set[str]()
    for folder in ("src", "docs", "deploy", "tests", "bench"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".md", ".service", "") and path.is_file():
                named |= {*re.findall(rf"\b{PREFIX}[A-Z0-9_]*[A-Z0-9]\b", path.read_text(errors="replace"))}
    assert len(named) > len(Settings.model_fields)
    assert unread(dict.fromkeys(named - {ANY}, "x"), None) == []


def test_what_kubernetes_tells_of_a_service_with_this_name_is_no_mistake() -> None:
    given = {
        "SERVICE_HOST": "10.0.0.1",
        "SERVICE_PORT": "8000",
        "SERVICE_PORT_HTTP": "8000",
        "PORT": "tcp://10.0.0.1:8000",
        "PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "PORT_8000_TCP_ADDR": "10.0.0.1",
        "DB_SERVICE_HOST": "10.0.0.2",
        "DB_PORT": "tcp://10.0.0.2:5432",
        "DB_PORT_5432_TCP_PROTO": "tcp",
    }
    assert unread({f"{PREFIX}{name}": value for name, value in given.items()}, None) == []


def test_a_variable_that_an_agent_file_or_a_tool_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "a.yaml").write_text(f"api_key_env: {PREFIX}OWN_KEY\n")
    (tmp_path / "tools/mail.py").write_text(f"os.environ['{PREFIX}OWN_PLACE']\n")
    given = dict.fromkeys((f"{PREFIX}OWN_KEY", f"{PREFIX}OWN_PLACE"), "x")
    assert len(unread(given, None)) == 2
    assert unread(given, tmp_path / "nowhere") == unread(given, None)
    assert unread(given, tmp_path) == []


def test_the_doctor_notes_it_also_where_the_settings_are_at_fault(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{PREFIX}DATADIR", "x")
    ran = run("doctor", "--port", "0")
    assert (ran.code, ran.out.splitlines()[0]) == (
        0,
        f"note   variables  {PREFIX}DATADIR counts for nothing: did you mean {PREFIX}DATA_DIR?",
    )
    ran = run("doctor", "--port", "x")
    assert [line.split()[:2] for line in ran.out.splitlines()] == [
        ["note", "variables"],
        ["fault", "settings"],
    ]


def test_a_server_warns_of_it(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}DATADIR", "x")
    serving._greet(Settings.load(), "http://127.0.0.1:8000")
    (told,) = [record for record in caplog.records if "DATADIR" in record.getMessage()]
    assert told.levelno == logging.WARNING
