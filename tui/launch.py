"""Running the apps in this terminal, and what is said when they have gone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tui.app import WorkbenchApp
from tui.link import Factory

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.options import EngineOptions
    from tui.autopilot import Autopilot


def open_workbench(
    options: EngineOptions,
    task: str = "",
    resume: str = "",
    newest: bool = False,
    factory: Factory | None = None,
    autopilot: Autopilot | None = None,
    demo: Callable[[], int] | None = None,
) -> int:
    """Run the workbench in this terminal; returns the exit code. The engine is closed whatever happened. demo: what
    follows when the person asks for it on the first screen."""
    app = WorkbenchApp(factory or _engine, options, task, resume, newest, autopilot)
    try:
        result = app.run()
    finally:
        app.link.close()
    sys.stdout.write(app.link.farewell())
    if result == "demo" and demo is not None:
        return demo()
    return app.return_code or 0


def open_linear(options: EngineOptions, task: str = "", resume: str = "", newest: bool = False) -> int:
    """The same session by lines, without a screen. Returns the exit code."""
    from engine.commands import OpenSession
    from tui.linear.desk import open_desk
    from tui.signs import ASCII, signs_for

    return open_desk(options, _engine, OpenSession(resume, newest, task), ascii=signs_for() is ASCII)


def open_replay(options: EngineOptions, session: str = "", factory: Factory | None = None) -> int:
    """Watch stored sessions in this terminal: the list, or ``session`` at once; then the workbench, when the person
    wants to go on with one. Returns the exit code."""
    from tui.replay_app import ReplayApp

    app = ReplayApp(factory or _engine, options, session)
    try:
        go_on = app.run()
    finally:
        app.link.close()
    if go_on:
        return open_workbench(options, resume=go_on, factory=factory)
    return app.return_code or 0


def _engine(options: EngineOptions) -> Any:
    from engine.handle import EngineHandle

    return EngineHandle(options)
