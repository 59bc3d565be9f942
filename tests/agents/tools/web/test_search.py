"""The web is searched by an engine that speaks as SearXNG or Tavily do. The engines here are on this
machine."""

import asyncio
import json
import logging
from typing import Any

import pytest

from caesura.agents.tools.tool import Result
from caesura.agents.tools.web import search
from caesura.agents.tools.web.engine import Endpoint, Kind
from caesura.agents.tools.web.searcher import Failed, Searcher
from tests.agents.tools.web.site import Answer, Site, response, run_of, silence, trickle
from tests.pauses import LONGEST_STEP, Pauses

KEY = "tvly-0123456789"
HITS = [
    {"title": "Tea", "url": "https://tea.example/", "content": "Hot water first.", "score": 0.9},
    {"title": "茶", "url": "https://cha.example/", "content": "先烧水", "engine": "x"},
]


def answered(*hits: Any, **more: Any) -> bytes:
    return response(json.dumps({"query": "tea", "results": hits, **more}), kind="application/json")


def in_turn(*answers: bytes) -> Answer:
    """One answer after the other; the last one stays."""
    left = list(answers)

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if len(left) > 1 else left[0])
        await writer.drain()
        writer.close()

    return answer


async def ask(endpoint: Endpoint | None, query: str = "how to make tea", seconds: float = 60.0) -> Result:
    searcher = Searcher(endpoint, seconds)
    try:
        with run_of().active():
            return await search.tool(searcher).run({"query": query})
    finally:
        await searcher.aclose()


async def asked(answer: Answer, kind: Kind = "searxng", seconds: float = 60.0) -> tuple[Result, Site]:
    async with Site() as site:
        site.answers["/search"] = answer
        return await ask(Endpoint(site.url, kind, KEY), seconds=seconds), site


async def test_without_an_engine_the_agent_is_told() -> None:
    assert await ask(None) == Result(
        "The web cannot be searched: the operator of this server has set no search engine"
        " (CAESURA_SEARCH_URL).",
        "error",
    )


async def test_searxng_is_asked_and_its_results_are_numbered() -> None:
    result, site = await asked(answered(*HITS, number_of_results=2, suggestions=[]))
    assert result == Result(
        "Results for: how to make tea (untrusted text from the web)\n\n"
        "1. Tea\n   https://tea.example/\n   Hot water first.\n\n"
        "2. 茶\n   https://cha.example/\n   先烧水"
    )
    assert site.heads[0].startswith("GET /search?q=how+to+make+tea&format=json HTTP/1.1\r\n")


async def test_tavily_is_asked_and_its_results_are_numbered() -> None:
    result, site = await asked(answered(*HITS, answer=None, response_time=0.1), "tavily")
    assert result.text.startswith("Results for: how to make tea (untrusted text from the web)\n\n1. Tea\n")
    head, _, content = site.heads[0].partition("\r\n\r\n")
    assert head.startswith("POST /search HTTP/1.1\r\n")
    assert f"authorization: Bearer {KEY}".lower() in head.lower()
    assert json.loads(content) == {"query": "how to make tea", "max_results": 10}


async def test_an_engine_below_a_path_is_asked_there() -> None:
    async with Site() as site:
        site.answers["/searx/search"] = answered(*HITS)
        assert (await ask(Endpoint(f"{site.url}/searx/"))).status == "ok"
        assert "authorization" not in site.heads[0].lower()


async def test_results_are_bounded_and_cleaned() -> None:
    long = {"title": "a\x1b[31m\n\u202eb" + "x" * 5000, "url": "https://x.example/", "content": "y " * 50_000}
    odd = [None, 5, {}, {"url": 3}, {"title": "t", "url": "javascript:x"}, {"url": "https://only.example/"}]
    result, _ = await asked(answered(long, *odd, *HITS * 20))
    assert "1. a[31m bxxx" in result.text
    assert "2. https://only.example/\n   https://only.example/" in result.text
    assert "10. " in result.text
    assert "11. " not in result.text
    assert len(result.text) < 5000


@pytest.mark.usefixtures("frozen_collector")
@pytest.mark.parametrize(
    "hits",
    [
        b",".join([b'{"url":"http://a"}'] * 54_000),
        b",".join([b'{"url":"ftp://a"}'] * 54_000),
        b",".join([b'{"url":"ftp:%s"}' % (b"\\u0000" * 8000)] * 20),
    ],
    ids=["good", "without an address", "of control characters"],
)
async def test_the_event_loop_goes_on_while_many_results_are_read(hits: bytes) -> None:
    async with Site() as site:
        site.answers["/search"] = answered(*HITS)
        searcher = Searcher(Endpoint(site.url), seconds=90)
        await searcher.search("tea", "alice")  # the first one loads what is needed
        await site.left()
        site.answers["/search"] = response(b'{"results":[' + hits + b"]}", kind="application/json")
        async with Pauses() as pauses:
            found = await searcher.search("tea", "alice")
        await site.left()
        await searcher.aclose()
    assert len(found) == (10 if b"http://a" in hits else 0)
    assert pauses.longest < LONGEST_STEP


