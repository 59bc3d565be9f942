"""Words at the place of a conversation's id that are no ids are never taken for one: some of them are paths
of API C. The tests of API C go through the orders of the APIs."""

import httpx
import pytest

from caesura import resources
from caesura.app import create_app
from caesura.settings import Settings


@pytest.mark.parametrize("name", ["stream", "resume", "interrupt_state", "abort", "x", "Conv-x", "streams"])
def test_a_word_without_the_prefix_is_no_conversation(alice: httpx.Client, name: str) -> None:
    before = alice.get("/api/v1/chat").json()["total"]
    for method in ("GET", "POST", "DELETE"):
        answer = alice.request(method, f"/api/v1/chat/{name}", json={"content": "x"})
        assert answer.status_code in (400, 404, 405), method
        assert answer.json() != {"detail": "conversation not found"}
    assert alice.get("/api/v1/chat").json()["total"] == before


@pytest.mark.parametrize("name", ["stream", "resume", "abort"])
def test_a_conversation_may_have_such_a_name_behind_its_prefix(alice: httpx.Client, name: str) -> None:
    answer = alice.get(f"/api/v1/chat/conv-{name}")
    assert (answer.status_code, answer.json()) == (404, {"detail": "conversation not found"})


def test_the_default_agent_is_the_lead_agent_unless_the_operator_chose_one() -> None:
    unset = Settings.load(data_dir="unused")
    assert resources._lead_agent(unset) == "lead_agent"
    assert resources._lead_agent(Settings.load(data_dir="unused", default_agent="assistant")) == "assistant"
    assert resources._lead_agent(Settings.load(data_dir="unused", built_in_agents=False)) == "assistant"
    assert create_app(unset).openapi()["paths"]["/api/v1/chat"].keys() == {"get", "post"}
