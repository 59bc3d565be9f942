"""A server that was killed with kill -9 while a command ran, and started again."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.browser.states import agents, texts
from tests.client.process import Process

_PATIENCE = 60.0
#: The page shows where somebody left only if they were away for longer than this, in seconds.
_AWAY = 5.5


@dataclass
class Crash:
    """`conversation` was left in the middle of an answer. `asking` waits: a call with an unknown outcome."""

    process: Process
    data: Path
    conversation: str = ""
    asking: str = ""

    @property
    def url(self) -> str:
        return self.process.url

    def happen(self) -> None:
        self.process.start()
        with httpx.Client(base_url=f"{self.url}/api/v2", timeout=30, trust_env=False) as api:
            self.conversation = self._begin(api, "free_agent")
            self.asking = self._begin(api, "careful_agent")
            self._say(
                api, self.conversation, "list files then run sleep 300 then run cat report.md delay=0.05"
            )
            self._say(api, self.asking, "list files then run sleep 300 delay=0")
            [question] = _until(api, self.asking, lambda turn: turn["interrupts"])
            _ok(api.post(f"/interrupts/{question['id']}/answer", json={"decision": "approve"}))
            left = _until(api, self.conversation, lambda turn: turn["running_tools"] and turn)
            _until(api, self.asking, lambda turn: turn["running_tools"])
            place = {"turn_id": left["id"], "cursor": left["cursor"]}
            _ok(api.put(f"/conversations/{self.conversation}/read", json=place))
            gone = time.monotonic()
        self.process.kill()
        self.process.start()
        with httpx.Client(base_url=f"{self.url}/api/v2", timeout=30, trust_env=False) as api:
            for conversation in (self.conversation, self.asking):
                _until(api, conversation, lambda turn: turn["interrupts"])
        time.sleep(max(0.0, gone + _AWAY - time.monotonic()))

    def refuse(self) -> None:
        """The person does not want the interrupted command to run again."""
        with httpx.Client(base_url=f"{self.url}/api/v2", timeout=30, trust_env=False) as api:
            for question in _until(api, self.conversation, lambda turn: turn["interrupts"]):
                _ok(api.post(f"/interrupts/{question['id']}/answer", json={"decision": "reject"}))

    def _begin(self, api: httpx.Client, agent: str) -> str:
        made: str = _ok(api.post("/conversations", json={"agent": agent, "title": "Slow build, and why"}))[
            "id"
        ]
        folder = self.data / "workspaces" / made
        folder.mkdir(parents=True)
        (folder / "report.md").write_text(texts.REPORT)
        return made

    def _say(self, api: httpx.Client, conversation: str, content: str) -> None:
        _ok(api.post(f"/conversations/{conversation}/turns", json={"content": content}))


def crash(folder: Path) -> Crash:
    agents.put(folder / "agents")
    data = folder / "data"
    return Crash(Process(data, lease=1.0, agents_dir=str(folder / "agents")), data)


def _until(api: httpx.Client, conversation: str, check: Any) -> Any:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        turns = _ok(api.get(f"/conversations/{conversation}/snapshot"))["turns"]
        if found := check(turns[-1]):
            return found
        time.sleep(0.05)
    raise TimeoutError(conversation)


def _ok(response: httpx.Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json() if response.content else None
