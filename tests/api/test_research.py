"""The research team on a running server: the shipped agents, the demo model and the real tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.reading import Event, conversation, outcome, send, to_segment_end
from tests.api.server import Served
from tests.api.web_double import WebDouble

QUICK = "delay=0 think=no"


@pytest.fixture
def web() -> Iterator[WebDouble]:
    with WebDouble() as web:
        yield web


@pytest.fixture
def connected(web: WebDouble, tmp_path: Path) -> Iterator[Served]:
    with Served(tmp_path, search_url=web.url, fetch_allow=f"127.0.0.1:{web.port}") as server:
        yield server


@pytest.fixture
def alice(connected: Served) -> Iterator[httpx.Client]:
    with connected.client() as client:
        yield client


class Research:
    """One message to `lead_agent`, and what came of it so far."""

    def __init__(self, client: httpx.Client, said: str, conversation_id: str | None = None) -> None:
        self._client = client
        self.conversation = conversation_id or conversation(client, agent="lead_agent")
        self.turn: str = send(client, self.conversation, f"{said} {QUICK}")["id"]
        self.events: list[Event] = []
        self.read()

    def read(self) -> None:
        after = int(self.events[-1].id) if self.events else None
        self.events += to_segment_end(self._client, self.turn, after)

    @property
    def outcome(self) -> str:
        return outcome(self.events).name

    @property
    def questions(self) -> list[dict[str, Any]]:
        asked: list[dict[str, Any]] = outcome(self.events).data["interrupts"]
        return asked

    def answer(self, decision: str, *decisions: str) -> None:
        """Answer all questions that wait, in order (the last decision is used for the others)."""
        given = [decision, *decisions]
        answers = {
            item["id"]: {"decision": given[min(place, len(given) - 1)]}
            for place, item in enumerate(self.questions)
        }
        response = self._client.post(f"/api/v2/turns/{self.turn}/answers", json={"answers": answers})
        assert response.status_code == 200, response.text
        self.read()

    def called(self) -> list[tuple[str, str]]:
        """Each tool that ran, with the agent that called it."""
        return [(event.data["agent"], event.data["name"]) for event in self.events_of("tool_started")]

    def events_of(self, name: str) -> list[Event]:
        return [event for event in self.events if event.name == name]

    @property
    def versions(self) -> list[tuple[str, int, str]]:
        changed = [event.data for event in self.events_of("artifact_changed")]
        return [(data["id"], data["version"], data["update_type"]) for data in changed]

    @property
    def last_words(self) -> str:
        """The last text of the agent itself."""
        own = [event.data["call"] for event in self.events_of("model_started") if not event.data["parent"]]
        said = [event.data for event in self.events_of("text_delta")]
        return "".join(data["text"] for data in said if data["call"] == own[-1])


WHOLE = [
    ("lead_agent", "search_agent"),
    ("search_agent", "web_search"),
    ("lead_agent", "crawl_agent"),
    ("crawl_agent", "web_fetch"),
    ("lead_agent", "create_artifact"),
    ("lead_agent", "update_artifact"),
]


@pytest.mark.parametrize(
    ("said", "query", "summary"),
    [
        ("research trees", "trees", "Searches: 1. Pages read: 1."),
        ("研究 树木", "树木", "搜索 1 次，阅读网页 1 个"),
    ],
)
def test_the_whole_flow(alice: httpx.Client, web: WebDouble, said: str, query: str, summary: str) -> None:
    research = Research(alice, said)
    assert research.outcome == "interrupted"
    (asked,) = research.questions
    crawl = next(
        event.data for event in research.events_of("tool_started") if event.data["name"] == "crawl_agent"
    )
    assert (asked["kind"], asked["name"]) == ("approval", "web_fetch")
    assert (asked["agent"], asked["parent"]) == ("crawl_agent", crawl["id"])
    assert asked["args"] == {"url": web.page("trees")}
    assert web.fetched == []
    research.answer("approve")
    assert research.outcome == "finished"
    assert research.called() == WHOLE
    assert (web.searched, web.fetched) == ([query], ["/page/trees"])
    assert [(version, kind) for _, version, kind in research.versions] == [(1, "create"), (2, "update")]
    assert summary in research.last_words
    made = next(
        e.data["args"] for e in research.events_of("tool_started") if e.data["name"] == "create_artifact"
    )
    assert "grow old" in made["content"]


def test_every_event_of_a_sub_agent_names_it_and_the_call_that_began_it(
    alice: httpx.Client, web: WebDouble
) -> None:
    research = Research(alice, "research trees and rivers")
    assert research.outcome == "interrupted"
    research.answer("approve")
    assert research.outcome == "finished"
    began = {
        event.data["id"]: event.data["name"]
        for event in research.events_of("tool_started")
        if event.data["name"] in ("search_agent", "crawl_agent")
    }
    assert sorted(began.values()) == ["crawl_agent", "crawl_agent", "search_agent", "search_agent"]
    inner = [
        event.data
        for name in ("model_started", "tool_started", "tool_finished")
        for event in research.events_of(name)
        if event.data["agent"] != "lead_agent"
    ]
    assert {data["parent"] for data in inner} == set(began)
    assert all(began[data["parent"]] == data["agent"] for data in inner)
    assert sorted(web.searched) == ["rivers", "trees"]
    assert sorted(web.fetched) == ["/page/rivers", "/page/trees"]


def test_two_sub_agents_ask_at_the_same_time_and_one_is_refused(alice: httpx.Client, web: WebDouble) -> None:
    research = Research(alice, "research trees and rivers")
    first, second = research.questions
    assert first["agent"] == second["agent"] == "crawl_agent"
    assert first["parent"] != second["parent"]
    research.answer("approve", "reject")
    assert research.outcome == "finished"
    assert web.fetched == [first["args"]["url"].removeprefix(web.url)]
    assert "Pages read: 1." in research.last_words
    assert f"You refused {second['args']['url']}" in research.last_words


def test_a_refused_page_is_done_without(alice: httpx.Client, web: WebDouble) -> None:
    research = Research(alice, "research trees")
    research.answer("reject")
    assert research.outcome == "finished"
    assert web.fetched == []
    assert "Pages read: 0." in research.last_words
    assert len(research.versions) == 2


def test_a_second_research_of_the_same_topic_gives_the_artifact_more_versions(
    alice: httpx.Client, web: WebDouble
) -> None:
    first = Research(alice, "research trees")
    first.answer("approve")
    second = Research(alice, "research trees", first.conversation)
    second.answer("approve")
    assert second.outcome == "finished"
    assert [(version, kind) for _, version, kind in second.versions] == [(3, "rewrite"), (4, "update")]


def test_a_page_that_the_operator_does_not_allow_is_reported(alice: httpx.Client, web: WebDouble) -> None:
    research = Research(alice, "research trees with http://127.0.0.1:9/secret")
    assert research.outcome == "finished"
    assert "This did not work: http://127.0.0.1:9/secret" in research.last_words


def test_a_stop_while_sub_agents_work_keeps_what_was_done(alice: httpx.Client, web: WebDouble) -> None:
    where = conversation(alice, agent="lead_agent")
    turn = send(alice, where, "ask search_agent to count to 5000 + ask crawl_agent to count to 5000")["id"]
    with alice.stream("GET", f"/api/v2/turns/{turn}/events") as response:
        speaking: set[str] = set()
        for line in response.iter_lines():
            speaking |= {name for name in ("search_agent", "crawl_agent") if f'"agent":"{name}"' in line}
            if len(speaking) == 2:
                break
    assert alice.post(f"/api/v2/turns/{turn}/stop").json() == {"stopped": True}
    found = to_segment_end(alice, turn)
    assert outcome(found).name == "stopped"
    assert not [event for event in found if event.name == "tool_finished"]


def test_without_a_search_engine_the_team_says_so_and_reads_what_it_is_given(
    web: WebDouble, tmp_path: Path
) -> None:
    with Served(tmp_path, fetch_allow=f"127.0.0.1:{web.port}") as server, server.client() as alice:
        nothing = Research(alice, "research trees")
        assert nothing.outcome == "finished"
        assert "CAESURA_SEARCH_URL" in nothing.last_words
        assert "no address" in nothing.last_words
        given = Research(alice, f"research trees with {web.page('trees')}")
        given.answer("approve")
        assert given.outcome == "finished"
        assert "Searches: 0. Pages read: 1." in given.last_words


def test_the_research_goes_on_after_the_server_is_stopped_at_a_question(
    web: WebDouble, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {"search_url": web.url, "fetch_allow": f"127.0.0.1:{web.port}"}
    with Served(tmp_path, **settings) as server, server.client() as alice:
        research = Research(alice, "research trees")
    with Served(tmp_path, **settings) as server, server.client() as alice:
        research._client = alice
        research.answer("approve")
        assert research.outcome == "finished"
    assert (web.searched, web.fetched) == (["trees"], ["/page/trees"])


def test_the_team_is_listed_with_its_sub_agents(alice: httpx.Client) -> None:
    listed = {agent["name"]: agent for agent in alice.get("/api/v2/agents").json()["agents"]}
    assert listed["lead_agent"]["sub_agents"] == ["search_agent", "crawl_agent"]
    assert {"search_agent", "crawl_agent"} <= set(listed)
    assert all(listed[name]["description"] for name in listed)


def test_the_shipped_assistant_writes_artifacts_without_asking(tmp_path: Path) -> None:
    server = Served(tmp_path)
    assert server.settings.agents_dir is not None
    (server.settings.agents_dir / "assistant.yaml").unlink()  # the test's own, which would replace it
    with server, server.client() as alice:
        turn = send(alice, conversation(alice), f"create artifact about trees then update artifact {QUICK}")
        found = to_segment_end(alice, turn["id"])
        assert outcome(found).name == "finished"
        changed = [event.data["version"] for event in found if event.name == "artifact_changed"]
        assert changed == [1, 2]
