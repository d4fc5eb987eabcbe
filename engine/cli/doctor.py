"""``agent-tui doctor``: what is enforced on this machine, each line proved by a probe that just tried to break it."""

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
    from sandbox.backends.probes import Finding


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "doctor",
        help="what is enforced on this machine, proved by live probes",
        description="Each probe attacks the sandbox and, as a control, the bare machine. A line is enforced when the "
        "attack fails inside and succeeds outside.",
        epilog="example: agent-tui doctor --json",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(func=run_doctor)


def run_doctor(args: argparse.Namespace) -> int:
    """Returns 0 when the sandbox works and every line is enforced, 1 otherwise."""
    from sandbox.backends import pick_backend
    from sandbox.backends.probes import run_probes

    backend = pick_backend()
    found = backend.capabilities()
    findings = asyncio.run(run_probes(backend)) if found.contained else ()
    terminal, models = _terminal(), _models(found)
    if args.json:
        print(json.dumps(_as_json(found, findings, terminal, models)))
    else:
        _tell(found, findings, terminal, models)
    return 0 if found.contained and all(finding.enforced for finding in findings) else 1


def _as_json(
    found: Capabilities, findings: tuple[Finding, ...], terminal: dict[str, Any], models: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "sandbox": asdict(found),
        "lines": [asdict(finding) for finding in findings],
        "terminal": terminal,
        "models": models,
    }


def _tell(
    found: Capabilities, findings: tuple[Finding, ...], terminal: dict[str, Any], models: list[dict[str, Any]]
) -> None:
    if found.contained:
        extra = "with a system call filter" if found.filtered else "without a system call filter: pip install seccompy"
        print(f"sandbox   {found.name}, {extra}")
    else:
        print(f"sandbox   none: {found.why}")
        print(f"          {found.hint}")
        print("          every command asks a person first")
    for finding in findings:
        print(f"{'✓' if finding.enforced else '✗'} {finding.line:<13} {finding.what:<44} {_pair(finding)}")
        if not finding.enforced and finding.detail:
            print(f"                {finding.detail}")
    print(f"terminal  {', '.join(f'{name} {value}' for name, value in terminal.items())}")
    for model in models:
        sign = "✓" if model["usable"] else "·"
        print(f"model     {sign} {model['spec']}  {model['why']}".rstrip())


def _pair(finding: Finding) -> str:
    return f"inside {finding.inside}, bare {finding.bare}"


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
