"""A page is read in a process of its own, so that none can hold up or break the server."""

import asyncio
import os
import sys
from pathlib import Path

import psutil
import pytest

from caesura.agents.tools.web import extract
from caesura.agents.tools.web.address import Refused
from caesura.agents.tools.web.extract import LONGEST
from caesura.agents.tools.web.fetcher import LARGEST, Fetcher, Page
from caesura.agents.tools.web.reader import Reader
from caesura.core.addresses import Allowed
from tests.agents.tools.web.site import Site, response
from tests.effort import examples
from tests.pauses import LONGEST_STEP, Pauses
from tests.waiting import until

NAVIGATION = (
    "<nav><ul>" + "".join(f"<li><a href=/{n}>Section {n}</a></li>" for n in range(10)) + "</ul></nav>"
)
FOOTER = "<footer><p>All rights reserved</p></footer>"
SENTENCE = "The river rose again on Tuesday, and the people of the town moved their boats to the old harbour."


def page(html: str, url: str = "https://example.org/news/today") -> Page:
    return Page(url, "html", "", html.encode())


async def read(html: str) -> str:
    return (await Reader().read(page(html), "alice")).text


async def test_the_main_content_is_kept_with_its_structure_and_the_rest_is_not() -> None:
    text = await read(
        f"""<body><header>{NAVIGATION}</header><main><article><h1>River</h1><p>{SENTENCE}</p>
        <h2>Next</h2><p>See <a href="../report?a=1&amp;b=2">the report</a>, <em>now</em>.</p>
        <ul><li>boats<ul><li>old ones</li></ul></li><li>houses</li></ul><p>Then:</p>
        <ol><li>first</li><li>second</li></ol>
        <pre><code class="language-python">def f(x):
    return x
</code></pre><table><tr><th>Day</th><th>Level</th></tr><tr><td>Monday</td><td>3 m</td></tr></table>
        <blockquote>We were ready.</blockquote><p hidden>secret orders</p></article></main>
        <aside><h3>Related</h3></aside>{FOOTER}<script>alert(1)</script></body>"""
    )
    assert text == "\n".join(
        [
            *("# River", "", SENTENCE, "", "## Next", ""),
            *("See [the report](https://example.org/report?a=1&b=2), *now*.", ""),
            *("- boats", "  - old ones", "- houses", "", "Then:", "", "1. first", "2. second", ""),
            *("```python", "def f(x):", "    return x", "```", ""),
            *("| Day | Level |", "| --- | --- |", "| Monday | 3 m |", "", "> We were ready."),
        ]
    )


async def test_all_posts_of_a_forum_are_kept() -> None:
    posts = "".join(
        f"<div class=post><div class=body><p>Answer {n}: {SENTENCE}</p></div></div>" for n in range(6)
    )
    text = await read(f"<body><header>{NAVIGATION}</header><div id=posts>{posts}</div>{FOOTER}</body>")
    assert [f"Answer {n}:" in text for n in range(6)] == [True] * 6
    assert "Section 3" not in text
    assert "All rights" not in text


async def test_a_chinese_page_and_a_short_one() -> None:
    assert await read("<h1>茶</h1><p>先烧水，<a href='/b'>再泡茶</a>。</p>") == (
        "# 茶\n\n先烧水，[再泡茶](https://example.org/b)。"
    )
    assert await read("") == ""


async def test_links_that_are_not_of_the_web_lose_their_target() -> None:
    links = "<a href='javascript:alert(1)'>one</a> <a href='DATA:x'>two</a> <a href=three>3</a>"
    text = await read(f"<base href='/base/'><p>{links}</p>")
    assert text == "one two [3](https://example.org/base/three)"


async def test_characters_that_hide_text_are_removed() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "ignore")
    assert await read(f"<p>a\u200b\u202eb{hidden}\x1b[1mc\u00add</p>") == "ab\\[1mcd"


async def test_a_long_page_is_cut() -> None:
    found = await Reader().read(page("<p>" + "word " * 100_000), "alice")
    assert (len(found.text), found.cut) == (LONGEST, True)
    found = await Reader().read(Page("https://a.example/", "text", "", b"x" * LARGEST), "alice")
    assert (len(found.text), found.cut) == (LONGEST, True)


