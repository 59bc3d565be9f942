"""Sends cases to the server, several at once, and collects the faults of the responses."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.hostile.answer import Answer, Malformed
from tests.hostile.cases import Case
from tests.hostile.checks import Checks
from tests.hostile.connection import Connection, NoAnswer
from tests.hostile.person import People
from tests.hostile.request import Request

_SENDERS = 8
_TOLD = 15


class Crowd:
    def __init__(self, port: int, folder: Path, people: People) -> None:
        self._port, self._people, self._checks = port, people, Checks(folder)
        self._large: list[tuple[str, Request]] = []
        self.faults: dict[str, str] = {}
        self.statuses: Counter[int] = Counter()

    async def send(self, cases: list[tuple[str, Case]]) -> None:
        """Each case comes with its random seed. Large cases come last, one by one, so that single steps of
        the server are measured, not several large ones together."""
        waiting = iter(cases)
        async with asyncio.TaskGroup() as group:
            for _ in range(_SENDERS):
                group.create_task(self._sender(waiting))
        connection = Connection(self._port)
        while self._large:
            seed, request = self._large.pop()
            await self._try(connection, request, seed)
        connection.close()

    def report(self) -> str:
        told = [f"- {fault}\n    {example}" for fault, example in self.faults.items()]
        return "\n".join(told[:_TOLD])

    async def _sender(self, waiting: Iterator[tuple[str, Case]]) -> None:
        connection = Connection(self._port)
        for seed, case in waiting:
            request = case(Random(seed))
            for item in (request, *request.then):
                if item.method == "DELETE":
                    self._people.deletes(item.target)
            if request.large:
                self._large.append((seed, request))
            else:
                await self._try(connection, request, seed)
        connection.close()

    async def _try(self, connection: Connection, request: Request, seed: str) -> None:
        try:
            answers = await connection.send(request)
        except (NoAnswer, Malformed) as error:
            self._note(f"{type(error).__name__}: {error}", request, None, seed)
            return
        for item, answer in zip((request, *request.then), answers, strict=False):
            self.statuses[answer.status] += 1
            for fault in self._checks.faults(item, answer):
                self._note(fault, item, answer, seed)
            if answer.status < 300 and answer.kind == "application/json" and answer.body:
                self._people.learn(item.person, answer.json)

    def _note(self, fault: str, request: Request, answer: Answer | None, seed: str) -> None:
        self.faults.setdefault(fault, f"case {seed}: {request}\n    {answer}")
