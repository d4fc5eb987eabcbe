"""The proof as a process of its own: ``python -m sandbox.proof BACKEND`` writes how each line stands, as JSON."""

from __future__ import annotations

import asyncio
import json
import sys

from sandbox.proof.lines import LINES, prove
from sandbox.proof.tries import ProofError


def main() -> int:
    """Writes [[line, state], …]; when nothing could be tried the reason, and returns 1."""
    try:
        proof = asyncio.run(prove())
    except (ProofError, OSError) as error:
        sys.stdout.write(f"{error}\n")
        return 1
    sys.stdout.write(json.dumps([(line, proof.state(line, sys.argv[1]).value) for line in LINES]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
