"""The two arms of an attack, under a policy: bare, where it must work, and in the sandbox, where it must not."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends import pick_backend
from sandbox.operations import RunCommand
from sandbox.policies import named_policy
from tests.attacks.kit import SECRET, WON, Attack, bare, host, missing, script_of
from tests.sandbox.broker_kit import Person, Rig, yes

WIN = WON.decode()


def python(body: str) -> str:
    """A script that runs ``body`` in Python and reports success when nothing was raised. ``call`` is a system call by
    its numbers on x86-64 and arm64; it raises when the kernel refuses."""
    start = (
        "import ctypes, os, struct, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "libc.syscall.restype = libc.mmap.restype = ctypes.c_long\n"
        "wide = ctypes.c_long\n"
        f"def call(x86, arm, *words): return done(libc.syscall({'arm' if platform.machine() == 'aarch64' else 'x86'}, "
        "*(wide(w) if isinstance(w, int) else w for w in words)))\n"
        "def done(r):\n"
        "    if r == -1: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))\n"
        "    return r\n"
    )
    # The word is put together there: a shell that shows the command it lost must not count as success.
    return f"$PY - <<'END'\n{start}{body}\nprint('{WIN[:6]}' + '{WIN[6:]}')\nEND"


async def prove(
    attack: Attack, folder: Path, monkeypatch: pytest.MonkeyPatch, policy: str, data: tuple[str, ...] = ()
) -> None:
    """Run both arms. Fails when the sandbox lets it through, skips by name when the machine proves nothing."""
    if reason := missing(attack):
        pytest.skip(reason)
    found = pick_backend().capabilities()
    if not found.contained:
        pytest.skip(f"{attack.name}: no sandbox works here: {found.why}")
    with host(folder / "control", attack) as control:
        said = bare(attack, control)
        worked = attack.told(control, said)
    monkeypatch.setenv("HOST_SECRET", SECRET)
    with host(folder / "inside", attack) as target:
        monkeypatch.setenv("HOME", str(target.base / "home"))
        rig = Rig(target.base)
        chosen = replace(named_policy(policy, rig.workspace), data=data)
        async with rig.broker(Person(yes), policy=chosen) as broker:
            done = await broker.run(RunCommand(script_of(attack, target)))
        assert done.exit_code is not None, done
        assert not attack.told(target, done.data), done.data.decode(errors="replace")
    if not worked:
        pytest.skip(f"{attack.name}: refused even bare, so nothing is proved: {said[-200:].decode(errors='replace')}")
