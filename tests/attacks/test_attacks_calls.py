"""Attacks by system call: what the filter must refuse under every policy, each with its bare control arm."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.attacks.arms import WIN, prove, python
from tests.attacks.kit import Attack
from tests.attacks.test_attacks import FILES, GIT, REACH, SYSTEM

_X86 = platform.machine() == "x86_64"
_CHILD = "if not child: os._exit(0)\nassert child > 0 and os.waitpid(child, 0)[0] == child"
_TTY = (
    "import fcntl, pty, termios\n"
    "if os.getsid(0) != os.getpid(): os.setpgid(0, 0) if os.getpgrp() != os.getpid() else None\n"
    "child = os.fork()\n"
    "if child: sys.exit(0 if os.waitpid(child, 0)[1] == 0 else 1)\n"
    "os.setsid()\n"
    "_, tty = pty.openpty()\n"
    "fcntl.ioctl(tty, termios.TIOCSCTTY, 0)\n"
)

NAMESPACES = (
    *(
        Attack(f"a {what} namespace by unshare", python(f"call(272, 97, {flag})"), root=True)
        for what, flag in (
            ("mount", 0x20000),
            ("cgroup", 0x2000000),
            ("host name", 0x4000000),
            ("ipc", 0x8000000),
            ("process", 0x20000000),
            ("network", 0x40000000),
            ("time", 0x80),
        )
    ),
    Attack("a user namespace by unshare", python("call(272, 97, 0x10000000)")),
    Attack("a user namespace by clone", python(f"child = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)\n{_CHILD}")),
    Attack(
        "a user namespace by clone3",
        python(f"child = call(435, 435, struct.pack('8Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)\n{_CHILD}"),
    ),
    Attack("enter a namespace", python("call(308, 268, os.open('/proc/self/ns/uts', 0), 0)"), root=True),
    Attack("chroot", python("os.chroot('.')"), root=True),
    Attack("a new mount", python("call(430, 430, b'tmpfs', 0)"), root=True),
    Attack("a copy of the mounts", python("call(428, 428, -100, b'/', 1)"), root=True),
    Attack(
        "change the mounts' rights",
        python("call(442, 442, -100, b'/', 0, struct.pack('4Q', 0, 0, 0, 0), 32)"),
        root=True,
    ),
)

KERNEL = (
    Attack("add a key", python("call(248, 217, b'user', b'attack', b'x', 1, -2)")),
    Attack("join a key ring", python("call(250, 219, 1, 0)")),
    Attack("memory of a page fault of its own", python("call(323, 282, 0x1)")),
    Attack(
        "a handle of a file",
        python(
            "h = ctypes.create_string_buffer(struct.pack('Ii', 128, 0), 136)\n"
            "call(303, 264, -100, b'.', h, ctypes.byref(ctypes.c_int()), 0)"
        ),
    ),
    Attack("compare processes", python("call(312, 272, os.getpid(), os.getpid(), 1, 0, 0)")),
    Attack("take a descriptor of a process", python("call(438, 438, os.pidfd_open(os.getpid()), 0, 0)")),
    Attack("be traced", python("call(101, 117, 0, 0, 0, 0)")),
    Attack(
        "advise another's memory",
        python("v = struct.pack('QQ', 0, 0); call(440, 440, os.pidfd_open(os.getpid()), v, 1, 20, 0)"),
    ),
    Attack("watch all files", python("call(300, 262, 0, 0)"), root=True),
    Attack("read the kernel's log", python("call(103, 116, 10, 0, 0)"), root=True),
    Attack("read the clock's discipline", python("call(159, 171, ctypes.create_string_buffer(208))")),
    Attack("set the host name", python("import socket; socket.sethostname(socket.gethostname())"), root=True),
    Attack("ask about the discipline of a clock", python("call(305, 266, 0, ctypes.create_string_buffer(208))")),
    Attack("stop the accounting", python("call(163, 89, 0)"), root=True),
    Attack(
        "a listener on system calls",
        python(
            "assert libc.prctl(38, 1, 0, 0, 0) == 0\n"
            "code = ctypes.create_string_buffer(struct.pack('HBBI', 6, 0, 0, 0x7fff0000))\n"
            "call(317, 277, 1, 8, struct.pack('HxxxxxxP', 1, ctypes.addressof(code)))"
        ),
    ),
    Attack(
        "pages from memory into a pipe",
        python(
            "r, w = os.pipe(); b = ctypes.create_string_buffer(8)\n"
            "call(278, 75, w, struct.pack('PN', ctypes.addressof(b), 8), 1, 0)"
        ),
    ),
    Attack("make a file that masks another", f"mknod masked c 0 0 && echo {WIN}", needs="mknod"),
    Attack("make a device for characters", f"mknod null c 1 3 && echo {WIN}", needs="mknod", root=True),
    *(
        (
            Attack("all ports of the machine", python("call(172, -1, 3)"), root=True),
            Attack("read the local descriptor table", python("call(154, -1, 0, ctypes.create_string_buffer(8), 8)")),
        )
        if _X86
        else ()
    ),
)

TALK = (
    Attack("a netlink socket", python("import socket; socket.socket(16, socket.SOCK_RAW, 0)")),
    Attack("a netlink socket with high bits", python("call(41, 198, 16 | 1 << 40, 3, 0)")),
    Attack("a packet socket", python("import socket; socket.socket(17, socket.SOCK_RAW)"), root=True),
    Attack("a socket to the kernel's ciphers", python("import socket; socket.socket(38, socket.SOCK_SEQPACKET)")),
    Attack("a raw internet socket", python("import socket; socket.socket(2, socket.SOCK_RAW, 255)"), root=True),
    Attack("a socket of a rare protocol", python("import socket; socket.socket(2, socket.SOCK_STREAM, 262)")),
    Attack("type into a terminal with high bits", python(f"{_TTY}call(16, 29, tty, 0x5412 | 1 << 40, b'x')")),
    Attack("change what a terminal's line means", python(f"{_TTY}call(16, 29, tty, 0x5423, struct.pack('i', 0))")),
)

PRIVILEGES = (
    Attack("leave a core dump", f"ulimit -c unlimited && echo {WIN}", root=True),
    Attack(
        "become another by a set-uid program",
        f'[ "$(./other -un)" = nobody ] && echo {WIN}',
        setup="cp /usr/bin/id other && chown nobody other && chmod 4755 other",
        root=True,
    ),
    Attack(
        "a capability",
        python("assert open('/proc/self/status').read().split('CapEff:')[1].split()[0].strip('0')"),
        root=True,
    ),
    Attack("another identity", python("os.setgroups([]); os.setresuid(65534, 65534, 65534)"), root=True),
)


@pytest.mark.parametrize("policy", ["workspace", "strict"])
@pytest.mark.parametrize("attack", [*NAMESPACES, *KERNEL, *TALK, *PRIVILEGES], ids=str)
async def test_works_bare_and_fails_in_the_sandbox(
    attack: Attack, policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, policy)


@pytest.mark.parametrize("attack", [*FILES, *GIT, *SYSTEM, *REACH], ids=str)
async def test_what_fails_in_the_workspace_fails_under_strict(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, "strict")
