"""The whole run: a walk, a warm-up, the figures, the requests, a pause, the figures again, another walk."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom

from tests.api.reading import conversation, send, to_segment_end
from tests.effort import examples
from tests.hostile.cases import Case, Cases
from tests.hostile.crowd import Crowd
from tests.hostile.person import People, Person
from tests.hostile.process import Figures, Process
from tests.hostile.routes import Document
from tests.hostile.walk import sign_in, still_there, talk_over_c, walk

SEED = os.environ.get("CAESURA_TESTS_HOSTILE_SEED") or str(examples(1, SystemRandom().randrange(10**9)))
REQUESTS = examples(2_700, 10_000)
_WARM_UP = 600
_PATIENCE = 60.0
_NAMES = ("alice", "bob", "carol", "dave")
#: Messages that create a turn in every state at the beginning.
_STATES = (
    "echo x",
    "write hello.py: print(1)",
    "ask me 3 questions",
    "two approvals",
    "delete the old rows",
    "fail",
)


@dataclass(frozen=True)
class Outcome:
    faults: str
    statuses: Counter[int]
    before: Figures
    after: Figures
    #: The longest pause during the requests, in CPU seconds, and its stack.
    pause: float
    stack: str
    #: Accepted data that is missing or changed.
    lost: list[str]
    accepted: int
    kept: bool
    status: int
    complaints: list[str]


def run(folder: Path) -> Outcome:
    with Process(folder) as process:
        walked = walk(process, "before")
        people = People([_person(process, name) for name in _NAMES])
        with process.client() as client:
            cases = Cases(Document(client.get("/openapi.json").json()), people)
        asyncio.run(_send(process, people, list(_warm_up(cases))))
        before = _at_rest(process)
        crowd = asyncio.run(_send(process, people, list(_drawn(cases))))
        busy = process.figures()
        after = _at_rest(process, before)
        walk(process, "after")
        lost = list(_lost(process, people))
        kept = still_there(process, walked)
        return Outcome(
            faults=crowd.report(),
            statuses=crowd.statuses,
            before=before,
            after=after,
            pause=busy.pause,
            stack=busy.stack,
            lost=lost,
            accepted=len(people.kept()),
            kept=kept,
            status=process.stop(),
            complaints=process.complaints(),
        )


async def _send(process: Process, people: People, cases: list[tuple[str, Case]]) -> Crowd:
    crowd = Crowd(process.port, process.folder, people)
    await crowd.send(cases)
    return crowd


def _warm_up(cases: Cases) -> Iterator[tuple[str, Case]]:
    """Cases for the warm-up. After it the server has loaded its lazy imports, and has reached its usual
    memory."""
    for number, case in enumerate((*cases.each_large(), *[cases.any] * _WARM_UP)):
        yield f"{SEED}-warm-{number}", case


def _drawn(cases: Cases) -> Iterator[tuple[str, Case]]:
    """Random cases. Each has its own seed, so that it does not depend on the others."""
    each = list(cases.each())
    for number in range(REQUESTS):
        yield f"{SEED}-{number}", each[number] if number < len(each) else cases.any


def _person(process: Process, name: str) -> Person:
    person = Person(name, sign_in(process, name))
    people = People([person])
    with process.client(person.token) as client:
        person.learn("thread_id", client.post("/api/sessions").json()["thread_id"])
        person.learn("session_id", talk_over_c(client, "delete the old rows"))
        for said in _STATES:
            turn = send(client, conversation(client, agent="approval-agent"), said)
            to_segment_end(client, turn["id"])
            people.learn(name, turn)
        people.learn(name, client.get("/api/v2/interrupts").json())
    return person


def _at_rest(process: Process, before: Figures | None = None) -> Figures:
    """The figures once the server is idle: no more tasks and descriptors than before, or a time limit."""
    deadline = time.monotonic() + _PATIENCE
    last, figures = None, process.figures()
    while time.monotonic() < deadline:
        if before is not None and _no_more(figures, before):
            break
        if before is None and last is not None and _no_more(figures, last):
            break
        time.sleep(2)
        last, figures = figures, process.figures()
    return figures


def _no_more(now: Figures, before: Figures) -> bool:
    return now.descriptors <= before.descriptors and sum(now.tasks.values()) <= sum(before.tasks.values())


def _lost(process: Process, people: People) -> Iterator[str]:
    for turn in people.kept():
        with process.client(people.token(turn.person)) as client:
            answer = client.get(f"/api/v2/turns/{turn.id}")
        if answer.status_code != 200 or answer.json()["content"] != turn.content:
            yield f"{turn}: {answer.status_code} {answer.text[:300]}"
