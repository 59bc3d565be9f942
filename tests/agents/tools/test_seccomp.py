"""The filter of system calls, tested from inside the sandbox."""

from __future__ import annotations

import asyncio
import errno
import json
import platform
import re
import shutil
import struct
from pathlib import Path

import pytest

from caesura.agents.tools import seccomp
from caesura.agents.tools.sandbox import Outcome, Sandbox
from tests.programs import needs

BWRAP = needs("bwrap")
PLACE = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
LISTED = pytest.mark.skipif(PLACE is None, reason="no calls are listed for this machine")
#: The kernel's headers with the numbers of all calls.
HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}
TRY = """
import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
def error(number, *arguments):
    ctypes.set_errno(0)
    libc.syscall(number, *(ctypes.c_long(item) for item in arguments))
    return ctypes.get_errno()
print(json.dumps([error(*call) for call in json.loads(sys.argv[1])]))
"""


def run(command: str, workspace: Path) -> Outcome:
    return asyncio.run(Sandbox().run(command, workspace))


def errors(calls: list[list[int]], workspace: Path) -> list[int]:
    (workspace / "try.py").write_text(TRY)
    outcome = run(f"python3 try.py '{json.dumps(calls)}'", workspace)
    assert outcome.code == 0, outcome
    found: list[int] = json.loads(outcome.output)
    return found


def number(name: str) -> int:
    found = seccomp.CHECKED[name][PLACE or 0]
    assert found is not None
    return found


@BWRAP
@LISTED
def test_every_call_of_the_list_is_refused(tmp_path: Path) -> None:
    listed = {name: item[PLACE or 0] for calls in seccomp.REFUSED.values() for name, item in calls.items()}
    names = [name for name, item in listed.items() if item is not None]
    found = errors([[listed[name] or 0, -1, -1, -1, -1, -1] for name in names], tmp_path)
    assert {name: error for name, error in zip(names, found, strict=True) if error != errno.EPERM} == {}


@BWRAP
@LISTED
def test_calls_with_dangerous_arguments_are_refused(tmp_path: Path) -> None:
    tries = [
        ([number("clone"), 0x10000000 | 17], errno.EPERM),  # a namespace of users
        ([number("clone"), 0x40000000 | 17], errno.EPERM),  # a namespace of networks
        ([number("clone3"), 0, 0], errno.ENOSYS),
        ([number("personality"), 0x0040000], errno.EPERM),
        ([number("personality"), 0xFFFFFFFF], 0),
        ([number("socket"), 16, 3, 0], errno.EAFNOSUPPORT),  # netlink
        ([number("socket"), 17, 3, 0], errno.EAFNOSUPPORT),  # packets
        ([number("socket"), 40, 1, 0], errno.EAFNOSUPPORT),  # the host of a virtual machine
        ([number("socket"), 1, 1, 0], 0),
        ([number("socket"), 2, 1, 0], 0),
        ([number("socket"), 10, 1, 0], 0),
        ([number("socketpair"), 2, 1, 0, 0], errno.EAFNOSUPPORT),
        ([number("ioctl"), 0, 0x5412, 0], errno.EPERM),  # typing into a terminal
        ([number("ioctl"), 0, (1 << 32) | 0x5412, 0], errno.EPERM),  # the kernel ignores the upper half
        ([number("ioctl"), 0, 0x5401, 0], errno.ENOTTY),
        ([number("memfd_create"), 0, 0], errno.ENOSYS),
        ([number("fallocate"), 1, 0, 0, 1], errno.EOPNOTSUPP),
        ([500], errno.ENOSYS),  # newer than any known call
        ([0x40000000 + 39], errno.ENOSYS),  # the x32 ABI
    ]
    assert errors([call for call, _ in tries], tmp_path) == [error for _, error in tries]


@BWRAP
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the 32-bit ABI of x86")
def test_a_call_of_the_32_bit_abi_ends_the_process(tmp_path: Path) -> None:
    program = (
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # getpid, by interrupt 0x80
        "ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n"
        "print('CALLED')\n"
    )
    (tmp_path / "old.py").write_text(program)
    outcome = run("python3 old.py; echo $?", tmp_path)
    assert "CALLED" not in outcome.output
    assert outcome.output.endswith("159\n")  # 128 and SIGSYS


WORK = {
    "python3": (
        "python3 -c 'import subprocess, threading, multiprocessing as m, socket, tempfile; "
        't = threading.Thread(target=print, args=("thread",)); t.start(); t.join(); '
        's = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); '
        "socket.create_connection(s.getsockname()); "
        'print(m.Pool(2).map(abs, [-1])); subprocess.run(["true"], check=True)\''
    ),
    "git": "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log",
    "make": "printf 'all:\\n\\t@echo made\\n' > Makefile && make -j2",
    "gcc": "echo 'int main(){return 0;}' > a.c && gcc a.c -o a && ./a",
    "node": 'node -e \'require("fs").readFile("/etc/nsswitch.conf", () => console.log(1))\'',
}


@BWRAP
@pytest.mark.parametrize("program", WORK)
def test_ordinary_programs_work(tmp_path: Path, program: str) -> None:
    if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin") is None:
        pytest.skip(f"{program} is not installed")
    outcome = run(WORK[program], tmp_path)
    assert outcome.code == 0, outcome


@BWRAP
@LISTED
def test_the_filter_is_on(tmp_path: Path) -> None:
    status = run("grep -E 'NoNewPrivs|Seccomp:' /proc/self/status", tmp_path).output.split()
    assert status == ["NoNewPrivs:", "1", "Seccomp:", "2"]


@pytest.mark.parametrize("place", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(place: int) -> None:
    if not HEADERS[place].exists():
        pytest.skip("the kernel's headers are not installed")
    pattern = re.compile(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s*$", re.MULTILINE)
    true = {name: int(value) for name, value in pattern.findall(HEADERS[place].read_text())}
    for calls in (*seccomp.REFUSED.values(), seccomp.CHECKED):
        for name, item in calls.items():
            assert true.get(name, item[place]) == item[place], name


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_path_through_the_filter_ends_in_a_verdict(machine: str) -> None:
    program = seccomp.program(machine)
    assert program is not None
    steps = list(struct.iter_unpack("<HBBI", program))
    assert len(steps) < 4096
    for index, (code, if_true, if_false, _) in enumerate(steps):
        if code & 7 == 5:
            assert index + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1][0] == 6


def test_there_is_no_filter_for_a_machine_that_is_not_listed() -> None:
    assert seccomp.program("riscv64") is None


@BWRAP
async def test_a_sandbox_without_a_filter_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "_MACHINES", {})
    assert any("not filtered" in text for text in await Sandbox().weaknesses())
    monkeypatch.undo()
    assert not any("not filtered" in text for text in await Sandbox().weaknesses()) or PLACE is None


@BWRAP
async def test_a_filter_that_the_kernel_refuses_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "program", lambda: b"\xff" * 16)
    sandbox = Sandbox()
    assert await sandbox.unavailable() is None
    assert any("not filtered" in text for text in await sandbox.weaknesses())
