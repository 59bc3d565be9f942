"""A process that is somebody else's child."""

import os
import sys
from select import POLLIN, poll


def wait_for(pid: int) -> None:
    """Wait until it has ended; its parent can then say how without waiting. Elsewhere the parent waits."""
    if sys.platform == "linux":
        process = os.pidfd_open(pid)
        waiting = poll()
        waiting.register(process, POLLIN)
        waiting.poll()
        os.close(process)
