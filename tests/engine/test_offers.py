"""Rows that may be refused, and a run that is cancelled while they are written: it knows what was written."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import Connection

from caesura.agents.aside import Aside
from caesura.core import events as ev
from caesura.core.errors import Outdated
from caesura.core.fold import fold
from caesura.engine.branch import Branch
from caesura.engine.holdings import Holding
from caesura.engine.limits import Limits
from caesura.engine.run import Control, Run
from caesura.log import Log
from caesura.store.database import Database
from tests.conformance.rows import make_conversation, make_turn

TITLE = ev.TitleChanged("A title")


async def run_over(database: Database, log: Log) -> Run:
    turn = await make_turn(database, await make_conversation(database))
    return Run(
        turn=turn,
        agent=cast(Any, None),
        language="en",
        workspace=Path(),
        limits=Limits(),
        stream=await log.open(turn.num, turn.epoch),
        transcript=fold([]),
        history=Branch(),
        journal={},
        interrupts=[],
        control=Control(),
        aside=Aside("caesura-test"),
        database=database,
        holding=Holding(1, 1, Counter(), turn.user_id),
    )


async def written(log: Log, run: Run) -> list[ev.Event]:
    return [item.event for item in await log.read(run.turn.num, 0, 100)]


async def test_after_a_refusal_later_writes_go_on(database: Database) -> None:
    def refuse(connection: Connection) -> None:
        raise Outdated

    log = Log(database)
    run = await run_over(database, log)
    with pytest.raises(Outdated):
        await run.offer(TITLE, also=refuse)
    assert run.stream.size == 0
    await run.offer(TITLE, also=lambda connection: None)
    assert await written(log, run) == [TITLE]
    await log.close()


@pytest.mark.parametrize("refused", [False, True])
async def test_a_cancelled_run_knows_whether_its_rows_were_written(database: Database, refused: bool) -> None:
    def write(connection: Connection) -> None:
        if refused:
            raise Outdated

    log = Log(database)
    run = await run_over(database, log)
    task = asyncio.create_task(run.offer(TITLE, also=write))
    await asyncio.sleep(0)  # it is submitted, and nothing is written yet
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await written(log, run) == ([] if refused else [TITLE])
    assert (run.stream.size > 0) is not refused
    await log.close()
