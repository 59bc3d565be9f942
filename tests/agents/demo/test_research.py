"""The research of the demo model, step by step, with results as the tools and sub-agents give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from caesura.agents.demo import plan
from caesura.agents.demo.scene import Call, Reply, scene_of
from caesura.core.messages import Message
from caesura.engine import texts
from tests.spoken import user

FOUND = """`web_search` is done. It says:

Results for: trees (untrusted text from the web)

1. All about trees
   https://trees.example/all.
   Trees are tall.

2. More
   https://trees.example/more"""
READ = "`web_fetch` is done. It says:\n\nContent of https://trees.example/all\n\nOaks grow old."
UNSET = "`web_search` failed: The web cannot be searched: see https://operator.example/ (CAESURA_SEARCH_URL)."
REFUSED = f"You refused `web_fetch`, so it was not done. ({texts.refused('')})"
GOOD = {
    "search_agent": FOUND,
    "crawl_agent": READ,
    "web_search": FOUND.partition("\n\n")[2],
    "web_fetch": READ.partition("\n\n")[2],
    "create_artifact": "Created.",
    "update_artifact": "Updated.",
    "rewrite_artifact": "Rewritten.",
}
TEAM = ("search_agent", "crawl_agent", "create_artifact", "update_artifact", "rewrite_artifact")
ALONE = ("web_search", "web_fetch", "create_artifact", "update_artifact")
_MOST = 12


class Played:
    """A turn of an agent with these tools, played to its end."""

    def __init__(
        self, said: str, tools: tuple[str, ...] = TEAM, results: Mapping[str, str] = GOOD, bad: str = ""
    ) -> None:
        schema = {"properties": {"task": {"type": "string"}}, "required": ["task"]}
        messages: list[Message] = [user(said)]
        self.calls: list[Call] = []
        for _ in range(_MOST):
            reply: Reply = plan.reply(scene_of(messages, dict.fromkeys(tools, schema)))
            if not reply.calls:
                break
            messages += _called(len(messages), reply, {**GOOD, **results}, bad)
            self.calls += reply.calls
        else:
            pytest.fail("the research did not end")
        self.text = reply.text

    @property
    def names(self) -> list[str]:
        return [call.name for call in self.calls]

    def args(self, name: str) -> list[dict[str, Any]]:
        return [call.args for call in self.calls if call.name == name]


def _called(place: int, reply: Reply, results: Mapping[str, str], bad: str) -> list[Message]:
    ids = [f"{place}-{number}" for number in range(len(reply.calls))]
    wanted = [
        {"id": id, "name": call.name, "args": call.args} for id, call in zip(ids, reply.calls, strict=True)
    ]
    answers = [
        Message(
            "tool",
            results[call.name],
            tool_call_id=id,
            name=call.name,
            status="error" if call.name == bad else "ok",
        )
        for id, call in zip(ids, reply.calls, strict=True)
    ]
    return [Message("assistant", reply.text, tool_calls=tuple(wanted)), *answers]


def test_it_searches_reads_writes_revises_and_sums_up() -> None:
    played = Played("research trees")
    assert played.names == ["search_agent", "crawl_agent", "create_artifact", "update_artifact"]
    assert played.args("search_agent") == [{"task": "search for trees"}]
    assert played.args("crawl_agent") == [{"task": "fetch https://trees.example/all"}]
    (made,) = played.args("create_artifact")
    assert (made["id"], made["title"], made["content_type"]) == ("research-trees", "trees", "markdown")
    assert "> Oaks grow old." in made["content"]
    assert ">    https://trees.example/more" in made["content"]
    (revised,) = played.args("update_artifact")
    assert made["content"].count(revised["old"]) == 1
    assert revised["new"] not in made["content"]
    assert "Searches: 1. Pages read: 1." in played.text
    assert "`research-trees`" in played.text


@pytest.mark.parametrize("said", ["研究 树木", "研究一下树木"])
def test_it_does_the_same_in_chinese(said: str) -> None:
    played = Played(said)
    assert played.names == ["search_agent", "crawl_agent", "create_artifact", "update_artifact"]
    assert played.args("search_agent") == [{"task": "搜索 树木"}]
    assert played.args("crawl_agent") == [{"task": "抓取 https://trees.example/all"}]
    (made,) = played.args("create_artifact")
    assert (made["id"], made["title"]) == ("research-树木", "树木")
    assert made["content"].count(played.args("update_artifact")[0]["old"]) == 1
    assert "搜索 1 次，阅读网页 1 个" in played.text


def test_different_subjects_in_chinese_have_different_artifacts() -> None:
    first, second = (Played(said).args("create_artifact")[0]["id"] for said in ("研究 树木", "研究 河流"))
    assert first != second


@pytest.mark.parametrize("said", ["research trees and rivers", "研究 树木、河流", "research 树木 和 河流"])
def test_several_topics_are_searched_at_the_same_time(said: str) -> None:
    played = Played(said)
    assert played.names[:3] == ["search_agent", "search_agent", "crawl_agent"]
    assert len({args["task"] for args in played.args("search_agent")}) == 2


def test_an_address_that_the_person_gives_is_read_instead_of_a_found_one() -> None:
    for said in ("research trees with https://own.example/a", "研究 树木 参考 https://own.example/a"):
        played = Played(said)
        assert [task["task"].split()[-1] for task in played.args("crawl_agent")] == ["https://own.example/a"]
        assert played.args("search_agent")[0]["task"].split()[-1] in ("trees", "树木")


