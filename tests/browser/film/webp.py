"""Animated WebP, put together from single pictures in WebP: the container alone, nothing is encoded."""

from dataclasses import dataclass
from struct import pack, unpack_from


@dataclass(frozen=True)
class Frame:
    """A picture that is put over what was shown before, at an even place, for `ms` milliseconds."""

    x: int
    y: int
    width: int
    height: int
    ms: int
    #: A WebP file.
    picture: bytes


def animated(width: int, height: int, frames: list[Frame]) -> bytes:
    """A film that is shown again and again."""
    body = _chunk(b"VP8X", pack("<I", 0b10) + _three(width - 1) + _three(height - 1))
    body += _chunk(b"ANIM", pack("<IH", 0xFFFFFFFF, 0))
    for frame in frames:
        assert frame.x % 2 == frame.y % 2 == 0, frame
        place = b"".join(
            _three(number)
            for number in (frame.x // 2, frame.y // 2, frame.width - 1, frame.height - 1, frame.ms)
        )
        # Without blending: the frame replaces what was there.
        body += _chunk(b"ANMF", place + b"\x02" + _image(frame.picture))
    return b"RIFF" + pack("<I", len(body) + 4) + b"WEBP" + body


def _image(picture: bytes) -> bytes:
    """The chunks of a WebP file that have the picture itself."""
    assert picture[:4] == b"RIFF"
    assert picture[8:12] == b"WEBP"
    found, place = b"", 12
    while place < len(picture):
        name, (size,) = picture[place : place + 4], unpack_from("<I", picture, place + 4)
        data = picture[place + 8 : place + 8 + size]
        if name in (b"ALPH", b"VP8 ", b"VP8L"):
            found += _chunk(name, data)
        place += 8 + size + size % 2
    assert found, "there is no picture in the file"
    return found


def _chunk(name: bytes, data: bytes) -> bytes:
    return name + pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def _three(number: int) -> bytes:
    return number.to_bytes(3, "little")
