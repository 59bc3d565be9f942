"""Settings: what stands in the environment, and what stops the start."""

import os
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from caesura.core.addresses import is_loopback
from caesura.core.errors import StartupError
from caesura.settings import PREFIX, Settings, secret_of

LONG = "x" * 32


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_documented(name: str) -> None:
    page = (Path(__file__).parents[1] / "docs/settings.md").read_text()
    assert f"| `{PREFIX}{name.upper()}` |" in page


def load(monkeypatch: pytest.MonkeyPatch, **values: str) -> Settings:
    for name, value in values.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    return Settings.load()


def test_without_anything_set_it_is_one_person_s_own_machine() -> None:
    settings = Settings.load()
    assert (settings.host, settings.port) == ("127.0.0.1", 8000)
    assert settings.embedded
    assert settings.database == f"sqlite:///{Path.cwd()}/data/caesura.db"
    assert (settings.sse_ping_interval, settings.stream_timeout, settings.stream_ttl) == (15, 300, 30)
    assert (settings.default_page_size, settings.max_page_size) == (20, 100)
    assert settings.disconnect_grace == 5
    assert settings.auth == "password"


@pytest.mark.parametrize(
    ("values", "registers"),
    [
        ({}, "open"),
        ({"HOST": "::1"}, "open"),
        ({"HOST": "0.0.0.0"}, "invite"),
        ({"HOST": "chat.example.org"}, "invite"),
        ({"HOST": "0.0.0.0", "REGISTRATION": "open"}, "open"),
        ({"REGISTRATION": "closed"}, "closed"),
        ({"AUTH": "none", "REGISTRATION": "open"}, "closed"),
    ],
)
def test_registration_is_open_on_this_machine_alone_unless_it_is_said(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], registers: str
) -> None:
    assert load(monkeypatch, **values).registers == registers


def test_the_environment_is_read_and_a_flag_counts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_PORT", "9000")
    monkeypatch.setenv("CAESURA_CORS_ORIGINS", "https://a.example, http://localhost:5173")
    settings = Settings.load(host="localhost", port=None)
    assert (settings.host, settings.port) == ("localhost", 9000)
    assert settings.cors_origins == ("https://a.example", "http://localhost:5173")
    assert Settings.load(port=9001).port == 9001


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ({}, ("http://localhost:3000",)),
        ({"host": "::1"}, ("http://localhost:3000",)),
        ({"auth": "none"}, ()),
        ({"host": "0.0.0.0"}, ()),
        ({"cors_origins": "off"}, ()),
        ({"auth": "none", "cors_origins": "http://localhost:3000"}, ("http://localhost:3000",)),
        ({"cors_origins": "https://a.example"}, ("https://a.example",)),
    ],
)
def test_a_page_on_this_machine_may_use_a_loopback_server_with_sign_in(
    given: dict[str, str], allowed: tuple[str, ...]
) -> None:
    assert Settings.load(**given).origins == allowed


def test_models_are_replaced_by_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAESURA_MODEL_MAP", " gpt-4o = demo, gpt-4o-mini=openai:gpt-5-mini ,")
    assert Settings.load().model_map == {"gpt-4o": "demo", "gpt-4o-mini": "openai:gpt-5-mini"}
    assert Settings.load(model_map="a=demo").model_map == {"a": "demo"}


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings.load().port = 1


