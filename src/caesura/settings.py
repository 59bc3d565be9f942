"""The settings: read once from `CAESURA_…` and from flags, checked in full, and never changed after that."""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import quote, urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ByteSize,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from caesura.core import ids, issuers, urls
from caesura.core.addresses import Allowed, is_loopback
from caesura.core.errors import StartupError

PREFIX = "CAESURA_"
SHORTEST_SECRET = 32
_ROOT = re.compile(r"(/[A-Za-z0-9._~-]+)+")
#: A root path that begins with one of these could not be told from a path.
_OWN_PATHS = {"api", "assets", "c", "docs", "frames", "health", "inbox", "metrics", "openapi.json", "ready"}
_RATE = re.compile(r"[1-9][0-9]{0,8}/(second|minute|hour|day)|off")

#: A rate limit: a number per second, minute, hour or day; `off` for no limit.
Rate = Annotated[str, AfterValidator(lambda value: _rate(value))]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Pages = Annotated[int, Field(ge=1, le=10_000)]
#: A limit for one person; None, written `off`, for no limit.
Bound = Annotated[int | None, Field(ge=1, le=2**31), BeforeValidator(lambda value: _off(value))]
#: A number of bytes, also written such as `1GiB`.
Bytes = Annotated[ByteSize, Field(ge=1, le=2**50)]
ByteBound = Annotated[ByteSize | None, Field(ge=1, le=2**50), BeforeValidator(lambda value: _off(value))]
_MIB = 1024 * 1024


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, validate_default=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    root_path: str = ""
    data_dir: Path = Path("data")
    database_url: str = ""
    redis_url: str | None = None
    agents_dir: Path | None = None
    built_in_agents: bool = True
    default_agent: str = "assistant"
    model: str | None = None
    model_map: dict[str, str] = Field(default_factory=dict)

    auth: Literal["password", "none"] = "password"
    registration: Literal["open", "invite", "closed"] | None = None
    secret: SecretStr | None = None
    token_hours: float = Field(default=24.0, gt=0, le=24 * 366)
    jwt_issuer: str | None = None
    jwt_audience: str | None = None
    jwt_jwks: str | None = None
    jwt_key: SecretStr | None = None
    jwt_claim: str = Field(default="sub", min_length=1, max_length=200)
    jwt_algorithms: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] | None = None

    trusted_proxies: tuple[str, ...] = ()

    connections_per_address: int = Field(default=1000, ge=1, le=1_000_000)
    streams_per_person: Bound = 100
    request_timeout: Seconds = 60.0
    sse_ping_interval: Seconds = 15.0
    stream_timeout: Seconds = 300.0
    stream_ttl: Seconds = 30.0
    disconnect_grace: float = Field(default=5.0, ge=0, le=86_400)
    on_disconnect: Literal["stop", "continue"] = "stop"
    default_page_size: Pages = 20
    max_page_size: Pages = 100

    # A heartbeat names all runs in one statement, and SQLite allows 32,766 values in a statement.
    runs: int = Field(default=500, ge=1, le=30_000)
    lease: float = Field(default=15.0, ge=1, le=3_600)
    drain: float = Field(default=5.0, ge=0, le=3_600)

    sandboxes: int = Field(default_factory=lambda: max(2, os.cpu_count() or 1), ge=1, le=1_000)
    workspace_bytes: Annotated[Bytes, Field(ge=_MIB)] = ByteSize(256 * _MIB)
    workspace_bytes_per_person: ByteBound = ByteSize(2048 * _MIB)
    upload_bytes: Bytes = ByteSize(64 * _MIB)

    search_url: str | None = None
    search_kind: Literal["searxng", "tavily"] = "searxng"
    search_key: SecretStr | None = None
    fetch_allow: tuple[str, ...] = ()

    rate_requests: Rate = "1200/minute"
    rate_runs: Rate = "120/minute"
    rate_logins: Rate = "10/minute"
    rate_registrations: Rate = "60/minute"

    runs_per_person: Bound = 50
    questions_per_person: Bound = 1_000
    conversations_per_person: Bound = 10_000
    stored_bytes_per_person: ByteBound = ByteSize(1024 * _MIB)
    unread_bytes_per_person: ByteBound = ByteSize(32 * _MIB)
    # An event takes at least 16 bytes, and a cursor can number 2^24 events.
    graph_state_bytes: Annotated[Bytes, Field(le=64 * _MIB)] = ByteSize(_MIB)
    turn_bytes: Annotated[Bytes, Field(le=256 * _MIB)] = ByteSize(16 * _MIB)
    result_bytes: Bytes = ByteSize(8 * _MIB)
    result_bytes_per_person: ByteBound = ByteSize(32 * _MIB)
    history_cache_bytes: Bytes = ByteSize(256 * _MIB)

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "text"] = "json"
    log_addresses: Literal["full", "cut", "none"] = "full"
    langsmith: bool = False

    @classmethod
    def load(cls, **flags: Any) -> Self:
        """Load the settings from the environment. Flags that are not None take precedence. Raises
        `StartupError` with one line."""
        return cls._load(cls._environment(), flags)

    @classmethod
    def load_without(cls, prefix: str, **flags: Any) -> Self:
        """Do the same, without the variables of settings whose names begin with this: they may be wrong."""
        given = cls._environment().items()
        return cls._load({name: value for name, value in given if not name.startswith(prefix)}, flags)

    @classmethod
    def _load(cls, environment: Mapping[str, str], flags: Mapping[str, Any]) -> Self:
        given = {name: value for name, value in flags.items() if value is not None}
        try:
            return cls(**{**environment, **given})
        except ValidationError as error:
            raise StartupError(as_given("; ".join(_faults(error)), given)) from error

    @classmethod
    def _environment(cls) -> dict[str, str]:
        """The variables that name a setting, in any case. An empty one is as good as none."""
        names = {f"{PREFIX}{name}".upper(): name for name in cls.model_fields}
        given = ((names.get(variable.upper()), value) for variable, value in os.environ.items() if value)
        return {name: value for name, value in given if name is not None}

    @field_validator("cors_origins", "trusted_proxies", "fetch_allow", "jwt_algorithms", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("model_map", mode="before")
    @classmethod
    def _pairs(cls, value: Any) -> Any:
        return _mapped(value) if isinstance(value, str) else value

    @field_validator("cors_origins")
    @classmethod
    def _exact(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if value == ("off",):
            return ()
        for origin in value or ():
            scheme, _, host = origin.partition("://")
            if scheme not in ("http", "https") or not host or set(host) & set("/*@"):
                raise ValueError(f"{urls.shown(origin)!r} is not an origin such as https://chat.example.org")
        return value

    @field_validator("root_path")
    @classmethod
    def _prefix(cls, value: str) -> str:
        root = value.rstrip("/")
        if root and (len(root) > 200 or not _ROOT.fullmatch(root) or {".", ".."} & set(root.split("/"))):
            raise ValueError("must be such as /caesura, of letters, digits, '-', '_', '~' and '.'")
        if root and root.split("/")[1] in _OWN_PATHS:
            raise ValueError(f"the server has paths of its own that begin like {root}: choose another one")
        return root

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            try:
                ipaddress.ip_network(network)
            except ValueError as error:
                shown = urls.shown(network)
                raise ValueError(f"{shown!r} is not an address or a network such as 10.0.0.0/8") from error
        return value

    @field_validator("fetch_allow")
    @classmethod
    def _hosts(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        Allowed(value)
        return value

    @field_validator("search_url")
    @classmethod
    def _web(cls, value: str | None) -> str | None:
        if value is not None and not _is_web_address(value):
            raise ValueError("must be such as https://search.example.org, without a user name or a query")
        return value

    @field_validator("search_key")
    @classmethod
    def _fits_a_header(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and not re.fullmatch(r"[!-~]+", value.get_secret_value()):
            raise ValueError("must consist of visible ASCII characters")
        return value

    @field_validator("default_agent")
    @classmethod
    def _agent_name(cls, value: str) -> str:
        if not ids.is_agent_name(value):
            raise ValueError("must be the name of an agent: a-z, 0-9, '_' and '-'")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: str | None) -> str | None:
        if value is not None and not urls.is_clear(value):
            raise ValueError(urls.REMEDY)
        if value is None:
            return None
        known = value.startswith(("redis://", "rediss://")) and urls.has_host(value)
        if not known or not re.fullmatch("/?[0-9]{0,9}", urlsplit(value).path):
            raise ValueError("must be redis://host:port/number")
        return value

    @field_validator("database_url")
    @classmethod
    def _database(cls, value: str) -> str:
        known = ("sqlite:///", "postgresql://", "postgres://", "postgresql+psycopg://")
        if value and not value.startswith(known):
            raise ValueError("must be sqlite:///path/to/file or postgresql://…")
        if not value.startswith("sqlite:") and not urls.is_clear(value):
            raise ValueError(urls.REMEDY)
        return value

    @field_validator("secret")
    @classmethod
    def _long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value().encode()) < SHORTEST_SECRET:
            raise ValueError(f"must have at least {SHORTEST_SECRET} bytes")
        return value

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.auth == "none" and not is_loopback(self.host):
            raise ValueError(f"{PREFIX}AUTH=none needs a loopback {PREFIX}HOST such as 127.0.0.1")
        if self.issuer is not None and self.auth == "none":
            raise ValueError(f"{PREFIX}JWT_ISSUER cannot be used with {PREFIX}AUTH=none")
        if self.default_page_size > self.max_page_size:
            raise ValueError(self._pages())
        if not self.embedded and self.secret is None:
            raise ValueError(f"{PREFIX}SECRET is required with a {PREFIX}DATABASE_URL that is not SQLite")
        if self.search_url is None and (self.search_key is not None or self.search_kind != "searxng"):
            given = [name for name in ("search_key", "search_kind") if name in self.model_fields_set]
            named = " and ".join(f"{PREFIX}{name.upper()}" for name in given)
            raise ValueError(f"{PREFIX}SEARCH_URL is required with {named}")
        return self

    def _pages(self) -> str:
        """What is wrong with the sizes of pages, told by what was set."""
        usual, most = f"{PREFIX}DEFAULT_PAGE_SIZE", f"{PREFIX}MAX_PAGE_SIZE"
        size, largest = self.default_page_size, self.max_page_size
        if "default_page_size" not in self.model_fields_set:
            return f"{most}={largest} is below the usual {size}: set {usual} too"
        if "max_page_size" not in self.model_fields_set:
            return f"{usual}={size} is over the largest {largest}: set {most} too"
        return f"{usual} must not be over {most}"

    @property
    def embedded(self) -> bool:
        """Whether the database is SQLite, used by this process alone."""
        return not self.database_url or self.database_url.startswith("sqlite:")

    @property
    def issuer(self) -> issuers.Issuer | None:
        """The service that vouches for people, if there is one."""
        key = self.jwt_key.get_secret_value() if self.jwt_key is not None else None
        return issuers.issuer(
            f"{PREFIX}JWT_",
            name=self.jwt_issuer,
            audience=self.jwt_audience,
            jwks=self.jwt_jwks,
            key=key,
            claim=self.jwt_claim,
            algorithms=self.jwt_algorithms,
        )

    @property
    def registers(self) -> Literal["open", "invite", "closed"]:
        """Who may register. The default is everybody on a loopback address, and people with an invite
        otherwise."""
        if self.auth == "none":
            return "closed"
        return self.registration or ("open" if is_loopback(self.host) else "invite")

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of other web pages that may send requests. The default is a front end that is being
        developed on this machine; where no token is needed, none."""
        if self.cors_origins is not None:
            return self.cors_origins
        return ("http://localhost:3000",) if self.auth != "none" and is_loopback(self.host) else ()

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{quote(str(self.data_dir.absolute() / 'caesura.db'))}"


def as_given(text: str, flags: Collection[str]) -> str:
    """A message about settings, in which those that were given as flags have the names of the flags."""

    def name(found: re.Match[str]) -> str:
        setting = found[1].lower()
        if setting not in flags:
            return found[0]
        return f"--{setting.replace('_', '-')}{' ' if found[2] else ''}"

    return re.sub(rf"\b{PREFIX}([A-Z_]+)(=?)", name, text)


def secret_of(settings: Settings) -> str:
    """The key that signs tokens: the configured key, or one that is generated once and kept in a file."""
    if settings.secret is not None:
        return settings.secret.get_secret_value()
    path = settings.data_dir / "secret"
    try:
        return _kept_secret(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise StartupError(f"{path} cannot be used: {reason}") from error


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    named = bool(parts.hostname) and "@" not in url and urls.has_host(url)
    return named and parts.scheme in ("http", "https") and not parts.query


def _rate(value: str) -> str:
    if not _RATE.fullmatch(value):
        raise ValueError("must be such as 60/minute (second, minute, hour or day), or off")
    return value


def _mapped(value: str) -> dict[str, str]:
    """`gpt-4o=demo,gpt-4o-mini=openai:gpt-5-mini` as a mapping."""
    mapped: dict[str, str] = {}
    for part in (part.strip() for part in value.split(",") if part.strip()):
        name, equals, model = (item.strip() for item in part.partition("="))
        if not (name and equals and model) or "=" in model or "://" in part:
            raise ValueError(f"{urls.shown(part)!r} is not such as gpt-4o=demo")
        if name == "default":
            raise ValueError(f"default cannot be replaced here: {PREFIX}MODEL names it")
        if name in mapped:
            raise ValueError(f"{name} is named twice")
        mapped[name] = model
    return mapped


def _off(value: Any) -> Any:
    return None if value == "off" else value


def _kept_secret(path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    if not path.exists():
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(handle, "w") as file:
            file.write(secrets.token_urlsafe(48))
            file.flush()
            os.fsync(handle)
        try:
            os.link(fresh, path)  # atomic, and never replaces a key that another process made
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    secret = path.read_text().strip()
    if len(secret.encode()) < SHORTEST_SECRET:
        raise StartupError(f"{path} is too short for a secret: delete it, and a new one is made")
    return secret


def _faults(error: ValidationError) -> list[str]:
    return [_fault(item["loc"], item["msg"]) for item in error.errors(include_url=False, include_input=False)]


def _fault(location: tuple[int | str, ...], message: str) -> str:
    text = message.removeprefix("Value error, ")
    if text == "could not parse value and unit from byte string":
        text = "must be a number of bytes, such as 1048576 or 16MiB"
    return f"{PREFIX}{str(location[0]).upper()}: {text}" if location else text
