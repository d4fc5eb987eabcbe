"""Attacks that want code to run: memory that is written and executed, programs dropped somewhere, other ABIs."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.attacks.arms import WIN, prove, python
from tests.attacks.kit import Attack

_X86 = platform.machine() == "x86_64"
_WX, _RX, _RW = 7, 5, 3
_MAP = "page = done(libc.mmap(None, wide(4096), %d, 0x22, -1, wide(0)))\n"
_ECHO = f"['echo', '{WIN}'], {{}}"
_PROGRAM = "cp /bin/echo {at} && {run} " + WIN

MEMORY = (
    Attack("map memory to write and run", python("import mmap; mmap.mmap(-1, 4096, prot=7)")),
    Attack("map it so with high bits", python("call(9, 222, 0, 4096, 7 | 1 << 40, 0x22, -1, 0)")),
    Attack("make memory executable and leave it writable", python(f"{_MAP % _RW}call(10, 226, page, 4096, {_WX})")),
    Attack("make executable memory writable", python(f"{_MAP % _RX}call(10, 226, page, 4096, {_WX})")),
    Attack("change it with a protection key", python(f"{_MAP % _RW}call(329, 288, page, 4096, {_WX}, -1)")),
    Attack(
        "share memory that runs",
        python(
            "id = call(29, 194, 0, 4096, 0o1600)\ntry: call(30, 196, id, 0, 0x8000)\nfinally: call(31, 195, id, 0, 0)"
        ),
    ),
    Attack("make all readable memory executable", python("call(135, 92, 0x400000)")),
    Attack("fix the addresses of programs", python("call(135, 92, 0x40000)")),
    Attack(
        "run a file that lies nowhere",
        python(f"fd = os.memfd_create('x'); os.write(fd, open('/bin/echo', 'rb').read()); os.execve(fd, {_ECHO})"),
    ),
    Attack(
        "run it by its path in /proc",
        python(
            "fd = os.memfd_create('x', 0); os.write(fd, open('/bin/echo', 'rb').read())\n"
            f"os.execve(f'/proc/self/fd/{{fd}}', {_ECHO})"
        ),
    ),
    Attack("ask for a memory file that runs", python("os.memfd_create('x', 0x10)")),
    Attack("run a program by its descriptor", python(f"os.execve(os.open('/bin/echo', 0), {_ECHO})")),
)

FOREIGN = (
    (
        Attack(
            "a 32-bit system call",
            "./foreign",
            setup=(
                "cat > f.c <<'END'\n#include <stdio.h>\nint main(void) { long r;\n"
                '__asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");\n'
                f'if (r > 0) puts("{WIN}"); return 0; }}\nEND\ngcc -o foreign f.c'
            ),
            needs="gcc",
        ),
        Attack("an x32 system call", python("call(0x40000000 | 39, 0)")),
    )
    if _X86
    else ()
)

# What is only refused where nothing written may run.
WRITTEN = (
    Attack("run a program it wrote", _PROGRAM.format(at="mine", run="./mine")),
    Attack("run one it wrote in /tmp", _PROGRAM.format(at="/tmp/$$", run="/tmp/$$") + "; rm -f /tmp/$$"),
    Attack("run one it wrote at home", _PROGRAM.format(at="~/mine", run="~/mine")),
    Attack(
        "run one it wrote in shared memory",
        _PROGRAM.format(at="/dev/shm/$$", run="/dev/shm/$$") + "; rm -f /dev/shm/$$",
    ),
    Attack("run a script by its first line", f"printf '#!/bin/sh\\necho {WIN}\\n' > s; chmod +x s; ./s"),
    Attack("run a program that was there before", f"./mine {WIN}", setup="cp /bin/echo mine"),
    Attack("run it through a link", f"ln -s mine l; cp /bin/echo mine; ./l {WIN}"),
    Attack("run it through /proc", f'cp /bin/echo mine; "/proc/self/cwd/mine" {WIN}'),
    Attack("run it as the first process sees it", f'cp /bin/echo mine; "/proc/$PPID/root$PWD/mine" {WIN}'),
    Attack("run it by the loader", f"cp /bin/echo mine; $(ls /lib*/ld-linux-*.so.? | head -1) ./mine {WIN}"),
    Attack(
        "load a library it wrote",
        "cp $(ls /usr/lib/*/libz.so.1 /lib/*/libz.so.1 2>/dev/null | head -1) mine.so; "
        + python("ctypes.CDLL('./mine.so')"),
    ),
    Attack(
        "map a file it wrote",
        "head -c 4096 /dev/zero > code; " + python("import mmap; mmap.mmap(os.open('code', 2), 4096, 1, 5)"),
    ),
    Attack("run what it wrote into memory before", python(f"{_MAP % _RW}call(10, 226, page, 4096, {_RX})")),
    Attack(
        "map a memory file",
        python("import mmap; fd = os.memfd_create('x', 8); os.ftruncate(fd, 4096); mmap.mmap(fd, 4096, 1, 5)"),
    ),
    Attack(
        "write into memory through /proc",
        python(f"{_MAP % _RX}f = open('/proc/self/mem', 'r+b', 0); f.seek(page); f.write(b'x')"),
    ),
    Attack("listen on a port", python("import socket; socket.create_server(('127.0.0.1', 0))")),
    Attack("signal what holds the sandbox up", f"kill -0 1 && echo {WIN}", root=True),
)

# What is refused in a data folder although the workspace may run programs.
DATA = (
    Attack("run a program dropped into a data folder", _PROGRAM.format(at="in/mine", run="in/mine"), setup="mkdir in"),
    Attack("run it from a folder below", f"mkdir in/b; cp /bin/echo in/b/x; cd in/b; ./x {WIN}", setup="mkdir in"),
    Attack(
        "run it by the loader from there",
        f"cp /bin/echo in/x; $(ls /lib*/ld-linux-*.so.? | head -1) in/x {WIN}",
        setup="mkdir in",
    ),
    Attack(
        "put another folder in its place",
        f"mv in out && mkdir in && cp /bin/echo in/x && in/x {WIN}",
        setup="mkdir in",
    ),
)


@pytest.mark.parametrize("policy", ["workspace", "strict"])
@pytest.mark.parametrize("attack", [*MEMORY, *FOREIGN], ids=str)
async def test_works_bare_and_fails_in_the_sandbox(
    attack: Attack, policy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, policy)


@pytest.mark.parametrize("attack", WRITTEN, ids=str)
async def test_works_bare_and_fails_under_strict(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, "strict")


@pytest.mark.parametrize("attack", DATA, ids=str)
async def test_works_bare_and_fails_in_a_data_folder(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, "workspace", data=("in",))
