"""The encoder of API B."""

from __future__ import annotations

import pytest

from caesura.core import events as ev
from caesura.core.events import Envelope, Event
from caesura.core.interrupts import Approval
from caesura.dialects.artifactflow import encode
from caesura.dialects.artifactflow.encode import Encoder, State
from caesura.http.frames import encoded
from tests.scenarios.scenario import parse

ENCODER = Encoder("conv-1", "turn-1")
ASKED = tuple(Approval(f"int-{name}", name="write_file", args={"path": name}, agent="a") for name in "ab")
SAID: list[Event] = [
    ev.RunStarted("a", 1, "start", 1),
    ev.ModelStarted(1, "a"),
    ev.TextDelta(1, "one "),
    ev.ReasoningDelta(1, "hm"),
    ev.ModelFinished(1),
    ev.ToolStarted("c", "look", {}, "a"),
    ev.ModelStarted(2, "sub", parent="c"),
    ev.TextDelta(2, "not the answer"),
    ev.ToolFinished("c", "look", "seen", "ok", "a"),
    ev.RunStarted("a", 1, "adopt", 2),
    ev.TextVoided(1),
    ev.TextVoided(2),
    ev.ModelStarted(3, "a"),
    ev.TextDelta(3, "three"),
    ev.ModelFinished(3),
    ev.ArtifactChanged("report", 1, "create"),
    ev.ArtifactChanged("report", 2, "update"),
    ev.ArtifactChanged("table", 1, "create"),
    ev.Finished(),
    ev.TitleChanged("A title"),
    ev.SegmentEnded(),
]


def log(*events: Event) -> list[Envelope]:
    return [Envelope(seq, 1_700_000_000_123, event) for seq, event in enumerate(events, 1)]


def frames(events: list[Envelope], encoder: Encoder = ENCODER, after: int = 0) -> list[list[object]]:
    return parse(encoded(encoder, encoder.start(1), events, after)[1])


def end(*events: Event) -> dict[str, object]:
    """The data of the last frame of these events."""
    data = frames(log(ev.RunStarted("a", 1, "start", 1), *events))[-1][2]
    assert isinstance(data, dict)
    return data


def test_the_frames_after_any_cursor_equal_those_of_the_unbroken_stream() -> None:
    whole, state, parts = log(*SAID), ENCODER.start(1), []
    for item in whole:
        state, frame = ENCODER.step(state, item)
        parts.append(frame)
    for after in range(len(whole) + 1):
        ended, rest = encoded(ENCODER, ENCODER.start(1), whole, after)
        assert rest == b"".join(parts[after:])
        assert ended == state


@pytest.mark.parametrize("count", [1, 2])
def test_a_reader_cut_between_two_frames_of_an_event_gets_the_others(count: int) -> None:
    asking = log(ev.RunStarted("a", 1, "start", 1), ev.Interrupted(ASKED[:count]))
    whole = frames(asking)[1:]
    number = 2**24 + 2
    assert [frame[0] for frame in whole] == [*(f"{number}.{place}" for place in range(1, count + 1)), number]
    for seen in range(1, count + 1):
        assert frames(asking, Encoder("conv-1", "turn-1", 2, seen), 1) == whole[seen:]
    # An id that no frame has: nothing is left out.
    assert frames(asking, Encoder("conv-1", "turn-1", 2, count + 1), 1) == whole


def test_the_answer_is_the_newest_text_of_the_agent_itself() -> None:
    data = frames(log(*SAID))[-1][2]
    assert data == {
        "success": True,
        "interrupted": False,
        "response": "three",
        "artifacts_updated": ["report", "table"],
    }


def test_a_sub_agent_is_named_under_the_call_that_began_it() -> None:
    chunks = [data for _, name, data in frames(log(*SAID)) if name == "stream"]
    spoken = [item for item in chunks if isinstance(item, dict) and item["type"] in ("start", "llm_chunk")]
    assert [(item["agent"], item.get("parent")) for item in spoken] == [
        *([("a", None)] * 3),
        *([("sub", "c")] * 2),
        *([("a", None)] * 2),
    ]


def test_after_a_crash_the_answer_before_counts_until_there_is_a_new_one() -> None:
    said = ev.ModelStarted(1, "a"), ev.TextDelta(1, "first"), ev.ModelStarted(2, "a"), ev.TextDelta(2, "void")
    stopped = ev.Stopped("user"), ev.SegmentEnded()
    assert end(*said, ev.TextVoided(2), *stopped)["response"] == "first"
    assert end(*said, ev.TextVoided(2), ev.TextVoided(1), *stopped)["response"] == ""
    assert end(*said, ev.TextVoided(1), *stopped)["response"] == "void"
    again = ev.ModelStarted(3, "a"), ev.TextDelta(3, "new")
    assert end(*said, ev.TextVoided(2), *again, *stopped)["response"] == "new"
    assert end(*said, ev.TextVoided(2), *again, ev.TextVoided(3), *stopped)["response"] == "first"


@pytest.mark.parametrize("size", [9, 10, 11, 25])
def test_a_long_answer_is_cut_and_says_so(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encode, "LONGEST_RESPONSE", 10)
    text = "".join(chr(97 + place) for place in range(size))
    for step in (1, 3, size):
        pieces = [ev.TextDelta(1, text[place : place + step]) for place in range(0, size, step)]
        data = end(ev.ModelStarted(1, "a"), *pieces, ev.Finished(), ev.SegmentEnded())
        assert data["response"] == text[:10]
        assert data.get("response_cut", False) == (size > 10)


