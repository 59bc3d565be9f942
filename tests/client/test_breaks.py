"""Whatever happens to the server or the connection, a client continues by itself: no event lost, none
repeated."""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from caesura.client import Client
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.events import Envelope
from caesura.core.fold import fold
from tests.api.server import Served
from tests.client.process import Process
from tests.client.proxy import Proxy

LONG = "long 200 think=no delay=0.01"


async def begin(client: Client, content: str = LONG) -> str:
    return (await client.send((await client.create()).id, content)).id


async def whole(client: Client, turn_id: str) -> list[Envelope]:
    return [envelope async for envelope in client.events(turn_id)]


async def undisturbed(client: Client, content: str = LONG) -> str:
    """The answer to this message without any disturbance."""
    turn_id = await begin(client, content.replace("delay=0.01", "delay=0"))
    return fold(item.event for item in await whole(client, turn_id)).text


def causes(found: list[Envelope]) -> list[str]:
    return [item.event.cause for item in found if isinstance(item.event, ev.RunStarted)]


async def assert_exact(client: Client, turn_id: str, found: list[Envelope], text: str) -> None:
    """The events read in pieces equal the log, and the answer is the expected one."""
    assert [item.seq for item in found] == list(range(1, len(found) + 1))
    assert found == await whole(client, turn_id)
    transcript = fold(item.event for item in found)
    assert isinstance(transcript.outcome, ev.Finished)
    assert transcript.text == text
    conversation = (await client.turn(turn_id)).conversation_id
    (turn,) = (await client.snapshot(conversation)).turns
    assert [message.content for message in turn.messages if message.content] == [text]


async def disturbed(client: Client, turn_id: str, disturb: Callable[[], None], times: int) -> list[Envelope]:
    """Read a turn. Disturb the server whenever some of its words have come."""
    found: list[Envelope] = []
    words, work = 0, None
    async for envelope in client.events(turn_id):
        found.append(envelope)
        words = words + 1 if isinstance(envelope.event, ev.TextDelta) else 0
        if words >= 20 and times and (work is None or work.done()):
            words, times = 0, times - 1
            work = asyncio.create_task(asyncio.to_thread(disturb))
    assert times == 0, "the answer came to its end too soon"
    return found


def kill(process: Process) -> Callable[[], None]:
    def disturb() -> None:
        process.kill()
        process.start()

    return disturb


def roll(process: Process) -> Callable[[], None]:
    def disturb() -> None:
        process.terminate()
        process.start()

    return disturb


async def test_after_kill_9_in_mid_stream_the_client_continues_to_the_exact_text(process: Process) -> None:
    async with Client(process.url) as client:
        text = await undisturbed(client)
        turn_id = await begin(client)
        found = await disturbed(client, turn_id, kill(process), times=2)
        await assert_exact(client, turn_id, found, text)
        assert causes(found) == ["start", "adopt", "adopt"]
        assert sum(isinstance(item.event, ev.TextVoided) for item in found) == 2


async def test_ten_restarts_during_one_reply_lose_and_repeat_no_event(process: Process) -> None:
    async with Client(process.url) as client:
        text = await undisturbed(client)
        turn_id = await begin(client)
        found = await disturbed(client, turn_id, roll(process), times=10)
        await assert_exact(client, turn_id, found, text)
        assert causes(found) == ["start", *["adopt"] * 10]


async def test_two_concurrent_clients_see_the_same_events_through_a_crash(process: Process) -> None:
    async with Client(process.url) as one, Client(process.url) as two:
        text = await undisturbed(one)
        turn_id = await begin(one)
        first, second = await asyncio.gather(
            disturbed(one, turn_id, kill(process), times=1), whole(two, turn_id)
        )
        assert first == second
        await assert_exact(one, turn_id, first, text)


async def test_an_interrupt_stays_pending_through_a_restart(process: Process) -> None:
    async with Client(process.url) as client:
        turn_id = await begin(client, "write hello.py: print(1)")
        asked = asyncio.Event()

        async def follow() -> list[Envelope]:
            found: list[Envelope] = []
            async for envelope in client.events(turn_id):
                found.append(envelope)
                if isinstance(envelope.event, ev.SegmentEnded):
                    asked.set()
            return found

        following = asyncio.create_task(follow())
        await asked.wait()
        await asyncio.to_thread(kill(process))
        (item,) = await client.inbox()
        await client.answer(item.interrupt.id, Answer("approve"))
        found = await following
        assert found == await whole(client, turn_id)
        assert causes(found) == ["start", "resume"]


async def test_a_message_sent_while_the_server_is_down_arrives_once(process: Process) -> None:
    async with Client(process.url) as client:
        conversation = await client.create()
        await asyncio.to_thread(process.kill)
        sending = asyncio.create_task(client.send(conversation.id, "echo x"))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(process.start)
        turn = await sending
        await whole(client, turn.id)
        assert len((await client.tree(conversation.id)).turns) == 1


@pytest.fixture
async def straight(server: Served) -> AsyncIterator[Client]:
    """A client whose connection is not cut."""
    async with Client(server.url, server.token("cut")) as client:
        yield client


@pytest.mark.parametrize("cuts", [(700, 1100, 1900), (450, 990, 5_003, 1)], ids=str)
async def test_cut_connections_lose_and_repeat_no_event(
    server: Served, straight: Client, cuts: tuple[int, ...]
) -> None:
    async with Proxy(server.port, cuts) as proxy, Client(proxy.url, straight.token) as client:
        conversation = await straight.create()
        turn = await client.send(conversation.id, "long 200 delay=0.001")
        assert await whole(client, turn.id) == await whole(straight, turn.id)
    assert len((await straight.tree(conversation.id)).turns) == 1
    assert proxy.count > 3


async def test_answers_over_cut_connections_count_once(server: Served, straight: Client) -> None:
    turn_id = await begin(straight, "write a.txt + write b.txt")
    async with Proxy(server.port, (120, 700, 4000)) as proxy, Client(proxy.url, straight.token) as client:
        found = []
        async for envelope in client.events(turn_id):
            found.append(envelope)
            if isinstance(envelope.event, ev.Interrupted):
                answers = {item.id: Answer("approve") for item in envelope.event.interrupts}
                await client.answer_all(turn_id, answers)
    assert found == await whole(straight, turn_id)
    assert sum(isinstance(item.event, ev.InterruptClosed) for item in found) == 2


async def test_a_delete_whose_response_was_lost_is_done(server: Served, straight: Client) -> None:
    conversation = await straight.create()
    async with Proxy(server.port, (10, 100_000)) as proxy, Client(proxy.url, straight.token) as client:
        await client.delete(conversation.id)
    assert [item async for item in straight.conversations() if item.id == conversation.id] == []


async def test_a_conversation_whose_response_was_lost_is_made_once(server: Served, straight: Client) -> None:
    title = "made once"
    async with Proxy(server.port, (10, 100_000)) as proxy, Client(proxy.url, straight.token) as client:
        made = await client.create(title=title)
    assert proxy.count > 1
    assert [item.id async for item in straight.conversations() if item.title == title] == [made.id]
