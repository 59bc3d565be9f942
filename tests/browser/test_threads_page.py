"""A front end of API A that knows only what its events say, with agents that are LangGraph graphs: a person
answers their forms and decides about their calls."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Page, Route, expect

from tests import agent_files
from tests.api.server import PASSWORD, Served
from tests.browser.conftest import MakeVisitor
from tests.graph_files import assistant, wants

pytestmark = pytest.mark.asyncio(loop_scope="session")

COLOUR = {
    "question": "你喜欢什么颜色?",
    "options": [
        {"label": "红色", "value": "red"},
        {"label": "自定义", "value": "__custom__", "allow_custom": True},
    ],
}
HOW = {
    "question": "怎么执行?",
    "options": [{"label": "立即执行", "value": "now"}, {"label": "审视后执行", "value": "review"}],
}
ASK = wants(("ask_user", {"questions": [COLOUR, HOW]}))
WRITE = wants(("write_file", {"file_path": "你好.py", "content": "print(1)\n"}))
RUN = wants(("execute", {"command": "echo 你好"}))


@pytest.fixture(scope="module")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("operator")
    agents = folder / "agents"
    for name in ("graph", "form"):
        agent_files.put(agents, name, f"type: langgraph\ngraph: assisting:{name}\n")
    (agents / "assisting.py").write_text(assistant(folder / "trace"))
    with Served(folder, default_agent="graph") as server:
        server.token("alice")
        yield server


@pytest_asyncio.fixture(loop_scope="session")
async def front(operator: Served, guest: MakeVisitor) -> Page:
    """The front end, with a new thread."""
    alice = await guest(operator.url)
    html = Path(__file__).with_name("threads.html").read_text().replace("PASSWORD", PASSWORD)

    async def serve(route: Route) -> None:
        await route.fulfill(body=html, content_type="text/html")

    await alice.page.route("**/threads.html", serve)
    await alice.page.goto(f"{operator.url}/threads.html")
    await alice.page.get_by_text("新建").click()
    await expect(alice.page.locator("#title")).to_have_text("新对话")
    return alice.page


async def send(front: Page, message: str) -> None:
    await front.locator("#message").fill(message)
    await front.get_by_text("发送").click()
    await ended(front)


async def ended(front: Page) -> None:
    await expect(front.locator("#streaming")).to_have_text("")


async def shown(front: Page, task: str, info: str) -> None:
    await expect(front.locator("#dialog")).to_be_visible()
    await expect(front.locator("#task")).to_have_text(task)
    await expect(front.locator("#info")).to_have_text(info)


async def fill_in(front: Page) -> None:
    form = front.locator("#form")
    await form.get_by_label("自定义").first.check()
    await form.locator(".own").fill("浅蓝")
    await form.get_by_label("立即执行").check()
    await front.get_by_text("提交").click()
    await expect(front.locator("#dialog")).to_be_hidden()
    await ended(front)


def trace(operator: Served) -> list[str]:
    path = operator.settings.data_dir.with_name("trace")
    return path.read_text().splitlines() if path.exists() else []


async def test_a_form_is_filled_in_and_nothing_else_answers_it(front: Page) -> None:
    await send(front, ASK)
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await expect(front.locator("#form label")).to_have_text(["红色", "自定义", "立即执行", "审视后执行"])
    await front.get_by_text("继续").click()
    await expect(front.locator("#error")).to_have_text(
        "the agent asks questions: use action 'answer' or 'cancel'"
    )
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await front.get_by_text("提交").click()
    await expect(front.locator("#error")).to_have_text("answer at index 0 is empty")
    await front.reload()
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await fill_in(front)
    await expect(front.locator(".assistant").last).to_contain_text('["浅蓝", "now"]')


async def test_a_form_of_interrupt_is_filled_in(operator: Served, front: Page) -> None:
    with operator.client("alice") as client:
        made = client.post("/api/sessions", json={"agent": "form"}).json()["thread_id"]
    await front.goto(f"{operator.url}/threads.html#{made}")
    await front.reload()
    await send(front, json.dumps([COLOUR, HOW], ensure_ascii=False))
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await fill_in(front)
    await expect(front.locator(".assistant").last).to_have_text('[["浅蓝", "now"], []]')


async def test_calls_are_approved_and_refused_by_their_words(operator: Served, front: Page) -> None:
    await send(front, WRITE)
    await shown(front, "写入文件", "正在写入文件: 你好.py")
    await front.get_by_text("继续").click()
    await expect(front.locator(".assistant").last).to_have_text("wrote 你好.py")
    assert trace(operator) == ["write 你好.py"]
    await send(front, RUN)
    await shown(front, "执行命令", "正在执行命令: echo 你好")
    await front.get_by_text("取消").click()
    await expect(front.locator(".assistant").last).to_contain_text("User rejected the tool call")
    assert trace(operator) == ["write 你好.py"]


async def test_a_message_over_what_waits_asks_again_and_loses_nothing(front: Page) -> None:
    await send(front, ASK)
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await front.evaluate("document.getElementById('dialog').hidden = true")
    await send(front, "换个话题")
    await expect(front.locator("#error")).to_have_text("消息未被接收：请先回答上面的问题。")
    await shown(front, "用户问答", "Agent 提出了 2 个问题")
    await fill_in(front)
    await expect(front.locator(".assistant").last).to_contain_text('["浅蓝", "now"]')
    await send(front, "换个话题")
    await expect(front.locator(".assistant").last).to_have_text("nothing to do")


async def test_a_title_that_is_renamed_elsewhere_has_at_most_20_characters(
    operator: Served, front: Page
) -> None:
    await send(front, "你好")
    title = "关于本季度数据分析的详细讨论以及后续的安排"
    thread = front.url.partition("#")[2]
    with operator.client("alice") as client:
        assert client.patch(f"/api/v2/conversations/{thread}", json={"title": title}).status_code == 200
    await front.reload()
    await expect(front.locator("#title")).to_have_text(title[:20])
    await expect(front.locator("#threads a").first).to_have_text(title[:20])
