"""The fold from events to messages."""

from typing import Any, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.core import events as ev
from caesura.core.fold import NOT_DONE, UNKNOWN, Transcript, Writing, close, fold
from caesura.core.interrupts import Approval, GraphRequest, Questions
from caesura.core.messages import Message

T = TypeVar("T")

START: list[ev.Event] = [ev.RunStarted("lead", 1), ev.ModelStarted(1, "lead", "m")]
END: list[ev.Event] = [ev.Finished(), ev.SegmentEnded()]


def test_text_is_joined_by_call() -> None:
    log: list[ev.Event] = [*START, ev.ReasoningDelta(1, "hm"), ev.TextDelta(1, "Hel"), ev.TextDelta(1, "lo")]
    done = ev.ModelFinished(1, (), {"input": 3, "output": 2}, "stop")
    transcript = fold([*log, done, *END])
    assert transcript.messages() == [Message("assistant", "Hello", reasoning="hm", agent="lead")]
    assert transcript.messages()[0].usage == {"input": 3, "output": 2}
    assert transcript.text == "Hello"
    assert transcript.outcome == ev.Finished()


def test_a_running_call_has_the_newest_progress_until_it_ends_or_runs_again() -> None:
    begun = [*START, ev.ToolStarted("c1", "refund", {}, "lead"), ev.ToolProgress("c1", "one")]
    told = [*begun, ev.ToolProgress("c1", "two")]
    assert fold(told).progress == {"c1": "two"}
    assert fold([*told, ev.ToolFinished("c1", "refund", "done")]).progress == {}
    assert fold([*told, ev.RunStarted("lead", 1, "adopt")]).progress == {}
    assert fold([*told, ev.ToolStarted("c1", "refund", {}, "lead")]).progress == {}


def test_an_unfinished_reply_is_cut() -> None:
    transcript = fold([*START, ev.TextDelta(1, "Hel"), ev.Stopped("user"), ev.SegmentEnded()])
    assert transcript.messages() == [Message("assistant", "Hel", agent="lead", cut=True)]
    assert transcript.text == "Hel"
    assert transcript.outcome == ev.Stopped("user")


def test_a_call_without_output_leaves_no_message() -> None:
    assert fold([*START, ev.Stopped("user")]).messages() == []


def test_a_call_that_is_being_written_is_known_until_the_reply_ends() -> None:
    log: list[ev.Event] = [
        *START,
        ev.CallDelta(1, 1, '{"path"', "write_file"),
        ev.CallDelta(1, 0, "{", "create_artifact"),
        ev.CallDelta(1, 1, ': "a'),
    ]
    first, second = fold(log).writing()
    assert first == Writing(1, 1, "write_file", '{"path": "a', "lead", None)
    assert second == Writing(1, 0, "create_artifact", "{", "lead", None)
    assert fold(log).messages() == []
    ends: list[ev.Event] = [ev.TextVoided(1), ev.ModelFinished(1), ev.Stopped("user"), ev.Failed("no")]
    assert all(fold([*log, end]).writing() == [] for end in ends)
    assert fold([*log, ev.RunStarted("lead", 1, "adopt")]).writing() == [first, second]


def test_voided_text_is_removed_and_only_the_new_attempt_remains() -> None:
    log: list[ev.Event] = [
        *START,
        ev.TextDelta(1, "Half an ans"),
        ev.RunStarted("lead", 1, "adopt"),
        ev.TextVoided(1),
    ]
    again: list[ev.Event] = [
        ev.ModelStarted(2, "lead"),
        ev.TextDelta(2, "A whole answer"),
        ev.ModelFinished(2),
    ]
    assert fold([*log]).messages() == []
    transcript = fold([*log, *again, *END])
    assert [message.content for message in transcript.messages()] == ["A whole answer"]
    assert transcript.last_call == 2


def test_a_finished_call_can_be_voided_too() -> None:
    log: list[ev.Event] = [*START, ev.TextDelta(1, "same"), ev.ModelFinished(1)]
    twin: list[ev.Event] = [ev.ModelStarted(2, "lead"), ev.TextDelta(2, "same"), ev.ModelFinished(2)]
    transcript = fold([*log, *twin, ev.TextVoided(1)])
    assert [message.content for message in transcript.messages()] == ["same"]


def test_voiding_a_call_without_output_changes_nothing() -> None:
    assert fold([*START, ev.TextVoided(7)]) == fold(START)


