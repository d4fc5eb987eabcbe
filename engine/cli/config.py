"""``agent-tui config``: where the settings are, what they come to and where each value came from."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.settings import Settings


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "config",
        help="settings, with where each value came from",
        description="Settings come from defaults, your file, the project's file (in trusted folders), AGENT_TUI_… "
        "variables and the command line; the later wins.",
        epilog="example: agent-tui config show",
    )
    parser.set_defaults(func=lambda _args: parser.error("say what to do: path, show or edit"))
    verbs = parser.add_subparsers(title="verbs", metavar="")
    path = verbs.add_parser("path", help="where your settings file is", epilog="example: cat $(agent-tui config path)")
    path.set_defaults(func=print_path)
    show = verbs.add_parser("show", help="every setting and its source", epilog="example: agent-tui config show --json")
    show.set_defaults(func=print_settings)
    edit = verbs.add_parser(
        "edit", help="open your settings in $EDITOR", epilog="example: EDITOR=vim agent-tui config edit"
    )
    edit.set_defaults(func=edit_settings)
    for verb in (path, show, edit):
        verb.add_argument("--json", action="store_true", help="one JSON object on stdout")


def print_path(args: argparse.Namespace) -> int:
    """Print where the user's file is, whether it exists or not. Returns 0."""
    from engine.paths import Home

    path = Home.here().settings
    print(json.dumps({"path": str(path), "exists": path.exists()}) if args.json else path)
    return 0


def print_settings(args: argparse.Namespace) -> int:
    """Print every setting as it holds in this folder. Returns 0, also when something could not be used."""
    settings = _settings()
    if args.json:
        print(json.dumps(_as_data(settings), indent=1))
        return 0
    print(_as_text(settings))
    _warn(settings)
    return 0


def edit_settings(args: argparse.Namespace) -> int:
    """Open the user's file, made with examples in it if there is none, then say what in it cannot be used.

    Returns the editor's exit code, or 1 with the reason on stderr.
    """
    from engine.paths import Home
    from engine.settings_view import ready_file
    from sandbox.editor import NoEditorError, open_editor

    path = Home.here().settings
    try:
        code = open_editor(ready_file(Home.here()))
    except (OSError, NoEditorError) as error:
        print(f"agent-tui: {path} could not be opened: {error}", file=sys.stderr)
        return 1
    settings = _settings()
    if args.json:
        print(json.dumps({"path": str(path), "warnings": [str(w) for w in settings.warnings]}))
    else:
        _warn(settings)
    return code


def _settings() -> Settings:
    from engine.paths import Home
    from engine.settings import load

    return load(Home.here(), Path.cwd(), os.environ)


def _warn(settings: Settings) -> None:
    for warning in settings.warnings:
        print(f"warning: {warning}", file=sys.stderr)


def _as_data(settings: Settings) -> dict[str, Any]:
    from dataclasses import asdict

    from engine.settings_keys import KEYS

    rows = [
        {"name": n, "value": settings.values[n], "source": settings.sources[n], "meaning": key.meaning, "env": key.env}
        for n, key in KEYS.items()
    ]
    return {
        "settings": rows,
        "providers": {name: asdict(provider) for name, provider in settings.providers.items()},
        "task": {
            "done_when": list(settings.task.done_when or ()),
            "stages": [stage.model_dump() for stage in settings.task.stages or ()],
        },
        "warnings": [str(warning) for warning in settings.warnings],
    }


def _as_text(settings: Settings) -> str:
    from engine.settings import ENVIRONMENT
    from engine.settings_keys import KEYS

    values = {name: _shown(settings.values[name]) for name in KEYS}
    wide_name, wide_value = max(map(len, values)), max(map(len, values.values()))
    lines = []
    for name, key in KEYS.items():
        source = f"{ENVIRONMENT} {key.env}" if settings.sources[name] == ENVIRONMENT else settings.sources[name]
        lines.append(f"{name:<{wide_name}}  {values[name]:<{wide_value}}  {source}")
        lines.append(f"{'':<{wide_name}}  {key.meaning}{' (' + ', '.join(key.choices) + ')' if key.choices else ''}")
    for name, provider in settings.providers.items():
        lines.append(
            f"providers.{name}  {provider.wire or 'its own wire'}  {provider.base_url}  {provider.key_env}".rstrip()
        )
    lines += [f"task.done_when  {text}" for text in settings.task.done_when or ()]
    for stage in settings.task.stages or ():
        tools = f"  only {', '.join(stage.tools)}" if stage.tools else ""
        lines.append(f"task.stages  {stage.name}  until {stage.until}{tools}")
    return "\n".join(lines)


def _shown(value: object) -> str:
    if value in ("", None):
        return "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
