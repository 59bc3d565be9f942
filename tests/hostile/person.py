"""People who send requests, and the ids of their resources."""

from dataclasses import dataclass, field
from random import Random
from typing import Any
from urllib.parse import unquote_to_bytes

_MADE_UP = (
    *(
        "x",
        "0",
        "-1",
        "null",
        "undefined",
        "conv-0",
        "..",
        ".",
        "%00",
        "%2e%2e%2f",
        "a%2fb",
        "x" * 150,
        "x" * 151,
    ),
    *(
        "00000000-0000-0000-0000-000000000000",
        "%F0%9F%98%80",
        "%ff%fe",
        "a'b",
        "x" * 3000,
        "%20",
        "%0d%0aX: 1",
    ),
)
_KEPT = 400
#: Other values that the server gives out for later requests: tickets and page cursors.
_ALSO = ("ticket", "next")
#: Parameters that APIs call by other names.
_SAME = {"conv_id": "conversation_id"}


@dataclass
class Person:
    name: str
    token: str
    #: The ids by the name of their parameter in paths and bodies.
    ids: dict[str, list[str]] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)

    def learn(self, name: str, value: str) -> None:
        known = self.ids.setdefault(name, [])
        if value not in known:
            known.append(value)
            del known[:-_KEPT]

    def find(self, chance: Random, name: str) -> str:
        """One of this person's ids: mostly of the right kind, mostly a new one."""
        name = _SAME.get(name, name)
        names = [known for known in self.ids if known not in _ALSO]
        kind = name if name in self.ids and chance.random() < 0.9 else chance.choice(names)
        known = self.ids[kind]
        newest = known[-20:] if chance.random() < 0.7 else known
        return chance.choice(newest)


@dataclass(frozen=True)
class Turn:
    id: str
    conversation_id: str
    content: str
    person: str


class People:
    """Also records what the server has accepted, to check later that all of it is there."""

    def __init__(self, people: list[Person]) -> None:
        self._people = {person.name: person for person in people}
        self.accepted: dict[str, Turn] = {}
        self.deletions: list[bytes] = []

    def token(self, name: str) -> str:
        return self._people[name].token

    def any(self, chance: Random) -> Person:
        return chance.choice(list(self._people.values()))

    def other(self, chance: Random, than: Person) -> Person:
        return chance.choice([person for person in self._people.values() if person is not than])

    def id(self, chance: Random, person: Person, name: str) -> tuple[str, bool]:
        """An id for this parameter, and whether it belongs to another person."""
        drawn = chance.random()
        if drawn < 0.7:
            return person.find(chance, name), False
        if drawn < 0.8:
            return self.other(chance, person).find(chance, name), True
        if drawn < 0.85 and person.deleted:
            return chance.choice(person.deleted), False
        return chance.choice(_MADE_UP), False

    def learn(self, name: str, data: Any) -> None:
        """Keep the ids in the server's response to this person."""
        person = self._people.get(name)
        if person is None or not isinstance(data, dict):
            return
        for key, value in data.items():
            if isinstance(value, str) and (key.endswith("_id") or key in _ALSO):
                person.learn(key, value)
            for item in value if isinstance(value, list) else [value]:
                self.learn(name, item)
        if isinstance(made := data.get("id"), str):
            person.learn(_kind(data), made)
        if isinstance(made, str) and "conversation_id" in data and "content" in data:
            self.accepted[made] = Turn(made, data["conversation_id"], data["content"], name)

    def deletes(self, target: bytes) -> None:
        self.deletions.append(unquote_to_bytes(target))  # an escaped path deletes too
        last = target.rpartition(b"/")[2].decode("latin-1")
        for person in self._people.values():
            if any(last in known for known in person.ids.values()):
                person.deleted.append(last)

    def kept(self) -> list[Turn]:
        """The accepted turns in conversations that nobody asked to delete."""
        gone = b"\n".join(self.deletions)
        return [turn for turn in self.accepted.values() if turn.conversation_id.encode() not in gone]


def _kind(data: dict[str, Any]) -> str:
    """The parameter name for the `id` of this object."""
    if "kind" in data and "decisions" in data:
        return "interrupt_id"
    if "children" in data:
        return "message_id"
    if "content_type" in data:
        return "artifact_id"
    return "turn_id" if "conversation_id" in data else "conversation_id"
