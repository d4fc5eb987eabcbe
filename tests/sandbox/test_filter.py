"""The system call filter, run as the kernel runs it: on every architecture's numbers, whatever the arguments hold."""

from __future__ import annotations

import errno
import platform
import signal
import struct
import sys
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seccompy import audit_arch, syscall_nr

from sandbox.backends import filter
from sandbox.backends.calls import ALLOWED, REFUSED
from sandbox.operations import RunArgv, RunCommand
from tests.sandbox.broker_kit import Person, Rig

ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = ERRNO | errno.EPERM, ERRNO | errno.ENOSYS
HIGH = st.integers(0, 2**32 - 1).map(lambda bits: bits << 32)

Verdict = Callable[..., int]


def run(program: bytes, data: bytes) -> int:
    """A classic BPF program over one ``struct seccomp_data``."""
    code = list(struct.iter_unpack("<HBBI", program))
    at = accumulator = 0
    while True:
        op, jump, other, k = code[at]
        at += 1
        if op == 0x20:
            accumulator = struct.unpack_from("<I", data, k)[0]
        elif op == 0x54:
            accumulator &= k
        elif op == 0x05:
            at += k
        elif op == 0x06:
            return int(k)
        else:
            holds = {0x15: accumulator == k, 0x25: accumulator > k, 0x35: accumulator >= k, 0x45: accumulator & k}[op]
            at += jump if holds else other


@pytest.fixture(params=filter.MACHINES)
def verdict(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Verdict]:
    """What the filter for a machine says to a call; ``rights`` go to `filter.program`."""
    monkeypatch.setattr(platform, "machine", lambda: request.param)
    filter.program.cache_clear()

    def ask(name: str | int, *args: int, **rights: bool) -> int:
        number = name if isinstance(name, int) else syscall_nr(name)
        words = [arg & 2**64 - 1 for arg in (*args, *[0] * (6 - len(args)))]
        return run(filter.program(**rights), struct.pack("<IIQ6Q", number, audit_arch(), 0, *words))

    yield ask
    filter.program.cache_clear()


def test_it_fits_into_the_kernel(verdict: Verdict) -> None:
    assert 0 < len(filter.program()) // 8 <= 4096 and not len(filter.program()) % 8


def test_every_listed_call_gets_its_answer_and_others_are_unknown(verdict: Verdict) -> None:
    assert not set(ALLOWED) & set(REFUSED)
    for names, answer in ((ALLOWED, ALLOW), (REFUSED, EPERM)):
        for name in names:
            try:
                assert verdict(name) == answer, name
            except ValueError:
                continue  # not on this architecture
    assert verdict(100_000) == ENOSYS and verdict("clone3", 2**63) == ENOSYS


def test_the_calls_of_everyday_programs_are_there(verdict: Verdict) -> None:
    for name in (
        "read",
        "openat",
        "newfstatat",
        "execve",
        "wait4",
        "futex",
        "getrandom",
        "statx",
        "rseq",
        "pidfd_open",
    ):
        assert verdict(name) == ALLOW, name


def test_another_abi_is_killed(verdict: Verdict) -> None:
    program = filter.program()
    for arch in (0x40000003, 0x40000028, 0xC00000B7 if platform.machine() == "x86_64" else 0xC000003E):
        assert run(program, struct.pack("<IIQ6Q", 20, arch, 0, *[0] * 6)) == KILL
    if platform.machine() == "x86_64":
        assert verdict(0x40000000 | 39) == verdict(0x40000000 | 512) == KILL
    assert verdict(0xFFFFFFFF) == ENOSYS


@settings(max_examples=25, deadline=None)
@given(high=HIGH, rest=st.integers(0, 7))
def test_high_bits_hide_nothing(high: int, rest: int) -> None:
    def ask(name: str, *args: int, **rights: bool) -> int:
        words = [*args, *[0] * (6 - len(args))]
        return run(filter.program(**rights), struct.pack("<IIQ6Q", syscall_nr(name), audit_arch(), 0, *words))

    for request in (0x5412, 0x541C, 0x5423, 0x541D):
        assert ask("ioctl", rest, high | request, rest) == EPERM
    assert ask("ioctl", rest, high | 0x5401) == ALLOW
    assert ask("mmap", 0, 4096, high | 7) == EPERM
    assert ask("socket", high | 16, 3, 0) == ERRNO | errno.EAFNOSUPPORT
    assert ask("socket", high | 1, 3, 0) == ALLOW
    assert ask("clone", high | 0x10000000 | 17) == EPERM
    assert ask("personality", high | 0x400000) == EPERM
    assert ask("mknod", 0, high | 0o60644) == EPERM
    assert ask("execveat", 0, 0, 0, 0, high | 0x1000) == EPERM
    assert ask("memfd_create", 0, high | 1) == ERRNO | errno.EACCES


