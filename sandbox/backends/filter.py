"""The system call filter: what no tool in the sandbox needs and every escape would like to have.

A deny-list for the first cut: it fails calls that reach the kernel's less guarded parts (key rings, BPF, io_uring,
userfaultfd, perf), other processes, mounts and new namespaces. Sockets are an allow-list of families. Programs of
another ABI (32-bit, x32) cannot run at all, because their calls have other numbers.
"""

from __future__ import annotations

import errno
import platform
import struct
from functools import cache

# Calls that fail with EPERM whatever their arguments.
DENIED = tuple(
    "acct add_key bpf delete_module fanotify_init finit_module fsconfig fsmount fsopen fspick init_module "
    "io_uring_enter io_uring_register io_uring_setup kcmp kexec_file_load kexec_load keyctl lookup_dcookie mount "
    "mount_setattr move_mount name_to_handle_at open_by_handle_at open_tree perf_event_open pidfd_getfd pivot_root "
    "process_madvise process_vm_readv process_vm_writev quotactl quotactl_fd reboot request_key setns swapoff swapon "
    "syslog umount2 userfaultfd vhangup".split()
)
_X86_ONLY = ("ioperm", "iopl", "modify_ldt")

_TIOCSTI, _TIOCLINUX, _TIOCSETD = 0x5412, 0x541C, 0x5423
_PTRACE_ATTACH, _PTRACE_SEIZE = 16, 0x4206
# CLONE_NEW{TIME,NS,CGROUP,UTS,IPC,USER,PID,NET}
_NAMESPACES = (0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
# AF_UNIX, AF_INET, AF_INET6, AF_NETLINK: netlink lists the (empty) network of the sandbox.
_FAMILIES = (1, 2, 10, 16)
_X32 = 0x40000000
_LOW_WORD = 0xFFFFFFFF


@cache
def program() -> bytes:
    """The compiled filter for bwrap's ``--seccomp``; empty where it cannot be built (another architecture)."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return b""
    try:
        from seccompy import Filter
    except ImportError:
        return b""
    rules = Filter()
    for name in DENIED + (_X86_ONLY if platform.machine() == "x86_64" else ()):
        rules.errno(name, errno.EPERM)
    _deny_by_argument(rules)
    return _refuse_x32() + rules.program


def _deny_by_argument(rules: object) -> None:
    """Rules that look at arguments. Kernel and filter must read the same bits, so only the low word is compared
    where the kernel takes an int: high bits can hide nothing."""
    from seccompy import ArgCmp, CmpOp, Filter

    assert isinstance(rules, Filter)

    def low(index: int, value: int) -> list[ArgCmp]:
        return [ArgCmp(index, CmpOp.MASKED_EQ, value, mask=_LOW_WORD)]

    for request in (_TIOCSTI, _TIOCLINUX, _TIOCSETD):
        rules.errno("ioctl", errno.EPERM, args=low(1, request))
    for request in (_PTRACE_ATTACH, _PTRACE_SEIZE):
        rules.errno("ptrace", errno.EPERM, args=low(0, request))
    for flag in _NAMESPACES:
        bit = [ArgCmp(0, CmpOp.MASKED_EQ, flag, mask=flag)]
        rules.errno("unshare", errno.EPERM, args=bit)
        if flag != 0x80:  # in clone() this bit belongs to the exit signal
            rules.errno("clone", errno.EPERM, args=bit)
    rules.errno("clone3", errno.ENOSYS)  # its flags lie in memory, out of a filter's sight; libc falls back to clone
    for call in ("socket", "socketpair"):
        for family in _FAMILIES:
            rules.allow(call, args=low(0, family))
        rules.errno(call, errno.EAFNOSUPPORT)


def _refuse_x32() -> bytes:
    """Instructions put before the filter: x32 calls are x86-64 calls with one bit set, and would slip past it."""
    if platform.machine() != "x86_64":
        return b""
    load_number = struct.pack("<HBBI", 0x20, 0, 0, 0)
    if_x32 = struct.pack("<HBBI", 0x35, 0, 1, _X32)
    fail = struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | errno.ENOSYS)
    return load_number + if_x32 + fail
