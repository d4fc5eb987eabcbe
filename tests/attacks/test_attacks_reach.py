"""Attacks on other processes and on what this machine shares: sockets, shared memory, signals, terminals, resources."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox import open_broker
from sandbox.operations import RunCommand
from sandbox.policies import named_policy
from sandbox.verify import verify
from tests.attacks.arms import WIN, prove, python
from tests.attacks.kit import Attack, Host
from tests.sandbox.broker_kit import Person, Rig, yes
from tests.sandbox.test_processes import ROOT


def _victim(host: Host, _output: bytes) -> bool:
    return not host.victim_lives()


def _stopped(host: Host, _output: bytes) -> bool:
    """Whether the victim's process is stopped; it goes on afterwards."""
    status = Path(f"/proc/{host.victim.pid}/stat").read_text().rpartition(") ")[2][0]
    with suppress(ProcessLookupError):
        host.victim.send_signal(18)
    return status in "Tt"


def _niced(host: Host, _output: bytes) -> bool:
    return os.getpriority(os.PRIO_PROCESS, host.victim.pid) != os.getpriority(os.PRIO_PROCESS, 0)


SIGNALS = (
    Attack("terminate a process of the host", 'kill "$VICTIM"; sleep 0.1', _victim),
    Attack("stop a process of the host", 'kill -STOP "$VICTIM"; sleep 0.1', _stopped),
    Attack("find processes of the host by name", f"pgrep -x sleep | grep -qx $VICTIM && echo {WIN}", needs="pgrep"),
    Attack("read the command line of a process of the host", f"grep -qa 600 /proc/$VICTIM/cmdline && echo {WIN}"),
    Attack("slow a process of the host down", "renice -n 5 -p $VICTIM", _niced, needs="renice"),
    Attack(
        "change the limits of a process of the host",
        f"prlimit --pid $VICTIM --nofile=7:7 && echo {WIN}",
        needs="prlimit",
    ),
    Attack(
        "signal a process of the host through its folder in /proc",
        python(
            "import signal\n"
            "fd = os.open('/proc/' + os.environ['VICTIM'], os.O_RDONLY)\n"
            "done(libc.syscall(424, fd, wide(0), wide(0), wide(0)))"
        ).replace("$PY", "export VICTIM; $PY"),
    ),
    Attack(
        "open a process of the host to signal it",
        python("os.pidfd_open(int(os.environ['VICTIM']))").replace("$PY", "export VICTIM; $PY"),
    ),
    Attack(
        "attach to a process of the host",
        python(
            "libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]\n"
            "libc.ptrace.restype = ctypes.c_long\n"
            "done(libc.ptrace(0x4206, int(os.environ['VICTIM']), None, None))"
        ).replace("$PY", "export VICTIM; $PY"),
    ),
    Attack(
        "read the memory of a process of the host",
        f"head -c 1 /proc/$VICTIM/mem; [ -r /proc/$VICTIM/maps ] && echo {WIN}",
    ),
    Attack(
        "put a process of its own beyond the end of the call",
        "setsid nohup sh -c 'sleep 0.7; echo evil > late' >/dev/null 2>&1 &\nsleep 0.1",
        lambda host, _: _late(host),
    ),
)


def _late(host: Host) -> bool:
    """Whether the file comes after the call is over: waited for, as far as the bare arm needs."""
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        if (host.workspace / "late").exists():
            return True
        time.sleep(0.02)
    return False


