"""Files in the person's own editor: the app steps aside until it is closed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.host import Host


def open_file(app: Host, path: Path, line: int = 0) -> bool:
    """Open ``path`` at ``line`` and wait; whether it went well. What went wrong is said."""
    from textual.app import SuspendNotSupported

    from engine.desk import NoEditorError, edit

    try:
        with app.suspend():
            code = edit(path, line)
    except (NoEditorError, SuspendNotSupported) as error:
        app.say(str(error) or "There is no terminal to open an editor in.", warn=True)
        return False
    if code:
        app.say(f"The editor ended with code {code}.", warn=True)
    return not code
