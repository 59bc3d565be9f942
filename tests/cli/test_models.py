"""Models of providers, from the command line: listed, and asked for a word."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from caesura.cli.remedies import remedy
from caesura.models.failures import ModelError
from tests import agent_files, graph_files
from tests.cli.conftest import Run
from tests.openai_server import Desk, Refusal, Say, Server
from tests.servers.server import free_port

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(scope="module")
def provider() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture
def desk(provider: Server, monkeypatch: pytest.MonkeyPatch, run: Run) -> Desk:
    desk = provider.desk()
    monkeypatch.setenv("OPENAI_BASE_URL", desk.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return desk


def test_what_the_provider_offers_is_listed(run: Run, desk: Desk) -> None:
    desk.models = ["small", "large", "odd\x1b[2J"]
    ran = run("models")
    assert ran.code == 0
    assert ran.out.splitlines()[:2] == ["small", "large"]
    assert "\x1b" not in ran.out
    assert "3 models" in ran.err
    assert run("models", "--model", "openai").out == ran.out
    assert run("models", "--model", "openai:anything").out == ran.out


def test_the_models_of_an_agents_provider_are_listed(
    run: Run, provider: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = provider.desk()
    desk.models = ["theirs"]
    monkeypatch.setenv("THEIR_KEY", KEY)
    (tmp_path / "agents").mkdir()
    model = f"model: {{primary: 'openai:x', base_url: '{desk.base_url}', api_key_env: THEIR_KEY}}"
    agent_files.put(tmp_path / "agents", "helper", model)
    assert run("models", "--agents-dir", tmp_path / "agents", "--agent", "helper").out == "theirs\n"
    desk.script(Say("ready"), model="x")
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--call", "--agent", "helper")
    assert 'ok     call       x answered "ready" after ' in ran.out
    ran = run("models", "--agents-dir", tmp_path / "agents", "--agent", "nobody")
    assert ran.code == 1
    assert "nobody" in ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "the demo model has no provider"),
        (("--model", "openai:x"), "provider openai needs a key: set OPENAI_API_KEY"),
        (("--model", "anthropic"), "provider anthropic needs a key: set ANTHROPIC_API_KEY"),
        (("--model", "openia:x"), "unknown model provider: openia"),
    ],
)
def test_a_list_that_cannot_be_had_is_told_with_the_remedy(
    run: Run, arguments: tuple[str, ...], told: str
) -> None:
    ran = run("models", *arguments)
    assert ran.code == 1
    assert ran.out == ""
    assert told in ran.err


def test_a_dead_address_is_told_apart_from_a_wrong_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port()}/v1")
    ran = run("models")
    assert ran.code == 1
    assert "cannot be reached: connection refused: " in ran.err
    assert "start it, or correct the base URL" in ran.err


def test_a_base_url_that_has_no_list_may_lack_its_path(
    run: Run, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{desk.base_url}/elsewhere")
    ran = run("models")
    assert ran.code == 1
    assert "no list of models: correct the base URL" in ran.err
    assert "usually ends in /v1" in ran.err


def test_the_doctor_says_that_the_name_of_a_model_is_a_guess(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    (line,) = [line for line in run("doctor").out.splitlines() if line.split()[1] == "model"]
    assert line.startswith("note ")
    assert "its name is a guess, because only OPENAI_BASE_URL is set" in line


def test_the_doctor_asks_the_model_only_on_request(run: Run, desk: Desk) -> None:
    assert "call" not in [
        line.split()[1] for line in run("doctor", "--model", "openai:test").out.splitlines()
    ]
    assert not desk.requests
    desk.script(Say("ready"))
    ran = run("doctor", "--model", "openai:test", "--call")
    assert ran.code == 0
    (line,) = [line for line in ran.out.splitlines() if line.split()[1] == "call"]
    assert 'test answered "ready" after ' in line
    assert "11 tokens in, 7 out" in line
    assert len(desk.requests) == 1


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "correct the key"),
        (404, "correct the model's name"),
        (400, "correct model.options"),
        (500, "try again later"),
    ],
)
def test_the_doctor_says_what_to_do_about_a_failure(run: Run, desk: Desk, status: int, told: str) -> None:
    desk.script(Refusal(status, error={"message": f"no, not with {KEY}"}))
    ran = run("doctor", "--model", "openai:test", "--call")
    assert ran.code == 1
    (line,) = [line for line in ran.out.splitlines() if line.startswith("fault  call")]
    assert told in line
    assert KEY not in ran.out + ran.err


def test_a_model_that_says_nothing_is_a_fault(run: Run, desk: Desk) -> None:
    desk.script(Say(""))
    ran = run("doctor", "--model", "openai:test", "--call")
    assert ran.code == 1
    assert "fault  call" in ran.out


def test_the_demo_model_answers_the_doctor_too(run: Run) -> None:
    assert "ok     call       demo" in run("doctor", "--call").out


OWN = """
from caesura.models.model import Text

