"""Running the tool of a call: its context, its limits, its questions, and what its failures come to."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

from caesura.agents.context import RunContext
from caesura.agents.tools.tool import Result, ToolError
from caesura.core import ids, interrupts, json_data, outputs
from caesura.core.answers import Answer
from caesura.core.errors import CaesuraError
from caesura.core.interrupts import Approval, File, Interrupt, Questions
from caesura.engine import texts
from caesura.engine.cancellation import strays_fail
from caesura.engine.observers import ToolBegins
from caesura.engine.progress import Progress
from caesura.engine.run import AnswersNeeded, Released
from caesura.engine.tool_wishes import Wish

logger = logging.getLogger(__name__)

#: The kind of an interrupt and, of questions, what they ask.
_What = tuple[type[Interrupt], bytes]


class ToolRun:
    def __init__(self, wish: Wish) -> None:
        self._wish, self._run = wish, wish.run
        #: What the file held that the call replaces, when the person was asked who approved the call.
        self.expected: File | None = None
        #: How often the tool has asked for each answer.
        self._asks: Counter[_What] = Counter()

    async def outcome(self) -> Result:
        seconds = self._seconds()
        clock = asyncio.timeout(seconds)
        try:
            async with clock:
                with self._working():
                    result = await self._watched()
        except (AnswersNeeded, Released):
            raise
        except CaesuraError as error:
            if error.status >= 500:
                raise
            return Result(error.message, "error")
        except Exception:  # noqa: BLE001 - logged with its id
            if seconds is not None and clock.expired():
                return Result(texts.too_slow(seconds), "error")
            return Result(self._failed(), "error")
        # Cut first: a tool may return hundreds of megabytes, and cleaning looks at each character.
        text = json_data.text(outputs.bounded(result.text, self._run.limits.tool_output))
        return result._replace(text=self._run.holding.keep(self._wish.id, text))

    async def refusal(self) -> str | None:
        """Why the call can only be refused. A check that fails is a failure of the tool."""
        try:
            async with asyncio.timeout(self._seconds()):
                with strays_fail(self._run.is_broken_off):
                    return await self._wish.tool.refusal(self._wish.args)
        except ToolError as error:
            return str(error)
        except Exception:  # noqa: BLE001 - logged with its id
            return self._failed()

    def context(self) -> RunContext:
        turn = self._run.turn
        return RunContext(
            conversation_id=turn.conversation_id,
            turn_id=turn.id,
            user_id=turn.user_id,
            agent=self._wish.agent.name,
            language=self._run.language,
            workspace=self._run.workspace,
            tool_call_id=self._wish.id,
            ask=self._ask,
            parent=self._wish.scope.parent,
            database=self._run.database,
            expected=self.expected,
        )

    @contextmanager
    def _working(self) -> Iterator[None]:
        with (
            closing(Progress(self._run, self._wish.id)) as progress,
            replace(self.context(), progress=progress.tell).active(),
            self._wish.scope.active(),
            strays_fail(self._run.is_broken_off),
        ):
            yield

    async def _watched(self) -> Result:
        """Call the tool, and tell the observers."""
        wish = self._wish
        begins = ToolBegins(wish.name, wish.id, wish.args, wish.agent.name, wish.scope.parent)
        with self._run.watching.call(begins) as ended:
            try:
                result = await wish.tool.run(wish.args)
            except (AnswersNeeded, Released):
                ended.pauses = True
                raise
            ended.output, ended.failed = result.text, result.status == "error"
        return result

    def _failed(self) -> str:
        """What the model reads about the exception that is being handled, which is logged."""
        error_id = ids.error()
        logger.exception("tool %s failed (%s)", self._wish.name, error_id)
        return texts.tool_failed(error_id)

    def _seconds(self) -> float | None:
        """How long the tool may take. One that asks may let a sub-agent work."""
        tool = self._wish.tool
        if tool.timeout is not None:
            return tool.timeout
        return None if tool.asks else self._run.limits.tool

    def _ask(self, item: Interrupt) -> Answer:
        """The answer that the tool itself asks for. If it asks the same more than once, answers are matched
        in order. The answer to one question never counts for another."""
        if isinstance(item, Approval):
            raise TypeError("an approval is about a call: a tool asks for a confirmation")
        wish, what = self._wish, _what(item)
        place = self._asks[what]
        self._asks[what] += 1
        given = [answer for answered, answer in wish.answered() if _what(answered) == what]
        if place >= len(given):
            mine = replace(item, id=ids.interrupt(), tool_call_id=wish.id, agent=wish.agent.name)
            raise AnswersNeeded.about(replace(mine, parent=wish.scope.parent))
        return given[place]


def _what(item: Interrupt) -> _What:
    """What is asked, in the form in which it is stored."""
    asked = item.questions if isinstance(item, Questions) else ()
    return type(item), json_data.dumps([interrupts.question_dict(question) for question in asked])
