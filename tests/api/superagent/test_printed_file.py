"""The agent file that names Redis and `gpt-4o`: with a real Redis, and with the demo model for `gpt-4o`."""

from __future__ import annotations

import json
from pathlib import Path

from redis import Redis as Client

from caesura.service.redis_entries import PREFIX
from tests.api.reading import until
from tests.api.server import Served
from tests.api.superagent.session import Session
from tests.engine.test_superagent_file import FILE

MESSAGE = "请帮我删除 prod 数据库中所有过期用户数据"


def served(folder: Path, redis_url: str) -> Served:
    server = Served(folder, model_map="gpt-4o=demo", redis_url=redis_url)
    (folder / "agents" / "approval-agent.yaml").write_text(FILE)
    return server


def test_it_asks_shows_its_state_in_redis_and_goes_on(tmp_path: Path, redis_url: str) -> None:
    with served(tmp_path, redis_url) as server, server.client() as client:
        session = Session(client, "approval-agent", "session-123")
        with Client.from_url(redis_url, decode_responses=True) as redis:
            for confirm in (True, False):
                (interrupt,) = (event for event in session.chat(MESSAGE) if event.name == "interrupt")
                reason = interrupt.data["data"]["reason"]
                assert session.state()["reason"] == reason
                until(lambda: redis.keys(f"{PREFIX}*"))
                (name,) = redis.keys(f"{PREFIX}*")
                assert json.loads(str(redis.get(name)))["reason"] == reason
                assert 0 < int(str(redis.ttl(name))) <= 300
                assert [event.name for event in session.resume(confirm=confirm)][-1] == "done"
                until(lambda: not redis.keys(f"{PREFIX}*"))
