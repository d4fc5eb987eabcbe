"""Real attacks through the broker, after a person has said yes to all of them. Each has its bare control arm: the same
script, on a host alike, with nothing around it. Only an attack that works there and fails here proves anything."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from sandbox.backends import pick_backend
from sandbox.operations import RunCommand
from tests.attacks.kit import SECRET, WON, Attack, bare, host, leaks, leaves, missing, script_of
from tests.sandbox.broker_kit import Person, Rig, yes

_WIN = WON.decode()
_GIT = "git init -q . && git config user.name t && git config user.email t@t"


def _call(x86: int, arm: int, arguments: str) -> str:
    """A script that makes one system call and reports success."""
    number = {"x86_64": x86, "aarch64": arm}.get(platform.machine(), -1)
    body = f"import ctypes; r = ctypes.CDLL(None, use_errno=True).syscall({number}, {arguments})"
    return f'$PY -c "{body}; print(\\"{_WIN}\\" if r >= 0 else ctypes.get_errno())"'


def _python(body: str) -> str:
    return f"$PY - <<'END'\n{body}\nprint('{_WIN}')\nEND"


FILES = (
    Attack("read a secret by its path", 'cat "$SECRET_FILE"', leaks),
    Attack("read a secret through ..", "cat ../outside/secret", leaks),
    Attack("read through a link made before", "cat link/secret", leaks, setup="ln -s ../outside link"),
    Attack("read through a link of its own", 'ln -s "$OUTSIDE" l && cat l/secret', leaks),
    Attack("read through /proc", 'for p in /proc/[0-9]*; do cat "$p/root$SECRET_FILE"; done 2>/dev/null', leaks),
    Attack("read through an inherited descriptor", 'cat "/proc/self/fd/$FD/secret"', leaks),
    Attack("read a key in the home folder", "cat ~/.ssh/id_ed25519", leaks),
    Attack("write outside", 'echo evil > "$OUTSIDE/made"', leaves("outside/made")),
    Attack("write through a link", "echo evil > link/made", leaves("outside/made"), setup="ln -s ../outside link"),
    Attack(
        "change through a hard link", 'ln "$SECRET_FILE" l && echo evil >> l', leaves("outside/secret", SECRET + "evil")
    ),
    Attack("write into the system", f"touch /usr/local/attack && rm /usr/local/attack && echo {_WIN}", root=True),
    Attack("store a rule of its own", 'echo "evil" > "$RULES"', leaves("config/rules.toml")),
    Attack("rewrite the record", 'echo evil >> "$AUDIT"', leaves("audit/audit.jsonl")),
)

GIT = (
    Attack(
        "write a git hook", "echo evil > .git/hooks/pre-commit", leaves("workspace/.git/hooks/pre-commit"), setup=_GIT
    ),
    Attack(
        "replace the folder of git",
        "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        leaves("workspace/.git/hooks/pre-commit"),
        setup=_GIT,
    ),
    Attack(
        "swap the folder of hooks",
        "mv .git/hooks .git/old; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
        leaves("workspace/.git/hooks/pre-commit"),
        setup=_GIT,
    ),
    Attack(
        "set a program in git's config",
        "git config core.fsmonitor evil",
        leaves("workspace/.git/config", "fsmonitor = evil"),
        setup=_GIT,
    ),
    Attack("send git to another folder", "echo evil > .git/commondir", leaves("workspace/.git/commondir"), setup=_GIT),
    Attack(
        "make a repository with a hook",
        "git init -q .; echo evil > .git/hooks/pre-commit",
        leaves("workspace/.git/hooks/pre-commit"),
    ),
    Attack(
        "make a repository with a program in its config",
        "git init -q .; git config core.pager evil",
        leaves("workspace/.git/config", "pager = evil"),
    ),
    Attack("make .git a pointer elsewhere", "echo 'gitdir: evil' > .git", leaves("workspace/.git", "gitdir: evil")),
    Attack(
        "replace a .git that is a link",
        "rm .git; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
        leaves("workspace/.git/hooks/pre-commit"),
        setup="mkdir real; ln -s real .git",
    ),
    Attack("add a server to start", "echo evil > .mcp.json", leaves("workspace/.mcp.json")),
    Attack(
        "add a hook of another agent",
        "mkdir -p .claude/hooks; echo evil > .claude/hooks/x",
        leaves("workspace/.claude/hooks/x"),
    ),
    Attack(
        "change the project's settings",
        "echo evil > .agent-tui/c",
        leaves("workspace/.agent-tui/c"),
        setup="mkdir .agent-tui",
    ),
)

SYSTEM = (
    Attack("read a secret in the environment", "env", leaks),
    Attack("mount something", f"mount -t tmpfs none . && echo {_WIN}; umount . 2>/dev/null", root=True, needs="mount"),
    Attack("make a device", f"mknod d b 7 0 && echo {_WIN}", root=True, needs="mknod"),
    Attack("a user namespace of its own", f"unshare -U true && echo {_WIN}", needs="unshare"),
    Attack("find the kernel's keys", _call(250, 219, "0, -3, 1, 0, 0")),
    Attack("io_uring", _call(425, 425, "4, ctypes.create_string_buffer(256)")),
    Attack("bpf", _call(321, 280, "0, ctypes.create_string_buffer(bytes([1,0,0,0,4,0,0,0,4,0,0,0,1]), 128), 128")),
    Attack("userfaultfd", _call(323, 282, "1")),
    Attack(
        "watch the machine's counters",
        _call(298, 241, "ctypes.create_string_buffer(bytes([1,0,0,0,112]), 112), 0, -1, -1, 0"),
    ),
    Attack(
        "attach to another process",
        _python(
            "import ctypes, os, time\n"
            "child = os.fork()\n"
            "if not child: time.sleep(30)\n"
            "got = ctypes.CDLL(None).ptrace(16, child, 0, 0)\n"
            "os.kill(child, 9)\n"
            "assert got == 0"
        ),
    ),
    Attack(
        "read another process's memory",
        _python(
            "import ctypes, os, time\n"
            "class Vector(ctypes.Structure): _fields_ = [('base', ctypes.c_void_p), ('size', ctypes.c_size_t)]\n"
            "source, target = ctypes.create_string_buffer(b'x' * 8), ctypes.create_string_buffer(8)\n"
            "child = os.fork()\n"
            "if not child: time.sleep(30)\n"
            "here, there = Vector(ctypes.addressof(target), 8), Vector(ctypes.addressof(source), 8)\n"
            "got = ctypes.CDLL(None).process_vm_readv(child, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)\n"
            "os.kill(child, 9)\n"
            "assert got == 8"
        ),
    ),
    Attack(
        "type into a terminal",
        _python(
            "import fcntl, os, pty, termios\n"
            "os.setsid() if os.getpid() != os.getsid(0) else None\n"
            "_, tty = pty.openpty()\n"
            "fcntl.ioctl(tty, termios.TIOCSCTTY, 0)\n"
            "fcntl.ioctl(tty, 0x5412, b'x')"
        ),
    ),
    Attack("a socket to the hypervisor", _python("import socket; socket.socket(40, socket.SOCK_STREAM)")),
    Attack("kill a process of the host", 'kill -9 "$VICTIM"; true', lambda h, _: not h.victim_lives()),
)

REACH = (
    Attack("connect to this machine", f'exec 3<>"/dev/tcp/127.0.0.1/$PORT" && echo {_WIN}'),
    Attack(
        "connect to an abstract socket",
        'export ABSTRACT; $PY -c "import os, socket; '
        "socket.socket(socket.AF_UNIX).connect(chr(0) + os.environ['ABSTRACT']); "
        f"print('{_WIN}')\"",
    ),
    Attack(
        "connect to a socket in the file system",
        'cd "$OUTSIDE" && $PY -c "import socket; '
        f"socket.socket(socket.AF_UNIX).connect('socket'); print('{_WIN}')\"",
    ),
)


@pytest.mark.parametrize("attack", [*FILES, *GIT, *SYSTEM, *REACH], ids=str)
async def test_works_bare_and_fails_in_the_sandbox(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := missing(attack):
        pytest.skip(reason)
    found = pick_backend().capabilities()
    if not found.contained:
        pytest.skip(f"{attack.name}: no sandbox works here: {found.why}")
    with host(tmp_path / "control", attack) as control:
        worked = attack.told(control, bare(attack, control))
    monkeypatch.setenv("HOST_SECRET", SECRET)
    with host(tmp_path / "inside", attack) as target:
        monkeypatch.setenv("HOME", str(target.base / "home"))
        async with Rig(target.base).broker(Person(yes)) as broker:
            done = await broker.run(RunCommand(script_of(attack, target)))
        assert done.exit_code is not None, done
        assert not attack.told(target, done.data), done.data.decode(errors="replace")
    if not worked:
        pytest.skip(f"{attack.name}: this kernel refuses it even bare, so nothing is proved")


def test_there_are_enough_of_them() -> None:
    names = [attack.name for attack in (*FILES, *GIT, *SYSTEM, *REACH)]
    assert len(set(names)) == len(names) >= 20
