"""Child processes: their output, and their descriptors, which are closed once."""

import asyncio
import os
import sys
from collections.abc import Callable

import pytest
import uvloop

from caesura.agents.tools.child import Child

Loop = Callable[[], asyncio.AbstractEventLoop]


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_the_output_is_read_and_its_descriptor_is_closed_once(loop: Loop) -> None:
    async def run() -> None:
        child = await Child.start([sys.executable, "-c", "print('said')"])
        assert child._pipe is not None
        pipe = child._pipe.get_extra_info("pipe")
        descriptor = pipe.fileno()
        # uvloop closes the descriptor itself; asyncio closes the file.
        assert pipe.closefd == (loop is asyncio.new_event_loop)
        assert await child.output.read() == b"said\n"
        assert await child.wait() == 0
        child.close()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(run())
