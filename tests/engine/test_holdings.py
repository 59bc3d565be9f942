"""How much memory the results of tool calls may take: in one turn, and in all running turns of a person."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from caesura.core import events as ev
from caesura.core import json_data, outputs
from caesura.core.messages import Message
from caesura.engine.holdings import Holdings
from caesura.store import tool_calls
from caesura.store.database import Database
from tests.engine.crash import lose
from tests.engine.world import PATIENCE, YES, World, limits, world_over
from tests.openai_server import Call, Desk, Hang, Say

KIB = 1024
#: The characters of a result of the tool `flood`.
WHOLE = 260 * KIB
FLOODS = [Call("flood", {"text": "x"}, f"flood-{number}") for number in range(4)]
TURN = "the results of the tool calls of one turn may take {} of memory together"
PERSON = "the results in all turns that run for this person may take {} of memory together"


# --- measuring


@pytest.mark.parametrize("ends", ["", "é", "汉", "😀", "é" * 9_000, "汉" * 9_000, "😀" * 9_000])
def test_a_text_is_measured_by_what_it_takes_once_it_was_written_as_json(ends: str) -> None:
    text = "".join(["x" * 9_000, ends])
    measured = outputs.size(text)
    json_data.dumps({"text": text})
    assert sys.getsizeof(text) - 10 <= measured <= sys.getsizeof(text)


# --- one turn


def test_a_result_is_kept_whole_then_cut_then_left_out() -> None:
    holdings = Holdings(1_000 * KIB, 10_000 * KIB)
    with holdings.of("alice") as holding:
        assert holding.keep("a", "x" * 600 * KIB) == "x" * 600 * KIB
        cut = holding.keep("b", "y" * 600 * KIB)
        assert cut.startswith("y" * 300 * KIB)
        assert cut.endswith("y" * 1_000)
        assert f" of {600 * KIB} characters are left out here; {TURN.format('1024000 bytes')}]" in cut
        why = TURN.format("1024000 bytes")
        assert holding.keep("c", "z" * 9_000) == f"[left out: all 9000 characters of the result; {why}]"
        assert holding.keep("d", "a few words") == "[left out: all 11 characters of the result; " + why + "]"
        assert 1_000 * KIB < holdings["alice"] < 1_001 * KIB
    assert holdings["alice"] == 0
    assert not holdings._people


def test_one_wide_character_makes_a_result_count_five_times() -> None:
    with Holdings(1_000 * KIB, 10_000 * KIB).of("alice") as holding:
        assert holding.keep("a", "x" * 150 * KIB + "😀") == "x" * 150 * KIB + "😀"
        kept = holding.keep("b", "x" * 150 * KIB + "😀")
        assert 45 * KIB < len(kept) < 55 * KIB


def test_a_call_that_is_made_again_has_one_result() -> None:
    holdings = Holdings(1_000 * KIB, 10_000 * KIB)
    with holdings.of("alice") as holding:
        for _ in range(5):
            assert holding.keep("a", "x" * 600 * KIB) == "x" * 600 * KIB
        assert holdings["alice"] < 601 * KIB
        assert holding.keep("a", "") == ""
        assert holdings["alice"] < KIB


def test_results_that_the_turn_already_has_count_and_are_not_cut() -> None:
    holdings = Holdings(100 * KIB, 10_000 * KIB)
    with holdings.of("alice") as holding:
        had = [Message("tool", "x" * 300 * KIB, tool_call_id="a"), Message("assistant", "y" * 300 * KIB)]
        holding.recall(had)
        assert 300 * KIB < holdings["alice"] < 301 * KIB
        assert holding.keep("b", "more " * 400).startswith("[left out: all 2000 characters")


# --- all turns of a person


def test_the_turns_of_a_person_share_a_bound_and_each_has_a_little_for_itself() -> None:
    holdings = Holdings(1_000 * KIB, 1_500 * KIB)
    with holdings.of("alice") as first, holdings.of("alice") as second, holdings.of("bob") as other:
        assert len(first.keep("a", "x" * 900 * KIB)) == 900 * KIB
        cut = second.keep("a", "x" * 900 * KIB)
        assert 590 * KIB < len(cut) < 605 * KIB
        assert PERSON.format("1536000 bytes") in cut
        assert len(other.keep("a", "x" * 900 * KIB)) == 900 * KIB
        with holdings.of("alice") as third:
            assert len(third.keep("a", "x" * 200 * KIB)) == 200 * KIB
            assert 50 * KIB < len(third.keep("b", "x" * 200 * KIB)) < 60 * KIB
            assert third.keep("c", "x" * 200 * KIB).startswith("[left out: all ")
    with holdings.of("alice") as fourth:
        assert len(fourth.keep("a", "x" * 900 * KIB)) == 900 * KIB


# --- the engine


async def until_nothing_is_held(world: World) -> None:
    """A run ends a little later than its turn."""
    async with asyncio.timeout(PATIENCE):
        while world.engine.runner.holdings._people:  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.005)


def outputs_of(events: list[ev.ToolFinished]) -> dict[str, str]:
    return {event.id: event.output for event in events}


async def test_results_beyond_the_bound_are_cut_and_the_agent_is_told(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    async with world_over(database, tmp_path, desk, limits(results=600 * KIB)) as world:
        world.agent("tools: [flood, note]")
        note = Call("note", {"text": "a"}, "note-1")
        world.desk.script(Say("", FLOODS), Say("", [note]), Say("done"))
        said = await world.say("go")
        assert said.finished
        assert world.traces() == ["note a"]
        results = said.results()
        assert [status for _, _, status in results] == ["ok"] * 5
        sizes = [len(output) for _, output, _ in results[:4]]
        assert sum(size >= WHOLE for size in sizes) == 2
        assert sum(sizes) < 610 * KIB
        assert sum(TURN.format("614400 bytes") in output for _, output, _ in results) == 3
        journal = await world.database.read(tool_calls.of, said.turn.num)
        told = dict(zip([call.id for call in (*FLOODS, note)], results, strict=True))
        assert {id: (call.output or {})["text"] for id, call in journal.items()} == outputs_of(
            said.of(ev.ToolFinished)
        )
        read = [text for role, text in world.desk.sent() if role == "tool"]
        assert sorted(read) == sorted(output for _, output, _ in told.values())
        await until_nothing_is_held(world)
        await world.checked(said.turn)


async def test_after_a_crash_the_agent_reads_the_same_texts(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    chosen = limits(results=600 * KIB)
    async with world_over(database, tmp_path, desk, chosen, lease=1.0) as world:
        world.agent("tools: [flood]")
        world.desk.script(Say("", FLOODS), Hang(["well "]), Say("done"))
        turn = await world.send("go")
        await world.until(turn, ev.TextDelta)
        await lose(world)
        said = await world.segment(turn)
        assert said.finished
        assert world.desk.sent(2) == world.desk.sent(1)
        assert len(said.of(ev.ToolFinished)) == len(FLOODS)
        await world.checked(turn)


async def test_a_turn_that_goes_on_after_a_question_holds_its_results_once(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    async with world_over(database, tmp_path, desk, limits(results=600 * KIB)) as world:
        world.agent("tools: [flood, seal]")
        seal = Call("seal", {"text": "a"}, "seal-1")
        world.desk.script(Say("", FLOODS), Say("", [seal]), Hang(["well "]))
        said = await world.say("go")
        await until_nothing_is_held(world)
        await world.answer(said.turn, {said.interrupts[0].id: YES})
        await world.until(said.turn, ev.TextDelta)
        assert 600 * KIB < world.engine.runner.holdings["alice"] < 610 * KIB
        run = world.engine.runner._runs[said.turn.num]
        held = {message.tool_call_id: message.content for message in run.transcript.finished}
        for call in FLOODS:
            output = run.journal[call.id].output
            assert output is not None
            assert output["text"] is held[call.id]
        assert run.turn.messages is None
        world.engine.supervisor.stop(said.turn.num, "user")
        await world.segment(said.turn)
        await until_nothing_is_held(world)


async def test_other_people_and_later_turns_are_not_affected(
    database: Database, tmp_path: Path, desk: Desk
) -> None:
    chosen = limits(results=600 * KIB, results_of_person=600 * KIB)
    async with world_over(database, tmp_path, desk, chosen) as world:
        world.agent("tools: [flood]")
        world.desk.script(Say("", FLOODS[:2]), Hang(["well "]))
        first = await world.send("go")
        await world.until(first, ev.TextDelta)
        for person, told in (("alice", True), ("bob", False)):
            await world.begin(user=person)
            world.desk.script(Say("", FLOODS[:1]), Say("done"))
            said = await world.say("go")
            ((_, output, status),) = said.results()
            assert status == "ok"
            assert (PERSON.format("614400 bytes") in output) == told
            assert len(output) > 200 * KIB
        world.engine.supervisor.stop(first.num, "user")
        await world.segment(first)
        await until_nothing_is_held(world)
        await world.begin()
        world.desk.script(Say("", FLOODS[:2]), Say("done"))
        said = await world.say("go")
        assert all(len(output) >= WHOLE for _, output, _ in said.results())
        await until_nothing_is_held(world)
