"""One untrusted YAML document, parsed with the line number of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml
from yaml import nodes
from yaml.constructor import ConstructorError, SafeConstructor

from caesura.agents.faults import Path, dotted

LARGEST = 256 * 1024
_DEEPEST = 50
_MOST_VALUES = 10_000
_LONGEST_NUMBER = 100
#: What `\uD800` in quotes becomes. No file, database or response can hold it.
_HALF = re.compile("[\ud800-\udfff]")
_PLAIN = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the document; `path` says where."""

    line: int
    path: Path
    message: str
    remedy: str = ""


class Malformed(Exception):
    """The document cannot be used at all."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Document:
    value: Any
    lines: dict[Path, int]

    def line(self, path: Path) -> int:
        """The line of a field, or of its nearest ancestor that exists."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def parse(data: bytes) -> Document:
    """The value and the lines of `data`, or `Malformed`.

    Refuses what an agent file never needs and an attacker might: anchors and aliases, tags, merge keys,
    several documents, deep nesting, very many values, very long numbers, duplicate keys, keys that are not
    texts, halves of characters, oversize.
    """
    text = _text(data)
    try:
        _refuse_tricks(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise Malformed(_syntax(error)) from error
    except yaml.YAMLError as error:
        raise Malformed(_unreadable(error, text)) from error
    if node is None:
        raise _malformed(0, "the file is empty")
    lines: dict[Path, int] = {}
    try:
        value = _value(node, (), lines, SafeConstructor())
    except ConstructorError as error:
        raise Malformed(_syntax(error)) from error
    return Document(value, lines)


def _text(data: bytes) -> str:
    if len(data) > LARGEST:
        raise _malformed(0, f"the file is larger than {LARGEST // 1024} KiB")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _malformed(line, "the file is not UTF-8", remedy="save it as UTF-8") from error


def _refuse_tricks(text: str) -> None:
    depth = documents = values = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1
        values += isinstance(event, (yaml.CollectionStartEvent, yaml.ScalarEvent))
        if values > _MOST_VALUES:
            raise _malformed(line, f"the file holds more than {_MOST_VALUES} values")
        if isinstance(event, (yaml.CollectionStartEvent, yaml.ScalarEvent)) and event.tag is not None:
            raise _malformed(line, f"tags are not allowed: {event.tag}", "write a plain value")
        if isinstance(event, yaml.ScalarEvent) and _HALF.search(event.value) is not None:
            raise _malformed(line, "a text holds half of a character", "write the character itself")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _malformed(line, "anchors and aliases are not allowed", "write the value out")
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise _malformed(line, "the file holds more than one document", "use one file an agent")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise _malformed(line, f"nested deeper than {_DEEPEST} levels")


def _value(node: nodes.Node, path: Path, lines: dict[Path, int], make: SafeConstructor) -> Any:
    lines.setdefault(path, node.start_mark.line + 1)
    if isinstance(node, nodes.MappingNode):
        return dict(_pairs(node, path, lines, make))
    if isinstance(node, nodes.SequenceNode):
        return [_value(item, (*path, index), lines, make) for index, item in enumerate(node.value)]
    return _scalar(node, path, make)


def _pairs(
    node: nodes.MappingNode, path: Path, lines: dict[Path, int], make: SafeConstructor
) -> Iterator[tuple[str, Any]]:
    seen: set[str] = set()
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, nodes.ScalarNode) or key_node.tag == _PLAIN + "merge":
            raise _malformed(line, "only plain texts can be keys", path=path)
        key = str(key_node.value)
        here = (*path, key)
        if key in seen:
            raise _malformed(line, f"{dotted(here)} is given twice", "keep one of them", here)
        seen.add(key)
        lines[here] = line
        yield key, _value(value_node, here, lines, make)


def _scalar(node: nodes.Node, path: Path, make: SafeConstructor) -> Any:
    if node.tag == _PLAIN + "timestamp":
        return node.value
    if node.tag in (_PLAIN + "int", _PLAIN + "float") and len(node.value) > _LONGEST_NUMBER:
        line = node.start_mark.line + 1
        message = f"{dotted(path)} is a number of more than {_LONGEST_NUMBER} characters"
        raise _malformed(line, message, "put it in quotes", path)
    try:
        return make.construct_object(node)
    except ValueError as error:
        line = node.start_mark.line + 1
        raise _malformed(line, f"{dotted(path)} cannot be read: {error}", "put it in quotes", path) from error


def _syntax(error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = error.problem or error.context or "not valid YAML"
    remedy = "indent with spaces, not tabs" if "'\\t'" in message else ""
    return Problem(mark.line + 1 if mark else 0, (), f"not valid YAML: {message}", remedy)


def _unreadable(error: yaml.YAMLError, text: str) -> Problem:
    position = getattr(error, "position", None)
    line = text[:position].count("\n") + 1 if isinstance(position, int) else 0
    character = getattr(error, "character", None)
    what = f"character U+{character:04X}" if isinstance(character, int) else "a character"
    return Problem(line, (), f"not valid YAML: {what} is not allowed", "remove it")


def _malformed(line: int, message: str, remedy: str = "", path: Path = ()) -> Malformed:
    return Malformed(Problem(line, path, message, remedy))