MACHINE = (
    Attack("learn the host's name", f"[ $(cat /proc/sys/kernel/hostname) = {os.uname().nodename!r} ] && echo {WIN}"),
    Attack("change the host's name", f"hostname $(hostname) && echo {WIN}", root=True, needs="hostname"),
    Attack("set a value of the kernel", f"echo 1 > /proc/sys/kernel/printk_ratelimit && echo {WIN}", root=True),
    Attack(
        "choose the program that runs when one crashes",
        f'cd /proc/sys/kernel && read -r now < core_pattern && echo "$now" > core_pattern && echo {WIN}',
        root=True,
    ),
    Attack("write a kernel trigger", f"echo h > /proc/sysrq-trigger && echo {WIN}", root=True),
    Attack("make a cgroup", f"cd /sys/fs/cgroup/pids && mkdir attack && rmdir attack && echo {WIN}", root=True),
    Attack("leave its cgroup", f"echo $$ > /sys/fs/cgroup/pids/cgroup.procs && echo {WIN}", root=True),
    Attack("raise a limit of its own", f"ulimit -c 1000 && echo {WIN}", setup="true"),
    Attack("raise its number of open files", f"ulimit -n 9000 && echo {WIN}"),
    Attack("raise its limit of memory", f"ulimit -d 9999999999 && echo {WIN}"),
    Attack("become more important", f"[ $(nice -n -5 nice) = -5 ] && echo {WIN}", root=True),
    Attack(
        "run before everything else", python("os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))"), root=True
    ),
    Attack("lock memory", python("libc.mlockall.restype = ctypes.c_int\ndone(libc.mlockall(3))"), root=True),
)


@pytest.mark.parametrize("attack", [*SIGNALS, *MACHINE], ids=str)
async def test_works_bare_and_fails_in_the_sandbox(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await prove(attack, tmp_path, monkeypatch, "workspace")


# --- what is shared between processes of a machine: planted on the host, looked for from both sides -----------------

KEY = "int(os.environ['KEY'])"


def _sysv(call: str, arguments: str) -> str:
    return python(f"libc.{call}.restype = ctypes.c_int\ndone(libc.{call}({KEY}, {arguments}))")


def _connect(where: str) -> str:
    return python(f"import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({where})")


@pytest.fixture
def planted() -> Iterator[dict[str, str]]:
    """System V and POSIX objects of the host, and sockets like those of docker, D-Bus and an SSH agent."""
    libc = ctypes.CDLL(None, use_errno=True)
    key = uuid.uuid4().int % 2**31
    memory, semaphores, queue = (
        libc.shmget(key, 4096, 0o1666),
        libc.semget(key, 1, 0o1666),
        libc.msgget(key, 0o1666),
    )
    assert min(memory, semaphores, queue) >= 0
    name = f"attack-{key}"
    shared = Path("/dev/shm") / name
    shared.write_text("planted")
    shared.chmod(0o666)
    folder = Path(tempfile.mkdtemp(prefix="reach-"))
    folder.chmod(0o755)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "docker.sock"))
    (folder / "docker.sock").chmod(0o777)
    listener.listen()
    try:
        yield {"KEY": str(key), "NAME": name, "SOCK": str(folder / "docker.sock")}
    finally:
        listener.close()
        shutil.rmtree(folder)
        shared.unlink(missing_ok=True)
        libc.shmctl(memory, 0, None)
        libc.semctl(semaphores, 0, 0)
        libc.msgctl(queue, 0, None)


SHARED = (
    Attack("open the host's shared memory", _sysv("shmget", "0, 0")),
    Attack("open the host's semaphores", _sysv("semget", "0, 0")),
    Attack("open the host's message queue", _sysv("msgget", "0")),
    Attack("see the host's shared memory listed", f"grep -q $KEY /proc/sysvipc/shm && echo {WIN}"),
    Attack("open the host's named memory", f"grep -q planted /dev/shm/$NAME && echo {WIN}"),
    Attack("change the host's named memory", f"echo x > t; [ -e /dev/shm/$NAME ] && cp t /dev/shm/$NAME && echo {WIN}"),
    Attack("connect to a control socket", _connect("os.environ['SOCK']")),
    Attack("connect to the socket of an SSH agent", _connect("os.environ['SSH_AUTH_SOCK']")),
    Attack("connect to the session's bus", _connect("os.environ['DBUS_SESSION_BUS_ADDRESS'].partition('=')[2]")),
    Attack("connect to a link to a socket", 'ln -s "$SOCK" s\n' + _connect("'s'")),
    Attack(
        "connect to a socket through a folder of its own",
        'ln -s "$(dirname "$SOCK")" d\n' + _connect("'d/docker.sock'"),
    ),
)