class Shouts:
    def __init__(self, mark="!"):
        self.mark = mark

    async def stream(self, messages, tools=()):
        yield Text("READY" + self.mark)
"""


def calls_in(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.split()[1] == "call"]


def test_the_doctor_calls_a_model_class_next_to_its_file(run: Run, tmp_path: Path) -> None:
    agent_files.put(tmp_path / "agents", "loud", "model: {class: 'own:Shouts', options: {mark: '?'}}")
    (tmp_path / "agents/own.py").write_text(OWN)
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--call", "--agent", "loud")
    assert ran.code == 0
    assert "ok     model      own:Shouts (agent loud)\n" in ran.out
    (line,) = calls_in(ran.out)
    assert line.startswith('ok     call       Shouts answered "READY?" after ')


def test_the_doctor_calls_every_model_of_an_agent(run: Run, desk: Desk, tmp_path: Path) -> None:
    model = "model: {primary: 'openai:first', fallbacks: ['openai:second', demo]}"
    agent_files.put(tmp_path / "agents", "careful", model)
    desk.script(Refusal(500), model="first")
    desk.script(Say("ready"), model="second")
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--call", "--agent", "careful")
    assert ran.code == 0
    assert "ok     model      openai:first, then openai:second, then demo" in ran.out
    first, second, last = calls_in(ran.out)
    assert first.startswith("note   call       openai:first: ")
    assert "try again later (agent careful)" in first
    assert second.startswith('ok     call       second answered "ready" after ')
    assert last.startswith("ok     call       demo")


def test_an_agent_none_of_whose_models_answers_is_a_fault(run: Run, desk: Desk, tmp_path: Path) -> None:
    model = f"""
        model:
          primary: openai:absent
          fallbacks: [openai:locked]
          base_url: {desk.base_url}
        """
    agent_files.put(tmp_path / "agents", "unlucky", model)
    desk.script(Refusal(404, error={"message": "no such model"}), model="absent")
    desk.script(Refusal(401), model="locked")
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--model", "demo", "--call")
    assert ran.code == 1
    found = {line.split()[2].rstrip(":"): line for line in calls_in(ran.out)}
    assert found["demo"].startswith("ok ")
    assert found["demo"].endswith("(agents approval-agent, assistant, crawl_agent, lead_agent, search_agent)")
    assert found["openai:absent"].startswith("fault ")
    assert "correct the model's name" in found["openai:absent"]
    assert found["openai:locked"].startswith("fault ")
    assert "correct the key" in found["openai:locked"]


def test_a_dead_address_is_told_with_its_port(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{port}/v1")
    (line,) = calls_in(run("doctor", "--model", "openai:x", "--call").out)
    assert line.startswith(f"fault  call       openai:x: 127.0.0.1:{port} cannot be reached")
    assert line.endswith("start it, or correct the base URL")


def test_the_doctor_does_not_call_a_model_for_a_graph(run: Run, desk: Desk, tmp_path: Path) -> None:
    agent_files.put(tmp_path / "agents", "flow", "type: langgraph\ngraph: 'flow:graph'")
    code = graph_files.chain("def speak(state): return {'messages': []}", "speak")
    (tmp_path / "agents/flow.py").write_text(graph_files.IMPORTS + code)
    ran = run("doctor", "--agents-dir", tmp_path / "agents", "--call", "--agent", "flow")
    assert ran.code == 0
    assert "ok     model      agent flow is a graph, which makes its own models" in ran.out
    assert calls_in(ran.out) == [
        "note   call       not called: agent flow, because a graph makes its own models"
    ]
    assert not desk.requests


def test_an_agent_that_is_not_there_is_a_fault_and_nothing_is_called(run: Run) -> None:
    ran = run("doctor", "--call", "--agent", "nobody")
    assert ran.code == 1
    assert "fault  agent      agent not found: nobody" in ran.out
    assert calls_in(ran.out) == []


def test_an_address_that_names_no_model_is_pointed_out_when_the_demo_answers(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    ran = run("doctor", "--call")
    (line,) = [line for line in ran.out.splitlines() if line.split()[1] == "model"]
    assert line.startswith("note   model      demo (no AI): VLLM_BASE_URL is set, but that names no model")
    assert "CAESURA_MODEL=vllm:" in line


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("the certificate of host is not trusted: self-signed", "SSL_CERT_FILE"),
        ("no secure connection to host: WRONG_VERSION_NUMBER", "http or https"),
        ("the proxy wants a name and a password, or others", "HTTPS_PROXY"),
        ("the proxy p cannot be reached: Connection refused", "NO_PROXY"),
        ("host cannot be reached: Connection refused", "correct the base URL"),
    ],
)
def test_addresses_certificates_and_proxies_have_remedies_of_their_own(said: str, told: str) -> None:
    assert told in remedy(ModelError("connection", said))
