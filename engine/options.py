"""What a person asked for on the command line: plain data, cheap to import before the first frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Options of the workbench and of ``run``. Empty strings and None mean "as configured".

    approve: ask, deny, rules or sandboxed. base_url: of any OpenAI- or Anthropic-compatible server. sandbox: backend.
    limits: USD, seconds and counts; None is the configured limit. skills: names whose text enters the session.
    done_when: conditions of being finished, as `engine.conditions` reads them.
    """

    cwd: Path = field(default_factory=Path.cwd)
    model: str = ""
    base_url: str = ""
    approve: str = ""
    sandbox: str = ""
    skills: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    max_turns: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    context_window: int | None = None
    theme: str = ""
    debug: bool = False
