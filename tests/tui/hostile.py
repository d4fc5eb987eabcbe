"""Text that broke screens of this kind, and what must hold of a screen whatever is on it."""

from __future__ import annotations

from rich.cells import cell_len

from tests.tui.bench import Bench

MARKUP = "[/] [b + and [/ [bold [red]x[/red] [id=14629,state=CLOSED,name=x] [@click=app.quit]q[/]"
CONTROLS = "\x1b[?1049h\x1b]0;owned\x07\x1b[2J\0\x9b31m\x0e\x7f \u202eabc\u2066 \u2028"
WIDE = "你好，世界 👩\u200d👩\u200d👧 e\u0301 مرحبا"
HOSTILE = f"{MARKUP} {CONTROLS} {WIDE} [/"

OBEYED = frozenset(
    chr(code)
    for part in (range(0x20), range(0x7F, 0xA0), range(0x2028, 0x202F), range(0x2066, 0x206A), range(0xD800, 0xE000))
    for code in part
) | {"\u061c", "\u200e", "\u200f"}
"""What a terminal acts on, reorders by, or cannot be sent."""


def harmless(bench: Bench, where: str = "") -> None:
    """Nothing has failed, nothing on screen is obeyed by a terminal, and every line fits."""
    assert bench.app._exception is None, where
    for line in bench.app.screen._compositor.render_strips(bench.app.size):
        text = "".join(segment.text for segment in line if not segment.control)
        assert not OBEYED.intersection(text), (where, text)
        assert cell_len(text) <= bench.app.size.width, (where, text)