def test_a_tool_result_comes_after_its_call() -> None:
    call = {"id": "c1", "name": "execute", "args": {"command": "ls"}}
    log: list[ev.Event] = [
        *START,
        ev.ModelFinished(1, (call,)),
        ev.ToolStarted("c1", "execute", {"command": "ls"}, "lead"),
        ev.ToolFinished("c1", "execute", "a.txt", "ok", "lead"),
    ]
    transcript = fold(log)
    assert transcript.running == {}
    assert transcript.closed() == [
        Message("assistant", "", tool_calls=(call,), agent="lead"),
        Message("tool", "a.txt", tool_call_id="c1", name="execute", agent="lead"),
    ]


@pytest.mark.parametrize("end", [ev.ToolFinished("c1", "execute", "", "ok", "lead"), ev.Stopped("user")])
@pytest.mark.parametrize("ran", [{"command": "ls"}, {"command": "ls -l"}])
def test_a_result_tells_the_arguments_that_a_person_edited(end: ev.Event, ran: dict[str, Any]) -> None:
    call = {"id": "c1", "name": "execute", "args": {"command": "ls"}}
    log: list[ev.Event] = [*START, ev.ModelFinished(1, (call,)), ev.ToolStarted("c1", "execute", ran, "lead")]
    said, result = fold([*log, end]).closed()
    assert said.args is None
    assert result.args == (None if ran == call["args"] else ran)


def test_parallel_results_are_put_in_the_order_of_the_calls() -> None:
    calls: tuple[dict[str, Any], ...] = tuple({"id": name, "name": "read_file", "args": {}} for name in "abc")
    finished = [ev.ToolFinished(name, "read_file", name.upper()) for name in "cab"]
    transcript = fold([*START, ev.ModelFinished(1, calls), *finished])
    assert [message.content for message in transcript.messages()] == ["", "C", "A", "B"]
    assert [message.content for message in transcript.closed()] == ["", "A", "B", "C"]


def test_a_stop_closes_every_call_as_done_not_done_or_unknown() -> None:
    calls: tuple[dict[str, Any], ...] = tuple(
        {"id": name, "name": "execute", "args": {}} for name in ("done", "under way", "to do")
    )
    log: list[ev.Event] = [
        *START,
        ev.TextDelta(1, "Let me"),
        ev.ModelFinished(1, calls),
        ev.ToolStarted("under way", "execute", {}, "lead"),
        ev.ToolStarted("done", "execute", {}, "lead"),
        ev.ToolFinished("done", "execute", "fine", "ok", "lead"),
        ev.Stopped("user"),
    ]
    closed = fold(log).closed()
    assert [(message.tool_call_id, message.status, message.content) for message in closed[1:]] == [
        ("done", "ok", "fine"),
        ("under way", "unknown", UNKNOWN),
        ("to do", "not_done", NOT_DONE),
    ]
    assert {message.agent for message in closed} == {"lead"}
    assert {message.name for message in closed[1:]} == {"execute"}


def test_an_error_and_a_refusal_keep_their_status() -> None:
    calls: tuple[dict[str, Any], ...] = tuple({"id": name, "name": "execute", "args": {}} for name in "ab")
    results = [
        ev.ToolFinished("a", "execute", "no", "refused"),
        ev.ToolFinished("b", "execute", "!", "error"),
    ]
    closed = fold([*START, ev.ModelFinished(1, calls), *results]).closed()
    assert [message.status for message in closed[1:]] == ["refused", "error"]


def test_sub_agents_speak_at_the_same_time_under_the_call_that_made_them() -> None:
    calls: tuple[dict[str, Any], ...] = tuple(
        {"id": name, "name": "search_agent", "args": {}} for name in ("s1", "s2")
    )
    log: list[ev.Event] = [
        *START,
        ev.ModelFinished(1, calls),
        ev.ToolStarted("s1", "search_agent", {}, "lead"),
        ev.ToolStarted("s2", "search_agent", {}, "lead"),
        ev.ModelStarted(2, "search", parent="s1"),
        ev.ModelStarted(3, "search", parent="s2"),
        ev.TextDelta(2, "one "),
        ev.TextDelta(3, "two "),
        ev.TextDelta(2, "und"),
        ev.TextDelta(3, "deux"),
        ev.ModelFinished(3),
        ev.ToolFinished("s2", "search_agent", "two deux", "ok", "lead"),
        ev.ModelFinished(2),
        ev.ToolFinished("s1", "search_agent", "one und", "ok", "lead"),
        ev.ModelStarted(4, "lead"),
        ev.TextDelta(4, "Found both"),
    ]
    transcript = fold(log)
    said = [
        (message.parent, message.content) for message in transcript.messages() if message.agent == "search"
    ]
    assert said == [("s2", "two deux"), ("s1", "one und")]
    assert transcript.text == "Found both"


