"""Bodies: what a client may send where JSON of a certain schema is expected."""

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.hostile import texts
from tests.hostile.routes import Document, Schema

MEBIBYTE = 1024 * 1024
JSON = b"application/json"
FORM = b"application/x-www-form-urlencoded"
_AGENTS = ("assistant", "approval-agent", "approval-agent", "nobody", "Ünknown", "../x", "")
#: Values that replace a value of any type.
WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, 1.5, -0.0, float("nan")),
    *(float("inf"), "", "x", "\x00", "\ud800", "approve", "1", [], [None], [[]], ["a", 1], {}, {"": None}),
    *({"a": {"b": [{"c": "\ud800"}]}}, {"__proto__": 1, "constructor": 2}, {"\ud800": 1}, ["x"] * 3),
)
#: The same, as large as a body can be.
WRONG_AND_LARGE: tuple[Any, ...] = (
    [1] * 300_000,
    {f"k{number}": 1 for number in range(75_000)},
    [{}] * 200_000,
    "x" * 1_000_000,
)


@dataclass(frozen=True)
class Body:
    what: str
    data: bytes
    kind: bytes = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()


def _filled(start: bytes, end: bytes, size: int, with_: bytes = b"x") -> bytes:
    missing = size - len(start) - len(end)
    return start + (with_ * (missing // len(with_) + 1))[:missing] + end


def _multipart(*parts: bytes) -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + b"--b--\r\n"


_FIELD = b'Content-Disposition: form-data; name="username"\r\n\r\nalice'
_FILE = b'Content-Disposition: form-data; name="password"; filename="../x"\r\n\r\n\x00\xff'
_KEYS = b",".join(b'"k%d":1' % number for number in range(100_000))
#: Bodies that are unrelated to the expected schema.
RAW: tuple[Body, ...] = (
    Body("nothing", b""),
    *(Body(f"the JSON {text!r}", text) for text in (b"null", b"true", b"0", b'""', b"[]", b"{}", b"[{}]")),
    *(
        Body(f"{text!r}, which is no JSON", text)
        for text in (b"{", b"}", b"NaN", b"{'a': 1}", b'{"a":1}}', b"\x00")
    ),
    *(
        Body(f"the number {text[:20]!r}", text)
        for text in (b"1e400", b"-1e-400", b"1" * 10_000, b"-0", b"0x10")
    ),
    Body("a huge number", b"1" * (MEBIBYTE // 2)),
    Body("a huge number in an object", b'{"title":' + b"9" * 5000 + b',"agent":-1e999}'),
    Body("white space", b" \n\t" * 1000),
    Body("a byte order mark", b"\xef\xbb\xbf{}"),
    Body("UTF-16", '{"title": "x"}'.encode("utf-16")),
    Body("UTF-32", '{"title": "x"}'.encode("utf-32")),
    Body("invalid UTF-8", b'{"title": "\xff\xfe\xc3\x28", "content": "\xed\xa0\x80", "message": "\xc0\x80"}'),
    Body(
        "lone surrogates", b'{"title": "\\ud800", "content": "\\udfff", "message": "\\ud800", "\\udc00": 1}'
    ),
    Body("NUL", b'{"title": "\\u0000", "content": "\\u0000", "message": "a\\u0000b"}'),
    Body("raw control characters", b'{"title": "a\nb\x00c\x1b", "content": "\x01", "message": "\x7f"}'),
    Body(
        "one key twice",
        b'{"title": "a", "title": 1, "content": "a", "content": [], "message": 1, "message": "a"}',
    ),
    Body("lists in lists", b"[" * 100_000),
    Body("lists in lists, closed", b"[" * 900 + b"]" * 900),
    Body("objects in objects, closed", b'{"a":' * 900 + b"1" + b"}" * 900),
    Body("a mebibyte of lists in lists", b"[" * (MEBIBYTE // 2) + b"]" * (MEBIBYTE // 2)),
    Body("a mebibyte of objects in objects", b'{"a":' * (MEBIBYTE // 6) + b"1" + b"}" * (MEBIBYTE // 6)),
    Body("100,000 keys", b"{" + _KEYS[: MEBIBYTE - 3].rpartition(b",")[0] + b"}"),
    Body("500,000 numbers", _filled(b"[1", b"]", MEBIBYTE - 1, b",1")),
    Body("an endless key", _filled(b'{"', b'": 1}', MEBIBYTE)),
    Body("a mebibyte of text", _filled(b'{"content": "', b'"}', MEBIBYTE)),
    Body(
        "a mebibyte of escapes", _filled(b'{"message": "x', b'"}', MEBIBYTE - 2, b"\\ud83d\\ude00")[:MEBIBYTE]
    ),
    Body("a byte more than a mebibyte", _filled(b'{"content": "', b'"}', MEBIBYTE + 1)),
    Body("four mebibytes", b"x" * (4 * MEBIBYTE)),
    Body("gzip", gzip.compress(b'{"title": "x"}', mtime=0), JSON, ((b"Content-Encoding", b"gzip"),)),
    Body(
        "gzip of zeros", gzip.compress(b"\0" * 10_000_000, mtime=0), JSON, ((b"Content-Encoding", b"gzip"),)
    ),
    Body("no gzip that says so", b'{"title": "x"}', JSON, ((b"Content-Encoding", b"gzip, br"),)),
    Body("a form", b"username=alice&password=x&message=hi&content=hi", FORM),
    Body("an odd form", b"=&&a=%ff%00&%zz=1&username[]=x&username=1&username=2;password", FORM),
    Body("a form of 10,000 fields", b"&".join(b"k%d=v" % number for number in range(10_000)), FORM),
    Body("multipart", _multipart(_FIELD), b"multipart/form-data; boundary=b"),
    Body("multipart with a file", _multipart(_FIELD, _FILE), b"multipart/form-data; boundary=b"),
    Body("multipart of 2,000 parts", _multipart(*[_FIELD] * 2000), b"multipart/form-data; boundary=b"),
    Body("multipart without a boundary", _multipart(_FIELD), b"multipart/form-data"),
    Body("multipart that breaks off", _multipart(_FIELD)[:40], b"multipart/form-data; boundary=b"),
    Body("multipart without headers", b"--b\r\n\r\nx\r\n--b--", b"multipart/form-data; boundary=b"),
    *(
        Body(
            f"JSON that says it is {kind!r}",
            b'{"content": "echo x", "message": "echo x", "title": "x"}',
            kind,
        )
        for kind in (
            *(b"", b"text/plain", b"application/json; charset=utf-16", b"application/json; charset=no-such"),
            *(
                b"application/vnd.api+json",
                b"APPLICATION/JSON",
                b"application/json, text/html",
                b"\xff",
                b"/",
            ),
            *(b"application/xml", b"multipart/form-data; boundary=" + b"x" * 5000, b";;;", b"application/"),
        )
    ),
)

Ids = Callable[[str], str]


class Shapes:
    """Bodies for a schema. `ids` finds an id for a member of this name."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def right(self, chance: Random, schema: Schema, ids: Ids, name: str = "") -> Any:
        """A value that mostly fits the schema: texts are often odd, and some optional members are missing."""
        schema = self._document.resolve(schema)
        if choices := schema.get("anyOf", schema.get("oneOf")):
            return self.right(chance, chance.choice(choices), ids, name)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        match schema.get("type"):
            case "object":
                return self._object(chance, schema, ids)
            case "array":
                return [
                    self.right(chance, schema.get("items", {}), ids) for _ in range(chance.choice((0, 1, 3)))
                ]
            case "string":
                return _text(chance, name, ids)
            case "integer" | "number":
                return chance.choice((0, 1, 5, 20, 2**31))
            case "boolean":
                return chance.random() < 0.5
            case "null":
                return None
            case _:
                return chance.choice(WRONG)

    def choices(self, schema: Schema) -> list[dict[str, Any]]:
        """Each value of each member that offers a choice."""
        members = {name: self._document.resolve(part) for name, part in schema.get("properties", {}).items()}
        found = [{name: value} for name, part in members.items() for value in part.get("enum", ())]
        return found or [{}]

    def _object(self, chance: Random, schema: Schema, ids: Ids) -> dict[str, Any]:
        required = schema.get("required", ())
        made = {
            name: self.right(chance, part, ids, name)
            for name, part in schema.get("properties", {}).items()
            if name in required or chance.random() < 0.4
        }
        for part in schema.get("patternProperties", {}).values():
            made |= {ids("interrupt_id"): self.right(chance, part, ids) for _ in range(chance.choice((1, 2)))}
        if not made and schema.get("additionalProperties") is True:
            return chance.choice(_ARGUMENTS)
        return made


#: Tool arguments and form fields, as in edits and answers.
_ARGUMENTS: tuple[dict[str, Any], ...] = (
    {"path": "hello.py", "content": "print(2)"},
    {"path": "../x", "content": "x"},
    {"path": "a\x00b", "content": "\ud800"},
    {"path": 5, "content": None},
    {"path": "x" * 5000, "content": "y" * 50_000},
    {"command": "true"},
    {"command": ["true"]},
    {"confirm": True},
    {"confirm": "yes", "other": 1},
    {"confirm": False},
    {"confirm_1": True, "confirm_2": False},
    {"answer_1": "red", "value": "x"},
    {},
    {"": ""},
)


def encoded(value: Any) -> bytes:
    """JSON that may contain NaN, lone surrogates and numbers of any length, which are not valid JSON or
    Unicode."""
    return json.dumps(value).encode()


def _text(chance: Random, name: str, ids: Ids) -> str:
    if name in ("content", "message"):
        return texts.message(chance)
    if name in ("agent", "agent_id"):
        return chance.choice(_AGENTS)
    if name == "stream":
        return f"/api/v2/turns/{ids('turn_id')}/events"
    if name == "parent" or name.endswith("_id"):
        return ids("turn_id" if name == "parent" else name)
    return texts.odd(chance) if chance.random() < 0.5 else f"text {chance.randrange(1000)}"
