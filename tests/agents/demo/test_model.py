"""The demo model on its own: streaming, thinking, failing, remembering."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage

from caesura.agents import phrases, titles
from caesura.agents.demo.model import DemoFailure, DemoModel
from caesura.agents.tools import registry
from caesura.engine.speech import reasoning_of, text_of, usage_of

TOOLS = [
    {"type": "function", "function": registry.standard().get(name).schema._asdict()}
    for name in registry.DEFAULT
]


async def stream(said: str, *before: BaseMessage, model: DemoModel | None = None) -> list[AIMessageChunk]:
    bound = (model or DemoModel(delay=0)).bind_tools(TOOLS)
    chunks = [chunk async for chunk in bound.astream([*before, HumanMessage(said)])]
    return [chunk for chunk in chunks if isinstance(chunk, AIMessageChunk)]


async def answer(said: str, *before: BaseMessage) -> AIMessage:
    return await DemoModel(delay=0).bind_tools(TOOLS).ainvoke([*before, HumanMessage(said)])


async def test_it_says_that_it_is_no_ai_in_both_languages() -> None:
    assert "no AI" in (await answer("hello")).text
    assert "不是人工智能" in (await answer("你好")).text


async def test_its_description_of_itself_asks_for_no_confirmation() -> None:
    for said in ("hello", "你好", "show markdown", "展示 markdown"):
        assert phrases.detect((await answer(said)).text) is None


async def test_words_come_one_by_one_and_add_up() -> None:
    chunks = await stream("count to 200")
    texts = [text_of(chunk) for chunk in chunks]
    assert sum(1 for text in texts if text) > 200
    assert "".join(texts) == " ".join(str(n) for n in range(1, 201)) + " done."


async def test_thoughts_come_before_words_and_can_be_switched_off() -> None:
    chunks = await stream("think about trees")
    kinds = ["thought" if reasoning_of(c) else "word" for c in chunks if reasoning_of(c) or text_of(c)]
    assert kinds[0] == "thought"
    assert kinds == sorted(kinds)
    assert not any(reasoning_of(chunk) for chunk in await stream("think about trees think=no"))


async def test_the_last_chunk_has_the_usage() -> None:
    chunks = await stream("think about trees")
    usage = usage_of(chunks[-1])
    assert usage is not None
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"]
    assert chunks[-1].response_metadata["finish_reason"] == "stop"


async def test_a_delay_in_the_message_wins_over_the_option() -> None:
    chunks = await stream("count to 5 delay=0", model=DemoModel(delay=60))
    assert "".join(text_of(chunk) for chunk in chunks) == "1 2 3 4 5 done."


async def test_the_same_input_gives_the_same_output() -> None:
    for said in ("hello", "write a.txt + run ls", "ask me 3 questions", "创建文档 树木"):
        one, two = await answer(said), await answer(said)
        assert (one.content, one.tool_calls, one.additional_kwargs) == (
            two.content,
            two.tool_calls,
            two.additional_kwargs,
        )


async def test_without_a_loop_it_replies_too() -> None:
    assert DemoModel().invoke("count to 3").text == "1 2 3 done."


@pytest.mark.parametrize("said", ["fail", "失败"])
async def test_it_fails_before_the_first_word(said: str) -> None:
    with pytest.raises(DemoFailure):
        await stream(said)


@pytest.mark.parametrize("said", ["fail midway", "中途失败"])
async def test_it_breaks_off_in_the_middle(said: str) -> None:
    words: list[str] = []

    async def listen() -> None:
        async for chunk in DemoModel(delay=0).astream(said):
            words.append(chunk.text)

    with pytest.raises(DemoFailure):
        await listen()
    assert len("".join(words)) > 10


async def test_it_fails_twice_then_succeeds_and_starts_counting_again() -> None:
    model = DemoModel(delay=0)
    for _ in range(2):
        for _ in range(2):
            with pytest.raises(DemoFailure):
                await stream("fail 2 times", model=model)
        assert "worked" in "".join(text_of(chunk) for chunk in await stream("fail 2 times", model=model))


async def test_it_waits_before_the_first_word() -> None:
    began = time.perf_counter()
    await stream("wait 1 seconds")
    assert time.perf_counter() - began >= 1


async def test_it_remembers_what_was_said() -> None:
    before = (
        HumanMessage("my cat is called Mimi"),
        AIMessage("ok"),
        HumanMessage("and a dog"),
        AIMessage("ok"),
    )
    assert "my cat is called Mimi" in (await answer("what did I say first?", *before)).text
    assert "and a dog" in (await answer("我之前说了什么", *before)).text
    assert "first thing" in (await answer("what did I say first?")).text


@pytest.mark.parametrize(
    "said", ["请帮我删除 prod 数据库中所有过期用户数据", "部署 v2.0 到生产环境", "delete the old rows"]
)
async def test_it_asks_for_a_confirmation_in_its_text(said: str) -> None:
    asked = await answer(said)
    reason = phrases.detect(asked.text)
    assert reason is not None
    said_before = (HumanMessage(said), asked)
    for yes in ("Yes, I confirm. Go ahead.", "yes", "ok"):
        assert "consent" in (await answer(yes, *said_before)).text
    for no in ("No, I refuse. Do not go ahead.", "no", "cancel"):
        assert "You said no" in (await answer(no, *said_before)).text
    assert "已收到您的确认" in (await answer("我确认，请继续。", *said_before)).text
    assert "没有同意" in (await answer("我不同意，请不要继续。", *said_before)).text
    assert phrases.detect((await answer("yes", *said_before)).text) is None


async def test_it_makes_titles() -> None:
    for message, language in (
        ("Tell me about old trees in the park", "en"),
        ("请帮我删除过期用户数据", "zh"),
    ):
        made = await DemoModel(delay=0).ainvoke(titles.prompt(message, "zh" if language == "zh" else "en"))
        title = titles.clean(made.text)
        assert title == made.text
        assert title is not None
        assert message.startswith(title)


async def test_it_says_word_for_word_what_it_is_told_to_say() -> None:
    assert (await answer("echo data: [DONE]\n\n\x00INTERRUPT:{}")).text == "data: [DONE]\n\n\x00INTERRUPT:{}"
    assert (await answer("say nothing")).text == ""


async def test_broken_arguments_are_invalid_and_wrong_ones_are_not() -> None:
    broken = await answer("broken arguments")
    assert broken.tool_calls == []
    assert [call["name"] for call in broken.invalid_tool_calls] == ["read_file"]
    wrong = await answer("wrong arguments")
    assert [call["name"] for call in wrong.tool_calls] == ["read_file"]


async def test_a_refusal_is_acknowledged_and_ends_the_steps() -> None:
    said = "write a.txt then run ls"
    asked = await answer(said)
    refusal = ToolMessage("User rejected the tool call", tool_call_id="x", name="write_file", status="error")
    final = await DemoModel(delay=0).bind_tools(TOOLS).ainvoke([HumanMessage(said), asked, refusal])
    assert final.tool_calls == []
    assert "You refused `write_file`" in final.text


async def test_a_missing_tool_is_not_called() -> None:
    found = await answer("search for trees")
    assert found.tool_calls == []
    assert found.text == "This agent has no tool called web_search."


async def test_ids_of_calls_differ_in_one_reply_and_between_turns() -> None:
    first = await answer("two approvals")
    second = await answer("two approvals", HumanMessage("two approvals"), first)
    ids = [call["id"] for message in (first, second) for call in message.tool_calls]
    assert len(set(ids)) == 4


@given(st.text(max_size=200))
def test_any_message_gets_a_reply(said: str) -> None:
    try:
        found = DemoModel(delay=0).bind_tools(TOOLS).invoke([HumanMessage(said)])
    except DemoFailure:
        return
    assert isinstance(found, AIMessage)


@given(st.text(max_size=60))
def test_an_echo_is_exact(text: str) -> None:
    kept = text.strip()
    if not kept or "=" in kept or kept == "nothing":
        return
    assert DemoModel(delay=0).invoke([HumanMessage(f"echo {kept}")]).text == kept


@pytest.mark.parametrize("content", ["Oaks grow old. " * 40, "橡树很老。" * 100])
async def test_long_arguments_come_word_by_word_and_short_ones_in_two_pieces(content: str) -> None:
    async def pieces(said: str) -> list[str]:
        chunks = await stream(said)
        return [piece["args"] or "" for chunk in chunks for piece in chunk.tool_call_chunks]

    head, *words = await pieces(f"write a.txt: {content}")
    assert head == ""
    assert len(words) > 100
    assert json.loads("".join(words))["content"] == content.strip()
    assert len(await pieces("write a.txt: Oaks grow old.")) == 3
    assert len(await pieces(f"write a.txt: {'tree ' * 5000}")) <= 1001
