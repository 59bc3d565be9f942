"""A provider on the loopback, in a process of its own: it says many words, each in a chunk, at a pace."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import orjson
import uvloop

from bench.parrot import WORDS

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
_ABOUT = {
    "id": "chatcmpl-C0ffee0000000000000000000000",
    "object": "chat.completion.chunk",
    "created": 1_790_000_000,
    "model": "test",
    "service_tier": "default",
    "system_fingerprint": "fp_0123456789",
}


@contextmanager
def talker(tokens: int, delay: float) -> Iterator[str]:
    """The base URL of a provider whose answers have so many words, with so many seconds before each."""
    command = [sys.executable, "-m", "bench.talker", str(tokens), str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


async def _serve(tokens: int, delay: float) -> None:
    frames = list(_frames(tokens))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [
                    line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")
                ]
                await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
                writer.write(_HEAD)
                for frame in frames:
                    if delay:
                        await asyncio.sleep(delay)
                    writer.write(frame)
                    await writer.drain()
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def _frames(tokens: int) -> Iterator[bytes]:
    yield _frame({"role": "assistant", "content": "", "refusal": None})
    for number in range(tokens):
        yield _frame({"content": WORDS[number % 100]})
    yield _frame({}, "stop")
    usage = {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": tokens + 9}
    yield _chunk(orjson.dumps({**_ABOUT, "choices": [], "usage": usage}))
    yield _chunk(b"[DONE]")


def _frame(delta: dict[str, object], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return _chunk(orjson.dumps({**_ABOUT, "choices": [choice], "usage": None}))


def _chunk(data: bytes) -> bytes:
    event = b"data: %b\n\n" % data
    return b"%x\r\n%b\r\n" % (len(event), event)


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1]), float(sys.argv[2])))
