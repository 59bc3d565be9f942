"""Voice: what an agent says in a segment, and when a piece of it is sent.

A frame has the new piece of text, and sometimes all of the text so far. Frames have a cost, and the text pays
for it: each byte of text adds to two accounts, one for new pieces and one for the whole text. A piece waits
until its account can pay for a frame, which takes about ten bytes of text. The first frames are paid in
advance. All of this depends on the text alone, so a stream that is resumed has the same frames.

Text is held as JSON: it is escaped once, and pieces of JSON text can be joined.
"""

from __future__ import annotations

from typing import NamedTuple

from caesura.core import json_data

#: What each byte of text pays: for frames with new pieces, and for the whole text in some of them.
FOR_PIECES = 11
FOR_WHOLES = 6
#: What each account has at the beginning.
CREDIT = 4096
#: The most bytes of a frame without its texts, and of the member that holds the whole text.
_FRAME, _MEMBER = 112, 13
#: A longer text is never sent as a whole, and not kept. A reader holds the text until it ends.
LONGEST = 1 << 20

#: A text in pieces, newest first, each shorter than the one before it: few pieces, and little is copied.
Pieces = tuple["Pieces | None", bytes]
#: The text of model calls, newest first.
Parts = tuple["Parts | None", int, Pieces]


class Piece(NamedTuple):
    """What a frame has: new text, and whether it also has the whole text."""

    new: bytes
    whole: bool


class Voice(NamedTuple):
    """The text so far, its size, the part that was not sent yet, the size that the text had when it was last
    sent as a whole, and the two accounts. `parts` is None once the text is longer than `LONGEST`."""

    parts: Parts | None = None
    size: int = 0
    held: bytes = b""
    told: int = 0
    for_pieces: int = CREDIT
    for_wholes: int = CREDIT


SILENT = Voice()


def hear(voice: Voice, call: int, text: str) -> tuple[Voice, Piece | None]:
    """More text of a model call; and the piece to send, if it is time for one."""
    parts, size, held, told, for_pieces, for_wholes = voice
    new = written(text)
    paid = len(new) if b"\\" not in new else len(text.encode("utf-8", "replace"))
    size += len(new)
    held = held + new if held else new
    for_pieces += FOR_PIECES * paid
    for_wholes += FOR_WHOLES * paid
    parts = _added(parts, call, new) if size <= LONGEST else None
    cost = _FRAME + len(held)
    if for_pieces < cost or not held:
        return Voice(parts, size, held, told, for_pieces, for_wholes), None
    # Enough is left to send the whole text once more in the end.
    if size > LONGEST or for_wholes < 2 * (size + _MEMBER):
        return Voice(parts, size, b"", told, for_pieces - cost, for_wholes), Piece(held, False)
    for_wholes -= size + _MEMBER
    return Voice(parts, size, b"", size, for_pieces - cost, for_wholes), Piece(held, True)


def flush(voice: Voice) -> tuple[Voice, Piece | None]:
    """The held text, before something else is sent."""
    if not voice.held:
        return voice, None
    cost = _FRAME + len(voice.held)
    return voice._replace(held=b"", for_pieces=voice.for_pieces - cost), Piece(voice.held, False)


def end(voice: Voice) -> tuple[Voice, Piece | None]:
    """The last piece, with the whole text, unless a reader has just got it."""
    if voice.parts is None or voice.told == voice.size:
        return flush(voice)
    return voice._replace(held=b"", told=voice.size), Piece(voice.held, True)


def void(voice: Voice, call: int) -> Voice:
    """The text without that of this model call. Nothing may be held."""
    if voice.size > LONGEST:
        return voice
    kept: list[tuple[int, Pieces]] = []
    parts, size = voice.parts, 0
    while parts is not None:
        parts, number, pieces = parts
        if number != call:
            kept.append((number, pieces))
    left: Parts | None = None
    for number, pieces in reversed(kept):
        left = left, number, pieces
        size += _size(pieces)
    return voice._replace(parts=left, size=size, told=size)


def speaks(voice: Voice, call: int) -> bool:
    """Whether the text has something of this model call, as far as it is known."""
    parts = voice.parts
    while parts is not None:
        parts, number, _ = parts
        if number == call:
            return True
    return False


def whole(voice: Voice) -> bytes:
    """The text so far, as JSON without its quotes."""
    found: list[bytes] = []
    parts = voice.parts
    while parts is not None:
        parts, _, pieces = parts
        rest: Pieces | None = pieces
        while rest is not None:
            rest, text = rest
            found.append(text)
    return b"".join(reversed(found))


def written(text: str) -> bytes:
    """A text as JSON without its quotes, and without NUL."""
    return json_data.line(json_data.dumps(text.replace("\0", "") if "\0" in text else text))[1:-1]


def _added(parts: Parts | None, call: int, new: bytes) -> Parts:
    if parts is None or parts[1] != call:
        return parts, call, (None, new)
    before, _, pieces = parts
    rest: Pieces | None = pieces
    while rest is not None and len(rest[1]) <= len(new):
        rest, last = rest
        new = last + new
    return before, call, (rest, new)


def _size(pieces: Pieces) -> int:
    size = 0
    rest: Pieces | None = pieces
    while rest is not None:
        rest, text = rest
        size += len(text)
    return size