def test_a_million_pieces_are_few_to_hold() -> None:
    state, envelope = ENCODER.start(1), Envelope(1, 0, ev.ModelStarted(1, "a"))
    state, _ = ENCODER.step(state, envelope)
    for _ in range(50_000):
        state = ENCODER.skip(state, ev.TextDelta(1, "word "))
    assert len(list(_pieces(state))) < 40
    assert encode._text(state.answers[1].pieces) == "word " * 50_000


def _pieces(state: State) -> list[str]:
    found, pieces = [], state.answers[1].pieces
    while pieces is not None:
        pieces, text = pieces
        found.append(text)
    return found


def wrote(author: str, words: str = "", kind: str = "llm_chunk") -> ev.GraphWrote:
    return ev.GraphWrote({"type": kind, "agent": author, "data": {"content": words}}, "a")


def said_by(*events: Event) -> list[tuple[str, str]]:
    """All words that are sent, joined as long as the same one speaks."""
    found: list[tuple[str, str]] = []
    for _, _, data in frames(log(ev.RunStarted("a", 1, "start", 1), *events)):
        assert isinstance(data, dict)
        if data.get("type") == "llm_chunk":
            before = found.pop()[1] if found and found[-1][0] == data["agent"] else ""
            found.append((data["agent"], before + data["data"]["content"]))
    return found


def test_each_agent_of_a_graph_has_words_of_its_own() -> None:
    """Only the last of them becomes a message."""
    steps = [("lead", "Search, please."), ("search", "Found."), ("lead", "The answer.")]
    written = [
        event
        for author, text in steps
        for event in (wrote(author, kind="start"), wrote(author, text[:4]), wrote(author, text[4:]))
    ]
    message = ev.ModelStarted(1, "a"), ev.TextDelta(1, "The answer."), ev.ModelFinished(1)
    assert said_by(*written, *message) == steps
    assert said_by(*written[:-1], ev.TextDelta(1, "x"), ev.TextVoided(1), *message)[-1] == (
        "a",
        "The answer.",
    )


def test_two_models_that_speak_at_once_have_a_text_each() -> None:
    begun = ev.ModelStarted(1, "a"), ev.ModelStarted(2, "a")
    spoken = [ev.TextDelta(call, f"{call}{place}") for place in range(3) for call in (1, 2)]
    ended = ev.Finished(), ev.SegmentEnded()
    for last, first in ((1, 2), (2, 1)):
        both = ev.ModelFinished(first), ev.ModelFinished(last)
        assert end(*begun, *spoken, *both, *ended)["response"] == f"{last}0{last}1{last}2"
    twice = [event for delta in spoken for event in (delta, wrote(f"agent-{delta.call}", delta.text))]
    assert "".join(words for _, words in said_by(*begun, *twice)) == "".join(delta.text for delta in spoken)
    stopped = ev.ModelFinished(1), ev.Stopped("user"), ev.SegmentEnded()
    assert end(*begun, *spoken, *stopped)["response"] == "202122", "the newest, which was cut"


def test_the_newest_written_words_are_the_answer_if_there_is_no_message() -> None:
    written = (
        wrote("lead", "Look."),
        wrote("crawl", kind="start"),
        wrote("crawl", "On "),
        wrote("crawl", "it"),
    )
    stopped = ev.Stopped("user"), ev.SegmentEnded()
    assert end(*written, *stopped)["response"] == "On it"
    assert end(*written, wrote("crawl", kind="restart"), wrote("crawl", "No"), *stopped)["response"] == "No"
    message = ev.ModelStarted(1, "a"), ev.TextDelta(1, "Done."), ev.ModelFinished(1)
    assert end(*written, *message, *stopped)["response"] == "Done."


def test_words_of_few_authors_are_kept() -> None:
    state = ENCODER.start(1)
    for number in range(1_000):
        state = ENCODER.skip(state, wrote(str(number), "word"))
    assert len(state.written) == encode._AUTHORS


def test_the_ends_of_a_segment() -> None:
    failed = ev.Failed("no model", "model", "err-1", True)
    assert end(failed, ev.SegmentEnded()) == {"error": "no model (err-1)", "code": "model", "retryable": True}
    assert end(ev.Stopped("timeout"), ev.SegmentEnded())["code"] == "expired"
    for reason in ("user", "disconnect", "superseded"):
        data = end(ev.Stopped(reason), ev.SegmentEnded())
        assert (data["success"], data["cancelled"], data["reason"]) == (False, True, reason)


def test_the_question_is_the_last_frame() -> None:
    asking = log(
        ev.RunStarted("a", 1, "start", 1), ev.Interrupted(ASKED), ev.TitleChanged("late"), ev.SegmentEnded()
    )
    assert [name for _, name, _ in frames(asking)] == ["metadata", "stream", "stream", "interrupt"]


def test_every_frame_is_one_line_of_data() -> None:
    odd = "a\nb\rc\u2028d\u2029e\x85f\0g\ud83d"
    events = log(
        ev.RunStarted("a", 1, "start", 1),
        ev.ModelStarted(1, odd),
        ev.TextDelta(1, odd),
        ev.ReasoningDelta(1, odd),
        ev.ToolStarted("c", odd, {odd: odd}, odd),
        ev.TitleChanged(odd),
        ev.Failed(odd, "model"),
        ev.SegmentEnded(),
    )
    text = encoded(ENCODER, ENCODER.start(1), events)[1].decode()
    for block in text.removesuffix("\n\n").split("\n\n"):
        assert [line.split(": ", 1)[0] for line in block.splitlines()] == ["id", "event", "data"]
