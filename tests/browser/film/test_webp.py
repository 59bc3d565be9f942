"""An animated WebP is put together as the format says."""

from pathlib import Path
from struct import pack, unpack_from

from tests.browser.film.webp import Frame, animated

FILM = Path(__file__).parents[3] / "docs" / "pictures" / "killed.webp"


def _picture(data: bytes) -> bytes:
    """A still picture, with a chunk that does not belong into a frame."""
    chunks = (
        b"EXIF" + pack("<I", 1) + b"x\0" + b"VP8L" + pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    )
    return b"RIFF" + pack("<I", len(chunks) + 4) + b"WEBP" + chunks


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    found, place = [], 12
    while place < len(data):
        (size,) = unpack_from("<I", data, place + 4)
        found.append((data[place : place + 4], data[place + 8 : place + 8 + size]))
        place += 8 + size + size % 2
    return found


def test_each_frame_has_its_place_its_time_and_its_picture_alone() -> None:
    film = animated(
        300, 200, [Frame(0, 0, 300, 200, 100, _picture(b"abc")), Frame(4, 6, 10, 12, 70_000, _picture(b"de"))]
    )
    assert unpack_from("<I", film, 4) == (len(film) - 8,)
    [(kind, head), (loop, _), (_, first), (_, second)] = _chunks(film)
    assert (kind, loop) == (b"VP8X", b"ANIM")
    assert head[4:] == (299).to_bytes(3, "little") + (199).to_bytes(3, "little")
    assert first[16:] == b"VP8L" + pack("<I", 3) + b"abc\0"
    numbers = [int.from_bytes(second[place : place + 3], "little") for place in range(0, 15, 3)]
    assert numbers == [2, 3, 9, 11, 70_000]


def test_the_film_of_the_readme_is_small_and_complete() -> None:
    data = FILM.read_bytes()
    assert len(data) < 1_000_000
    frames = [chunk for name, chunk in _chunks(data) if name == b"ANMF"]
    assert len(frames) > 20
    assert unpack_from("<I", data, 4) == (len(data) - 8,)
