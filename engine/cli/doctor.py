"""``agent-tui doctor``: what is enforced on this machine, each line proved by attacks that were just tried."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.backends.base import Capabilities
    from sandbox.proof.lines import Proof


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "doctor",
        help="what is enforced on this machine, proved by live attacks",
        description="Tries real attacks in the sandbox and, as a control, bare. A line of defence is enforced when "
        "attacks that work bare were stopped inside and none got through.",
        epilog="example: agent-tui doctor --json",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(func=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Returns 0 when the default backend enforces all twelve lines, 1 otherwise."""
    from engine.cli.doctor_page import page
    from sandbox.backends import pick_backend
    from sandbox.proof.lines import prove
    from sandbox.proof.tries import ProofError

    default = pick_backend()
    found = default.capabilities()
    try:
        proof = asyncio.run(prove())
    except (ProofError, OSError) as error:
        print(f"agent-tui: nothing could be proved: {error}; check that the temporary folder has room", file=sys.stderr)
        return 1
    terminal, models = _terminal(), _models(found)
    if args.json:
        print(json.dumps(_as_json(proof, default.name, terminal, models)))
    else:
        _tell(page(proof, default.name), terminal, models)
    return 0 if _all_enforced(proof, default.name) else 1


def _all_enforced(proof: Proof, backend: str) -> bool:
    from sandbox.proof.lines import LINES, State

    return proof.found[backend].contained and all(proof.state(line, backend) is State.ENFORCED for line in LINES)


def _as_json(proof: Proof, default: str, terminal: dict[str, Any], models: list[dict[str, Any]]) -> dict[str, Any]:
    """``lines`` has the twelve in their order; ``inside`` and ``states`` are by backend."""
    from sandbox.proof.lines import LINES

    lines = [
        {
            "number": number,
            "line": line,
            "states": {backend: proof.state(line, backend).value for backend in proof.found},
            "checks": [_check(proof, check) for check in proof.of(line)],
        }
        for number, line in enumerate(LINES, 1)
    ]
    return {
        "sandbox": asdict(proof.found[default]),
        "default": default,
        "enforced": _all_enforced(proof, default),
        "backends": {name: asdict(found) for name, found in proof.found.items()},
        "lines": lines,
        "terminal": terminal,
        "models": models,
    }


def _check(proof: Proof, check: Any) -> dict[str, Any]:
    return {
        "what": check.what,
        "wanted": check.wanted,
        "bare": check.bare,
        "inside": check.inside,
        "by_policy": [backend for backend in proof.backends if check.by_policy(backend)],
    }


def _tell(lines: list[str], terminal: dict[str, Any], models: list[dict[str, Any]]) -> None:
    from engine.cli.doctor_page import wrapped

    out = [*lines, *wrapped(", ".join(f"{name} {value}" for name, value in terminal.items()), "terminal  ")]
    for model in models:
        sign = "✓" if model["usable"] else "·"
        out += wrapped(f"{model['spec']}  {model['why']}", f"model     {sign} ")
    encoding = sys.stdout.encoding or "ascii"
    print("\n".join(out).encode(encoding, "replace").decode(encoding))


def _terminal() -> dict[str, Any]:
    """What the terminal can do, as far as it says so."""
    size = shutil.get_terminal_size()
    colours = "none" if os.environ.get("NO_COLOR") or os.environ.get("TERM") in (None, "", "dumb") else "16"
    if colours != "none":
        colours = "256" if "256" in os.environ.get("TERM", "") else colours
        colours = "16.7M" if os.environ.get("COLORTERM") in ("truecolor", "24bit") else colours
    encoding = (sys.stdout.encoding or "ascii").lower()
    return {
        "type": os.environ.get("TERM", "unknown"),
        "tty": sys.stdout.isatty(),
        "size": f"{size.columns}×{size.lines}",
        "colours": colours,
        "unicode": encoding.startswith("utf"),
    }


def _models(found: Capabilities) -> list[dict[str, Any]]:
    """Models that can be used now and why others cannot, from the same survey as the first-run screen."""
    from pathlib import Path

    from engine import settings
    from engine.options import EngineOptions
    from engine.paths import Home
    from engine.survey import survey

    home = Home.here()
    loaded = settings.load(home, Path.cwd(), os.environ, EngineOptions())
    result = asyncio.run(survey(loaded, os.environ, found, home=home))
    return [asdict(model) for model in result.models]
