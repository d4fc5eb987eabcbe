"""The workbench in a real terminal over a fake engine, for tests that kill it. Arguments: a file that is written when
the engine is closed, and what the engine does: ``work`` (a run is under way), ``unsaved`` (the log cannot be written),
``crash`` (the screen fails)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from engine.options import EngineOptions
from tests.tui import placeholders
from tests.tui.fake_engine import FakeHandle
from tui import slots
from tui.launch import open_workbench


def main(closed: Path, does: str) -> int:
    from engine import events as ev

    class Handle(FakeHandle):
        def send(self, command: Any) -> None:
            super().send(command)
            if type(command).__name__ == "OpenSession":
                self.tell(
                    ev.SessionStarted(cwd="/src/shop", model="m/m", app_version="0"),
                    ev.UserMessage(text="Fix the login test"),
                    ev.RunStarted(),
                )
                if does == "crash":
                    self.show(ev.StateChanged(session="s1", state="not a state"))

        def close(self, timeout: float = 5.0) -> None:
            closed.write_text("closed")
            self.show(ev.LogHealth(session="s1", saving=does != "unsaved", error="disk full"))

    with (
        patch.object(slots, "transcript", lambda: placeholders.Transcript),
        patch.object(slots, "composer", lambda ask: placeholders.Composer()),
    ):
        return open_workbench(EngineOptions(cwd=Path.cwd()), factory=lambda options: Handle(options))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
