"""Prompts for summaries."""

from caesura.agents import summaries
from caesura.core.messages import Message


def shown(earlier: str | None, messages: list[Message], most: int) -> str:
    (prompt,) = summaries.prompt(earlier, messages, "en", most, 50)
    assert summaries.is_prompt(prompt.content)
    text = prompt.content.partition("<conversation>\n")[2].removesuffix("\n</conversation>")
    assert len(text) <= most + 100
    return text


def test_too_many_messages_are_left_out_whole_and_the_newest_are_told_with_who_speaks() -> None:
    texts = [f"{number} " + "lorem ipsum dolor " * 20 for number in range(20)]
    messages = [Message("assistant" if n % 2 else "user", text) for n, text in enumerate(texts)]
    text = shown(None, messages, 400)
    parts = text.split("\n\n")
    assert len(parts) > 1
    for part in parts:
        speaker, said = part.split(": ", 1)
        assert speaker in ("Person", "Assistant")
        assert set(said.split()) <= {*map(str, range(20)), "lorem", "ipsum", "dolor", "…"}
    assert parts[-1].startswith("Assistant: 19 lorem")


def test_the_earlier_summary_stays_and_is_cut_between_words() -> None:
    text = shown("first " * 200, [Message("user", "hello")], 300)
    assert text.startswith("Summary of what came before:\nfirst first ")
    assert text.endswith("\n\nPerson: hello")
    assert set(text.partition("\n")[2].partition("\n\n")[0].split()) == {"first", "…"}


def test_a_text_without_spaces_keeps_its_length() -> None:
    text = shown(None, [Message("user", "鲸" * 1000)], 300)
    assert text.count("鲸") == 300
