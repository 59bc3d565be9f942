"""The client for Redis, from the URL that the operator has set."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from caesura.core.errors import StartupError

#: What a URL may set. Others are the client's own matters, and some of them fail only when it connects.
_OPTIONS = {
    *("username", "password", "db", "protocol", "client_name", "max_connections", "health_check_interval"),
    *("socket_keepalive", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_password"),
    *("ssl_cert_reqs", "ssl_check_hostname"),
}


def connect(url: str, patience: float) -> Redis:
    """A client that does not connect yet. Raises `StartupError` for options that cannot be used."""
    scheme, query = urlsplit(url).scheme, urlsplit(url).query
    for option in parse_qs(query, keep_blank_values=True):
        if option not in _OPTIONS:
            raise StartupError(f"CAESURA_REDIS_URL: the option {option} cannot be used")
        if option.startswith("ssl_") and scheme != "rediss":
            raise StartupError(f"CAESURA_REDIS_URL: the option {option} needs rediss://")
    # One retry, for a connection that Redis has closed in the meantime.
    retry = Retry(NoBackoff(), 1)
    try:
        # With a timeout of its own the client swallows cancellations (asyncio.wait_for does, in Python 3.11).
        redis = Redis.from_url(url, socket_connect_timeout=patience, socket_timeout=None, retry=retry)
        pool: Any = redis.connection_pool
        pool.make_connection()
    except (TypeError, ValueError, RedisError) as error:
        raise StartupError(f"CAESURA_REDIS_URL: {error}") from error
    return redis
