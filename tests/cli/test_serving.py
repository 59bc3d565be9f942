"""What `caesura serve` prints when it is ready."""

import pytest

from caesura.cli import serving
from caesura.settings import Settings


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({}, "Whoever reaches this address may register."),
        ({"host": "0.0.0.0"}, "user invite` prints one."),
        ({"registration": "closed"}, "user add NAME` adds a person."),
    ],
)
def test_serve_says_who_may_register(
    capsys: pytest.CaptureFixture[str], flags: dict[str, str], told: str
) -> None:
    serving._greet(Settings.load(**flags), "http://127.0.0.1:8000")
    assert told in capsys.readouterr().err


def test_serve_says_that_a_model_is_a_guess_if_only_an_address_is_set(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "CAESURA_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    serving._greet(Settings.load(), "http://127.0.0.1:8000")
    told = capsys.readouterr().err
    assert "model: openai:" in told
    assert "only OPENAI_BASE_URL is set" in told
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    serving._greet(Settings.load(), "http://127.0.0.1:8000")
    assert "guess" not in capsys.readouterr().err


def test_serve_does_not_mention_registration_in_one_person_mode(capsys: pytest.CaptureFixture[str]) -> None:
    serving._greet(Settings.load(auth="none"), "http://127.0.0.1:8000")
    assert "regist" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "url"),
    [("http://0.0.0.0:9000", "http://127.0.0.1:9000"), ("http://[::]:9000", "http://[::1]:9000")],
)
def test_the_printed_address_of_a_server_on_all_addresses_can_be_reached(
    capsys: pytest.CaptureFixture[str], address: str, url: str
) -> None:
    serving._greet(Settings.load(host="0.0.0.0"), address)
    told = capsys.readouterr().err
    assert f"chat --url {url}\n" in told
    assert f"{url}/docs" in told