@pytest.mark.parametrize("attack", SHARED, ids=str)
async def test_nothing_is_shared_with_the_host(
    attack: Attack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: dict[str, str]
) -> None:
    planted |= {"SSH_AUTH_SOCK": planted["SOCK"], "DBUS_SESSION_BUS_ADDRESS": f"unix:path={planted['SOCK']}"}
    for name, value in planted.items():
        monkeypatch.setenv(name, value)
    told = "".join(f"export {name}={value!r}\n" for name, value in planted.items())
    known = Attack(attack.name, told + attack.script, attack.told)
    await prove(known, tmp_path, monkeypatch, "workspace")


# --- terminals --------------------------------------------------------------------------------------------------------


APP = f"""
import asyncio, sys
from pathlib import Path
from tests.sandbox.broker_kit import Person, Rig
from sandbox.operations import RunCommand
open("/dev/tty").close()
base = Path(sys.argv[1])
script = (
    "(: < /dev/tty) 2>/dev/null && echo {WIN}; "
    "for fd in 0 1 2 3 4 5 6 7 8 9; do [ -t $fd ] && echo {WIN}; done; "
    "ls /dev/pts; true"
)
async def main():
    async with Rig(base).broker(Person()) as broker:
        (base / "said").write_bytes((await broker.run(RunCommand(script))).data)
asyncio.run(main())
"""


def test_there_is_no_terminal_to_type_into(tmp_path: Path, walls: None) -> None:
    """The app itself has a terminal here (it opens it: the control); a command has none, by name or by inheritance."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execv(sys.executable, [sys.executable, "-c", APP, str(tmp_path)])
    said = b""
    with suppress(OSError):
        while data := os.read(master, 4096):
            said += data
    os.close(master)
    assert os.waitpid(pid, 0)[1] == 0, said
    assert (tmp_path / "said").read_bytes() == b"ptmx\n"


# --- the record -------------------------------------------------------------------------------------------------------

RECORD = (
    Attack("cut the end of the record", '[ -s "$LOG" ] && : > "$LOG"'),
    Attack("remove the record", 'rm -f "$LOG"'),
    Attack("replace the record", 'echo "{}" > n && mv n "$LOG"'),
    Attack("move the folder of the record", 'mv "$(dirname "$LOG")" "$(dirname "$LOG").gone"'),
    Attack("move a folder above the record", 'mv "${LOG%/audit/*}" moved'),
    Attack("read the key of the record", f'[ -s "$SEAL/key" ] && echo {WIN}'),
    Attack("take back the head of the record", 'echo x > "$SEAL/head"'),
    Attack("remove the seal of the record", 'rm -rf "$SEAL"'),
    Attack("move the seal of the record", 'mv "$SEAL" "$SEAL.gone"'),
)


@pytest.mark.parametrize("attack", RECORD, ids=str)
async def test_the_record_is_out_of_reach_even_in_the_workspace(attack: Attack, tmp_path: Path, walls: None) -> None:
    """Worst case: a person keeps the records inside the folder the agent works in."""
    rig = Rig(tmp_path)
    audit = rig.workspace / "records" / "audit"
    policy = named_policy("workspace", rig.workspace)
    broker = await open_broker(
        policy, mode="ask", asker=Person(yes), rules_path=rig.rules, audit_dir=audit, state_dir=tmp_path / "state"
    )
    names = f"LOG={audit}/audit.jsonl\nSEAL={audit}.seal\n"
    try:
        await broker.run(RunCommand("true"))
        attacked = await broker.run(RunCommand(names + attack.script))
    finally:
        await broker.close()
    found = verify(audit)
    assert found.ok and found.records >= 2, found
    assert WIN.encode() not in attacked.data
    # The control: the same words with nothing around them.
    bare = ["bash", "-c", names + attack.script]
    done = await asyncio.to_thread(subprocess.run, bare, cwd=rig.workspace, capture_output=True, timeout=20)
    assert WIN.encode() in done.stdout or verify(audit) != found, done
