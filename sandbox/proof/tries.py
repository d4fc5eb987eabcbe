"""Runs the script of attacks: bare, as the control, and in a sandbox."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from sandbox.backends.base import Sandbox
from sandbox.operations import Outcome
from sandbox.proof.stage import PYTHON, Stage

_SOURCE = Path(__file__).with_name("escapes.py")
_SECONDS = 60.0

Found = dict[str, str]


class ProofError(RuntimeError):
    """The attacks could not even be tried; the text says why."""


def argv(stage: Stage, names: tuple[str, ...] = (), *, bare: bool = False) -> list[str]:
    """The program that tries all attacks, or those named."""
    facts = json.dumps(stage.facts | {"bare": bare})
    return [PYTHON, "-I", "-S", "-c", _SOURCE.read_text(encoding="utf-8"), facts, *names]


def bare(stage: Stage, names: tuple[str, ...] = ()) -> Found:
    """The control: the attacks with nothing around them. Raises ProofError."""
    done = subprocess.run(
        argv(stage, names, bare=True),
        cwd=stage.workspace,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        pass_fds=(stage.descriptor,),
        timeout=_SECONDS,
    )
    return _parsed(done.stdout, done.stderr.decode(errors="replace"))


async def inside(sandbox: Sandbox, stage: Stage, names: tuple[str, ...] = ()) -> Found:
    """The attacks in a sandbox whose workspace is the stage's. Raises ProofError."""
    done: Outcome = await sandbox.exec(argv(stage, names), timeout=_SECONDS)
    return _parsed(done.data, f"{done.error} {done.data.decode(errors='replace')}")


def _parsed(said: bytes, trouble: str) -> Found:
    try:
        found = json.loads(said)
    except ValueError:
        raise ProofError(f"the attacks could not be tried: {trouble.strip()[-500:]}") from None
    assert isinstance(found, dict)
    return found
