"""The agent that the page of the superagent API prints: its file is taken as it is, and it runs."""

from __future__ import annotations

from pathlib import Path

from caesura.agents.loader import Catalog, check
from caesura.core.answers import Answer
from caesura.core.interrupts import Confirmation
from tests.engine.world import STANDARD, World
from tests.openai_server import Say

FILE = """\
apiVersion: superagent/v1
kind: Agent
metadata:
  name: approval-agent
  version: "1.0.0"
spec:
  type: chat_model_agent
  model:
    primary: gpt-4o
  system_prompt: |
    你是一个审批助手。在执行任何不可逆操作前,
    使用"Please confirm"短语明确请求用户确认。
  interrupt:
    enabled: true
    checkpoint_backend: redis    # redis(持久化)或 memory(内存,默认)
    timeout_seconds: 300         # 中断状态保留时长,默认 300 秒(5 分钟)
  memory:
    backend: builtin
"""
CONFIRMED = Answer("fields", fields={"confirm": True})


def test_the_printed_file_has_no_fault(tmp_path: Path) -> None:
    (tmp_path / "approval-agent.yaml").write_text(FILE)
    assert check(tmp_path, STANDARD.names) == []
    agent = Catalog(tmp_path, STANDARD.names).get("approval-agent")
    assert agent.path.parent == tmp_path
    assert agent.spec.model.primary == "gpt-4o"
    assert agent.spec.interrupt.checkpoint_backend == "redis"
    assert agent.spec.interrupt.timeout_seconds == 300
    assert "Please confirm" in agent.spec.system_prompt


async def put(world: World) -> None:
    in_memory = FILE.replace("checkpoint_backend: redis", "checkpoint_backend: memory")
    (world.agents / "approval-agent.yaml").write_text(in_memory)
    await world.begin("approval-agent")


async def test_it_runs_on_the_demo_model_where_that_replaces_its_own(world: World) -> None:
    await world.engine.drain()
    world.replaced_models = {"gpt-4o": "demo"}
    world.engine = world.new_engine()
    world.engine.start()
    await put(world)
    said = await world.say("delete the old users")
    assert said.waiting(Confirmation)
    assert (await world.resume(said, CONFIRMED)).finished


async def test_it_runs_with_the_key_and_the_address_of_the_environment(world: World) -> None:
    await world.engine.drain()
    world.environ = {"OPENAI_API_KEY": "secret-key", "OPENAI_BASE_URL": world.desk.base_url}
    world.engine = world.new_engine()
    world.engine.start()
    await put(world)
    text = "我将要删除以下过期用户数据。Please confirm: 即将删除 1,234 条记录,此操作不可逆。"
    world.desk.script(Say(list(text)), Say("删除完成"), model="gpt-4o")
    (item,) = (said := await world.say("请帮我删除 prod 数据库中所有过期用户数据")).waiting(Confirmation)
    assert item.reason == "Please confirm: 即将删除 1,234 条记录,此操作不可逆。"
    said = await world.resume(said, CONFIRMED)
    assert said.finished
    assert world.desk.sent()[-1] == ("user", "我确认，请继续。")
