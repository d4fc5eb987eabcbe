"""What a shell command risks, read before it runs.

`classify` gives risk, reasons and effects; `plan` and `commands` give the exact argument vectors of plain lines.
"""

from __future__ import annotations

from sandbox.classify.verdict import classify, commands, plan

__all__ = ["classify", "commands", "plan"]
