"""An MCP server without the official package, which starts at once and does what a server should not.

`raw.py FOLDER`: its tools are those of `tools.json` in the folder, read for each listing. What it does at its
start is in the file `mode`: `dead`, `mute`, `complain`, `quiet`; `mute` waits until there is a file `go`. In
the mode `wait` every call waits for it, and in the mode `listless` every list of tools. In the mode `again` a
list has no end. The tool `fail` answers with an error, and `write` with any line, in which `ID` stands for
the id of the call. The tool `flood` writes a text again and again, in which `TOKEN` stands for the token of
the call's progress.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

#: Tests import this file for `tool`, without arguments.
FOLDER = Path(*sys.argv[1:2])
_LOCK = threading.Lock()


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object"}, **more}


def send(message: dict[str, Any]) -> None:
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def write(data: bytes) -> None:
    with _LOCK:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def leave(text: str) -> None:
    with (FOLDER / "trace.txt").open("a") as file:
        file.write(text + "\n")


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


def call(name: str, args: dict[str, Any], meta: dict[str, Any]) -> dict[str, Any]:
    if name == "change":
        (FOLDER / "tools.json").write_text(json.dumps(args["tools"]))
        send({"method": "notifications/tools/list_changed"})
    elif name == "wait" or _mode() == "wait":
        leave(f"{name} {meta.get('caesura/idempotency_key')}")
        _wait()
    elif name == "die":
        leave("die")
        os._exit(1)
    elif name == "garbage":
        write(b"this is no JSON\n\n[1, 2]\n")
    elif name == "endless":
        for _ in range(40):
            write(b"x" * 1024 * 1024)
        _wait()
    elif name == "values":
        write(b'{"jsonrpc": "2.0", "id": 99, "result": {"content": [], "a": [' + b"[]," * 200_000 + b"1]}}\n")
        _wait()
    return text(f"{name} {json.dumps(args)}")


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        (FOLDER / "client.json").write_text(json.dumps(params["clientInfo"]))
        about = {"name": "raw", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        version = "2025-06-18"
        return {"protocolVersion": version, "capabilities": capabilities, "serverInfo": about}
    if method == "tools/list":
        if _mode() == "listless":
            _wait()
        tools = json.loads((FOLDER / "tools.json").read_text())
        return {"tools": tools} if _mode() != "again" else {"tools": tools, "nextCursor": "same"}
    if method == "tools/call":
        return call(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
    return None


def serve(request: dict[str, Any]) -> None:
    params = request.get("params") or {}
    args = params.get("arguments") or {}
    match params.get("name"):
        case "fail":
            leave("fail")
            send({"id": request["id"], "error": args})
            return
        case "write":
            write(args["line"].replace("ID", str(request["id"])).encode("latin-1") + b"\n")
            return
        case "flood":
            token = str(params["_meta"].get("progressToken", 0))
            data = args["text"].replace("TOKEN", token).encode()
            while True:
                write(data * (64 * 1024 // len(data) + 1))
    result = answer(request["method"], request.get("params") or {})
    if result is None:
        send(
            {
                "id": request["id"],
                "error": {"code": -32601, "message": "unknown: " + os.environ.get("KEY", "")},
            }
        )
    else:
        send({"id": request["id"], "result": result})


def _mode() -> str:
    return (FOLDER / "mode").read_text() if (FOLDER / "mode").exists() else ""


def _wait() -> None:
    while not (FOLDER / "go").exists():
        time.sleep(0.01)


def main() -> None:
    (FOLDER / "pid").write_text(str(os.getpid()))
    leave("start")
    mode = _mode()
    if mode == "mute":
        _wait()
    if mode == "quiet":
        sys.exit(3)
    if mode in ("dead", "complain"):
        print("the key is", os.environ.get("KEY"), file=sys.stderr, flush=True)
        sys.exit(1)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            threading.Thread(target=serve, args=(request,), daemon=True).start()
        else:
            leave(request["method"])


if __name__ == "__main__":
    main()
