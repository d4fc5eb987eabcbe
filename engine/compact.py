"""When the window fills: make room before a request, by the layers of `engine.compaction`, each step an event."""

from __future__ import annotations