async def test_a_proxy_of_the_environment_is_used_for_an_engine_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Site() as proxy:
        proxy.answers["http://engine.example/search"] = answered(*HITS)
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, proxy.url.replace("http://", "http://me:secret@"))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.setenv(name, "other.example")
        result = await ask(Endpoint("http://engine.example"))
        assert result.status == "ok"
        assert "proxy-authorization: Basic bWU6c2VjcmV0" in proxy.heads[0].replace("Proxy-A", "proxy-a")
        async with Site() as site:  # a proxy elsewhere could not reach it
            site.answers["/search"] = answered(*HITS)
            assert (await ask(Endpoint(site.url))).status == "ok"
        assert len(proxy.heads) == 1


async def test_no_results_are_an_answer() -> None:
    result, _ = await asked(answered())
    assert result == Result("No results for: how to make tea")


@pytest.mark.parametrize(
    "content", ["", "<html>", "[]", "{}", '{"results": null}', '{"results": {"a": 1}}', "[" * 100_000]
)
async def test_a_malformed_answer_is_an_error(content: str) -> None:
    result, site = await asked(response(content, kind="application/json"))
    assert result == Result("not searched: the answer of the search engine is malformed", "error")
    assert len(site.heads) == 1


async def test_a_large_answer_is_an_error() -> None:
    result, _ = await asked(response(b" " * 1_100_000, kind="application/json"))
    assert result == Result("not searched: the answer is larger than 1,048,576 bytes", "error")


async def test_a_busy_engine_is_asked_again() -> None:
    busy = response(status="429 Too Many Requests", Retry_After="0")
    result, site = await asked(in_turn(busy, response(status="503 Busy", Retry_After="0"), answered(*HITS)))
    assert result.status == "ok"
    assert len(site.heads) == 3


async def test_an_engine_that_stays_busy_is_asked_three_times() -> None:
    result, site = await asked(in_turn(response(status="502 Bad Gateway", Retry_After="0")))
    assert result == Result("not searched: the search engine answered 502", "error")
    assert len(site.heads) == 3


async def test_a_long_wait_is_not_waited_but_told() -> None:
    result, site = await asked(in_turn(response(status="429 Too Many Requests", Retry_After="3600")))
    assert result.text == "not searched: the search engine answered 429; it asks to wait 3600 seconds"
    assert len(site.heads) == 1


async def test_a_broken_connection_is_tried_again() -> None:
    result, site = await asked(in_turn(b"", b"HTTP/1.1 200 OK\r\nContent-Le", answered(*HITS)))
    assert result.status == "ok"
    assert len(site.heads) == 3


@pytest.mark.parametrize("status", ["400 Bad Request", "404 Not Found", "302 Found", "204 No Content"])
async def test_any_other_status_is_told_at_once(status: str) -> None:
    result, site = await asked(response("secret details", status=status, Location="http://127.0.0.1/"))
    assert result == Result(f"not searched: the search engine answered {status[:3]}", "error")
    assert len(site.heads) == 1


async def test_a_silent_and_a_trickling_engine_are_left_after_a_time() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    for answer in (silence, trickle(head, b" ")):
        result, site = await asked(answer, seconds=2)
        assert result.text == "not searched: the search engine did not answer within 2 seconds"
        if site.opened.is_set():  # on a busy machine the time may be up before
            await site.gone.wait()


async def test_the_key_is_in_no_result_and_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    results = [
        (await asked(in_turn(response(KEY, status=status, Retry_After="0"))))[0]
        for status in ("401 Unauthorized", "403 Forbidden", "500 Error", "400 Bad")
    ]
    assert [result.status for result in results] == ["error"] * 4
    assert "the search engine answered 401: is CAESURA_SEARCH_KEY right?" in caplog.text
    for text in (caplog.text, repr(results), repr(Endpoint("http://x/", "tavily", KEY))):
        assert KEY not in text


@pytest.mark.parametrize("query", ["", "  \n", "x" * 1001])
async def test_a_query_has_bounds(query: str) -> None:
    assert (await ask(None, query)).text == "the query must be a text of 1 to 1000 characters"


def test_the_query_is_shown_to_people() -> None:
    tool = search.tool(Searcher())
    assert tool.describe({"query": "tea"}, "en")[:2] == ("Search the web", "Searching the web: tea")
    assert tool.describe({"query": "茶"}, "zh")[:2] == ("搜索网页", "正在搜索网页: 茶")
    assert (tool.permission, tool.repeatable) == ("auto", True)


@pytest.mark.parametrize("proxy", ["http://me:geheim/x@proxy.example", "socks5://a.example"])
async def test_a_proxy_that_cannot_be_used_is_said_without_its_password(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, proxy: str
) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, proxy)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    searcher = Searcher(Endpoint("http://engine.example"))
    with pytest.raises(Failed, match="the proxy of this server cannot be used"):
        await searcher.search("cats", "alice")
    assert "geheim" not in caplog.text
