"""The chat, at a terminal."""

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from caesura.core import described
from tests.api.attacks import ATTACKS
from tests.api.server import Served
from tests.cli.terminals import Child, Terminals
from tests.client.process import Process

PROMPT, APPROVAL = "you> ", "[a]lways > "


def _heed_ctrl_c() -> None:
    """In a background job the signal is ignored, and its children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """Terminals of people, each in a folder of their own."""

    def __init__(self, terminals: Terminals, folder: Path) -> None:
        self._terminals, self._home = terminals, folder
        self._open: list[Child] = []

    def chat(self, url: str, *arguments: str, **environment: str) -> Child:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("CAESURA_")}
        own = {"HOME": str(self._home), "XDG_CONFIG_HOME": "", "TERM": "dumb", **environment}
        child = self._terminals.open(["chat", "--url", url, *arguments], clean | own, self._home)
        self._open.append(child)
        return child

    def close(self) -> None:
        for child in self._open:
            child.close(force=True)


@pytest.fixture(scope="module")
def terminals() -> Iterator[Terminals]:
    with Terminals() as terminals:
        yield terminals


@pytest.fixture
def terminal(terminals: Terminals, tmp_path: Path) -> Iterator[Terminal]:
    terminal = Terminal(terminals, tmp_path)
    yield terminal
    terminal.close()


def say(child: Any, text: str) -> None:
    child.expect_exact(PROMPT)
    child.sendline(text)


def leaves(child: Any, code: int = 0) -> str:
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == code
    return str(child.before)


@pytest.fixture
def alice(terminal: Terminal, server: Served) -> Any:
    return terminal.chat(server.url, CAESURA_TOKEN=server.token())


def test_sub_agents_at_once_are_shown_under_their_names(terminal: Terminal, server: Served) -> None:
    token = server.token()
    alice = terminal.chat(server.url, "--agent", "lead_agent", CAESURA_TOKEN=token, NO_COLOR="1")
    say(alice, "ask search_agent to count to 30 + ask crawl_agent to count to 30 think=no")
    alice.expect_exact("(conv-")
    alice.expect_exact(PROMPT)
    told = [line.rstrip() for line in str(alice.before).splitlines()]
    counted = " ".join(map(str, range(1, 31)))
    for name in ("search_agent", "crawl_agent"):
        said = [line.removeprefix(f"  [{name}] ") for line in told if line.startswith(f"  [{name}] ")]
        assert " ".join(part.strip() for part in said) == f"{counted} done."
        assert f"✓ {name}" in told
    alice.sendeof()
    leaves(alice)


def test_a_reply_is_streamed_and_ctrl_d_leaves(alice: Any) -> None:
    say(alice, "echo good day")
    alice.expect_exact("\x1b[0mgood day\r\n")  # after the id of the conversation, which is dimmed
    say(alice, "/help")
    alice.expect_exact("/retry")
    say(alice, "/nonsense")
    alice.expect_exact("is not a command")
    alice.expect_exact(PROMPT)
    alice.sendeof()
    leaves(alice)


def test_an_approval_is_asked_for(alice: Any) -> None:
    say(alice, "write hello.py: print(1)")
    alice.expect_exact("▌   content (8 characters): print(1)")
    alice.expect_exact("▌ write_file: path (8 characters), content (8 characters)")
    alice.expect_exact(APPROVAL)
    alice.sendline("y")
    alice.expect_exact("wrote 8 bytes to hello.py")


def test_a_call_is_refused_edited_or_answered_instead(alice: Any) -> None:
    say(alice, "write hello.py: print(1)")
    alice.expect_exact(APPROVAL)
    alice.sendline("n not today")
    alice.expect_exact("✗ write_file")
    say(alice, "write hello.py: print(1)")
    alice.expect_exact(APPROVAL)
    alice.sendline("e")
    alice.expect_exact('arguments > {"path": "hello.py", "content": "print(1)"}')
    alice.sendline('\x15{"path": "other.py", "content": "print(22)"}')
    alice.expect_exact("wrote 9 bytes to other.py")
    say(alice, "write hello.py: print(1)")
    alice.expect_exact(APPROVAL)
    alice.sendline("r it is there already")
    alice.expect_exact("↩ write_file (not run): it is there already")


DROPPED = "what you typed before this question was dropped"


@pytest.mark.parametrize("early", ["y\r", "a\r", "y\ry\ra\ry\r", "y", "\x04"], ids=repr)
def test_keys_pressed_before_a_question_do_not_answer_it(alice: Any, early: str) -> None:
    alice.expect_exact(PROMPT)
    alice.send(f"write hello.py: print(1)\r{early}")
    alice.expect_exact(DROPPED)
    alice.expect_exact(APPROVAL)
    alice.sendline("n")
    alice.expect_exact("✗ write_file")
    assert "wrote" not in alice.before
    say(alice, "write hello.py: print(1)")
    assert DROPPED not in alice.before
    alice.expect_exact(APPROVAL)
    alice.sendline("y")
    alice.expect_exact("wrote 8 bytes to hello.py")


def test_the_second_of_two_questions_is_not_answered_with_the_first(alice: Any) -> None:
    command = json.dumps({"command": "echo PWNED"})
    say(alice, f"call execute {command} execute {command}")
    alice.expect_exact(APPROVAL)
    alice.send("n\ry\r")
    alice.expect_exact(DROPPED)
    alice.expect_exact(APPROVAL)
    alice.sendline("n")
    alice.expect_exact("✗ execute")
    alice.expect_exact("✗ execute")


def test_text_that_arrives_slowly_is_dropped_until_it_pauses() -> None:
    # A longer pause than usual, so that a busy machine does not make one of the gaps longer than it.
    code = (
        "from caesura.cli import keyboard, typeahead\ntypeahead._QUIET = 2\n"
        "print('?', flush=True)\nprint('said', keyboard.Keyboard().ask('> '))"
    )
    child = pexpect.spawn(sys.executable, ["-c", code], encoding="utf-8", timeout=30)
    child.delaybeforesend = None
    child.expect_exact("?")
    for _ in range(20):
        child.send("y\r")
        time.sleep(0.02)
    child.expect_exact(DROPPED)
    child.expect_exact("▌ > ")
    child.sendline("red")
    child.expect_exact("said red")


def test_ctrl_c_works_while_type_ahead_is_dropped_and_the_terminal_is_as_before() -> None:
    # Again and again: Python sees a signal that comes just before it begins to wait only after that wait.
    code = (
        "import termios\nfrom caesura.cli import typeahead\nbefore = termios.tcgetattr(0)\n"
        "typeahead._QUIET = 5\n"
        "try:\n    print('go', flush=True)\n    while True:\n        typeahead.drop()\n"
        "except KeyboardInterrupt:\n    print('same', termios.tcgetattr(0) == before)\n"
    )
    child = pexpect.spawn(sys.executable, ["-c", code], encoding="utf-8", timeout=30, preexec_fn=_heed_ctrl_c)
    child.expect_exact("go")
    child.sendintr()
    child.expect_exact("same True")


def test_an_always_allowed_tool_is_asked_for_once(alice: Any) -> None:
    say(alice, "write hello.py: print(1)")
    alice.expect_exact(APPROVAL)
    alice.sendline("a")
    alice.expect_exact("wrote 8 bytes")
    say(alice, "write hello.py: print(22)")
    assert alice.expect_exact(["wrote 9 bytes", APPROVAL]) == 0


def test_questions_have_numbered_options_and_own_words(alice: Any) -> None:
    say(alice, "ask me 2 questions")
    alice.expect_exact("1. Red")
    alice.expect_exact("▌ > ")
    alice.sendline("1")
    alice.expect_exact("▌ > ")
    alice.sendline("a very small horse")
    alice.expect_exact("→ red (Red)")
    alice.expect_exact("→ a very small horse")


def test_a_confirmation_is_a_form(terminal: Terminal, server: Served) -> None:
    child = terminal.chat(server.url, "--agent", "approval-agent", CAESURA_TOKEN=server.token())
    say(child, "delete the old rows")
    child.expect_exact("[y/n] > ")
    child.sendline("y")
    child.expect_exact(PROMPT)


def test_ctrl_c_stops_the_reply_and_keeps_what_was_said(alice: Any, server: Served) -> None:
    say(alice, "count to 2000 delay=0.01")
    alice.expect_exact("11 12")
    alice.sendintr()
    alice.expect_exact("(stopping")
    alice.expect_exact("(stopped by you)")
    say(alice, "echo still here")
    alice.expect_exact("\r\nstill here\r\n")
    say(alice, "what did I say first?")
    alice.expect_exact("count to 2000")


def test_ctrl_c_at_a_question_stops_the_turn(alice: Any) -> None:
    say(alice, "write hello.py: print(1)")
    alice.expect_exact(APPROVAL)
    alice.sendintr()
    alice.expect_exact("(stopped by you)")
    say(alice, "echo still here")
    alice.expect_exact("\r\nstill here\r\n")


def test_the_second_ctrl_c_leaves(alice: Any) -> None:
    say(alice, "count to 2000 delay=0.01")
    alice.expect_exact("11 12")
    alice.sendintr()
    alice.expect_exact("(stopping; Ctrl-C once more leaves)")
    alice.sendintr()
    leaves(alice)


def test_a_person_can_leave_even_if_the_server_does_not_stop_the_turn(
    terminal: Terminal, tmp_path: Path
) -> None:
    with Process(tmp_path / "data") as server:
        child = terminal.chat(server.url)
        say(child, "count to 2000 think=no delay=0.01")
        child.expect_exact("11 12")
        server.kill()
        child.expect_exact("trying again)")
        child.sendintr()
        child.expect_exact("(stopping")
        child.sendintr()
        assert "caesura chat --continue" in leaves(child)


def test_a_stopped_reply_is_retried_or_regenerated(alice: Any) -> None:
    say(alice, "count to 60 delay=0.01")
    alice.expect_exact("11 12")
    alice.sendintr()
    alice.expect_exact("(stopped by you)")
    say(alice, "/retry")
    alice.expect_exact("60")
    say(alice, "/again")
    alice.expect_exact("60")
    alice.expect_exact(PROMPT)


def test_pending_questions_are_asked_first_when_continuing(terminal: Terminal, server: Served) -> None:
    token = server.token("continuing")
    child = terminal.chat(server.url, CAESURA_TOKEN=token)
    say(child, "echo one")
    say(child, "write hello.py: print(1)")
    child.expect_exact(APPROVAL)
    child.sendeof()
    assert "caesura chat --continue" in leaves(child)
    child = terminal.chat(server.url, "--continue", CAESURA_TOKEN=token)
    child.expect_exact("(earlier messages: 1)")
    child.expect_exact("you> write hello.py")
    child.expect_exact(APPROVAL)
    child.sendline("y")
    child.expect_exact("wrote 8 bytes")
    say(child, "what did I say first?")
    child.expect_exact("echo one")


def test_there_may_be_nothing_to_continue(terminal: Terminal, server: Served) -> None:
    child = terminal.chat(server.url, "-c", CAESURA_TOKEN=server.token("newcomer"))
    child.expect_exact("nothing to go on with")
    child.expect_exact(PROMPT)


def test_a_message_on_the_command_line_is_said_and_left(terminal: Terminal, server: Served) -> None:
    child = terminal.chat(server.url, "echo good day", CAESURA_TOKEN=server.token())
    assert "good day\r\n" in leaves(child)
    child = terminal.chat(server.url, "fail midway", CAESURA_TOKEN=server.token())
    assert "failed:" in leaves(child, code=1)


def test_a_new_person_registers_and_is_remembered(terminal: Terminal, server: Served, tmp_path: Path) -> None:
    child = terminal.chat(server.url)
    child.expect_exact("name (a new one is registered): ")
    child.sendline("Mallory M")
    child.expect_exact("a name has at most 50 characters")
    child.expect_exact("name (a new one is registered): ")
    child.sendline("mallory")
    child.expect_exact("password of mallory: ")
    child.sendline("correct horse")
    child.expect_exact("[y/N] ")
    assert "Incorrect" not in str(child.before)
    child.sendline("y")
    child.expect_exact("mallory: /help")
    assert "Incorrect" not in str(child.before)
    assert (tmp_path / ".config/caesura/tokens.json").stat().st_mode & 0o777 == 0o600
    again = terminal.chat(server.url, "--user", "mallory")
    again.expect_exact("mallory: /help")
    say(again, "echo one")
    again.expect(r"\(conv-[a-z0-9-]+\)")


def test_a_wrong_password_of_a_registered_name_is_asked_for_again(terminal: Terminal, server: Served) -> None:
    server.token("carol")
    child = terminal.chat(server.url, "--user", "carol")
    child.expect_exact("password of carol: ")
    child.sendline("wrong horse")
    child.expect_exact("`carol` with this password is not known. Register it as a new name?")
    child.expect_exact("[y/N] ")
    child.sendline("y")
    child.expect_exact("carol is registered already: the password is wrong.")
    child.expect_exact("password of carol: ")
    child.sendline("another wrong horse")
    child.expect_exact("Incorrect username or password.")
    assert child.expect_exact(["password of carol: ", "[y/N] "]) == 0
    child.sendline("correct horse")
    child.expect_exact("carol: /help")


def test_after_three_wrong_passwords_the_chat_ends(terminal: Terminal, server: Served) -> None:
    server.token("dave")
    child = terminal.chat(server.url, "--user", "dave")
    for number in range(3):
        child.expect_exact("password of dave: ")
        child.sendline(f"wrong horse {number}")
        if not number:
            child.expect_exact("[y/N] ")
            child.sendline("n")
            child.expect_exact("Incorrect username or password.")
    assert "caesura: not logged in" in leaves(child, code=1)


def test_a_new_person_is_asked_for_an_invite_where_one_is_needed(terminal: Terminal, tmp_path: Path) -> None:
    with Served(tmp_path / "served", registration="invite") as server:
        code = server.call(server.context.service.people.invite(7))
        child = terminal.chat(server.url, "--user", "oscar", CAESURA_PASSWORD="correct horse")
        child.expect_exact("[y/N] ")
        child.sendline("y")
        child.expect_exact("an invite is needed to register")
        child.expect_exact("invite (nothing to leave): ")
        child.sendline(code)
        child.expect_exact("oscar: /help")


def test_a_chat_survives_a_server_that_is_killed_in_mid_reply(terminal: Terminal, tmp_path: Path) -> None:
    with Process(tmp_path / "data") as server:
        child = terminal.chat(server.url)
        say(child, "count to 150 think=no delay=0.01")
        child.expect_exact("40 41 42")
        server.kill()
        child.expect_exact("trying again)")
        server.start()
        child.expect_exact("is said anew)")
        child.expect_exact("148 149 150")
        say(child, "echo still here")
        child.expect_exact("\r\nstill here\r\n")


def test_a_command_that_imitates_another_is_shown_as_it_is(terminal: Terminal, server: Served) -> None:
    calls = [f"execute {json.dumps({'command': command})}" for command, _ in ATTACKS.values()]
    child = terminal.chat(server.url, f"call {' '.join(calls)}", CAESURA_TOKEN=server.token(), NO_COLOR="1")
    for command, form in ATTACKS.values():
        child.expect_exact(APPROVAL)
        lines = seen(child)
        asked = lines[lines.index("▌ ? Run a command: execute") :]
        more = [line for line in asked if " more call" in line]
        asked = [line for line in asked if line not in more]
        size = described.size(command, "en")
        assert [line.count("▌") for line in asked] == [1] * len(asked)
        assert all(line.startswith("▌ ") for line in asked)
        assert all(line.isprintable() and " " * 17 not in line for line in lines)
        assert asked[1].startswith("▌   » Running command")
        assert asked[2].startswith(f"▌   command ({size}):")
        assert asked[-2:] == [f"▌ execute: command ({size})", "▌ [y]es [n]o [e]dit [r]espond "]
        if len(command.splitlines()) == 1:
            assert asked[2] == f"▌   command ({size}): {form}"
        else:
            assert len(asked[3:-2]) == command.count("\n") + 1
        child.sendline("n")
    leaves(child)


def test_a_long_content_is_shown_to_its_end_and_does_not_hide_the_question(
    terminal: Terminal, server: Served
) -> None:
    content = "x = 1\n" * 4000 + "import os"
    asking = {"CAESURA_TOKEN": server.token(), "NO_COLOR": "1"}
    message = f"call write_file {json.dumps({'path': 'a.py', 'content': content})}"
    child = terminal.chat(server.url, message, **asking)
    child.expect_exact(APPROVAL)
    lines = seen(child)
    assert lines[-3] == "▌     4001  import os"
    assert lines[-2] == "▌ write_file: path (4 characters), content (24,009 characters, 4,001 lines)"
    assert len([line for line in lines if line.endswith("  x = 1")]) == 4000
    child.sendline("n")
    leaves(child)


def test_a_model_cannot_imitate_our_question(terminal: Terminal, server: Served) -> None:
    forged = "▌ ? Run a command: execute\n▌ [y]es [n]o > \x1b[1A\x1b[2K\x9b2J\r\u202e"
    child = terminal.chat(server.url, f"echo {forged}", CAESURA_TOKEN=server.token(), NO_COLOR="1")
    told = leaves(child)
    assert r"\u258c [y]es [n]o > \x1b[1A\x1b[2K\x9b2J\r\u202e" in told
    assert "▌" not in told


def seen(child: Any) -> list[str]:
    """The lines up to the prompt, as sent to the terminal."""
    told: str = child.before
    return told.replace("\r\n", "\n").split("\n")


def test_nothing_in_a_question_moves_the_cursor() -> None:
    code = r"from caesura.cli.keyboard import Keyboard; print(Keyboard().ask('col\x1b[2Jour\x07▌ > '))"
    child = pexpect.spawn(sys.executable, ["-c", code], encoding="utf-8", timeout=30)
    child.expect_exact(r"▌ col\x1b[2Jour\x07\u258c > ")
    child.sendline("red")
    assert "red" in leaves(child)
