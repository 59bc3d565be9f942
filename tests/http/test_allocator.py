"""Large blocks of memory go back to the system when they are freed."""

import platform
import subprocess
import sys

import pytest

#: Frees large blocks between small ones that stay: the C library keeps them, unless it is told otherwise.
FREE = """
import sys
from pathlib import Path
from caesura.http.allocator import return_large_blocks

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

if sys.argv[1] == "told":
    return_large_blocks()
first = bytes(1_000_000)
del first
before = resident()
large, small = [], []
for _ in range(300):
    large.append(b"x" * 400_000)
    small.append(b"x" * 5_000)
assert resident() - before > 100_000_000
large.clear()
print(resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this C library has no such setting")
def test_what_was_large_is_returned() -> None:
    left = {
        how: int(subprocess.run([sys.executable, "-c", FREE, how], check=True, stdout=subprocess.PIPE).stdout)
        for how in ("told", "untold")
    }
    assert left["told"] < 30_000_000
    assert left["untold"] > 2 * left["told"], "the setting is not needed any more"
