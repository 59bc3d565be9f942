"""Notes: what happened between the messages of a turn, and the times of messages."""

from typing import Any

from caesura.core import events as ev
from caesura.core import messages, notes
from caesura.core.events import Envelope
from caesura.core.fold import Transcript, timed
from caesura.core.interrupts import Approval, Option, Question, Questions
from caesura.core.messages import Message
from caesura.core.notes import About, Note


def log(*items: tuple[int, ev.Event]) -> list[Envelope]:
    return [Envelope(seq, at, event) for seq, (at, event) in enumerate(items, 1)]


CALLS: tuple[dict[str, Any], ...] = tuple(
    {"id": name, "name": "write_file", "args": {}} for name in ("a", "b")
)
ASKED = Approval("int-1", tool_call_id="a", name="write_file")
BEGUN: list[tuple[int, ev.Event]] = [
    (100, ev.RunStarted("lead", 1)),
    (101, ev.ModelStarted(1, "lead", "some-model")),
    (102, ev.TextDelta(1, "I write.")),
    (105, ev.ModelFinished(1, CALLS, {"input_tokens": 3, "output_tokens": 2})),
]
PAUSED: list[tuple[int, ev.Event]] = [
    *BEGUN,
    (110, ev.ToolStarted("b", "write_file", {}, "lead")),
    (115, ev.ToolFinished("b", "write_file", "written", "ok", "lead")),
    (120, ev.Interrupted((ASKED,))),
    (121, ev.SegmentEnded()),
]
RESUMED: list[tuple[int, ev.Event]] = [
    *PAUSED,
    (500, ev.RunStarted("lead", 2, "resume")),
    (501, ev.InterruptClosed("int-1", "answered", {"decision": "approve"})),
    (502, ev.ToolStarted("a", "write_file", {}, "lead")),
    (512, ev.ToolFinished("a", "write_file", "written", "ok", "lead")),
    (520, ev.ModelStarted(2, "lead", "another-model")),
    (521, ev.TextDelta(2, "Done.")),
    (530, ev.ModelFinished(2, (), {"input_tokens": 4, "output_tokens": 1})),
    (531, ev.Finished()),
]


def whole(transcript: Transcript) -> list[Note]:
    return transcript.placed(transcript.closed())


def test_messages_have_the_time_of_the_event_that_ended_them() -> None:
    transcript = timed(log(*RESUMED))
    assert [(m.role, m.at, m.ms) for m in transcript.messages()] == [
        ("assistant", 105, None),
        ("tool", 115, 5),
        ("tool", 512, 10),
        ("assistant", 530, None),
    ]
    assert transcript.model == "another-model"


def test_an_open_pause_is_noted_after_the_messages_before_it() -> None:
    transcript = timed(log(*PAUSED))
    (note,) = transcript.placed(transcript.messages())
    assert note == Note(
        "pause", 2, 120, interrupt_id="int-1", tool_call_id="a", asked="approval", tool="write_file"
    )


def test_a_pause_comes_before_the_result_of_its_call_in_the_order_that_is_shown() -> None:
    transcript = timed(log(*RESUMED))
    shown = transcript.closed()
    assert [m.tool_call_id for m in shown] == [None, "a", "b", None]
    (note,) = transcript.placed(shown)
    assert note == Note("pause", 1, 120, 381, "approve", "int-1", "a", asked="approval", tool="write_file")


def test_a_pause_tells_which_answers_were_chosen_in_the_words_that_were_offered() -> None:
    options = (Option("Red", "r"), Option("Something else", "other", allow_custom=True))
    asked = Questions("int-1", questions=(Question("Which?", options), Question("Why?")))
    answer = {"decision": "answers", "answers": ["r", "because"]}
    found = timed(log((1, ev.Interrupted((asked,))), (5, ev.InterruptClosed("int-1", "answered", answer))))
    (note,) = found.notes
    told = [{"question": "Which?", "answer": "Red"}, {"question": "Why?", "answer": "because"}]
    assert (note.asked, note.always, note.answers) == ("questions", None, told)
    assert notes.from_dict(notes.to_dict(note)) == note


def test_a_pause_tells_that_its_tool_is_allowed_from_then_on() -> None:
    answer = {"decision": "approve", "always_allow": True}
    found = timed(log(*PAUSED, (130, ev.InterruptClosed("int-1", "answered", answer))))
    assert [note.always for note in found.notes] == [True]


def test_a_question_that_nobody_answered_says_how_it_ended() -> None:
    transcript = timed(
        log(*PAUSED, (900, ev.InterruptClosed("int-1", "expired")), (901, ev.Stopped("timeout")))
    )
    pause, stopped = whole(transcript)
    assert (pause.outcome, pause.ms) == ("expired", 780)
    assert stopped == Note("stopped", 3, 901, outcome="timeout")


def test_a_restart_tells_how_long_nobody_worked() -> None:
    again = log(
        *BEGUN[:3],
        (4_102, ev.RunStarted("lead", 1, "adopt", 2)),
        (4_103, ev.TextVoided(1)),
        (4_104, ev.Finished()),
    )
    assert whole(timed(again)) == [Note("restart", 0, 4_102, 4_000)]


def test_a_note_keeps_its_place_when_a_message_before_it_is_voided() -> None:
    found = timed(
        log(
            *BEGUN,
            (200, ev.RunStarted("lead", 1, "adopt", 2)),
            (201, ev.TextVoided(1)),
            (202, ev.ModelStarted(2, "lead")),
            (203, ev.TextDelta(2, "again")),
            (204, ev.ModelFinished(2)),
        )
    )
    assert [note.after for note in whole(found)] == [0]


def test_a_stop_comes_after_the_reply_that_it_cut() -> None:
    stopped = ev.Stopped("user")
    applied, ahead = timed(log(*BEGUN[:3], (130, stopped))), timed(log(*BEGUN[:3]))
    for notes_found in (whole(applied), ahead.placed(ahead.closed(130), stopped, 130)):
        assert notes_found == [Note("stopped", 1, 130, outcome="user")]
    assert ahead.closed(130)[0].at == 130


def test_a_failure_keeps_its_text_and_its_id() -> None:
    failed = timed(log(*BEGUN[:1], (130, ev.Failed("no model", "model_unavailable", "err-1", True))))
    expected = Note("failed", 0, 130, outcome="model_unavailable", message="no model", error_id="err-1")
    assert whole(failed) == [expected]


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    (note,) = whole(
        timed(log(*PAUSED, (90, ev.InterruptClosed("int-1", "answered", {"decision": "reject"}))))
    )
    assert (note.ms, note.outcome) == (0, "reject")


def test_what_is_kept_of_a_turn_is_read_again() -> None:
    about = About("some-model", whole(timed(log(*RESUMED))), {"report": 2})
    assert notes.read(about.dumps()) == about
    assert notes.read(None) == About("", [], {})
    assert About().dumps() is None
    assert notes.read(b'{"model":"m","notes":[{"kind":"pause","after":1,"new":5}]}').notes[0].after == 1


def test_messages_of_other_versions_are_read() -> None:
    assert messages.from_dict({"role": "user", "content": "x", "new": 1}) == Message("user", "x")
    kept = messages.from_dict(messages.to_dict(Message("tool", "x", at=5, ms=2)))
    assert (kept.at, kept.ms) == (5, 2)


def test_the_usage_of_a_turn_is_the_sum_over_its_messages() -> None:
    transcript = timed(log(*RESUMED))
    assert messages.usage(transcript.messages()) == {"input_tokens": 7, "output_tokens": 3}
    assert messages.usage([Message("user", "x")]) is None
