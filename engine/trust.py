"""Which folders a person trusted: only there may the project's own files change the app or run something."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from engine.paths import Home

# Files of a project that can execute something, open it to a server, or tell the model what to do.
PROJECT_FILES = (
    ".agent-tui/config.toml",
    ".agent-tui/policy.toml",
    ".agent-tui/hooks.json",
    ".agent-tui/skills",
    ".mcp.json",
    ".agents/skills",
    ".claude/skills",
)


def is_trusted(home: Home, folder: Path) -> bool:
    """Whether a person said yes to this very folder. Links are followed; folders above and below do not count."""
    return decision(home, folder) is True


def decision(home: Home, folder: Path) -> bool | None:
    """What a person said about ``folder``; None when nobody was asked yet."""
    entry = _read(home).get(str(folder.resolve()))
    trusted = entry.get("trusted") if isinstance(entry, dict) else None
    return trusted if isinstance(trusted, bool) else None


def trust(home: Home, folder: Path, yes: bool) -> None:
    """Remember a person's word on ``folder``. A damaged record is set aside, never trusted and never lost."""
    path = _path(home)
    path.parent.mkdir(parents=True, exist_ok=True)
    entries = _read(home)
    if not entries and path.exists() and path.stat().st_size:
        path.replace(path.with_suffix(".damaged.json"))
    entries[str(folder.resolve())] = {"trusted": yes, "at": datetime.now(UTC).isoformat(timespec="seconds")}
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".new")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"folders": entries}, file, indent=1, sort_keys=True)
    Path(name).replace(path)


def project_files_needing_trust(folder: Path) -> tuple[Path, ...]:
    """The files and folders below ``folder`` that are used only when it is trusted."""
    return tuple(path for name in PROJECT_FILES if (path := folder / name).exists())


def _path(home: Home) -> Path:
    return home.data / "trust.json"


def _read(home: Home) -> dict[str, Any]:
    """Folder to what was said of it; nothing when the record is missing or damaged."""
    try:
        folders = json.loads(_path(home).read_text(encoding="utf-8"))["folders"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return folders if isinstance(folders, dict) else {}
