"""What the file tools and the people themselves share when they use workspaces: sizes, limits and threads."""

from __future__ import annotations

from pathlib import Path

from caesura.agents.tools.share import DiskShare
from caesura.agents.tools.size import Meter, Quota, Size, measure
from caesura.agents.tools.threads import Threads
from caesura.core.errors import TooLarge, WorkspacesFull

_BUSY = "not done: too many other files are being used, try again later"


class Disk:
    def __init__(self, quota: Quota | None = None, share: DiskShare | None = None) -> None:
        self.meter, self.share = Meter(quota), share or DiskShare()
        #: A person's file work is done one after the other.
        self.threads = Threads("caesura-files", 8, _BUSY)

    def claim(self, person: str, workspace: Path, count: int, folders: int) -> None:
        """Take room for a file of `count` bytes that the person adds, and for the new folders around it.
        `share.know` must have been called."""

        def take(size: Size) -> str | None:
            if self.share.take(person, workspace, size) is not None:
                raise WorkspacesFull(
                    "the files of all your conversations together would be too large:"
                    " remove files, or delete conversations"
                )
            return None

        if fault := self.meter.fault(workspace, count, take, folders):
            raise TooLarge(fault)

    def settle(self, person: str, workspace: Path) -> None:
        """Measure a workspace in which room became free."""
        self.meter.forget(workspace)
        self.share.note(person, workspace, measure(workspace, most=self.meter.quota))
