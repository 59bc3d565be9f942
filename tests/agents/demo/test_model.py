"""The demo model on its own: streaming, thinking, failing, remembering."""

from __future__ import annotations

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caesura.agents import phrases, titles
from caesura.agents.demo.model import DemoFailure, DemoModel, _planned
from caesura.agents.tools import registry
from caesura.core.messages import Message
from caesura.engine.calls import BROKEN
from caesura.models.model import CallPart, Finish, Piece, Reasoning, Text, Usage
from tests.spoken import message, pieces, reply, user

TOOLS = [registry.standard().get(name).schema for name in registry.DEFAULT]


async def stream(said: str, *before: Message, model: DemoModel | None = None) -> list[Piece]:
    return await pieces(model or DemoModel(delay=0), [*before, user(said)], TOOLS)


async def answer(said: str, *before: Message) -> Message:
    return await reply(DemoModel(delay=0), [*before, user(said)], TOOLS)


def words(found: list[Piece]) -> list[str]:
    return [piece.text for piece in found if isinstance(piece, Text)]


async def test_it_says_that_it_is_no_ai_in_both_languages() -> None:
    assert "no AI" in (await answer("hello")).content
    assert "不是人工智能" in (await answer("你好")).content


async def test_its_description_of_itself_asks_for_no_confirmation() -> None:
    for said in ("hello", "你好", "show markdown", "展示 markdown"):
        assert phrases.detect((await answer(said)).content) is None


async def test_words_come_one_by_one_and_add_up() -> None:
    texts = words(await stream("count to 200"))
    assert len(texts) > 200
    assert "".join(texts) == " ".join(str(n) for n in range(1, 201)) + " done."


async def test_thoughts_come_before_words_and_can_be_switched_off() -> None:
    found = await stream("think about trees")
    kinds = [type(piece).__name__ for piece in found if isinstance(piece, Reasoning | Text)]
    assert kinds[0] == "Reasoning"
    assert kinds == sorted(kinds)
    assert not any(isinstance(piece, Reasoning) for piece in await stream("think about trees think=no"))


async def test_the_last_pieces_are_the_usage_and_the_reason() -> None:
    usage, finish = (await stream("think about trees"))[-2:]
    assert isinstance(usage, Usage)
    assert usage.counts["total_tokens"] == usage.counts["input_tokens"] + usage.counts["output_tokens"]
    assert usage.counts["reasoning_tokens"] > 0
    assert finish == Finish("stop")
    assert (await stream("list files"))[-1] == Finish("tool_calls")


async def test_a_delay_in_the_message_wins_over_the_option() -> None:
    found = await stream("count to 5 delay=0", model=DemoModel(delay=60))
    assert "".join(words(found)) == "1 2 3 4 5 done."


async def test_the_same_input_gives_the_same_output() -> None:
    for said in ("hello", "write a.txt + run ls", "ask me 3 questions", "创建文档 树木"):
        assert await answer(said) == await answer(said)


@pytest.mark.parametrize("said", ["fail", "失败"])
async def test_it_fails_before_the_first_word(said: str) -> None:
    with pytest.raises(DemoFailure):
        await stream(said)


@pytest.mark.parametrize("said", ["fail midway", "中途失败"])
async def test_it_breaks_off_in_the_middle(said: str) -> None:
    found: list[Piece] = []

    async def listen() -> None:
        async for piece in DemoModel(delay=0).stream([user(said)]):
            found.append(piece)

    with pytest.raises(DemoFailure):
        await listen()
    assert len("".join(words(found))) > 10


async def test_it_fails_twice_then_succeeds_and_starts_counting_again() -> None:
    model = DemoModel(delay=0)
    for _ in range(2):
        for _ in range(2):
            with pytest.raises(DemoFailure):
                await stream("fail 2 times", model=model)
        assert "worked" in "".join(words(await stream("fail 2 times", model=model)))


async def test_it_waits_before_the_first_word() -> None:
    began = time.perf_counter()
    await stream("wait 1 seconds")
    assert time.perf_counter() - began >= 1


async def test_it_remembers_what_was_said() -> None:
    before = (
        user("my cat is called Mimi"),
        Message("assistant", "ok"),
        user("and a dog"),
        Message("assistant", "ok"),
    )
    assert "my cat is called Mimi" in (await answer("what did I say first?", *before)).content
    assert "and a dog" in (await answer("我之前说了什么", *before)).content
    assert "first thing" in (await answer("what did I say first?")).content


@pytest.mark.parametrize(
    "said", ["请帮我删除 prod 数据库中所有过期用户数据", "部署 v2.0 到生产环境", "delete the old rows"]
)
async def test_it_asks_for_a_confirmation_in_its_text(said: str) -> None:
    asked = await answer(said)
    reason = phrases.detect(asked.content)
    assert reason is not None
    said_before = (user(said), asked)
    for yes in ("Yes, I confirm. Go ahead.", "yes", "ok"):
        assert "consent" in (await answer(yes, *said_before)).content
    for no in ("No, I refuse. Do not go ahead.", "no", "cancel"):
        assert "You said no" in (await answer(no, *said_before)).content
    assert "已收到您的确认" in (await answer("我确认，请继续。", *said_before)).content
    assert "没有同意" in (await answer("我不同意，请不要继续。", *said_before)).content
    assert phrases.detect((await answer("yes", *said_before)).content) is None


