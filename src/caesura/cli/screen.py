"""The screen: the events of a turn, as lines of a terminal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TextIO, assert_never

from caesura.cli.voices import Piece, Voices
from caesura.client import ClientError
from caesura.core import events as ev
from caesura.core import shown

_DIM, _BOLD, _RED, _CYAN, _RESET = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[36m", "\x1b[0m"
#: Begins every line that asks for a decision. No other text can contain it.
MARK = "▌"
_CODES = (0x2503, *range(0x2589, 0x2591), *range(0x2758, 0x275B), *range(0x1FB70, 0x1FB8C))
_LIKE_MARK = "".join(map(chr, _CODES))
_ANY_LIKE_MARK = re.compile(f"[{_LIKE_MARK}]")
_LONGEST, _END = 2_000, 500
#: The tool whose arguments are questions.
_ASKS = "ask_user"
_MARKS = {"ok": "✓", "error": "✗", "refused": "✗", "answered": "↩", "not_done": "✗", "unknown": "?"}

#: What became of a question that was not answered here.
_CLOSED = {
    "answered": "answered",
    "expired": "the question has expired",
    "superseded": "a new message came in place of an answer",
    "cancelled": "the question is closed, because the turn was stopped",
}
_DECIDED: Mapping[str, str] = {
    "approve": "approved",
    "edit": "approved with changes",
    "reject": "refused",
    "respond": "answered in place of the call",
    "answers": "the questions were answered",
    "fields": "the form was filled in",
    "value": "the question was answered",
}


def clean(text: str) -> str:
    """Text of a model, a tool or a file: it must not move the cursor, or look like our own question."""
    return _ANY_LIKE_MARK.sub(lambda found: ascii(found[0])[1:-1], shown.prose(text))


def one_line(value: str, *, indented: bool = False) -> str:
    """A text in the form of `shown.text`, with our mark escaped too. If `clean` escaped the mark, it would
    not double the backslashes, and two texts could look the same."""
    return shown.text(value, indented=indented, also=_LIKE_MARK)


def asking(text: str) -> str:
    """A line that asks for a decision."""
    return f"{MARK} {clean(text)}"


class Screen:
    """`can_retry`: whether the person can type commands of the chat."""

    def __init__(self, out: TextIO, can_retry: bool = True) -> None:
        self._out, self._can_retry = out, can_retry
        self._colours = out.isatty() and "NO_COLOR" not in os.environ
        self._at_line_start = True
        self._speaking: tuple[int, str] | None = None
        self._away = False
        self._voices = Voices()
        #: What begins each line of the sub-agent that speaks.
        self._prefix = ""
        self._said: set[int] = set()
        self._title: str | None = None
        #: The first turn that the model was shown when that was last told.
        self._first: str | None = None
        #: Interrupts that were answered here, which need not be reported.
        self.answered: set[str] = set()

    def begin(self) -> None:
        """Begin another turn, whose model calls are numbered from one again."""
        self._voices.clear()
        self._said.clear()

    def show(self, event: ev.Event) -> None:  # noqa: C901 - one case for each event
        self._away = False
        if isinstance(event, ev.Interrupted | ev.Finished | ev.Failed | ev.Stopped):
            self._tell(self._voices.released())
        match event:
            case ev.TextDelta(call, text):
                self._tell(self._voices.said(Piece(call, text, "text")))
            case ev.ReasoningDelta(call, text):
                self._tell(self._voices.said(Piece(call, text, "thought")))
            case ev.RunStarted(cause=cause):
                if cause == "adopt":
                    self.note("(the server was interrupted, and goes on)")
            case ev.ModelStarted():
                self._begin_call(event)
            case ev.ModelFinished(call):
                self._tell(self._voices.model_finished(call))
            case ev.TextVoided(call):
                self._tell(self._voices.voided(call))
                if call in self._said:
                    self.note("(what was said last does not count: it is said anew)")
            case ev.ToolStarted(id, name, args, agent, parent):
                self._voices.tool_started(event)
                called = one_line(self._voices.called(id, name))
                self._line_of(agent, parent, f"→ {call_line(called, name, args)}", _CYAN)
            case ev.ToolProgress():
                self._progress(event)
            case ev.ToolFinished(id, name, output, status, agent, parent):
                not_run = " (not run)" if status == "answered" else ""
                called = one_line(self._voices.called(id, name))
                # The result of a sub-agent is what it said last, which is on the screen already.
                told = "" if status == "ok" and self._voices.spoke(id) else f": {_ends(output)}"
                self._line_of(agent, parent, f"{_MARKS[status]} {called}{not_run}{told}", _DIM)
                self._voices.tool_finished(event)
            case ev.TitleChanged(title):
                self._title = title
            case ev.ArtifactChanged(id, version, _, agent, parent):
                self._line_of(agent, parent, f"artifact {one_line(id)}, version {version}", _DIM)
            case ev.InterruptClosed(id):
                if id not in self.answered:
                    self.note(f"({_closed(event)})")
            case ev.Failed(message, _, error_id):
                known = f" ({error_id})" if error_id else ""
                remedy = "; /retry tries again" if self._can_retry else ""
                self.fault(f"failed: {message}{known}{remedy}")
            case ev.Stopped(reason):
                self.note("(stopped by you)" if reason == "user" else f"(stopped: {reason})")
            case ev.SegmentEnded():
                self._end()
            case ev.CallDelta() | ev.GraphWrote() | ev.Interrupted() | ev.Finished():
                pass
            case unreachable:
                assert_never(unreachable)

    def _begin_call(self, event: ev.ModelStarted) -> None:
        """Tell once that the model reads only the end of the conversation."""
        self._voices.model_started(event)
        if event.parent is None and event.context_from is not None and event.context_from != self._first:
            self._first = event.context_from
            self.note("(this conversation is too long for the model: it does not read the earlier turns)")

    def _progress(self, event: ev.ToolProgress) -> None:
        begun = self._voices.caller(event.id)
        told = f"… {one_line(begun.name)}: {one_line(event.text)}"
        self._line_of(begun.agent, begun.parent, told, _DIM)

    def line(self, text: str, style: str = "") -> None:
        self.end_line()
        self._write(f"{clean(text)}\n", style)

    def ask(self, text: str) -> None:
        """A line of a question that the person must decide."""
        self.end_line()
        self._write(f"{asking(text)}\n", _BOLD)

    def note(self, text: str) -> None:
        self.line(text, _DIM)

    def heading(self, text: str) -> None:
        self.line(text, _BOLD)

    def fault(self, text: str) -> None:
        self.line(text, _RED)

    def end_line(self) -> None:
        self._speaking, self._prefix = None, ""
        if not self._at_line_start:
            self._write("\n", "")

    def waiting(self, error: ClientError, seconds: float) -> None:
        """Reported once, however often the request is retried."""
        if not self._away:
            self._away = True
            self.note(f"({error.message}, trying again)")

    def _end(self) -> None:
        self.end_line()
        if self._title is not None:
            self.note(f"# {one_line(self._title)}")
            self._title = None

    def _line_of(self, agent: str, parent: str | None, text: str, style: str) -> None:
        """A line of the agent, or lines of a sub-agent."""
        self.end_line()
        self._prefix = clean(self._voices.prefix(parent, one_line(agent)))
        self._write(f"{clean(text)}\n", style)
        self._prefix = ""

    def _tell(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self._say(piece)

    def _say(self, piece: Piece) -> None:
        call, kind = piece.call, piece.kind
        prefix = self._voices.prefix_of(call)
        if self._speaking != (call, kind):
            self.end_line()
            self._speaking, self._prefix = (call, kind), clean(prefix)
        self._said.add(call)
        self._write(clean(piece.text), _DIM if prefix or kind == "thought" else "")

    def _write(self, text: str, style: str) -> None:
        """Every line of a sub-agent begins with its name, so that none can pass for a line of another."""
        if not text:
            return
        if self._prefix:
            text = _prefixed(text, self._prefix, self._at_line_start)
        self._out.write(f"{style}{text}{_RESET}" if style and self._colours else text)
        self._out.flush()
        self._at_line_start = text.endswith("\n")


def call_line(called: str, name: str, args: Mapping[str, object]) -> str:
    """A call of a tool on one line, under the name by which it is told from others. The questions of
    `ask_user` are shown when they are asked."""
    if name == _ASKS and "questions" in args:
        asked = args["questions"]
        count = len(asked) if isinstance(asked, list) else 0
        return f"{called} ({count} question{'' if count == 1 else 's'})" if count else called
    return f"{called} {_short(shown.data(args), 200)}"


def _closed(event: ev.InterruptClosed) -> str:
    decided = _DECIDED.get(event.answer["decision"]) if event.answer else None
    return decided or _CLOSED[event.outcome]


def _prefixed(text: str, prefix: str, at_line_start: bool) -> str:
    """The text with the prefix at the beginning of each of its lines."""
    lines = text.split("\n")
    first = lines[0] if not at_line_start else f"{prefix}{lines[0]}"
    rest = [f"{prefix}{line}" for line in lines[1:-1]]
    if len(lines) == 1:
        return first
    # A line that has only begun gets its prefix with its first word.
    last = f"{prefix}{lines[-1]}" if lines[-1] else ""
    return "\n".join([first, *rest, last])


def _ends(text: str) -> str:
    """A long output without its middle. Its end may be an exit code."""
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END]}… ({len(text)} characters) …{text[-_END:]}"


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"