def test_memory_that_is_written_and_run(verdict: Verdict) -> None:
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        for prot in range(8):
            both = prot & 6 == 6
            gains = name != "mmap" and prot & 4
            assert verdict(name, 0, 4096, prot) == (EPERM if both or gains else ALLOW)
            assert verdict(name, 0, 4096, prot, wx=True) == ALLOW
    assert verdict("shmat", 0, 0, 0o100000) == EPERM and verdict("shmat") == ALLOW
    assert verdict("memfd_create", 0, 0x9) == ALLOW
    assert verdict("memfd_create", 0, 0x11) == verdict("memfd_create", 0, 0x9, built=False) == ERRNO | errno.EACCES


def test_namespaces_by_clone_and_unshare(verdict: Verdict) -> None:
    for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict("clone", flag | 17) == verdict("unshare", flag) == EPERM
    assert verdict("unshare", 0x80) == EPERM and verdict("unshare", 0x400) == ALLOW
    assert verdict("clone", 0x3D0F00) == verdict("clone", 0x1200011) == ALLOW  # a thread, a fork


def test_sockets_by_family_and_protocol(verdict: Verdict) -> None:
    for family in range(50):
        allowed = family in (1, 2, 10)
        assert (verdict("socket", family, 1, 0) == ALLOW) is allowed, family
        assert (verdict("socketpair", family, 1, 0) == ALLOW) is (family == 1), family
    assert verdict("socket", 2, 1, 262) == ERRNO | errno.EPROTONOSUPPORT
    assert verdict("socket", 1, 1, 262) == ALLOW


def test_devices_cannot_be_made_but_other_nodes_can(verdict: Verdict) -> None:
    for mode, answer in ((0o20666, EPERM), (0o60666, EPERM), (0o100644, ALLOW), (0o10644, ALLOW), (0o140644, ALLOW)):
        assert verdict("mknodat", 0, 0, mode) == answer


def test_there_is_none_for_another_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    filter.program.cache_clear()
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert filter.program() == b""
    filter.program.cache_clear()


@pytest.mark.skipif(platform.machine() != "x86_64", reason="x32 belongs to x86-64")
async def test_a_call_of_another_abi_ends_the_program(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        code = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 | 39)"
        done = await broker.run(RunArgv((sys.executable, "-I", "-S", "-c", code)))
    assert done.exit_code in (128 + signal.SIGSYS, -signal.SIGSYS) and "system call" in done.error


WORLD = (
    ('python3 -c \'import subprocess; print(subprocess.check_output(["echo", "hi"]))\'', b"hi"),
    ("python3 -c 'import threading as t; x = t.Thread(target=print, args=(\"hi\",)); x.start(); x.join()'", b"hi"),
    (
        "python3 -c 'import concurrent.futures as c; print(list(c.ProcessPoolExecutor(2).map(abs, [-4])))'",
        b"[4]",
    ),
    ("python3 -c 'import multiprocessing as m; q = m.Queue(); q.put(5); print(q.get())'", b"5"),
    (
        'python3 -c \'import asyncio, sys; p = asyncio.create_subprocess_exec("true"); '
        "r = asyncio.Runner(); print(r.run(p).pid)'",
        b"",
    ),
    ("python3 -c 'import socket; print(socket.getaddrinfo(\"localhost\", 80)[0][1])'", b"1"),
    ("python3 -c 'import ctypes; print(ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)())'", b"7"),
    (
        "git init -q . && git -c user.name=t -c user.email=t commit -qm x --allow-empty && git log --oneline",
        b" x",
    ),
    ("printf 'int main(void) { return 7; }' > a.c && gcc a.c -o a && ./a; echo $?", b"7"),
    ("printf 'all:\\n\\techo made\\n' > Makefile && make -s", b"made"),
    ("echo 'a b' | perl -ne 'print if /a(?= b)/'", b"a b"),
    ("echo 'a b' | grep -P 'a(?= b)'", b"a b"),
    ("echo 'a b' | rg -P 'a(?= b)'", b"a b"),
    ("sqlite3 t.db 'create table t (x); insert into t values (5); select x from t'", b"5"),
    ("touch f; tar cf t.tar f && tar tf t.tar", b"f"),
    ("find . -maxdepth 0", b"."),
    ("curl --version", b"curl"),
    ("node -e 'for (let i = 0; i < 1e6; i++) Math.sqrt(i); console.log(42)'", b"42"),
    ("npm --version", b"."),
    ("java -version", b"version"),
    ("cargo init -q --vcs none --name tiny t && cd t && cargo build -q --offline && ./target/debug/tiny", b"Hello"),
)


@pytest.mark.parametrize(("command", "says"), WORLD, ids=[command[:40] for command, _ in WORLD])
async def test_the_world_runs(rig: Rig, walls: None, command: str, says: bytes) -> None:
    async with rig.broker(Person()) as broker:
        programs = [
            word for word in ("rg", "gcc", "node", "npm", "java", "cargo", "sqlite3") if word in command.split()
        ]
        for program in programs:
            if (await broker.run(RunCommand(f"command -v {program}"))).exit_code:
                pytest.skip(f"there is no {program} here")
        done = await broker.run(RunCommand(command))
    assert done.exit_code == 0 and says in done.data, done
