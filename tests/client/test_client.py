"""The operations of the client."""

import asyncio
import re
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

import caesura.client
from caesura.client import Client, ClientError, StoredInterrupt, Turn
from caesura.core import events as ev
from caesura.core.answers import Answer
from caesura.core.events import Envelope
from caesura.core.fold import fold
from caesura.core.interrupts import Approval, Questions
from tests.api.server import PASSWORD, Served
from tests.waiting import milliseconds


async def read(client: Client, turn_id: str, after: int = 0) -> list[Envelope]:
    return [envelope async for envelope in client.events(turn_id, after)]


async def said(client: Client, content: str) -> tuple[Turn, list[Envelope]]:
    """Send a message in a new conversation. Returns its turn and all of its events."""
    turn = await client.send((await client.create()).id, content)
    return turn, await read(client, turn.id)


async def asked(client: Client, content: str) -> tuple[Turn, list[StoredInterrupt]]:
    """Send a message whose turn waits for a person."""
    turn = await client.send((await client.create()).id, content)
    async with aclosing(client.events(turn.id)) as events:
        async for _, _, event in events:
            if isinstance(event, ev.SegmentEnded):
                break
    return turn, [item for item in await client.inbox() if item.turn_id == turn.id]


def text(found: list[Envelope]) -> str:
    return fold(envelope.event for envelope in found).text


def test_the_public_names_are_these() -> None:
    names = (
        "Agent Artifact ArtifactDiff ArtifactEdit ArtifactEntry ArtifactVersion Client ClientError"
        " Conversation File Grant Person ReceivedEvent Rewound RunningTool SeenTurn Snapshot StoredInterrupt"
        " Tree Turn Unreachable WritingTool"
    )
    assert caesura.client.__all__ == names.split()


def test_the_client_needs_nothing_of_the_server() -> None:
    heavy = "langchain langchain_core langgraph sqlalchemy fastapi starlette pydantic uvicorn"
    code = f"import sys, caesura.client; print([m for m in {heavy.split()} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


async def test_the_example_in_the_documentation_works_as_printed(server: Served) -> None:
    page = (Path(__file__).parents[2] / "docs/client.md").read_text()
    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    server.token("alice")
    code = example.replace("http://127.0.0.1:8000", server.url)
    ran = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    printed, _ = await ran.communicate()
    assert ran.returncode == 0
    assert b"wrote 8 bytes to hello.py" in printed


# --- people and agents


async def test_a_person_registers_logs_in_and_is_known(server: Served) -> None:
    async with Client(server.url) as client:
        assert await client.register("carol", "correct horse") == "carol"
        assert await client.login("carol", "correct horse") == client.token
        assert await client.me() == "carol"


async def test_a_name_and_a_password_log_in_by_themselves(server: Served) -> None:
    server.token("dora")
    async with Client(server.url, username="dora", password=PASSWORD) as client:
        assert await client.me() == "dora"


async def test_a_token_that_has_expired_is_renewed(tmp_path: Path) -> None:
    with Served(tmp_path, token_hours=3 / 3600) as server:
        server.token("alice")
        async with Client(server.url, username="alice", password=PASSWORD) as client:
            conversation = await client.create()
            turn = await client.send(conversation.id, "echo x")
            await asyncio.sleep(3.1)
            assert text(await read(client, turn.id)) == "x"


async def test_a_wrong_password_is_reported_at_once(server: Served) -> None:
    async with Client(server.url, username="alice", password="wrong password") as client:
        with pytest.raises(ClientError, match="Incorrect username or password") as caught:
            await client.me()
        assert caught.value.status == 401


async def test_agents_are_listed(alice: Client) -> None:
    agents = {agent.name: agent for agent in await alice.agents()}
    assert agents["assistant"].is_default
    assert not agents["approval-agent"].is_default


# --- conversations


