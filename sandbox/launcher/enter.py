"""Inside the sandbox, before the command: takes away what is left to take, then becomes the command.

Run as a file by ``python -I -S``, where nothing but Python's own library can be seen. bwrap leaves it the right to
change mounts in its own namespace; that right is gone before the command starts. Arguments are words ``key=value``,
then ``--`` and the command:

noexec=PATH     nothing below the mount at PATH can be run, mounts under it included
exec=PATH       the exceptions: mounts that keep what they were mounted with
landlock=ABI    the kernel's second wall: files as the mounts allow them, nothing run but below ``exec``
tcp=off         with Landlock: no TCP connections and no TCP servers
mdwe=on         memory never becomes executable once it was not, in whatever steps
filter=HEX      the system call filter, which forbids all of the above to the command

Whatever cannot be done ends it with a message: a command never runs with less around it than was asked for.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import struct
import sys

_MOUNT_SETATTR, _CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 442, 444, 445, 446
_NEW_MOUNTS = 0x20000
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_NOEXEC = 0x8
_SET_SECCOMP, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT, _SET_MDWE = 22, 24, 38, 47, 65
_AMBIENT_CLEAR_ALL = 4
_CAPABILITIES_V3 = 0x20080522

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
# Remove folders and files; make folders, files, sockets, fifos and links. Never devices.
_CHANGE = 0x10 | 0x20 | 0x80 | 0x100 | 0x200 | 0x400 | 0x1000
_REFER, _TRUNCATE, _IOCTL_DEVICE = 0x2000, 0x4000, 0x8000
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
# Rights on files that each version of Landlock knows (all of the earlier ones included).
_KNOWN = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
_TCP_SINCE, _SCOPES_SINCE = 4, 6

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """See the module."""
    split = sys.argv.index("--")
    words, command = sys.argv[1:split], sys.argv[split + 1 :]
    try:
        enter([tuple(word.split("=", 1)) for word in words])
    except OSError as error:
        _give_up(f"{error.filename or 'cannot be set up'}: {error.strerror}")
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and that would be handed on
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        _give_up(f"execvp {command[0]}: {error.strerror}")


def enter(words: list[tuple[str, ...]]) -> None:
    """Take everything away, in the only order that works. Raises OSError named after what could not be done."""
    told = {key: [value for name, value in words if name == key] for key, _ in words}
    runs = told.get("exec", [])
    if told.get("noexec"):
        _mounts_without_execution(told["noexec"], runs)
    _done(_libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    if "mdwe" in told:
        _done(_libc.prctl(_SET_MDWE, 1, 0, 0, 0), "memory protection")
    _drop_capabilities()
    if "landlock" in told:
        _landlock(int(told["landlock"][0]), runs, tcp="tcp" not in told)
    for program in told.get("filter", []):
        _filter(bytes.fromhex(program))


def _give_up(reason: str) -> None:
    """In bwrap's own words, so that whoever reads the output needs to know only one form."""
    os.write(2, os.fsencode(f"bwrap: {reason}\n"))
    os._exit(1)


def _done(result: int, what: str) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)
    return result


def _mounts_without_execution(paths: list[str], runs: list[str]) -> None:
    """A mount namespace of our own, because bwrap's belongs to the user namespace around this one."""
    _done(_libc.unshare(_NEW_MOUNTS), "a mount namespace")
    for path in paths:
        _done(_set_mount(path, _NOEXEC, 0), f"noexec on {path}")
    for path in runs:
        _set_mount(path, 0, _NOEXEC)  # one that was noexec before, on the host, stays so


def _set_mount(path: str, add: int, take: int) -> int:
    attributes = struct.pack("QQQQ", add, take, 0, 0)
    flags = _AT_RECURSIVE
    result: int = _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(path), flags, attributes, len(attributes))
    return result


def _drop_capabilities() -> None:
    """All sets, the bounding set first while there is the right to."""
    last = int(_read("/proc/sys/kernel/cap_last_cap"))
    for capability in range(last + 1):
        _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0)
    _libc.prctl(_CAP_AMBIENT, _AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = struct.pack("Ii", _CAPABILITIES_V3, 0)
    _done(_libc.capset(header, bytes(24)), "no capabilities")
    status = _read("/proc/self/status").split(b"\n")
    left = [line for line in status if line.startswith(b"Cap") and int(line.split()[1], 16)]
    if left:
        raise OSError(1, left[0].decode(), "no capabilities")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123 (pathlib costs more to import than all the rest)
        return file.read()


def _filter(program: bytes) -> None:
    """Load the system call filter: from here on nothing of this module works any more."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _done(_libc.prctl(_SET_SECCOMP, 2, header, 0, 0), "the system call filter")


def _landlock(abi: int, runs: list[str], *, tcp: bool) -> None:
    handled = _KNOWN[max(known for known in _KNOWN if known <= abi)]
    network = 0 if tcp or abi < _TCP_SINCE else 3
    scopes = 0 if abi < _SCOPES_SINCE else 3
    attributes = struct.pack("QQQ", handled, network, scopes)
    size = 24 if abi >= _SCOPES_SINCE else 16 if abi >= _TCP_SINCE else 8
    rules = _done(_libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(size), 0), "landlock")
    for path, read_only in _mounts().items():
        _allow(rules, path, _rights(path, read_only=read_only) & handled)
    for path in runs:
        _allow(rules, path, (_EXECUTE | _READ_FILE | _READ_DIR) & handled)
    _done(_libc.syscall(_RESTRICT_SELF, rules, 0), "landlock")
    os.close(rules)


def _mounts() -> dict[str, bool]:
    """Every mount with whether it is read-only; of those at one place the uppermost."""
    found = {}
    for line in _read("/proc/self/mountinfo").splitlines():
        fields = line.split(b" ")
        place = fields[4]
        for escaped, char in ((b"\\040", b" "), (b"\\011", b"\t"), (b"\\012", b"\n"), (b"\\134", b"\\")):
            place = place.replace(escaped, char)
        found[os.fsdecode(place)] = b"ro" in fields[5].split(b",")
    return found


def _rights(path: str, *, read_only: bool) -> int:
    """What the mount allows. /proc is never written: its ``mem`` files write where memory is only executable. The root
    itself shows only its names, or its rights would be everybody's."""
    if path == "/":
        return _READ_DIR
    rights = _READ_FILE | _READ_DIR
    if not read_only and path != "/proc" and not path.startswith("/proc/"):
        rights |= _WRITE_FILE | _CHANGE | _REFER | _TRUNCATE
    return rights | _IOCTL_DEVICE if path == "/dev" or path.startswith("/dev/") else rights


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a mount that another one covers: nobody can reach it
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= _OF_A_FILE
        attributes = struct.pack("=Qi", rights, place)
        _done(_libc.syscall(_ADD_RULE, rules, 1, attributes, 0), f"landlock on {path}")
    finally:
        os.close(place)


if __name__ == "__main__":
    main()
