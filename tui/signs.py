"""The signs that carry meaning beside colour, with plain ASCII where the terminal lacks them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Signs:
    """One sign a state; each is one cell wide."""

    running: str = "●"
    done: str = "✓"
    failed: str = "✗"
    waits: str = "◌"
    paused: str = "‖"
    risk: str = "!"
    todo: str = "·"
    bar: str = "▍"
    left: str = "┊"
    more: str = "⋯"
    prompt: str = "›"
    full: str = "█"
    empty: str = "░"
    gauge: str = "━"
    gauge_rest: str = "─"
    mark: str = "┼"
    focus: str = "▌"
    steps: str = "▁▂▃▄▅▆▇█"
    rule: str = "─"
    folded: str = "▸"
    unfolded: str = "▾"
    ellipsis: str = "…"


ASCII = Signs(
    running="*",
    done="+",
    failed="x",
    waits="o",
    paused="=",
    todo="-",
    bar="|",
    left=":",
    more="~",
    prompt=">",
    full="#",
    empty=".",
    gauge="=",
    gauge_rest="-",
    mark="|",
    focus=">",
    steps="_.,-~=+#",
    rule="-",
    folded=">",
    unfolded="v",
    ellipsis="~",
)


def signs_for(environ: Mapping[str, str] | None = None, encoding: str | None = None) -> Signs:
    """The signs this terminal can show: ASCII for a dumb or linux console or an encoding that is not UTF-8."""
    env = os.environ if environ is None else environ
    code = (encoding if encoding is not None else sys.stdout.encoding or "").lower().replace("-", "")
    if env.get("TERM") in ("dumb", "linux", "vt100") or code not in ("utf8", "utf_8"):
        return ASCII
    return Signs()