def test_the_reply_is_the_agents_own_not_a_sub_agents() -> None:
    log: list[ev.Event] = [
        *START,
        ev.TextDelta(1, "mine"),
        ev.ModelFinished(1),
        ev.ModelStarted(2, "sub", parent="c"),
    ]
    assert fold([*log, ev.TextDelta(2, "theirs")]).text == "mine"
    assert Transcript().text == ""


def test_an_interrupt_is_pending_until_it_is_closed() -> None:
    first, second = Approval("i1"), Approval("i2")
    log: list[ev.Event] = [*START, ev.ModelFinished(1), ev.Interrupted((first, second)), ev.SegmentEnded()]
    assert fold(log).pending == (first, second)
    assert fold(log).outcome == ev.Interrupted((first, second))
    log += [ev.RunStarted("lead", 2, "resume")]
    assert fold(log).outcome is None
    assert fold(log).segment == 2
    log += [ev.InterruptClosed("i1", "answered", {"decision": "approve"})]
    assert fold(log).pending == (second,)
    log += [ev.InterruptClosed("i2", "expired", {}, "Nobody answered")]
    assert fold(log).pending == ()
    assert fold(log).messages()[-1] == Message("user", "Nobody answered")


@pytest.mark.parametrize(("unknown", "told"), [(False, NOT_DONE), (True, UNKNOWN)])
def test_a_call_that_needs_an_approval_has_not_begun_unless_nobody_knows(unknown: bool, told: str) -> None:
    call = {"id": "c", "name": "t", "args": {}}
    asked = Approval("i1", tool_call_id="c", name="t", unknown=unknown)
    log: list[ev.Event] = [*START, ev.ModelFinished(1, (call,)), ev.ToolStarted("c", "t", {}, "lead")]
    transcript = fold([*log, ev.Interrupted((asked,)), ev.SegmentEnded()])
    assert bool(transcript.running) is unknown
    assert transcript.closed()[-1].content == told


@pytest.mark.parametrize(
    ("name", "outcome", "told"),
    [("t", "superseded", NOT_DONE), ("t", "answered", UNKNOWN), (None, "superseded", UNKNOWN)],
)
def test_a_call_that_only_asks_has_done_nothing_if_its_questions_are_closed(
    name: str | None, outcome: Literal["answered", "superseded"], told: str
) -> None:
    call = {"id": "c", "name": "t", "args": {}}
    asked = Questions("i1", tool_call_id="c", name=name)
    log: list[ev.Event] = [*START, ev.ModelFinished(1, (call,)), ev.ToolStarted("c", "t", {}, "lead")]
    log += [ev.Interrupted((asked,)), ev.InterruptClosed("i1", outcome), ev.Stopped("superseded")]
    assert fold(log).closed()[-1].content == told


@pytest.mark.parametrize("outcome", [ev.Finished(), ev.Failed("no"), ev.Stopped("superseded")])
def test_nothing_is_pending_in_an_ended_turn(outcome: ev.Finished | ev.Failed | ev.Stopped) -> None:
    transcript = fold([*START, ev.Interrupted((Approval("i1"),)), outcome])
    assert transcript.pending == ()
    assert transcript.outcome == outcome


def test_the_title_is_the_last_one() -> None:
    assert fold([ev.TitleChanged("One"), ev.TitleChanged("Two")]).title == "Two"
    assert fold([]).title is None


def test_results_without_a_call_are_left_out_of_a_closed_transcript() -> None:
    stray = Message("tool", "?", tool_call_id="nobody")
    assert close([Message("user", "hi"), stray]) == [Message("user", "hi")]


