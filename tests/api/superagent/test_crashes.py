"""kill -9 of the server: what was said is not said twice, and what waits still waits."""

from pathlib import Path

import httpx
import pytest

from tests.api.superagent.session import Session, of, said, tokens
from tests.api.threads.process import Process

COUNTED = " ".join(str(number) for number in range(1, 151)) + " done."


def process(folder: Path) -> Process:
    return Process(folder, default_agent="assistant")


def test_a_reply_that_was_cut_off_begins_again_and_the_client_is_told(tmp_path: Path) -> None:
    with process(tmp_path) as server, server.client() as client:
        session = Session.new(client, "assistant")
        with session.chatting("count to 150 delay=0.005") as found:
            first = [next(found) for _ in range(12)]
            server.kill()
            with pytest.raises(httpx.TransportError):
                list(found)
    with process(tmp_path) as server, server.client() as client:
        session = session.at(client)
        rest = session.join(first[-1].id)
        assert of(rest, "progress")[0] == {"status": "restart"}
        assert said(first + rest) == said(rest) == COUNTED
        whole = session.join()
        assert whole[: len(first)] == first
        assert said(whole) == COUNTED
        for number in range(0, len(whole) - 1, 10):
            assert session.join(whole[number].id) == whole[number + 1 :]
        legacy = "".join(tokens(session.joined(a2ui=False)))
        cut, _, again = legacy.partition("\n[RESTART]\n")
        assert COUNTED.startswith(cut)
        assert again == COUNTED


def test_a_question_is_there_after_a_crash(tmp_path: Path) -> None:
    with process(tmp_path) as server, server.client() as client:
        session = Session.new(client)
        asked = session.chat("delete the old rows")
        state = session.state()
        server.kill()
    with process(tmp_path) as server, server.client() as client:
        session = session.at(client)
        assert session.state() == state
        assert session.join() == asked
        assert said(session.resume(confirm=True))
        assert session.decide({"confirm": True}).status_code == 409
