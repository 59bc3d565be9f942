"""A PostgreSQL that falls silent at any statement of a message, an answer, a snapshot or a takeover.

Whoever waits gets an error soon, and then all goes on. No place of a person stays taken, and no turn runs for
ever."""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from caesura.store import postgres
from tests import effort
from tests.api.reading import conversation, events, outcome, send, to_segment_end, until
from tests.api.server import SECRET
from tests.api.test_silence import served
from tests.relay import Relay

#: Seconds until all is back. Silent connections of this server are cut after one second, others' after ten.
SOON = 15.0


@dataclass
class Scene:
    """`turn` is the turn in question. `act` does what falls silent, and may fail."""

    relay: Relay
    client: httpx.Client
    url: str
    turn: dict[str, Any] = field(default_factory=dict)

    def all_is_back(self) -> bool:
        """Each of these reads has few places, and one that hangs would keep its place."""
        here = f"/api/v2/conversations/{self.turn['conversation_id']}"
        for path in (here, f"{here}/snapshot", "/api/v2/conversations"):
            if self.client.get(path).status_code != 200:
                return False
        with psycopg.connect(self.url) as rows:
            live = "SELECT count(*) FROM turns WHERE conversation_id = %s AND status IN ('queued', 'running')"
            return rows.execute(live, (self.turn["conversation_id"],)).fetchone() == (0,)


def message(scene: Scene) -> Callable[[], object]:
    name = conversation(scene.client)
    scene.turn = {"conversation_id": name}
    return lambda: events(scene.client, send(scene.client, name, "echo good day")["id"])


def answer(scene: Scene) -> Callable[[], object]:
    scene.turn = send(scene.client, conversation(scene.client), "ask me 1 question")
    [asked] = outcome(to_segment_end(scene.client, scene.turn["id"])).data["interrupts"]
    answers = [question["options"][0]["value"] for question in asked["questions"]]

    def act() -> None:
        body = {"decision": "answers", "answers": answers}
        scene.client.post(f"/api/v2/interrupts/{asked['id']}/answer", json=body)
        events(scene.client, scene.turn["id"])

    return act


def snapshot(scene: Scene) -> Callable[[], object]:
    scene.turn = send(scene.client, conversation(scene.client), "echo good day")
    events(scene.client, scene.turn["id"])
    return lambda: scene.client.get(f"/api/v2/conversations/{scene.turn['conversation_id']}/snapshot")


def takeover(scene: Scene) -> Callable[[], object]:
    """Another node has died with this turn."""
    name = conversation(scene.client)
    scene.turn = send(scene.client, name, "ask me 1 question")
    to_segment_end(scene.client, scene.turn["id"])
    lost = "UPDATE turns SET status = 'running', owner = 'dead', lease_until = 1 WHERE conversation_id = %s"
    with psycopg.connect(scene.url) as rows:
        rows.execute(lost, (name,))
    return lambda: until(scene.all_is_back)


SCENES = (message, answer, snapshot, takeover) if effort.thorough() else (snapshot,)
#: In a usual run: the first and the last message, and one of those that begin or end a transaction.
ENDS = re.compile(rb"BEGIN|COMMIT")


def impatient() -> None:
    postgres._LIMIT, postgres._DOUBT, postgres._WAIT, postgres._BEAT = 1.0, 0.5, 3, 1.0


@pytest.fixture
def scene(tmp_path: Path, postgres_url: str) -> Iterator[Scene]:
    """One stream for a person: one whose place is never given back would refuse all others."""
    limits = {"secret": SECRET, "lease": 3.0, "streams_per_person": 1}
    with (
        Relay(postgres_url) as relay,
        served(tmp_path, before=impatient, database_url=relay.url, **limits) as (_, client),
    ):
        yield Scene(relay, client, postgres_url)


@pytest.mark.timeout(1_800)  # a thorough run tries some fifty statements of each scene, a few seconds each
@pytest.mark.parametrize("begin", SCENES, ids=lambda begin: begin.__name__)
def test_all_is_back_after_a_silence_at_any_statement(
    scene: Scene, begin: Callable[[Scene], Callable[[], object]]
) -> None:
    act = begin(scene)
    scene.relay.watch()
    act()
    kinds = [tuple(ENDS.findall(asked)) for asked in scene.relay.asked]
    for place in effort.sample(kinds, len(kinds)):
        act = begin(scene)
        scene.relay.watch(place + 1)
        with suppress(httpx.HTTPError, AssertionError):
            act()
        scene.relay.watch()
        until(scene.all_is_back, SOON)