@pytest.mark.parametrize(
    "said",
    [
        "research lakes with https://own.example/a and https://own.example/b",
        "research lakes with https://own.example/a https://own.example/b",
        "research lakes, see https://own.example/a and at https://own.example/b",
        "研究 lakes 参考 https://own.example/a 和 https://own.example/b",
        "研究 lakes 参考 https://own.example/a、https://own.example/b",
    ],
)
def test_words_between_addresses_are_no_part_of_the_topic(said: str) -> None:
    played = Played(said, ALONE)
    assert [args["query"] for args in played.args("web_search")] == ["lakes"]
    assert [args["url"][-1] for args in played.args("web_fetch")] == ["a", "b"]


def test_only_the_first_hundred_addresses_of_a_message_are_looked_at() -> None:
    first, other = "https://first.example/ ", "https://other.example/ "
    played = Played(f"research trees {first * 99}{other}{other}and lakes", ALONE)
    assert [args["url"] for args in played.args("web_fetch")] == [first.strip(), other.strip()]
    played = Played(f"research trees {first * 100}{other}and lakes", ALONE)
    assert [args["url"] for args in played.args("web_fetch")] == [first.strip()]
    assert [args["query"] for args in played.args("web_search")] == ["trees"]


def test_with_nothing_but_an_address_only_that_page_is_read() -> None:
    assert Played("research https://own.example/a").names == [
        "crawl_agent",
        "create_artifact",
        "update_artifact",
    ]


def test_without_a_search_engine_it_goes_on_and_says_so() -> None:
    played = Played("research trees", results={"search_agent": UNSET})
    assert played.names == ["search_agent", "create_artifact", "update_artifact"]
    assert "Searches: 0. Pages read: 0." in played.text
    assert "CAESURA_SEARCH_URL" in played.text
    assert "no address" in played.text
    given = Played("research trees with https://own.example/a", results={"search_agent": UNSET})
    assert given.args("crawl_agent") == [{"task": "fetch https://own.example/a"}]


def test_a_refused_page_is_done_without() -> None:
    played = Played("research trees", results={"crawl_agent": REFUSED})
    assert played.names == ["search_agent", "crawl_agent", "create_artifact", "update_artifact"]
    assert "Searches: 1. Pages read: 0." in played.text
    assert "You refused https://trees.example/all" in played.text


def test_a_page_that_cannot_be_read_is_reported() -> None:
    failed = "`web_fetch` failed: not fetched: the server refused the connection"
    played = Played("research trees", results={"crawl_agent": failed})
    assert "This did not work: https://trees.example/all (not fetched" in played.text


@pytest.mark.parametrize("name", ["search_agent", "crawl_agent"])
def test_a_refused_sub_agent_is_done_without(name: str) -> None:
    played = Played("research trees", results={name: texts.refused("not now")}, bad=name)
    assert played.names[-2:] == ["create_artifact", "update_artifact"]
    assert "You refused" in played.text


def test_an_artifact_that_exists_is_rewritten() -> None:
    played = Played("research trees", results={"create_artifact": "It exists."}, bad="create_artifact")
    assert played.names[2:] == ["create_artifact", "rewrite_artifact", "update_artifact"]
    assert played.args("rewrite_artifact")[0]["content"] == played.args("create_artifact")[0]["content"]


def test_an_artifact_that_cannot_be_written_is_reported() -> None:
    played = Played("research trees", TEAM[:-1], {"create_artifact": "No room."}, bad="create_artifact")
    assert played.names == ["search_agent", "crawl_agent", "create_artifact"]
    assert "No artifact was written" in played.text
    assert "No room." in played.text


def test_an_artifact_that_the_person_refuses_is_not_written_in_another_way() -> None:
    refused = {"create_artifact": texts.refused("")}
    played = Played("research trees", results=refused, bad="create_artifact")
    assert played.names[-1] == "create_artifact"
    assert "No artifact was written" in played.text


def test_a_failed_revision_leaves_a_draft() -> None:
    played = Played("research trees", results={"update_artifact": "No."}, bad="update_artifact")
    assert "draft" in played.text


def test_an_agent_without_sub_agents_uses_the_tools_itself() -> None:
    played = Played("research trees", ALONE)
    assert played.names == ["web_search", "web_fetch", "create_artifact", "update_artifact"]
    assert played.args("web_search") == [{"query": "trees"}]
    assert played.args("web_fetch") == [{"url": "https://trees.example/all"}]


def test_an_agent_without_tools_for_research_says_so() -> None:
    played = Played("research trees", ("create_artifact",))
    assert played.names == []
    assert "lead_agent" in played.text


def test_the_settings_of_the_message_hold_for_sub_agents_too() -> None:
    played = Played("research trees delay=0 think=no")
    assert played.args("search_agent") == [{"task": "search for trees delay=0 think=no"}]
    assert "## Searched: trees\n" in played.args("create_artifact")[0]["content"]
    assert played.args("crawl_agent") == [{"task": "fetch https://trees.example/all delay=0 think=no"}]


def test_a_tool_that_was_refused_by_somebody_else_has_failed() -> None:
    """Only a person's refusal is called a refusal."""
    said = Message(
        "tool",
        "not searched: the search engine answered 403: it refuses this server",
        tool_call_id="x",
        name="web_search",
        status="error",
    )
    called = Message(
        "assistant", "", tool_calls=({"id": "x", "name": "web_search", "args": {"query": "trees"}},)
    )
    reply = plan.reply(scene_of([user("search for trees"), called, said], {"web_search": {}}))
    assert reply.text.startswith("`web_search` failed")
