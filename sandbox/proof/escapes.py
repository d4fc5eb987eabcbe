"""Tries 33 ways out of a sandbox, for real, and prints what happened: ``{"name": "open" | "closed" | "n/a"}``.

    python3 -I -S escapes.py FACTS [NAME...]

From the standard library alone and in one file, so that it can be run inside any sandbox, or bare. FACTS is JSON: where
the things to attack are, planted beforehand on the host (see ``stage.py``). Each attack runs in a child of its own that
is ended when it takes too long. It counts as open only when it had its effect: the planted secret was read, the planted
file changed, the call answered; not when a call merely did not fail. n/a: this kernel or machine has no such thing.
"""

import ctypes
import errno
import json
import mmap
import os
import platform
import pty
import signal
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from typing import Any

SECONDS = 5
OPEN, CLOSED, NONE = "open", "closed", "n/a"
_CODES = {0: OPEN, 3: NONE}

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = LIBC.shmat.restype = ctypes.c_void_p
FACTS: dict[str, Any] = {}
ESCAPES: dict[str, Callable[[], None]] = {}


class NotHere(Exception):
    """There is no such thing on this machine, so nothing can be tried."""


def escape(attack: Callable[[], None]) -> Callable[[], None]:
    """Registers an attack under its name: it returns when it had its effect, and raises when it was stopped."""
    ESCAPES[attack.__name__.replace("_", " ")] = attack
    return attack


def call(x86: int, arm: int, *arguments: Any) -> int:
    """One system call. Raises OSError when it fails, NotHere when the kernel was built without it."""
    number = {"x86_64": x86, "aarch64": arm}.get(platform.machine())
    if number is None:
        raise NotHere
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result: int = LIBC.syscall(ctypes.c_long(number), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return result


def needs(thing: object) -> None:
    """Raises NotHere when the host has none of it to attack."""
    if not thing:
        raise NotHere


def secret_in(path: str) -> None:
    with open(path, "rb") as file:
        assert FACTS["secret"].encode() in file.read()


def append_to(path: str) -> None:
    """Add to a planted file; a file of that name that was not planted proves nothing."""
    with open(path, "r+b") as file:
        assert FACTS["secret"].encode() in file.read()
        file.write(b"escaped")


@escape
def write_outside() -> None:
    append_to(FACTS["outside"])


@escape
def read_keys_of_the_home_folder() -> None:
    secret_in(FACTS["home"] + "/.ssh/id_ed25519")


@escape
def read_credentials_of_clouds_and_packages() -> None:
    for name in (".aws/credentials", ".config/gcloud/credentials.db", ".npmrc", ".pypirc", ".netrc"):
        try:
            return secret_in(FACTS["home"] + "/" + name)
        except OSError:
            continue
    raise PermissionError


@escape
def read_another_project() -> None:
    secret_in(FACTS["project"] + "/.env")


@escape
def read_through_proc_root() -> None:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            return secret_in(f"/proc/{pid}/root{FACTS['outside']}")
        except (OSError, AssertionError):
            continue
    raise PermissionError


@escape
def inherited_descriptor() -> None:
    for number in range(3, 256):
        try:
            return os.close(os.open("planted", os.O_RDONLY, dir_fd=number))
        except OSError:
            continue
    raise PermissionError


@escape
def write_through_an_old_hard_link() -> None:
    append_to("old-hardlink")


@escape
def read_through_an_old_symbolic_link() -> None:
    secret_in("old-symlink/secret")


@escape
def socket_in_the_file_system() -> None:
    _greeted(socket.AF_UNIX, FACTS["socket"])


@escape
def abstract_socket() -> None:
    _greeted(socket.AF_UNIX, "\0" + FACTS["abstract"])


def _greeted(family: int, address: Any) -> None:
    with socket.socket(family) as client:
        client.settimeout(SECONDS / 2)
        client.connect(address)


@escape
def host_network_by_netlink() -> None:
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.sendto(struct.pack("=IHHIIBxxxIII", 32, 18, 0x301, 1, 0, 0, 0, 0, 0), (0, 0))
        needs(FACTS["interface"])
        assert FACTS["interface"].encode() + b"\0" in link.recv(65536)


@escape
def another_address_by_TCP_or_UDP() -> None:
    needs(FACTS["address"])
    try:
        _greeted(socket.AF_INET, (FACTS["address"], FACTS["far_port"]))
    except OSError:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"escaped", (FACTS["address"], FACTS["far_port"]))


@escape
def loopback_of_the_host() -> None:
    _greeted(socket.AF_INET, ("127.0.0.1", FACTS["port"]))


def _victim() -> int:
    """The planted process; another one that has its number here is not it."""
    with open(f"/proc/{FACTS['victim']}/cmdline", "rb") as words:
        assert FACTS["marker"].encode() in words.read()
    return int(FACTS["victim"])


@escape
def signal_a_process_of_the_host() -> None:
    os.kill(_victim(), signal.SIGCONT)


