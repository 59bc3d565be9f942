"""The stored tokens of a person."""

from pathlib import Path

import pytest

from caesura.cli.credentials import Credentials


def test_the_token_file_is_readable_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    Credentials().keep("http://here", "alice", "secret-token")
    path = tmp_path / "caesura" / "tokens.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert list(path.parent.iterdir()) == [path]


def test_the_last_person_is_remembered_for_each_server(tmp_path: Path) -> None:
    kept = Credentials(tmp_path / "tokens.json")
    kept.keep("http://here", "alice", "a")
    kept.keep("http://here", "bob", "b")
    kept.keep("http://there", "carol", "c")
    assert kept.find("http://here", None) == "b"
    assert kept.find("http://here", "alice") == "a"
    assert kept.find("http://there", "alice") is None
    assert kept.find("http://nowhere", None) is None


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"[]",
            b"{",
            b"\xff",
            b"[" * 100_000,
            b'{"http://here": []}',
            b'{"http://here": {"tokens": 1}}',
        ),
        *(b'{"http://here": {"last": {}, "tokens": {}}}', b'{"http://here": {"tokens": {"None": 1}}}'),
    ],
    ids=lambda content: content[:40].decode(errors="replace"),
)
def test_an_unreadable_file_counts_as_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokens.json"
    path.write_bytes(content)
    assert Credentials(path).find("http://here", None) is None
    Credentials(path).keep("http://here", "alice", "a")
    assert Credentials(path).find("http://here", None) == "a"


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    path.mkdir()
    with pytest.raises(OSError, match="tokens"):
        Credentials(path).keep("http://here", "alice", "a")
    assert list(tmp_path.iterdir()) == [path]