async def test_a_conversation_lives_from_its_creation_to_its_end(alice: Client) -> None:
    made = await alice.create(agent="assistant", title="Trees")
    assert (made.title, made.status) == ("Trees", "idle")
    assert (await alice.rename(made.id, "Flowers")).title == "Flowers"
    turn = await alice.send(made.id, "echo a b")
    await read(alice, turn.id)
    snapshot = await alice.snapshot(made.id)
    assert snapshot.turn == turn.id
    assert [message.content for message in snapshot.turns[0].messages][-1] == "a b"
    assert await read(alice, turn.id, snapshot.cursor) == []
    assert (await alice.tree(made.id)).turns == snapshot.turns
    await alice.delete(made.id)
    with pytest.raises(ClientError) as caught:
        await alice.tree(made.id)
    assert (caught.value.status, caught.value.code) == (404, "not_found")


async def test_the_listing_reads_all_pages(server: Served) -> None:
    async with Client(server.url, server.token("erin")) as client:
        made = [(await client.create()).id for _ in milliseconds(45)]
        assert [item.id async for item in client.conversations(order="created")] == made[::-1]


async def test_a_branch_can_be_started_and_left_again(alice: Client) -> None:
    first, _ = await said(alice, "echo one")
    second = await alice.send(first.conversation_id, "echo two", parent=None)
    await read(alice, second.id)
    assert second.parent_id is None
    assert (await alice.tree(first.conversation_id)).conversation.active_turn == second.id
    assert (await alice.branch(first.conversation_id, first.id)).active_turn == first.id
    third = await alice.send(first.conversation_id, "echo three", parent=second.id)
    assert third.parent_id == second.id


# --- turns


async def test_all_events_of_a_turn_come_in_order_and_end_with_it(alice: Client) -> None:
    turn, found = await said(alice, "echo a b c")
    assert [envelope.seq for envelope in found] == list(range(1, len(found) + 1))
    assert isinstance(found[-1].event, ev.SegmentEnded)
    assert text(found) == "a b c"
    assert (await alice.turn(turn.id)).status == "done"
    for cursor in range(len(found) + 1):
        assert [item.event for item in await read(alice, turn.id, cursor)] == [
            item.event for item in found[cursor:]
        ]


async def test_a_turn_is_read_with_its_messages_and_pending_interrupts(alice: Client) -> None:
    turn, found = await said(alice, "echo a b")
    seen = await alice.seen(turn.id)
    assert (seen.turn.id, seen.messages[-1].content, seen.cursor) == (turn.id, "a b", len(found))
    turn, (item,) = await asked(alice, "write hello.py: print(1)")
    assert (await alice.seen(turn.id)).interrupts == (item.interrupt,)


async def test_a_turn_is_stopped_and_retried(alice: Client) -> None:
    turn = await alice.send((await alice.create()).id, "count to 2000 delay=0.01")
    assert await alice.stop(turn.id)
    assert not await alice.stop(turn.id)
    found = [item.event for item in await read(alice, turn.id)]
    *_, outcome, _ = [event for event in found if not isinstance(event, ev.TitleChanged)]
    assert isinstance(outcome, ev.Stopped)
    assert (await alice.retry(turn.id)).id == turn.id
    await alice.stop(turn.id)
    assert (await alice.regenerate(turn.id)).id != turn.id


async def test_a_message_with_the_same_key_is_stored_once(alice: Client) -> None:
    conversation = await alice.create()
    first = await alice.send(conversation.id, "echo x", key="once")
    again = await alice.send(conversation.id, "echo x", key="once")
    assert first.id == again.id
    with pytest.raises(ClientError) as caught:
        await alice.send(conversation.id, "echo y", key="once")
    assert (caught.value.status, caught.value.code) == (422, "key_reused")


# --- interrupts


async def test_the_same_stream_continues_after_an_approval(alice: Client) -> None:
    turn = await alice.send((await alice.create()).id, "write hello.py: print(1)")
    found = []
    async for envelope in alice.events(turn.id):
        found.append(envelope)
        if isinstance(envelope.event, ev.Interrupted):
            (item,) = envelope.event.interrupts
            assert isinstance(item, Approval)
            assert (item.name, item.args["path"]) == ("write_file", "hello.py")
            await alice.answer(item.id, Answer("approve"))
    assert [item.event.cause for item in found if isinstance(item.event, ev.RunStarted)] == [
        "start",
        "resume",
    ]
    assert (await alice.turn(turn.id)).status == "done"


