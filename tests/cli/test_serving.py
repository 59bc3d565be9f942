"""What `caesura serve` tells when it is ready."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import caesura
from caesura.cli import serving
from caesura.core.errors import StartupError
from caesura.settings import Settings

#: What a server with these settings at this address shows in a terminal.
Greet = Callable[[Settings, str], str]


@pytest.fixture
def greet(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Greet:
    def greet(settings: Settings, address: str) -> str:
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        serving._greet(settings, address)
        return capsys.readouterr().err

    return greet


def test_without_a_terminal_the_log_tells_the_address_and_nothing_is_printed(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "CAESURA_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with caplog.at_level(logging.INFO):
        serving._greet(Settings.load(registration="closed"), "http://127.0.0.1:8000")
    told = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in told] == ["INFO", "WARNING", "INFO"]
    assert f"Caesura {caesura.__version__} is at http://127.0.0.1:8000, model: openai:" in told[0][1]
    assert "only OPENAI_BASE_URL is set" in told[1][1]
    assert "Nobody can register" in told[2][1]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({}, "Whoever reaches this address may register."),
        ({"host": "0.0.0.0"}, "user invite` prints one."),
        ({"registration": "closed"}, "user add NAME` adds a person."),
    ],
)
def test_serve_says_who_may_register(greet: Greet, flags: dict[str, str], told: str) -> None:
    assert told in greet(Settings.load(**flags), "http://127.0.0.1:8000")


def test_serve_says_that_a_model_is_a_guess_if_only_an_address_is_set(
    greet: Greet, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "CAESURA_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    told = greet(Settings.load(), "http://127.0.0.1:8000")
    assert "model: openai:" in told
    assert "only OPENAI_BASE_URL is set" in told
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert "guess" not in greet(Settings.load(), "http://127.0.0.1:8000")


def test_serve_does_not_mention_registration_in_one_person_mode(greet: Greet) -> None:
    assert "regist" not in greet(Settings.load(auth="none"), "http://127.0.0.1:8000")


@pytest.mark.parametrize(
    ("address", "url"),
    [("http://0.0.0.0:9000", "http://127.0.0.1:9000"), ("http://[::]:9000", "http://[::1]:9000")],
)
def test_the_printed_address_of_a_server_on_all_addresses_can_be_reached(
    greet: Greet, address: str, url: str
) -> None:
    told = greet(Settings.load(host="0.0.0.0"), address)
    assert f"chat --url {url}\n" in told
    assert f"{url}/docs" in told


def test_the_address_that_is_told_has_the_root_path(greet: Greet) -> None:
    told = greet(Settings.load(root_path="/caesura"), "http://127.0.0.1:8000")
    assert " is at http://127.0.0.1:8000/caesura, model: " in told
    assert "chat --url http://127.0.0.1:8000/caesura\n" in told
    assert "http://127.0.0.1:8000/caesura/docs" in told


@pytest.mark.parametrize(("variable", "loaded"), [(None, False), ("", True)])
def test_a_server_loads_plugins_of_pydantic_only_if_it_is_told_to(
    tmp_path: Path, variable: str | None, loaded: bool
) -> None:
    about = tmp_path / "spy-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: spy\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pydantic]\nspy = spy:plugin\n")
    (tmp_path / "spy.py").write_text(
        "print('loaded')\n"
        "class plugin:\n    new_schema_validator = staticmethod(lambda *args: (None, None, None))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environ.pop("PYDANTIC_DISABLE_PLUGINS", None)
    if variable is not None:
        environ["PYDANTIC_DISABLE_PLUGINS"] = variable
    command = [sys.executable, "-m", "caesura", "serve", "--runs", "0"]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=False)
    assert ran.returncode == 2, ran.stderr
    assert ("loaded" in ran.stdout) is loaded


def test_a_restart_for_each_change_needs_a_folder_to_look_at() -> None:
    with pytest.raises(StartupError, match="name it with --agents-dir"):
        serving.serve_anew({})