#: They take longest, and four times as long if there are twice as many: a usual run reads a fifth.
TABLES = "<table><tr><td>" * (LARGEST // 15)
HOSTILE = {
    "deep": "<div>" * (LARGEST // 5),
    "lists": "<ul><li>" * (LARGEST // 8),
    "quotes": "<blockquote>" * (LARGEST // 12),
    "tables": TABLES[: LARGEST // examples(5, 1)],
    "formatting": "<a><p>x" * (LARGEST // 7),
    "paragraphs": "<p>" * (LARGEST // 3),
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(LARGEST // 12)) + ">",
    "navigation": "<nav>" * (LARGEST // 5),
    "links": "<a href=javascript:x>x</a>" * (LARGEST // 27),
    "less-than": "<" * LARGEST,
}
#: Those that take longest. They are read while the event loop is watched.
LONG = ("tables", "formatting")


@pytest.mark.parametrize("name", [name for name in HOSTILE if name not in LONG])
async def test_a_hostile_page_is_read_or_refused(name: str) -> None:
    try:
        found = await Reader(seconds=90).read(page(HOSTILE[name]), "alice")
    except Refused as error:
        assert "not read" in str(error)  # noqa: PT017
    else:
        assert len(found.text) <= LONGEST


async def test_a_page_that_takes_too_long_is_given_up_and_its_process_killed() -> None:
    reader = Reader(seconds=0.01)
    with pytest.raises(Refused, match="takes too long"):
        await reader.read(page("<p>x"), "alice")
    await _no_readers_left()


async def test_a_stop_kills_the_process() -> None:
    task = asyncio.create_task(Reader().read(page(TABLES), "alice"))
    await until(lambda: bool(_readers()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _no_readers_left()


async def test_a_process_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("import os; os.abort()", "print('{')", "print('[]')", ""):
        (tmp_path / "extract.py").write_text(program)
        monkeypatch.setattr(extract, "__file__", str(tmp_path / "extract.py"))
        with pytest.raises(Refused, match="the page cannot be read"):
            await Reader().read(page("<p>x"), "alice")


async def test_the_process_may_not_open_files_or_grow(tmp_path: Path) -> None:
    """What a page could make the parser do is bounded by the system."""
    program = (
        "import sys, runpy, socket\n"
        f"limits = runpy.run_path({extract.__file__!r})['_give_up_rights']\n"
        "limits()\n"
        "for work in (lambda: open('/etc/passwd'), socket.socket, lambda: bytearray(2 << 30)):\n"
        "    try:\n        work()\n    except (OSError, MemoryError) as error:\n"
        "        print(type(error).__name__)\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", program, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert output.decode().split() == ["OSError", "OSError", "MemoryError"]


async def test_the_process_has_no_environment_and_nothing_of_the_page_among_its_arguments() -> None:
    os.environ["SECRET_OF_THE_SERVER"] = "secret"
    try:
        hostile = page(HOSTILE["tables"], "https://a.example/?token")
        task = asyncio.create_task(Reader().read(hostile, "alice"))
        await until(lambda: bool(_readers()))
        found = _readers()[0]
        assert "token" not in " ".join(found.cmdline())
        assert "SECRET_OF_THE_SERVER" not in found.environ()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    finally:
        del os.environ["SECRET_OF_THE_SERVER"]


@pytest.mark.usefixtures("frozen_collector")
@pytest.mark.parametrize("name", ["article", *LONG])
async def test_the_event_loop_goes_on_while_a_large_page_is_fetched_and_read(name: str) -> None:
    article = f"<h2>Next</h2><p>{SENTENCE} <a href=/x>more</a></p>"
    content = (HOSTILE | {"article": article * (LARGEST // len(article))})[name]
    async with Site() as site:
        site.answers |= {"/": response(content), "/small": response("<p>x</p>")}
        fetcher, reader = Fetcher(Allowed([site.host]), seconds=90), Reader(seconds=90)
        await fetcher.fetch(f"{site.url}/small", "alice")  # the first one loads what is needed
        async with Pauses() as pauses:
            found = await reader.read(await fetcher.fetch(f"{site.url}/", "alice"), "alice")
        await fetcher.aclose()
    assert len(found.text) <= LONGEST
    assert pauses.longest < LONGEST_STEP


def _readers() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if extract.__file__ in _arguments(child)]


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def _no_readers_left() -> None:
    await until(lambda: not _readers())
