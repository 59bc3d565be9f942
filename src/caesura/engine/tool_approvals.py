"""What a person is shown who approves a tool call, and whether that still holds when they have decided."""

from __future__ import annotations

from typing import Any

from caesura.agents.aside import LARGE
from caesura.agents.tools.tool import Description
from caesura.core import ids, json_data
from caesura.core.interrupts import Approval, File
from caesura.engine import texts
from caesura.engine.run import AnswersNeeded
from caesura.engine.tool_runs import ToolRun
from caesura.engine.tool_wishes import Wish


async def make(wish: Wish, tool_run: ToolRun, unknown: bool, changed: bool = False) -> Approval:
    """The question whether to make this call. `unknown`: it may have taken effect already. `changed`: the
    file that it replaces is no longer what the person was shown."""
    language = wish.run.language
    (label, description, note), args = await _described(wish)
    if unknown:
        description = texts.unknown_outcome(description, language)
    if changed:
        description = texts.changed_since(description, language)
    return Approval(
        ids.interrupt(),
        tool_call_id=wish.id,
        name=wish.name,
        args=args,
        label=label,
        description=description,
        note=note,
        unknown=unknown,
        file=await _file(wish, tool_run),
        changed=changed,
        agent=wish.agent.name,
        parent=wish.scope.parent,
        permit=wish.permit,
    )


async def check_file(wish: Wish, tool_run: ToolRun, asked: Approval, unknown: bool) -> None:
    """Ask again if the file is no longer what the person was shown: they approved something else. What cannot
    be looked at is left to the call, which says what is wrong."""
    replaces = wish.tool.replaces
    if replaces is None:
        return
    tool_run.expected = _expected(asked.file, wish.args.get("path"))
    with tool_run.context().active():
        if tool_run.expected is not None and await replaces.unchanged(wish.args, tool_run.expected):
            return
        if await replaces.look(wish.args) is None:
            return
    raise AnswersNeeded.about(await make(wish, tool_run, unknown, changed=True))


def shown_args(wish: Wish, asked: Approval) -> dict[str, Any]:
    """The arguments with the defaults that the person was shown: they may be others by now. A tool that has
    no such parameter any more refuses them."""
    return {**asked.args, **wish.args}


async def _described(wish: Wish) -> tuple[Description, Any]:
    """The description of the call for a person, and its arguments."""
    tool, run = wish.tool, wish.run
    args = tool.filled(wish.args)
    large = len(json_data.dumps(wish.args)) > LARGE
    shown = await run.aside.run(json_data.clean, args) if large else json_data.clean(args)
    if tool.describe_apart is not None:
        return await tool.describe_apart(args, run.language), shown
    if large:
        return await run.aside.run(tool.describe, args, run.language), shown
    return tool.describe(args, run.language), shown


async def _file(wish: Wish, tool_run: ToolRun) -> File | None:
    """What the file holds that the call would replace."""
    if wish.tool.replaces is None:
        return None
    with tool_run.context().active():
        return await wish.tool.replaces.look(wish.args)


def _expected(shown: File | None, path: object) -> File | None:
    """What the file must be: what was shown or, under a path that a person has edited, no file at all."""
    if shown is None or not isinstance(path, str):
        return None
    return shown if shown.path == path else File(path)