@escape
def ptrace_a_process_of_the_host() -> None:
    call(101, 117, 0x4206, _victim(), 0, 0)


@escape
def read_memory_of_a_process_of_the_host() -> None:
    target = ctypes.create_string_buffer(len(FACTS["secret"]))
    here = struct.pack("PN", ctypes.addressof(target), len(target))
    there = struct.pack("PN", FACTS["victim_address"], len(target))
    call(310, 270, FACTS["victim"], here, 1, there, 1, 0)
    assert target.raw == FACTS["secret"].encode()


@escape
def SysV_memory_of_the_host() -> None:
    found = LIBC.shmget(FACTS["shm_key"], 0, 0)
    assert found >= 0
    at = LIBC.shmat(found, None, 0o10000)
    assert at not in (None, ctypes.c_void_p(-1).value)
    assert ctypes.string_at(at, len(FACTS["secret"])) == FACTS["secret"].encode()


@escape
def POSIX_memory_of_the_host() -> None:
    secret_in("/dev/shm/" + FACTS["shm_name"])


@escape
def io_uring() -> None:
    call(425, 425, 4, ctypes.create_string_buffer(256))


@escape
def kernel_key_rings() -> None:
    call(250, 219, 0, -3, 1, 0, 0)


@escape
def bpf() -> None:
    call(321, 280, 0, ctypes.create_string_buffer(struct.pack("IIII", 1, 4, 4, 1), 128), 128)


@escape
def userfaultfd() -> None:
    call(323, 282, 1)


@escape
def perf_events() -> None:
    call(298, 241, ctypes.create_string_buffer(struct.pack("II", 1, 112), 112), 0, -1, -1, 8)


@escape
def nested_user_namespace() -> None:
    call(272, 97, 0x10000000)


@escape
def mount() -> None:
    LIBC.unshare(0x10020000)  # with a namespace of its own where that works, as it is where not
    if LIBC.mount(b"none", b"mountpoint", b"tmpfs", 0, None) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    LIBC.umount2(b"mountpoint", 2)


@escape
def run_a_file_that_lies_nowhere() -> None:
    file = os.memfd_create("escape", 0)
    with open("/bin/true", "rb") as program:
        os.write(file, program.read())
    assert subprocess.run([f"/proc/self/fd/{file}"], pass_fds=(file,)).returncode == 0


@escape
def memory_to_write_and_run_at_once() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC).close()


@escape
def memory_written_then_run() -> None:
    page = mmap.mmap(-1, 4096)
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    page.write({"x86_64": b"\xb8\x2a\0\0\0\xc3", "aarch64": b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"}[platform.machine()])
    if LIBC.mprotect(ctypes.c_void_p(at), 4096, 5) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    os._exit(0 if ctypes.PYFUNCTYPE(ctypes.c_int)(at)() == 42 else 1)


@escape
def run_a_program_made_in_the_workspace() -> None:
    with open("/bin/true", "rb") as source, open("made", "wb") as made:
        made.write(source.read())
    os.chmod("made", 0o755)
    loaders = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
    ways = [["./made"], *([loader, "./made"] for loader in loaders if os.path.exists(loader))]
    for words in ways:
        try:
            if subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0:
                return
        except OSError:
            continue
    raise PermissionError


@escape
def type_into_the_terminal() -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        for request in (termios.TIOCSTI, termios.TIOCSTI | 1 << 32):
            result = LIBC.ioctl(0, ctypes.c_ulong(request), b"x")
            if result == 0:
                os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    os.close(terminal)


@escape
def calls_of_another_ABI() -> None:
    if platform.machine() != "x86_64":
        raise NotHere
    call(0x40000000 | 39, 0)


@escape
def processes_without_end() -> None:
    children: list[int] = []
    try:
        while len(children) < FACTS["forks"]:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
        for child in children:
            os.waitpid(child, 0)


@escape
def secret_in_the_environment() -> None:
    assert FACTS["secret"] in os.environ.values()


def tried(attack: Callable[[], None]) -> str:
    """Run one attack in a child: what came of it. A child that was killed was stopped."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        os._exit(_code_of(attack))
    signal.signal(signal.SIGALRM, lambda *_: os.killpg(child, signal.SIGKILL))
    signal.alarm(SECONDS)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    signal.alarm(0)
    return _CODES.get(code, CLOSED)


def _code_of(attack: Callable[[], None]) -> int:
    null = os.open("/dev/null", os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    try:
        attack()
    except NotHere:
        return 3
    except OSError as error:
        return 3 if error.errno == errno.ENOSYS and FACTS["bare"] else 1
    except BaseException:
        return 1
    return 0


def main(words: list[str]) -> None:
    FACTS.update(json.loads(words[0]))
    names = words[1:] or list(ESCAPES)
    print(json.dumps({name: tried(ESCAPES[name]) for name in names}))


if __name__ == "__main__":
    main(sys.argv[1:])
