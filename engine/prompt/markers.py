"""Fixed strings inside requests that code, not only a model, must recognise."""

from __future__ import annotations

COMPACTION_MARKER = "[compaction]"
"""First words of the instruction that asks for a summary: scripted models answer it with one."""
