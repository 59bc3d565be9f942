"""Tools that leave a trace, fail, hang or return too much."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Connection, insert

from caesura.agents import context
from caesura.agents.tools.signature import parameters_of
from caesura.agents.tools.tool import Action, Function, Result, Tool, describe_any
from caesura.core.artifacts import create
from caesura.core.errors import BadInput, Outdated
from caesura.core.events import ArtifactChanged
from caesura.core.interrupts import Confirmation, Field, Question, Questions
from caesura.store import artifacts
from caesura.store.schema import artifact_versions

FLOOD = 10 * 1024 * 1024


class Arguments(BaseModel):
    text: str


#: Every world has these tools: their schema is made once for all.
PARAMETERS = parameters_of(Arguments)


def _action(function: Function) -> Action:
    return Action(function, f"To {function.__name__}.", PARAMETERS, Arguments)


def tools(trace: Path) -> list[Tool]:  # noqa: C901 - one function for each tool
    def left(line: str) -> None:
        with trace.open("a") as file:
            file.write(line + "\n")

    async def note(text: str) -> str:
        left(f"note {text}")
        return f"noted {text}"

    async def seal(text: str) -> str:
        left(f"seal {text}")
        return f"sealed {text}"

    async def look(text: str) -> str:
        left(f"look {text}")
        return f"saw {text}"

    async def fail(text: str) -> str:
        left(f"fail {text}")
        raise RuntimeError("the password is hunter2")

    async def refuse(text: str) -> str:
        raise BadInput(f"cannot {text}")

    async def wait(text: str) -> str:
        left(f"wait {text}")
        await asyncio.sleep(60)
        return "waited"

    async def ponder(text: str) -> str:
        left(f"ponder {text}")
        await asyncio.sleep(60)
        return "pondered"

    async def flood(text: str) -> str:
        return text * FLOOD

    async def late(text: str) -> str:
        raise TimeoutError(text)

    async def quiz(text: str) -> str:
        run = context.current()
        given = [run.ask(Questions("", questions=(Question(part),))) for part in text.split()]
        left(f"quiz {text}")
        return " ".join(answer.answers[0] for answer in given)

    async def survey(text: str) -> str:
        run = context.current()
        asked = run.ask(Questions("", label=text, description=text, questions=(Question(text),)))
        agreed = run.ask(Confirmation("", fields=(Field("ok", "confirm", "Ok?"),)))
        return f"{asked.answers[0]} {agreed.fields['ok']}"

    async def stubborn(text: str) -> str:
        left(f"stubborn {text}")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as error:
            raise RuntimeError("something else") from error
        return "waited"

    async def deaf(text: str) -> str:
        left(f"deaf {text}")
        while not (trace.parent / "enough").exists():
            try:
                await asyncio.sleep(0.02)
            except asyncio.CancelledError:
                continue
        left("deaf ended")
        return "heard nothing"

    async def stray(text: str) -> str:
        raise asyncio.CancelledError

    async def publish(text: str) -> Result:
        left(f"publish {text}")
        place = context.current().conversation_id

        def rows(connection: Connection) -> None:
            if text == "outdated":
                raise Outdated
            for content in (["before"] if text == "twice" else []) + [text]:
                first = artifacts.draft(create(content))
                artifacts.create(connection, place, "notes", title="", content_type="text", first=first)
            if text == "broken":
                connection.execute(insert(artifact_versions).values(conversation_id=place))

        return Result(f"published {text}", rows=rows, events=(ArtifactChanged("notes", 1, "create"),))

    made: list[tuple[Any, str, bool]] = [
        (publish, "auto", False),
        (deaf, "auto", False),
        (stray, "auto", False),
        (note, "auto", False),
        (seal, "confirm", False),
        (look, "auto", True),
        (fail, "auto", False),
        (refuse, "auto", False),
        (wait, "auto", False),
        (ponder, "confirm", True),
        (flood, "auto", True),
        (late, "auto", False),
        (stubborn, "auto", True),
    ]
    asking = [
        Tool(
            function.__name__,
            _action(function),
            describe_any(function.__name__),
            repeatable=True,
            asks=True,
        )
        for function in (quiz, survey)
    ]
    return asking + [
        Tool(
            function.__name__,
            _action(function),
            describe_any(function.__name__),
            "confirm" if permission == "confirm" else "auto",
            repeatable=repeatable,
        )
        for function, permission, repeatable in made
    ]
