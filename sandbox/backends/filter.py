"""The system call filter: an allow-list with argument checks, compiled for bwrap's ``--seccomp`` or the launcher.

A call on no list fails with ENOSYS, one that only an escape needs with EPERM, and a call in another ABI (32-bit, x32)
kills the program: its numbers mean other things, so nothing the filter knows would hold for it.

The filter sees one call at a time and remembers nothing. So it can refuse memory that is writable and executable *at
once*, but cannot tell that a page which becomes executable now was writable before; so it refuses making any page
executable afterwards, but for the programs a policy names. Two mappings of one file, one to write and
one to run, are no matter for a filter at all: there the mounts are noexec.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from sandbox.backends.calls import ALLOWED, REFUSED

if TYPE_CHECKING:
    from seccompy import ArgCmp, Filter

MACHINES = ("x86_64", "aarch64")

_WRITE, _EXEC = 0x2, 0x4
_SHM_EXEC = 0x8000
_MFD_NOEXEC_SEAL = 0x8
_AT_EMPTY_PATH = 0x1000
_TIOCSTI, _TIOCLINUX, _TIOCSETD, _TIOCCONS = 0x5412, 0x541C, 0x5423, 0x541D
_S_IFMT, _S_IFCHR, _S_IFBLK = 0xF000, 0x2000, 0x6000
# CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}. CLONE_NEWTIME is a bit that in clone() belongs to the exit signal.
_NAMESPACES, _NEW_TIME = 0x7E020000, 0x80
_PERSONALITY_ASK = 0xFFFFFFFF
_NEW_LISTENER = 0x8
_AF_UNIX, _AF_INET, _AF_INET6 = 1, 2, 10
_IP_PROTOCOLS = (0, 1, 6, 17, 58)  # the family's own choice, ICMP, TCP, UDP, ICMPv6
_X32 = 0x40000000
_LOW_WORD = 0xFFFFFFFF
_KILL, _ERRNO = 0x80000000, 0x00050000


@cache
def program(*, wx: bool = False, built: bool = True) -> bytes:
    """The compiled filter; empty where it cannot be built (another architecture, or the library is missing).

    wx: memory may be writable and executable, at once or one after the other (a JIT needs it). built: files written
    inside may be run.
    """
    if platform.system() != "Linux" or platform.machine() not in MACHINES:
        return b""
    try:
        from seccompy import Action, Filter
    except ImportError:
        return b""
    rules = Filter(int(Action.ERRNO) | errno.ENOSYS)
    # Rules on arguments come first: the kernel remembers which calls are always allowed and runs no filter for those.
    _memory(rules, wx=wx, built=built)
    _processes(rules)
    _devices(rules)
    _sockets(rules)
    for name in _known(ALLOWED):
        rules.allow(name)
    for name in _known(REFUSED):
        rules.errno(name, errno.EPERM)
    return _foreign() + rules.program


def _low(index: int, value: int, mask: int = _LOW_WORD) -> list[ArgCmp]:
    """The argument's bits under ``mask`` are ``value``. Kernel and filter must read the same bits: where the kernel
    takes an int only the low word is compared, so that high bits can hide nothing."""
    from seccompy import ArgCmp, CmpOp

    return [ArgCmp(index, CmpOp.MASKED_EQ, value, mask=mask)]


def _memory(rules: Filter, *, wx: bool, built: bool) -> None:
    both = _WRITE | _EXEC
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        if not wx:
            rules.errno(name, errno.EPERM, args=_low(2, both, both))
        if not wx and name != "mmap":
            rules.errno(name, errno.EPERM, args=_low(2, _EXEC, _EXEC))
        rules.allow(name)
    if not wx:
        rules.errno("shmat", errno.EPERM, args=_low(2, _SHM_EXEC, _SHM_EXEC))
    rules.allow("shmat")
    # A file that lies nowhere and can be run or mapped executable: only the kind whose execution is sealed off, and
    # none at all where nothing written may run, because the seal does not hold for mappings.
    if built:
        rules.allow("memfd_create", args=_low(1, _MFD_NOEXEC_SEAL, _MFD_NOEXEC_SEAL))
    rules.errno("memfd_create", errno.EACCES)


def _processes(rules: Filter) -> None:
    rules.allow("clone", args=_low(0, 0, _NAMESPACES))
    rules.errno("clone", errno.EPERM)
    rules.errno("clone3", errno.ENOSYS)  # its flags lie in memory, out of a filter's sight; libc falls back to clone
    rules.allow("unshare", args=_low(0, 0, _NAMESPACES | _NEW_TIME))
    rules.errno("unshare", errno.EPERM)
    rules.errno("execveat", errno.EPERM, args=_low(4, _AT_EMPTY_PATH, _AT_EMPTY_PATH))
    rules.allow("execveat")
    for persona in (0, _PERSONALITY_ASK):  # others make all readable memory executable, or fix addresses
        rules.allow("personality", args=_low(0, persona))
    rules.errno("personality", errno.EPERM)
    rules.errno("seccomp", errno.EPERM, args=_low(1, _NEW_LISTENER, _NEW_LISTENER))
    rules.allow("seccomp")


def _devices(rules: Filter) -> None:
    for request in (_TIOCSTI, _TIOCLINUX, _TIOCSETD, _TIOCCONS):
        rules.errno("ioctl", errno.EPERM, args=_low(1, request))
    rules.allow("ioctl")
    for name, mode in (("mknod", 1), ("mknodat", 2)):
        if name in _known((name,)):
            for kind in (_S_IFCHR, _S_IFBLK):
                rules.errno(name, errno.EPERM, args=_low(mode, kind, _S_IFMT))
            rules.allow(name)


def _sockets(rules: Filter) -> None:
    """Unix and internet sockets. No netlink: what asks it for addresses (getaddrinfo) does without."""
    for call in ("socket", "socketpair"):
        rules.allow(call, args=_low(0, _AF_UNIX))
    for family in (_AF_INET, _AF_INET6):
        for protocol in _IP_PROTOCOLS:
            rules.allow("socket", args=[*_low(0, family), *_low(2, protocol)])
        rules.errno("socket", errno.EPROTONOSUPPORT, args=_low(0, family))
    for call in ("socket", "socketpair"):
        rules.errno(call, errno.EAFNOSUPPORT)


def _known(names: tuple[str, ...]) -> Iterator[str]:
    """Those that this architecture has."""
    from seccompy import syscall_nr

    for name in names:
        try:
            syscall_nr(name)
        except (KeyError, ValueError):
            continue
        yield name


def _foreign() -> bytes:
    """Instructions put before the filter, which itself kills 32-bit calls: x32 calls are x86-64 calls with one bit set.
    -1 is no call at all; some programs make it to see that it fails."""
    if platform.machine() != "x86_64":
        return b""
    load_number = struct.pack("<HBBI", 0x20, 0, 0, 0)
    if_none = struct.pack("<HBBI", 0x15, 1, 0, _LOW_WORD)
    if_x32 = struct.pack("<HBBI", 0x35, 1, 2, _X32)
    fail = struct.pack("<HBBI", 0x06, 0, 0, _ERRNO | errno.ENOSYS)
    kill = struct.pack("<HBBI", 0x06, 0, 0, _KILL)
    return load_number + if_none + if_x32 + fail + kill