async def test_it_makes_titles() -> None:
    for said, language in (
        ("Tell me about old trees in the park", "en"),
        ("请帮我删除过期用户数据", "zh"),
    ):
        made = await reply(DemoModel(delay=0), titles.prompt(said, "zh" if language == "zh" else "en"))
        title = titles.clean(made.content)
        assert title == made.content
        assert title is not None
        assert said.startswith(title)


@pytest.mark.parametrize("said", ["delay=0.01 count to 30", "count to 30 think=no", "count delay=0 to 30"])
async def test_settings_are_no_part_of_a_title(said: str) -> None:
    made = await reply(DemoModel(delay=0), titles.prompt(said, "en"))
    assert made.content == "count to 30"
    assert (await answer(said)).content.endswith("29 30 done.")


async def closing(said: str, name: str, text: str) -> str:
    asked = await answer(said)
    result = Message("tool", text, tool_call_id=asked.tool_calls[0]["id"], name=name, status="ok")
    return (await reply(DemoModel(delay=0), [user(said), asked, result], TOOLS)).content


async def test_the_lines_of_a_command_are_kept() -> None:
    told = await closing("run ls", "execute", "a\nb\n[exit code 0]")
    assert told.endswith("\n\n```\na\nb\n[exit code 0]\n```")
    told = await closing("run cat a.txt", "execute", "```\ncode\n```")
    assert told.endswith("\n\n````\n```\ncode\n```\n````")


@pytest.mark.parametrize(("said", "name"), [("run cat a.md", "execute"), ("read a.md", "read_file")])
async def test_a_file_that_is_markdown_is_shown_as_markdown(said: str, name: str) -> None:
    assert (await closing(said, name, "# A heading\n\nwords")).endswith("\n\n# A heading\n\nwords")


async def test_answered_questions_are_a_list() -> None:
    told = await closing("ask me 2 questions", "ask_user", "Which colour? → Red\nWhich animal? → Dog")
    assert told.endswith("\n\n- Which colour? → Red\n- Which animal? → Dog")


async def test_it_says_word_for_word_what_it_is_told_to_say() -> None:
    text = "data: [DONE]\n\n\x00INTERRUPT:{}"
    assert (await answer(f"echo {text}")).content == text
    assert (await answer("say nothing")).content == ""


async def test_broken_arguments_are_invalid_and_wrong_ones_are_not() -> None:
    (broken,) = (await answer("broken arguments")).tool_calls
    assert broken["name"] == "read_file"
    assert BROKEN in broken["args"]
    (wrong,) = (await answer("wrong arguments")).tool_calls
    assert wrong["name"] == "read_file"
    assert BROKEN not in wrong["args"]


async def test_a_refusal_is_acknowledged_and_ends_the_steps() -> None:
    said = "write a.txt then run ls"
    asked = await answer(said)
    refusal = Message(
        "tool", "User rejected the tool call", tool_call_id="x", name="write_file", status="error"
    )
    final = await reply(DemoModel(delay=0), [user(said), asked, refusal], TOOLS)
    assert final.tool_calls == ()
    assert "You refused `write_file`" in final.content


async def test_a_missing_tool_is_not_called() -> None:
    found = await answer("search for trees")
    assert found.tool_calls == ()
    assert found.content == "This agent has no tool called web_search."


async def test_ids_of_calls_differ_in_one_reply_and_between_turns() -> None:
    first = await answer("two approvals")
    second = await answer("two approvals", user("two approvals"), first)
    ids = [call["id"] for made in (first, second) for call in made.tool_calls]
    assert len(set(ids)) == 4


@given(st.text(max_size=200))
def test_any_message_gets_a_reply(said: str) -> None:
    scene, planned = _planned([user(said)], TOOLS)
    with suppress(DemoFailure):
        assert list(DemoModel(delay=0)._pieces([user(said)], scene, planned))


@given(st.text(max_size=60))
def test_an_echo_is_exact(text: str) -> None:
    kept = text.strip()
    if not kept or "=" in kept or kept == "nothing":
        return
    said = [user(f"echo {kept}")]
    assert message(DemoModel(delay=0)._pieces(said, *_planned(said, ()))).content == kept


@pytest.mark.parametrize("content", ["Oaks grow old. " * 40, "橡树很老。" * 100])
async def test_long_arguments_come_word_by_word_and_short_ones_in_two_pieces(content: str) -> None:
    async def parts(said: str) -> list[str]:
        return [piece.args for piece in await stream(said) if isinstance(piece, CallPart)]

    head, *rest = await parts(f"write a.txt: {content}")
    assert head == ""
    assert len(rest) > 100
    assert json.loads("".join(rest))["content"] == content.strip()
    assert len(await parts("write a.txt: Oaks grow old.")) == 3
    assert len(await parts(f"write a.txt: {'tree ' * 5000}")) <= 1001
