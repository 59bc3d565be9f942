"""kill -9 of a server during an operator's own tool: the journal's rules hold, and the key is the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from textwrap import dedent

import pytest

from caesura.client import Client
from caesura.client.events import ReceivedEvent
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.interrupts import Approval, Interrupt, Questions
from tests import agent_files
from tests.client.process import Process

pytestmark = pytest.mark.timeout(300)

#: A function waits until there is a file `go`: a test kills the server before.
TOOLS = '''
    import asyncio, time
    from pathlib import Path

    import caesura

    FOLDER = Path(__file__).parent

    def left(text):
        with (FOLDER / "trace.txt").open("a") as file:
            file.write(text + "\\n")

    @caesura.tool(permission="auto")
    def charge(ctx: caesura.Context) -> str:
        """Charge."""
        left(f"charge {ctx.idempotency_key}")
        while not (FOLDER / "go").exists():
            time.sleep(0.01)
        return "charged"

    @caesura.tool(permission="auto", repeatable=True)
    async def look(ctx: caesura.Context) -> str:
        """Look."""
        left(f"look {ctx.idempotency_key}")
        while not (FOLDER / "go").exists():
            await asyncio.sleep(0.01)
        return "seen"

    @caesura.tool(permission="auto")
    def refund(ctx: caesura.Context) -> str:
        """Refund."""
        left(f"asks {ctx.idempotency_key}")
        amount = ctx.ask("How much?")
        left(f"refund {amount} {ctx.idempotency_key}")
        while not (FOLDER / "go").exists():
            time.sleep(0.01)
        return f"refunded {amount}"
'''


class Scene:
    """A server that can be killed, and a person who talks to its agent."""

    def __init__(self, folder: Path) -> None:
        self.agents = folder / "agents"
        tools = "tools: [money:charge, money:look, money:refund]\nmodel: {primary: demo, options: {delay: 0}}"
        agent_files.put(self.agents, "clerk", tools)
        self.agents.joinpath("money.py").write_text(dedent(TOOLS))
        self.process = Process(folder / "data", agents_dir=str(self.agents), default_agent="clerk")
        self.client = Client(self.process.url)

    def go(self) -> None:
        self.agents.joinpath("go").touch()

    def traces(self) -> list[str]:
        file = self.agents / "trace.txt"
        return file.read_text().splitlines() if file.exists() else []

    async def until(self, count: int) -> None:
        """Wait until the tools have left so many traces."""
        async with asyncio.timeout(60):
            while len(self.traces()) < count:  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def crash(self) -> None:
        self.process.kill()
        self.process.start()

    async def call(self, tool: str) -> AsyncGenerator[ReceivedEvent, None]:
        conversation = await self.client.create()
        turn = await self.client.send(conversation.id, f"call {tool} {{}}")
        return self.client.events(turn.id)

    async def asked(self, events: AsyncGenerator[ReceivedEvent, None]) -> Interrupt:
        async for received in events:
            if isinstance(received.event, ev.Interrupted):
                [item] = received.event.interrupts
                return item
        raise AssertionError("nothing was asked")

    async def results(self, events: AsyncGenerator[ReceivedEvent, None]) -> list[tuple[str, str]]:
        found = [item.event async for item in events if isinstance(item.event, ev.ToolFinished)]
        return [(event.output, event.status) for event in found]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@asynccontextmanager
async def calling(scene: Scene, tool: str) -> AsyncIterator[AsyncGenerator[ReceivedEvent, None]]:
    with scene.process:
        async with scene.client, aclosing(await scene.call(tool)) as events:
            yield events


async def test_a_function_that_was_cut_off_runs_again_only_if_the_person_says_so(scene: Scene) -> None:
    async with calling(scene, "charge") as events:
        for times in (1, 2):
            await scene.until(times)
            scene.crash()
            asked = await scene.asked(events)
            assert isinstance(asked, Approval)
            assert asked.unknown, "nobody knows whether it was done"
            assert len(scene.traces()) == times, "it did not run again by itself"
            if times == 2:
                scene.go()
            await scene.client.answer(asked.id, Answer("approve"))
        assert await scene.results(events) == [("charged", "ok")]
    assert len(scene.traces()) == 3
    assert len(set(scene.traces())) == 1, "the key is the same each time"


async def test_a_repeatable_function_that_was_cut_off_simply_runs_again(scene: Scene) -> None:
    async with calling(scene, "look") as events:
        await scene.until(1)
        scene.go()
        scene.crash()
        assert await scene.results(events) == [("seen", "ok")]
    first, second = scene.traces()
    assert first == second


async def test_a_crash_at_a_question_is_no_unknown_outcome_and_a_crash_after_its_answer_is(
    scene: Scene,
) -> None:
    async with calling(scene, "refund") as events:
        question = await scene.asked(events)
        assert isinstance(question, Questions)
        scene.crash()
        await scene.client.answer(question.id, Answer("answers", answers=("12",)))
        await scene.until(3)  # it runs from its top, and gets over the question
        scene.crash()
        asked = await scene.asked(events)
        assert isinstance(asked, Approval)
        assert asked.unknown
        scene.go()
        await scene.client.answer(asked.id, Answer("approve"))
        assert await scene.results(events) == [("refunded 12", "ok")]
    words = [line.rsplit(" ", 1) for line in scene.traces()]
    assert [text for text, _ in words] == ["asks", "asks", "refund 12", "asks", "refund 12"]
    assert len({key for _, key in words}) == 1


async def test_a_function_that_never_ends_does_not_keep_the_server_from_ending(scene: Scene) -> None:
    async with calling(scene, "charge"):
        await scene.until(1)
        assert scene.process.terminate() == 0