LOGIN = {"JWT_ISSUER": "https://login.example/", "JWT_AUDIENCE": "chat"}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"PORT": "x"}, "CAESURA_PORT"),
        ({"PORT": "65536"}, "CAESURA_PORT"),
        ({"AUTH": "maybe"}, "CAESURA_AUTH"),
        ({"REGISTRATION": "maybe"}, "CAESURA_REGISTRATION"),
        ({"SECRET": "short"}, "CAESURA_SECRET: must have at least 32 bytes"),
        ({"CORS_ORIGINS": "*"}, "CAESURA_CORS_ORIGINS: '*' is not an origin"),
        ({"CORS_ORIGINS": "https://a.example/path"}, "CAESURA_CORS_ORIGINS"),
        ({"RATE_RUNS": "many"}, "CAESURA_RATE_RUNS: must be such as 60/minute"),
        ({"SSE_PING_INTERVAL": "0"}, "CAESURA_SSE_PING_INTERVAL"),
        ({"STREAM_TTL": "-1"}, "CAESURA_STREAM_TTL"),
        ({"ON_DISCONNECT": "explode"}, "CAESURA_ON_DISCONNECT"),
        (
            {"DEFAULT_PAGE_SIZE": "11", "MAX_PAGE_SIZE": "10"},
            "CAESURA_DEFAULT_PAGE_SIZE must not be over CAESURA_MAX_PAGE_SIZE",
        ),
        (
            {"DEFAULT_PAGE_SIZE": "101"},
            "CAESURA_DEFAULT_PAGE_SIZE=101 is over the largest 100: set",
        ),
        ({"MAX_PAGE_SIZE": "10"}, "CAESURA_MAX_PAGE_SIZE=10 is below the usual 20: set"),
        ({"DEFAULT_AGENT": "No Name"}, "CAESURA_DEFAULT_AGENT"),
        ({"DATABASE_URL": "mysql://x"}, "CAESURA_DATABASE_URL: must be sqlite:///"),
        ({"DATABASE_URL": "postgresql://x/y"}, "CAESURA_SECRET is required"),
        ({"REDIS_URL": "localhost"}, "CAESURA_REDIS_URL"),
        ({"REDIS_URL": "redis://host:port"}, "CAESURA_REDIS_URL: must be redis://host:port/number"),
        ({"DATABASE_URL": "postgresql://u:ge@heim@h/d"}, "CAESURA_DATABASE_URL: must be written so that"),
        ({"DATABASE_URL": "postgresql://u:12/ge@heim/d"}, "write %40 for @, %2F for /"),
        ({"REDIS_URL": "redis://:ge@heim@h/0"}, "CAESURA_REDIS_URL: must be written so that"),
        ({"REDIS_URL": "redis://:12/geheim@h/0"}, "CAESURA_REDIS_URL: must be written so that"),
        ({"REDIS_URL": "redis://h/abc"}, "CAESURA_REDIS_URL: must be redis://host:port/number"),
        ({"REDIS_URL": "redis://a..b/0"}, "CAESURA_REDIS_URL: must be redis://host:port/number"),
        ({"SEARCH_URL": "http://u:12/geheim@h"}, "CAESURA_SEARCH_URL: must be such as https://"),
        ({"SEARCH_URL": "http://a..b"}, "CAESURA_SEARCH_URL: must be such as https://"),
        ({**LOGIN, "JWT_JWKS": "https://u:12/geheim@h/keys"}, "CAESURA_JWT_JWKS must be the path of a file"),
        ({**LOGIN, "JWT_JWKS": "https://a..b/keys"}, "CAESURA_JWT_JWKS must be the path of a file"),
        ({"CORS_ORIGINS": "https://u:geheim@a.example"}, "CAESURA_CORS_ORIGINS: 'https://***@a.example' is"),
        ({"TRUSTED_PROXIES": "http://u:geheim@gate"}, "CAESURA_TRUSTED_PROXIES: 'http://***@gate' is not"),
        ({"FETCH_ALLOW": "http://u:geheim@a.example"}, "CAESURA_FETCH_ALLOW: 'http://***@a.example' is not"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8,gateway"}, "CAESURA_TRUSTED_PROXIES: 'gateway' is not an address"),
        ({"AUTH": "none", "HOST": "0.0.0.0"}, "CAESURA_AUTH=none needs a loopback"),
        ({"LOG_LEVEL": "loud"}, "CAESURA_LOG_LEVEL"),
        ({"MODEL_MAP": "gpt-4o"}, "CAESURA_MODEL_MAP: 'gpt-4o' is not such as gpt-4o=demo"),
        ({"MODEL_MAP": "gpt-4o=demo,=x"}, "CAESURA_MODEL_MAP: '=x' is not such as gpt-4o=demo"),
        ({"MODEL_MAP": "gpt-4o=demo=x"}, "CAESURA_MODEL_MAP: 'gpt-4o=demo=x' is not such as gpt-4o=demo"),
        ({"MODEL_MAP": "a=http://u:geheim@h/v1"}, "CAESURA_MODEL_MAP: '***@h/v1' is not such as gpt-4o=demo"),
        ({"MODEL_MAP": "http://u:geheim@h=demo"}, "CAESURA_MODEL_MAP: 'http://***@h=demo' is not such as"),
        ({"MODEL_MAP": "a=demo,a=demo"}, "CAESURA_MODEL_MAP: a is named twice"),
        ({"MODEL_MAP": "default=demo"}, "CAESURA_MODEL_MAP: default cannot be replaced here"),
        ({"SEARCH_URL": "search.example"}, "CAESURA_SEARCH_URL: must be such as https://"),
        ({"SEARCH_URL": "https://me:hunter2@search.example"}, "CAESURA_SEARCH_URL: must be such as https://"),
        ({"SEARCH_URL": "https://search.example?key=1"}, "CAESURA_SEARCH_URL: must be such as https://"),
        ({"SEARCH_KIND": "web"}, "CAESURA_SEARCH_KIND"),
        ({"SEARCH_KEY": "0123"}, "CAESURA_SEARCH_URL is required with CAESURA_SEARCH_KEY"),
        ({"SEARCH_URL": "https://a.example", "SEARCH_KEY": "a\nb"}, "CAESURA_SEARCH_KEY: must consist of"),
        (
            {"JWT_JWKS": "keys.json"},
            "CAESURA_JWT_ISSUER and CAESURA_JWT_AUDIENCE are required with CAESURA_JWT_JWKS",
        ),
        (
            {"JWT_KEY": "k" * 32},
            "CAESURA_JWT_ISSUER and CAESURA_JWT_AUDIENCE are required with CAESURA_JWT_KEY",
        ),
        (
            {"JWT_CLAIM": "email"},
            "CAESURA_JWT_ISSUER, CAESURA_JWT_AUDIENCE and CAESURA_JWT_JWKS (or CAESURA_JWT_KEY) are required "
            "with CAESURA_JWT_CLAIM",
        ),
        (
            {**LOGIN, "JWT_AUDIENCE": "", "JWT_KEY": "k" * 32},
            "CAESURA_JWT_AUDIENCE is required with CAESURA_JWT_ISSUER",
        ),
        (LOGIN, "CAESURA_JWT_JWKS (or CAESURA_JWT_KEY) is required with CAESURA_JWT_ISSUER"),
        (
            {**LOGIN, "JWT_JWKS": "keys.json", "JWT_KEY": "k" * 32},
            "CAESURA_JWT_ISSUER needs either CAESURA_JWT_JWKS or CAESURA_JWT_KEY",
        ),
        ({**LOGIN, "JWT_KEY": "k" * 31}, "CAESURA_JWT_KEY must have at least 32 bytes for HS256"),
        (
            {**LOGIN, "JWT_KEY": "k" * 63, "JWT_ALGORITHMS": "HS256,HS512"},
            "CAESURA_JWT_KEY must have at least 64 bytes for HS512",
        ),
        (
            {**LOGIN, "JWT_JWKS": "keys.json", "JWT_ALGORITHMS": "RS256,HS256"},
            "CAESURA_JWT_ALGORITHMS: HS256 cannot be used with CAESURA_JWT_JWKS",
        ),
        (
            {**LOGIN, "JWT_JWKS": "keys.json", "JWT_ALGORITHMS": "none"},
            "CAESURA_JWT_ALGORITHMS: none cannot be used with CAESURA_JWT_JWKS",
        ),
        (
            {**LOGIN, "JWT_KEY": "k" * 32, "JWT_ALGORITHMS": "RS256"},
            "CAESURA_JWT_ALGORITHMS: RS256 cannot be used with CAESURA_JWT_KEY",
        ),
        ({**LOGIN, "JWT_JWKS": "http://login.example/keys"}, "CAESURA_JWT_JWKS must be https"),
        ({**LOGIN, "JWT_JWKS": "ftp://login.example/keys"}, "CAESURA_JWT_JWKS must be the path of a file"),
        ({**LOGIN, "JWT_JWKS": "https://me:pw@login.example"}, "CAESURA_JWT_JWKS must be the path"),
        ({**LOGIN, "JWT_ISSUER": "caesura", "JWT_KEY": "k" * 32}, "CAESURA_JWT_ISSUER is what this server"),
        ({**LOGIN, "JWT_KEY": "k" * 32, "AUTH": "none"}, "CAESURA_JWT_ISSUER cannot be used with"),
        (
            {"FETCH_ALLOW": "a.example,http://b.example"},
            "CAESURA_FETCH_ALLOW: 'http://b.example' is not a host",
        ),
    ],
)
def test_a_wrong_setting_is_said_in_one_line_that_names_it(
    monkeypatch: pytest.MonkeyPatch, values: dict[str, str], said: str
) -> None:
    with pytest.raises(StartupError) as error:
        load(monkeypatch, **values)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert "heim" not in str(error.value)


