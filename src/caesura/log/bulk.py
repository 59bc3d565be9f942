"""An `also` that many batches can share: all of one kind are written with few statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from sqlalchemy import Connection


class Bulk(ABC):
    """Any number of one kind costs the same few statements. Returns nothing."""

    @classmethod
    @abstractmethod
    def write_all(cls, connection: Connection, items: Sequence[Self]) -> None:
        """Write them all, or raise."""

    def __call__(self, connection: Connection) -> None:
        self.write_all(connection, [self])
