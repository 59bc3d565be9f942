"""The system calls that a command in the sandbox may not make, as a seccomp filter for bubblewrap.

The filter is a deny list: calls that enlarge the kernel's attack surface and that compilers, interpreters and
the usual tools do not need. Calls newer than `_NEWEST` do not exist in the sandbox.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

#: By name: the number of a call on x86_64 and on aarch64; None where the call does not exist.
Numbers = Mapping[str, tuple[int | None, int | None]]

#: Refused with "not permitted", whatever the arguments are.
REFUSED: Mapping[str, Numbers] = {
    "changes what is mounted": {
        "mount": (165, 40),
        "umount2": (166, 39),
        "pivot_root": (155, 41),
        "chroot": (161, 51),
        "open_tree": (428, 428),
        "move_mount": (429, 429),
        "fsopen": (430, 430),
        "fsconfig": (431, 431),
        "fsmount": (432, 432),
        "fspick": (433, 433),
        "mount_setattr": (442, 442),
    },
    "enters or makes namespaces": {"unshare": (272, 97), "setns": (308, 268)},
    "reaches into other processes": {
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "process_madvise": (440, 440),
        "kcmp": (312, 272),
        "pidfd_getfd": (438, 438),
    },
    "large parts of the kernel with many past faults": {
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        "io_uring_setup": (425, 425),
        "io_uring_enter": (426, 426),
        "io_uring_register": (427, 427),
        "vmsplice": (278, 75),
        "fanotify_init": (300, 262),
        "lookup_dcookie": (212, 18),
        "memfd_secret": (447, 447),
    },
    "memory that belongs to no process, so that no bound of a process holds for it": {
        "shmget": (29, 194),
        "shmat": (30, 196),
        "mq_open": (240, 180),
    },
    "keys of the kernel, which no namespace separates": {
        "add_key": (248, 217),
        "request_key": (249, 218),
        "keyctl": (250, 219),
    },
    "opens files without a path, past every mount": {
        "open_by_handle_at": (304, 265),
        "name_to_handle_at": (303, 264),
    },
    "the machine itself: kernel, modules, swap, quotas, clock, name": {
        "kexec_load": (246, 104),
        "kexec_file_load": (320, 294),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "delete_module": (176, 106),
        "reboot": (169, 142),
        "swapon": (167, 224),
        "swapoff": (168, 225),
        "quotactl": (179, 60),
        "quotactl_fd": (443, 443),
        "acct": (163, 89),
        "syslog": (103, 116),
        "settimeofday": (164, 170),
        "clock_settime": (227, 112),
        "clock_adjtime": (305, 266),
        "adjtimex": (159, 171),
        "sethostname": (170, 161),
        "setdomainname": (171, 162),
        "vhangup": (153, 58),
    },
    "where memory lies on large machines": {
        "mbind": (237, 235),
        "migrate_pages": (256, 238),
        "move_pages": (279, 239),
        "set_mempolicy": (238, 237),
        "set_mempolicy_home_node": (450, 450),
    },
    "old calls that no program of today makes": {
        "nfsservctl": (180, 42),
        "iopl": (172, None),
        "ioperm": (173, None),
        "modify_ldt": (154, None),
        "uselib": (134, None),
        "ustat": (136, None),
        "sysfs": (139, None),
        "_sysctl": (156, None),
        "create_module": (174, None),
        "get_kernel_syms": (177, None),
        "query_module": (178, None),
    },
}

#: Calls that depend on their arguments, or that fail with an error that makes programs use another call.
CHECKED: Numbers = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "personality": (135, 92),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "ioctl": (16, 29),
    "memfd_create": (319, 279),
    "fallocate": (285, 47),
}

_NEWEST = 462
#: By machine: the index in `Numbers`, and the kernel's number for the ABI of 64-bit programs.
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_ASK_PERSONALITY, _PLAIN_PERSONALITY = 0xFFFFFFFF, 0

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ABI, _ARGUMENTS = 0, 4, 16  # offsets in what the filter is given


class _Step(NamedTuple):
    code: int
    value: int
    if_true: int = 0
    if_false: int = 0


def program(machine: str | None = None) -> bytes | None:
    """The filter for this machine, as the kernel takes it; None for a machine whose calls are not listed."""
    found = _MACHINES.get(machine or platform.machine())
    if found is None:
        return None
    place, abi = found
    return b"".join(
        struct.pack("<HBBI", step.code, step.if_true, step.if_false, step.value)
        for step in _steps(place, abi)
    )


def _steps(place: int, abi: int) -> Iterator[_Step]:
    # Calls of another ABI, such as those of 32-bit programs, have other numbers, so they cannot be checked.
    yield from (_Step(_LOAD, _ABI), _Step(_EQUAL, abi, 1, 0), _Step(_RETURN, _KILL))
    yield _Step(_LOAD, _NUMBER)
    # This includes the x32 ABI, whose numbers begin at 2^30. After "no such call" programs use an older call.
    yield from (_Step(_AT_LEAST, _NEWEST + 1, 0, 1), _refuse(errno.ENOSYS))
    for calls in REFUSED.values():
        for numbers in calls.values():
            if (number := numbers[place]) is not None:
                yield from (_Step(_EQUAL, number, 0, 1), _refuse(errno.EPERM))
    for name, checks in _checks().items():
        number = CHECKED[name][place]
        assert number is not None  # noqa: S101 - for the type checker
        yield from (_Step(_EQUAL, number, 0, len(checks)), *checks)
    yield _Step(_RETURN, _ALLOW)


def _checks() -> dict[str, list[_Step]]:
    return {
        "clone": [_argument(0), _Step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), _refuse(errno.EPERM), _allow()],
        # The flags of clone3 are behind a pointer, which a filter cannot read. The C library falls back to
        # clone.
        "clone3": [_refuse(errno.ENOSYS)],
        "personality": _only(0, (_PLAIN_PERSONALITY, _ASK_PERSONALITY), errno.EPERM),
        "socket": _only(0, (_AF_UNIX, _AF_INET, _AF_INET6), errno.EAFNOSUPPORT),
        "socketpair": _only(0, (_AF_UNIX,), errno.EAFNOSUPPORT),
        # These requests can type into somebody else's terminal.
        "ioctl": _none_of(1, (_TIOCSTI, _TIOCLINUX, _TIOCSETD), errno.EPERM),
        # The pages of such a file belong to no process. Programs use an ordinary file instead.
        "memfd_create": [_refuse(errno.ENOSYS)],
        # The disk space that fallocate takes is not counted as written. The C library writes instead.
        "fallocate": [_refuse(errno.EOPNOTSUPP)],
    }


def _only(argument: int, values: tuple[int, ...], error: int) -> list[_Step]:
    tests = [_Step(_EQUAL, value, len(values) - index, 0) for index, value in enumerate(values)]
    return [_argument(argument), *tests, _refuse(error), _allow()]


def _none_of(argument: int, values: tuple[int, ...], error: int) -> list[_Step]:
    tests = [_Step(_EQUAL, value, len(values) - index, 0) for index, value in enumerate(values)]
    return [_argument(argument), *tests, _allow(), _refuse(error)]


def _argument(index: int) -> _Step:
    """Load the lower half of an argument. In all checked calls the kernel only reads that half."""
    return _Step(_LOAD, _ARGUMENTS + 8 * index)


def _refuse(error: int) -> _Step:
    return _Step(_RETURN, _ERROR | error)


def _allow() -> _Step:
    return _Step(_RETURN, _ALLOW)
