"""Server-sent events, read from bytes that may be cut anywhere."""

from __future__ import annotations

from caesura.models.failures import ModelError

#: The longest line, and the most data of one event.
LONGEST = 8 * 1024 * 1024


class Events:
    """Only the data of events counts: what an event is, the data says itself. Comments are passed over."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._after_return = False

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        if b"\r" in data or self._after_return:
            data = self._plain(data)
        if b"\n" not in data:
            self._rest += data
            self._bound(len(self._rest))
            return []
        if self._rest:
            self._rest += data
            data = bytes(self._rest)
        lines = data.split(b"\n")
        self._rest = bytearray(lines.pop())
        self._bound(len(self._rest))
        return self._events(lines)

    def end(self) -> list[bytes]:
        """The data of an event that lacks its empty line, or even the end of its line."""
        return self._events([bytes(self._rest), b""])

    def _plain(self, data: bytes) -> bytes:
        """The same with one way to end a line. A return at the end may be half of one."""
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _events(self, lines: list[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for line in lines:
            if not line:
                if self._data:
                    found.append(self._data[0] if len(self._data) == 1 else b"\n".join(self._data))
                    self._data.clear()
                    self._size = 0
            elif line.startswith(b"data:"):
                self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
                self._size += len(line)
                self._bound(self._size)
        return found

    def _bound(self, size: int) -> None:
        if size > LONGEST:
            raise ModelError("broken", "an event of the reply is too long")
