"""The tool that runs a command in the sandbox, in the conversation's workspace."""

from __future__ import annotations

from typing import Annotated

from caesura.agents import context
from caesura.agents.tools.places import Busy
from caesura.agents.tools.sandbox import Outcome, Sandbox
from caesura.agents.tools.tool import Tool, ToolError, describer, structured
from caesura.core.language import Language

_LONGEST = 64 * 1024
_LABELS: dict[Language, str] = {"en": "Run a command", "zh": "执行命令"}
_DOING: dict[Language, str] = {"en": "Running command", "zh": "正在执行命令"}

describe = describer(_LABELS, _DOING, "command")

Command = Annotated[str, "A shell command; it runs in the workspace, without network"]


def tool(sandbox: Sandbox) -> Tool:
    async def execute(command: Command) -> str:
        if "\0" in command or not command.strip() or len(command.encode("utf-8", "replace")) > _LONGEST:
            raise ToolError(f"the command must be a text of 1 to {_LONGEST} bytes without NUL")
        if reason := await sandbox.unavailable():
            raise ToolError(reason)
        run = context.current()
        try:
            return report(await sandbox.run(command, run.workspace, run.user_id), sandbox)
        except Busy:
            raise ToolError("the command did not run: too many others run now, try again later") from None

    description = "Run a shell command in the workspace and get its output and exit code."
    return Tool("execute", structured(execute, description), describe, "confirm")


def report(outcome: Outcome, sandbox: Sandbox) -> str:
    """The text for the model: the output, then how the command ended."""
    parts = [outcome.output.rstrip("\n")] if outcome.output.strip() else []
    if outcome.cut:
        parts.append(f"[cut: only the first {sandbox.bounds.output} bytes of output are shown]")
    if outcome.full:
        parts.append("[the workspace is full: no file can grow until something is removed]")
    if outcome.crowded:
        parts.append(f"[no file could grow: {outcome.crowded}]")
    if outcome.reason:
        parts.append(f"[ended: {outcome.reason}]")
    elif outcome.code is None:
        parts.append(f"[ended: the command took longer than {sandbox.bounds.seconds:g} seconds]")
    else:
        parts.append(f"[exit code {outcome.code}]")
    return "\n".join(parts)
