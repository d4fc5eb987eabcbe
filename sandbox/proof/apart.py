"""The proof for an app that goes on meanwhile: in another process, for it plants a secret in its own environment."""

from __future__ import annotations

import json
import subprocess
import sys

from sandbox.proof.tries import ProofError

_SECONDS = 120.0


def proved_apart(backend: str) -> tuple[tuple[str, str], ...]:
    """(line, state) of all twelve under ``backend``. Blocks for seconds. Raises ProofError when nothing could be
    tried."""
    # -P: what lies in the present folder is not imported.
    command = [sys.executable, "-P", "-m", "sandbox.proof", backend]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ProofError(str(error)) from error
    if done.returncode:
        raise ProofError(done.stdout.strip() or done.stderr.strip()[-300:] or f"exit code {done.returncode}")
    return tuple((str(line), str(state)) for line, state in json.loads(done.stdout))