class _Engine:
    """Writes any log that an engine may write: concurrent calls and tools, voids, stops, resumes."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.log: list[ev.Event] = [ev.RunStarted("lead", 1)]
        self.talking: list[int] = []
        self.asked: list[str] = []
        self.running: list[str] = []
        self.calls = 0

    def start_call(self) -> None:
        self.calls += 1
        self.talking.append(self.calls)
        parent = self.draw(st.sampled_from([None, *self.running]))
        self.log.append(ev.ModelStarted(self.calls, "sub" if parent else "lead", parent=parent))

    def say(self) -> None:
        if self.talking:
            call = self.draw(st.sampled_from(self.talking))
            text = self.draw(st.text("abc \n", min_size=1, max_size=3))
            thinks = self.draw(st.booleans())
            self.log.append(ev.ReasoningDelta(call, text) if thinks else ev.TextDelta(call, text))

    def write_call(self) -> None:
        if self.talking:
            call, index = self.draw(st.sampled_from(self.talking)), self.draw(st.integers(0, 2))
            self.log.append(ev.CallDelta(call, index, self.draw(st.text('{"a ', max_size=3)), "tool"))

    def void_call(self) -> None:
        if self.calls:
            call = self.draw(st.integers(1, self.calls))
            self.talking = [other for other in self.talking if other != call]
            self.log.append(ev.TextVoided(call))

    def finish_call(self) -> None:
        if self.talking:
            call = self._take(self.talking)
            names = [f"{call}-{number}" for number in range(self.draw(st.integers(0, 3)))]
            self.asked += names
            wanted = tuple({"id": name, "name": "tool", "args": {}} for name in names)
            self.log.append(ev.ModelFinished(call, wanted, {"output": call}))

    def start_tool(self) -> None:
        if self.asked:
            self.running.append(self._take(self.asked))
            self.log.append(ev.ToolStarted(self.running[-1], "tool", {}, "lead"))

    def finish_tool(self) -> None:
        if self.running:
            name = self._take(self.running)
            self.log.append(ev.ToolFinished(name, "tool", f"result of {name}"))

    def ask(self) -> None:
        self.log.append(ev.Interrupted((Approval("i1"), GraphRequest("i2"))))

    def answer(self) -> None:
        told = self.draw(st.sampled_from([None, "told"]))
        self.log.append(ev.InterruptClosed("i1", "answered", {}, told))

    def end(self) -> None:
        self.log += [ev.Stopped("user"), ev.TitleChanged("t"), ev.SegmentEnded()]

    def resume(self) -> None:
        self.log += [ev.RunStarted("lead", self.draw(st.integers(1, 5)), "resume")]

    def _take(self, items: list[T]) -> T:
        return items.pop(self.draw(st.integers(0, len(items) - 1)))


_STEPS = [step for step in vars(_Engine) if not step.startswith("_")]


@st.composite
def logs(draw: st.DrawFn) -> list[ev.Event]:
    engine = _Engine(draw)
    for step in draw(st.lists(st.sampled_from(_STEPS), max_size=40)):
        getattr(engine, step)()
    return engine.log


@given(logs(), st.data())
def test_a_fold_interrupted_anywhere_and_continued_equals_the_whole(
    log: list[ev.Event], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(log)))
    part = fold(log[:cut])
    assert (part.messages(), part.closed(), part.text) is not None  # reading changes nothing
    for event in log[cut:]:
        part.apply(event)
    assert part == fold(log)


@given(logs())
def test_in_a_closed_transcript_every_call_is_followed_by_its_results_in_order(log: list[ev.Event]) -> None:
    transcript = fold(log)
    closed = transcript.closed()
    said = [message for message in transcript.messages() if message.role != "tool"]
    assert [message for message in closed if message.role != "tool"] == said
    expected: list[Any] = []
    for message in said:
        expected += [None, *(call["id"] for call in message.tool_calls)]
    assert [message.tool_call_id for message in closed] == expected
    results = {event.id: event.output for event in log if isinstance(event, ev.ToolFinished)}
    begun = {event.id for event in log if isinstance(event, ev.ToolStarted)}
    for message in closed:
        if message.role == "tool":
            name = str(message.tool_call_id)
            missing = UNKNOWN if name in begun else NOT_DONE
            assert message.content == results.get(name, missing)


@given(logs())
def test_closing_twice_equals_closing_once(log: list[ev.Event]) -> None:
    closed = fold(log).closed()
    assert close(closed) == closed


@given(logs())
def test_the_messages_that_are_kept_are_those_the_person_saw(log: list[ev.Event]) -> None:
    seen: dict[int, str] = {}
    for event in log:
        if isinstance(event, ev.TextDelta):
            seen[event.call] = seen.get(event.call, "") + event.text
        elif isinstance(event, ev.TextVoided):
            seen.pop(event.call, None)
    kept = [
        message.content for message in fold(log).messages() if message.role == "assistant" and message.content
    ]
    assert sorted(kept) == sorted(seen.values())
