"""Grants as rows, on every backend."""

import asyncio

import pytest

from caesura.core.answers import Answer
from caesura.core.errors import BadAnswer, NoConversation
from caesura.core.interrupts import Approval
from caesura.core.permits import Permit
from caesura.core.turns import Turn
from caesura.store import conversations, grants, interrupts, life, turns
from caesura.store.database import Database
from tests.conformance.rows import end_turn, make_conversation, make_turn, make_user


def permit(tool: str, agent: str = "a") -> str:
    return str(Permit(agent, "built-in", tool))


async def _conversation(database: Database) -> str:
    return await make_conversation(database, await make_user(database, "alice"))


async def _granting(database: Database, conversation_id: str, *tools: str, **new: str | None) -> Turn:
    """A turn in which these tools were always allowed."""
    turn = await make_turn(database, conversation_id, **new)
    for tool in tools:
        asked = Approval(f"int-{turn.num}-{tool}", name=tool, permit=permit(tool))
        await database.write(interrupts.ask, turn.num, "alice", {tool: asked})
        always = Answer("approve", always_allow=True)
        await database.write(life.answer, "alice", {asked.id: always})
    return await end_turn(database, turn)


async def _listed(database: Database, conversation_id: str) -> list[tuple[str, str]]:
    found = await database.read(grants.listing, conversation_id, "alice")
    return [(grant.tool, grant.turn_id) for grant in found]


async def test_a_grant_is_listed_with_its_turn_and_time(database: Database) -> None:
    conversation_id = await _conversation(database)
    assert await _listed(database, conversation_id) == []
    before = await database.read(interrupts.clock)
    first = await _granting(database, conversation_id, "seal")
    second = await _granting(database, conversation_id, "look")
    await end_turn(database, await make_turn(database, conversation_id))
    assert await _listed(database, conversation_id) == [("look", second.id), ("seal", first.id)]
    look, seal = await database.read(grants.listing, conversation_id, "alice")
    assert before <= seal.granted_at <= look.granted_at <= await database.read(interrupts.clock)


@pytest.mark.parametrize("decision", ["reject", "respond"])
async def test_a_call_that_was_not_approved_grants_nothing(database: Database, decision: str) -> None:
    conversation_id = await _conversation(database)
    turn = await make_turn(database, conversation_id)
    await database.write(
        interrupts.ask, turn.num, "alice", {"g": Approval("i", name="seal", permit=permit("seal"))}
    )
    answer = Answer(decision, message="so", always_allow=True)  # type: ignore[arg-type]
    with pytest.raises(BadAnswer):
        await database.write(life.answer, "alice", {"i": answer})
    assert (await database.read(turns.get, turn.id)).grants == ()
    assert len(await database.read(interrupts.pending, turn.num)) == 1


async def test_the_active_branch_is_listed_and_every_branch_revoked(database: Database) -> None:
    conversation_id = await _conversation(database)
    first = await _granting(database, conversation_id, "seal", "look")
    other = await _granting(database, conversation_id, "seal", parent=None)
    assert await _listed(database, conversation_id) == [("seal", other.id)]
    assert await database.write(grants.revoke, conversation_id, "alice", "seal")
    assert await _listed(database, conversation_id) == []
    await database.write(conversations.activate, conversation_id, first.id)
    assert await _listed(database, conversation_id) == [("look", first.id)]
    assert not await database.write(grants.revoke, conversation_id, "alice", "seal")
    assert not await database.read(grants.stands, first.num, permit("seal"))
    assert await database.read(grants.stands, first.num, permit("look"))
    assert (await make_turn(database, conversation_id)).grants == (permit("look"),)


async def test_a_grant_renewed_after_a_revocation_names_the_later_turn(
    database: Database,
) -> None:
    conversation_id = await _conversation(database)
    await _granting(database, conversation_id, "seal")
    await database.write(grants.revoke, conversation_id, "alice", "seal")
    later = await _granting(database, conversation_id, "seal")
    assert await _listed(database, conversation_id) == [("seal", later.id)]


async def test_anothers_grants_are_neither_listed_nor_revoked(database: Database) -> None:
    conversation_id = await _conversation(database)
    turn = await _granting(database, conversation_id, "seal")
    other = await make_user(database)
    for whose in ((conversation_id, other), ("conv-missing", "alice")):
        with pytest.raises(NoConversation):
            await database.read(grants.listing, *whose)
        with pytest.raises(NoConversation):
            await database.write(grants.revoke, *whose, "seal")
    assert await database.read(grants.stands, turn.num, permit("seal"))


async def test_a_turn_that_begins_during_a_revocation_does_not_have_the_grant(database: Database) -> None:
    conversation_id = await _conversation(database)
    for _ in range(8):
        await _granting(database, conversation_id, "seal")
        new = life.New(conversation_id, "hello", owner="node-1", lease_ms=60_000)
        made, revoked = await asyncio.gather(
            database.write(life.create, new), database.write(grants.revoke, conversation_id, "alice", "seal")
        )
        assert revoked
        assert not await database.read(grants.stands, made.num, permit("seal"))
        await end_turn(database, made)


async def test_a_grant_of_one_agent_is_none_of_another_and_a_tool_is_revoked_for_both(
    database: Database,
) -> None:
    conversation_id = await _conversation(database)
    turn = await make_turn(database, conversation_id)
    for agent in ("b", "a"):
        await database.write(grants.add, turn.num, permit("seal", agent))
    assert not await database.read(grants.stands, turn.num, permit("seal", "c"))
    listed = await database.read(grants.listing, conversation_id, "alice")
    assert [(grant.tool, grant.agent) for grant in listed] == [("seal", "a"), ("seal", "b")]
    assert await database.write(grants.revoke, conversation_id, "alice", "seal")
    assert await database.read(grants.listing, conversation_id, "alice") == []


async def test_the_name_alone_that_an_older_version_kept_permits_nothing(database: Database) -> None:
    conversation_id = await _conversation(database)
    turn = await make_turn(database, conversation_id)
    await database.write(grants.add, turn.num, "seal")
    assert not await database.read(grants.stands, turn.num, permit("seal"))
    assert await database.read(grants.listing, conversation_id, "alice") == []


async def test_an_approval_that_an_older_version_asked_for_grants_nothing(database: Database) -> None:
    conversation_id = await _conversation(database)
    turn = await make_turn(database, conversation_id)
    await database.write(interrupts.ask, turn.num, "alice", {"g": Approval("i", name="seal")})
    await database.write(life.answer, "alice", {"i": Answer("approve", always_allow=True)})
    assert (await database.read(turns.get, turn.id)).grants == ()