def test_a_fault_does_not_repeat_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StartupError) as error:
        load(monkeypatch, SECRET="hunter2", DATABASE_URL="mysql://u:hunter3@h/d")
    assert "hunter" not in str(error.value)


@pytest.mark.parametrize("name", sorted(name for name in Settings.model_fields if "person" in name))
def test_every_limit_of_a_person_can_be_off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert getattr(load(monkeypatch, **{name.upper(): "off"}), name) is None


def test_a_secret_is_not_shown() -> None:
    assert LONG not in repr(Settings.load(secret=LONG, search_url="https://a.example", search_key=LONG))


def test_an_unknown_flag_is_an_error() -> None:
    flags: dict[str, Any] = {"prot": 80}
    with pytest.raises(StartupError, match="--prot"):
        Settings.load(**flags)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("::1", True),
        ("127.8.8.8", True),
        ("0.0.0.0", False),
        ("::", False),
    ],
)
def test_what_is_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


# --- the secret


def test_a_secret_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    settings = Settings.load(data_dir=tmp_path / "new")
    made = secret_of(settings)
    assert len(made) >= 32
    assert secret_of(settings) == made
    assert (tmp_path / "new" / "secret").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["secret"]
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_a_secret_that_is_set_is_not_kept(tmp_path: Path) -> None:
    assert secret_of(Settings.load(data_dir=tmp_path, secret=LONG)) == LONG
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"short", b"\xff" * 40])
def test_a_kept_secret_that_is_none_stops_the_start(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(StartupError, match="secret"):
        secret_of(Settings.load(data_dir=tmp_path))


def test_a_data_folder_that_cannot_be_made_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartupError, match="cannot be used"):
        secret_of(Settings.load(data_dir=tmp_path / "file" / "data"))