async def test_questions_are_answered_all_at_once(alice: Client) -> None:
    turn, (item,) = await asked(alice, "ask me 2 questions")
    assert isinstance(item.interrupt, Questions)
    assert [len(question.options) > 0 for question in item.interrupt.questions] == [True, True]
    values = tuple(question.options[0].value for question in item.interrupt.questions)
    with pytest.raises(ClientError, match="answers count") as caught:
        await alice.answer(item.interrupt.id, Answer("answers", answers=values[:1]))
    assert caught.value.code == "bad_answer"
    await alice.answer_all(turn.id, {item.interrupt.id: Answer("answers", answers=values)})
    kept = await alice.interrupt(item.interrupt.id)
    assert kept.answer == Answer("answers", answers=values)


async def test_the_inbox_reads_all_pages(tmp_path: Path) -> None:
    with Served(tmp_path, default_page_size=2, max_page_size=2) as server:
        async with Client(server.url, server.token()) as client:
            turns = [(await asked(client, f"write {number}.py: print(1)"))[0].id for number in range(5)]
            assert [item.turn_id for item in await client.inbox()] == turns


async def test_the_error_carries_the_pending_interrupts_and_the_winning_decision(alice: Client) -> None:
    turn, (item,) = await asked(alice, "write hello.py: print(1)")
    with pytest.raises(ClientError) as caught:
        await alice.send(turn.conversation_id, "echo x")
    assert caught.value.code == "interrupt_pending"
    assert caught.value.extra["interrupts"][0]["id"] == item.interrupt.id
    await alice.answer(item.interrupt.id, Answer("reject", message="no"))
    with pytest.raises(ClientError) as caught:
        await alice.answer(item.interrupt.id, Answer("approve"))
    assert caught.value.code == "already_answered"
    assert caught.value.extra["decision"]["decision"] == "reject"


async def test_a_new_message_may_supersede_a_pending_interrupt(alice: Client) -> None:
    turn, _ = await asked(alice, "write hello.py: print(1)")
    next_turn = await alice.send(turn.conversation_id, "echo x", supersede=True)
    assert text(await read(alice, next_turn.id)) == "x"


async def test_an_answer_applies_to_its_own_interrupt_and_no_later_one(alice: Client) -> None:
    """A second click answers only the interrupt that was shown, however soon the next one is pending."""
    turn, (first,) = await asked(alice, "write a.txt then write b.txt")
    await alice.answer(first.interrupt.id, Answer("approve"))
    with pytest.raises(ClientError) as caught:
        await alice.answer(first.interrupt.id, Answer("approve"))
    assert (caught.value.status, caught.value.code) == (409, "already_answered")
    async with aclosing(alice.events(turn.id)) as events:
        ends = 0
        async for _, _, event in events:
            ends += isinstance(event, ev.SegmentEnded)
            if ends == 2:
                break
    (second,) = [item for item in await alice.inbox() if item.turn_id == turn.id]
    assert isinstance(second.interrupt, Approval)
    assert second.interrupt.args["path"] == "b.txt"
    with pytest.raises(ClientError):
        await alice.answer(first.interrupt.id, Answer("approve"))
    assert (await alice.interrupt(second.interrupt.id)).status == "pending"


async def test_grants_are_listed_and_revoked(alice: Client) -> None:
    turn, (item,) = await asked(alice, "write a.txt")
    await alice.answer(item.interrupt.id, Answer("approve", always_allow=True))
    await read(alice, turn.id)
    (grant,) = await alice.grants(turn.conversation_id)
    assert (grant.tool, grant.turn_id) == ("write_file", turn.id)
    await alice.revoke(turn.conversation_id, "write_file")
    assert await alice.grants(turn.conversation_id) == []
    for tool in ("write_file", "..", ".", "a/b"):
        with pytest.raises(ClientError) as caught:
            await alice.revoke(turn.conversation_id, tool)
        assert caught.value.status == 404
    assert (await alice.tree(turn.conversation_id)).turns
