"""Where things live on this machine: data, configuration and cache, from platformdirs or one ``AGENT_TUI_HOME``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP = "agent-tui"


@dataclass(frozen=True, slots=True)
class Home:
    """The three roots and the paths below them. Nothing is created by asking."""

    data: Path
    config: Path
    cache: Path

    @classmethod
    def here(cls) -> Home:
        """The user's own, or all three below ``AGENT_TUI_HOME`` when it is set."""
        root = os.environ.get("AGENT_TUI_HOME")
        if root:
            base = Path(root).expanduser().absolute()
            return cls(base / "data", base / "config", base / "cache")
        dirs = platformdirs.PlatformDirs(APP, appauthor=False)
        return cls(dirs.user_data_path, dirs.user_config_path, dirs.user_cache_path)

    @property
    def database(self) -> Path:
        return self.data / "sessions.db"

    @property
    def artifacts(self) -> Path:
        return self.data / "artifacts"

    @property
    def audit(self) -> Path:
        return self.data / "audit"

    @property
    def rules(self) -> Path:
        """Approval rules a person stored."""
        return self.config / "rules.toml"

    @property
    def settings(self) -> Path:
        return self.config / "config.toml"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    @property
    def state(self) -> Path:
        """How a person left the screen: nothing here is needed to start."""
        return self.data / "state"

    def session_dir(self, session: str) -> Path:
        """The session's own folder: todo.md lives there."""
        return self.data / "sessions" / session
