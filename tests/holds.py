"""How long a piece of work keeps the interpreter from other threads: its longest call of a C function, or its
longest collection of garbage, by the CPU time of its thread.

Python code is interrupted every few milliseconds; a C function is not, unless it lets go of the interpreter
itself. CPU time, not the clock: on a busy machine the clock also counts what other processes did meanwhile.
"""

import gc
import sys
import time
import zlib
from collections.abc import Callable
from types import FrameType
from typing import Any

#: They let go of the interpreter while they work.
_POLITE = {zlib.compress, zlib.decompress}


def longest_hold(work: Callable[[], object]) -> float:
    """In seconds."""
    longest = 0.0
    began = [time.thread_time()]

    def note() -> None:
        nonlocal longest
        longest = max(longest, time.thread_time() - began[0])

    def profile(frame: FrameType, event: str, called: Any) -> None:
        if event == "c_return" and called not in _POLITE:
            note()
        began[0] = time.thread_time()

    def collected(phase: str, info: dict[str, int]) -> None:
        if phase == "stop":
            note()
        began[0] = time.thread_time()

    gc.collect()
    gc.freeze()  # as the server does: what was there before is not searched again
    gc.callbacks.append(collected)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.callbacks.remove(collected)
    return longest


def holds_less(work: Callable[[], object], most: float) -> bool:
    """Whether the work keeps the interpreter for less than `most` seconds. One measurement may be disturbed
    by what else the machine does, so the work is tried again a few times."""
    return any(longest_hold(work) < most for _ in range(6))
