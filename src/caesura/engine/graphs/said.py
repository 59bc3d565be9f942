"""Words that tasks of an operator's own graph have said and that are not part of its state: a task may still
put the same words into a message of its own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class Said:
    def __init__(self) -> None:
        #: The tasks of the same words, each in the one before, and whether a message inside has them.
        self._paths: dict[str, list[tuple[tuple[str, ...], bool]]] = defaultdict(list)

    def add(self, text: str, path: Sequence[str], inside: bool = False) -> None:
        """The last of these tasks has said this. With `inside` it is a message of that task: only a task
        around it can have the same words once more."""
        if text:
            self._paths[text].append((tuple(path), inside))

    def take(self, text: str, path: Sequence[str]) -> bool:
        """Whether the last of these tasks, or one in it, has said this. Counts once."""
        here, found = tuple(path), self._paths.get(text, [])
        for place, (said, inside) in enumerate(found):
            if said[: len(here)] == here and not (inside and len(said) == len(here)):
                del found[place]
                return True
        return False
