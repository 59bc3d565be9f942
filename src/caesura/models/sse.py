"""Server-sent events, read from bytes that may be cut anywhere."""

from __future__ import annotations

from caesura.models.failures import ModelError

#: The longest event, and the most bytes of unfinished events in all replies of a pool of connections.
LONGEST, MOST = 8 * 1024 * 1024, 256 * 1024 * 1024
#: The bytes up to which an unfinished event is not counted among them.
_USUAL = 64 * 1024
#: A mark that some servers put before a text in UTF-8.
BOM = b"\xef\xbb\xbf"


class Unfinished:
    """The bytes of events that have begun and not ended, in all replies."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.held = most, 0


class Events:
    """Only the data of events counts: what an event is, the data says itself. Comments are passed over.
    Whoever reads them must `close` them: an unfinished event is in the way of other replies."""

    def __init__(self, unfinished: Unfinished | None = None) -> None:
        self._unfinished, self._held = unfinished or Unfinished(), 0
        #: What has come since the end of the last event.
        self._rest = bytearray()
        self._after_return = False
        #: What has come of the mark before the first event; None behind it.
        self._mark: bytes | None = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The data of the events that these bytes complete."""
        if self._mark is not None:
            data = self._mark + data
            self._mark = data if len(data) < len(BOM) and BOM.startswith(data) else None
            if self._mark is not None:
                return []
            data = data.removeprefix(BOM)
        if b"\r" in data or self._after_return:
            data = self._plain(data)
        if self._rest:
            ends = b"\n\n" in data or (data.startswith(b"\n") and self._rest.endswith(b"\n"))
            self._rest += data
            if not ends:
                self._bound()
                return []
            data = bytes(self._rest)
        *events, rest = data.split(b"\n\n")
        self._rest = bytearray(rest)
        self._bound()
        found = []
        for event in events:
            # As nearly all are: one line.
            if event.startswith(b"data: ") and b"\n" not in event:
                found.append(event[6:])
            elif event:
                found += _data(event)
        return found

    def end(self) -> list[bytes]:
        """The data of an event that lacks its empty line, or even the end of its line."""
        return _data((self._mark or b"") + bytes(self._rest))

    def _plain(self, data: bytes) -> bytes:
        """The same with one way to end a line. A return at the end may be half of one."""
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def close(self) -> None:
        """Nothing more is read. The memory is free at once, also if an error that somebody keeps still refers
        to this."""
        self._rest = bytearray()
        self._hold(0)

    def _bound(self) -> None:
        size = len(self._rest)
        if size > _USUAL or self._held:
            self._hold(size if size > _USUAL else 0)

    def _hold(self, size: int) -> None:
        self._unfinished.held += size - self._held
        self._held = size
        if size > LONGEST:
            raise ModelError("broken", "an event of the reply is too long")
        if size and self._unfinished.held > self._unfinished.most:
            raise ModelError("broken", "the unfinished events of all replies are too long together")


def _data(event: bytes) -> list[bytes]:
    """The data in the lines of an event, if there is any."""
    lines = [line for line in event.split(b"\n") if line.startswith(b"data:")]
    joined = b"\n".join(line[6:] if line.startswith(b"data: ") else line[5:] for line in lines)
    return [joined] if lines else []
