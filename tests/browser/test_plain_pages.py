"""Front ends of API B and of API C that know only what their events say: B's from another origin, with agents
that are a LangGraph graph, C's with an agent file that names a Redis where there is none."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests import agent_files
from tests.api.server import Served
from tests.browser.conftest import MakeVisitor
from tests.engine.test_superagent_file import FILE
from tests.graph_files import research

pytestmark = pytest.mark.asyncio(loop_scope="session")

MESSAGE = "请帮我删除 prod 数据库中所有过期用户数据"
_numbers = count(1)


@pytest.fixture(scope="module")
def researching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("researching")
    agents = folder / "agents"
    agent_files.put(agents, "lead", "type: langgraph\ngraph: research:create_multi_agent_graph\n")
    (agents / "research.py").write_text(research(folder / "trace"))
    with Served(folder, default_agent="lead") as server:
        yield server


@pytest.fixture(scope="module")
def approving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("approving"), auth="none", model_map="gpt-4o=demo")
    (server.settings.data_dir.with_name("agents") / "approval-agent.yaml").write_text(FILE)
    with server:
        yield server


async def shown(page: Page, name: str, address: str, **values: str) -> Page:
    html = Path(__file__).with_name(name).read_text()
    for placeholder, value in values.items():
        html = html.replace(placeholder, value)

    async def serve(route: Route) -> None:
        await route.fulfill(body=html, content_type="text/html")

    await page.route(f"**/{name}", serve)
    await page.goto(f"{address}/{name}#{next(_numbers)}")
    return page


@pytest_asyncio.fixture(loop_scope="session")
async def b(researching: Served, guest: MakeVisitor) -> Page:
    """The front end of API B, as it is developed: on another port of this machine."""
    person = await guest(researching.url)
    # Nobody listens on the port, so Chromium does not know that the page is of this machine.
    await person.context.grant_permissions(["local-network-access"])
    token = researching.token(f"person-{next(_numbers)}")
    values = {"SERVER_URL": researching.url, "BEARER": token}
    return await shown(person.page, "artifactflow.html", "http://localhost:3000", **values)


@pytest_asyncio.fixture(loop_scope="session")
async def c(approving: Served, guest: MakeVisitor) -> Page:
    return await shown((await guest(approving.url)).page, "superagent.html", approving.url)


async def send(page: Page, message: str) -> None:
    await page.locator("#message").fill(message)
    await page.get_by_text("Send").click()


async def asked_for_permission(b: Page) -> None:
    await send(b, "what does the page say?")
    await expect(b.locator("#permission")).to_be_visible()
    await expect(b.locator("#streaming")).to_have_text("")
    await expect(b.locator("#tool")).to_have_text("tool_permission web_fetch")
    await expect(b.locator("#who")).to_have_text("crawl_agent")
    await expect(b.locator("#params")).to_have_text('{"url":"https://example.org/"}')
    await expect(b.locator("#steps li").last).to_have_text("crawl_agent permission_required")


async def test_agents_of_api_b_ask_write_and_are_shown_as_they_tell(researching: Served, b: Page) -> None:
    await asked_for_permission(b)
    trace = researching.settings.data_dir.with_name("trace")
    assert not trace.exists()
    await b.get_by_text("Allow").click()
    await expect(b.locator("#artifacts li")).to_have_text(["Report 2: # What the page says"])
    await expect(b.locator("#messages p")).to_have_text(["I look at the page. ", "The report is written. "])
    await expect(b.locator("#messages p").last).to_have_attribute("title", "The report is written. ")
    steps = await b.locator("#steps li").all_text_contents()
    assert [step for step in steps if step.startswith("crawl_agent tool")] == [
        "crawl_agent tool_start web_fetch",
        "crawl_agent tool_result",
    ]
    assert trace.read_text() == "fetched https://example.org/\n"


async def test_a_permission_of_api_b_is_refused(b: Page) -> None:
    await asked_for_permission(b)
    await b.get_by_text("Deny").click()
    await expect(b.locator("#messages p")).to_have_text(["I look at the page. ", "I have not seen it. "])
    await expect(b.locator("#streaming")).to_have_text("")
    await expect(b.locator("#artifacts li")).to_have_count(0)


async def asked_to_confirm(c: Page) -> None:
    await send(c, MESSAGE)
    await expect(c.locator("#dialog")).to_be_visible()
    await expect(c.locator("#reason")).not_to_have_text("")
    await expect(c.locator("#fields label")).to_have_count(1)


async def test_an_agent_of_api_c_asks_and_goes_on_without_a_redis(c: Page) -> None:
    await asked_to_confirm(c)
    before = await c.locator("#text").text_content()
    assert before
    await c.get_by_role("checkbox").check()
    await c.get_by_text("OK").click()
    await expect(c.locator("#streaming")).to_have_text("")
    await expect(c.locator("#text")).not_to_have_text("")
    await expect(c.locator("#text")).not_to_have_text(before)


async def test_a_message_over_what_waits_in_api_c_asks_again_and_may_be_refused(c: Page) -> None:
    await asked_to_confirm(c)
    reason = await c.locator("#reason").text_content()
    await c.reload()
    await send(c, "换个话题")
    await expect(c.locator("#reason")).to_have_text(reason or "")
    await c.get_by_text("OK").click()
    await expect(c.locator("#text")).not_to_have_text("")
    await expect(c.locator("#streaming")).to_have_text("")
