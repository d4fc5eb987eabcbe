"""The event log: the one truth, in SQLite and content-addressed artifact files.

The public names load on first use, so that importing a neighbour costs nothing before the first frame.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.log.artifacts import Artifacts as Artifacts
    from engine.log.errors import ArtifactDamaged as ArtifactDamaged
    from engine.log.errors import LogError as LogError
    from engine.log.errors import LogUnreadable as LogUnreadable
    from engine.log.errors import NoSuchSession as NoSuchSession
    from engine.log.errors import SessionBusy as SessionBusy
    from engine.log.store import LogStore as LogStore
    from engine.log.transfer import Imported as Imported
    from engine.log.verify import VerifyReport as VerifyReport
    from engine.log.writer import SessionWriter as SessionWriter

_MODULES = {
    "Artifacts": "artifacts",
    "ArtifactDamaged": "errors",
    "LogError": "errors",
    "LogUnreadable": "errors",
    "NoSuchSession": "errors",
    "SessionBusy": "errors",
    "LogStore": "store",
    "Imported": "transfer",
    "VerifyReport": "verify",
    "SessionWriter": "writer",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
