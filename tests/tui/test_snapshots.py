"""Every screen as it looks, at three sizes, in a dark, a light and a colourless theme.

The stored pages are text (see `tests.tui.picture`). Renew them with ``pytest tests/tui/test_snapshots.py
--snapshot-update``, and read the difference before committing it.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.widget import Widget
from textual.widgets import Input

import themes
import tui.dialogs
import tui.widgets
from engine import events as ev
from engine import live
from engine.options import EngineOptions
from engine.queries import PictureShown, ShowPicture
from tests.tui.bench import Bench, workbench
from tests.tui.picture import Pages, Picture, Size, page, painted
from tests.tui.story_kit import (
    ANSWER,
    DIFF,
    FOLDER,
    MODEL,
    NOW,
    StoryHandle,
    asked,
    beginning,
    call,
    end,
    middle,
    said,
    started,
)
from tui.dialogs.approval import NEVER, ApprovalDialog
from tui.panes import Arrangement

SIZES: tuple[Size, ...] = ((80, 24), (120, 40), (200, 60))
THEMES = (themes.DARK, themes.LIGHT)
COLOURLESS = "colourless"
PLACE = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TZ": "UTC", "LC_ALL": "C.UTF-8", "HOME": "/home/ada"}

Scene = Callable[[Bench], Awaitable[None]]


STOPPED = Mock(wraps=datetime, now=Mock(return_value=NOW))
"""A calendar that shows one time."""


@pytest.fixture(autouse=True)
def _one_place_one_moment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same terminal, home and clock wherever and whenever it runs."""
    for name in ("NO_COLOR", "COLORFGBG", "TMUX", "TERM_PROGRAM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in PLACE.items():
        monkeypatch.setenv(name, value)
    time.tzset()
    rooms = (*pkgutil.iter_modules(tui.widgets.__path__, "tui.widgets."),
             *pkgutil.iter_modules(tui.dialogs.__path__, "tui.dialogs."))  # fmt: skip
    for found in rooms:
        module = importlib.import_module(found.name)
        if hasattr(module, "monotonic"):
            monkeypatch.setattr(module, "monotonic", lambda: 1000.0)
        if hasattr(module, "datetime"):
            monkeypatch.setattr(module, "datetime", STOPPED)
    # The countdown of a request goes by the clock the dialog is made with.
    monkeypatch.setattr(ApprovalDialog.__init__, "__defaults__", (NEVER, lambda: 1000.0))
    yield
    monkeypatch.undo()
    time.tzset()


# --- the screens ------------------------------------------------------------------------------------------------------


async def tell(bench: Bench, *events: ev.Event) -> None:
    bench.engine.tell(*(event.model_copy(update={"at": NOW}) for event in events))
    await bench.settled()


async def shows(bench: Bench, *words: str) -> None:
    await bench.until(lambda: all(word in bench.screen_text() for word in words), f"on screen: {words}")


async def idle(bench: Bench) -> None:
    await shows(bench, "say what should be done")


async def mid_run(bench: Bench) -> None:
    await tell(bench, *middle())
    bench.engine.show(live.ToolProgress(session="s1", call_id="c6", text="......F...\n"))
    await shows(bench, "keep the old name")
    await bench.until(lambda: bench.app.bench.tools_pane._soon is None, "what the call says is drawn")


def pane(number: int) -> Scene:
    async def scene(bench: Bench) -> None:
        await mid_run(bench)
        await bench.pilot.press(f"alt+{number}")

    return scene


async def finished(bench: Bench) -> None:
    await tell(bench, *end())


PUSH: dict[str, Any] = {
    "tool": "shell_run", "subject": "git push origin main --force", "risk": "high", "spots": ((21, 28),),
    "reasons": ("leaves this machine", "rewrites history"), "effects": ("send commits to example.org:443",),
    "rule": "allow shell git push *", "contained": False, "executable": "/usr/bin/git", "sha256": "3f9a" * 16,
    "env_names": ("TOKEN",),
}  # fmt: skip
EDIT: dict[str, Any] = {
    "tool": "fs_edit", "kind": "write", "subject": "shop/amount.py", "diff": DIFF, "reasons": ("changes a file",),
    "effects": ("write shop/amount.py",), "rule": "allow write shop/*",
}  # fmt: skip


def approval(tool: str, facts: Mapping[str, Any]) -> Scene:
    async def scene(bench: Bench) -> None:
        await tell(bench, started(5), said(5, "One more thing.", call("c7", tool)))
        await tell(bench, asked("a3", "c7", **facts))
        await bench.until(lambda: type(bench.app.screen).__name__ == "ApprovalDialog", "the dialog")

    return scene


def question_asked(words: str, *options: str) -> ev.QuestionAsked:
    return ev.QuestionAsked(id="q1", call_id="c7", question=words, options=options)


async def question(bench: Bench) -> None:
    ask = question_asked("Which branch?", "main", "a new one", "none [b]")
    await tell(bench, started(5), said(5, "May I ask?", call("c7", "user_ask", question="Which branch?")))
    await tell(bench, ask)
    await bench.until(lambda: type(bench.app.screen).__name__ == "QuestionDialog", "the dialog")


def pressed(*keys: str, sees: str) -> Scene:
    async def scene(bench: Bench) -> None:
        await bench.pilot.press(*keys)
        await shows(bench, sees)

    return scene


def inspecting(*keys: str, sees: str) -> Scene:
    async def scene(bench: Bench) -> None:
        await pressed("f2", sees="request 4 of 4")(bench)
        await pressed(*keys, sees=sees)(bench)

    return scene


async def several(bench: Bench) -> None:
    """Two more sessions beside the one at work: one that waits, one that is done and shown."""
    await mid_run(bench)
    bench.engine.past = ()
    for title in ("Write the release notes", "Compare the importers"):
        await bench.pilot.press("ctrl+n")
        await bench.until(lambda: bench.app.link.tabs.shown.session not in ("", "s1"), "another session")
        await bench.until(lambda: bench.app.link.state is bench.engine.state, "its state")
        start = ev.SessionStarted(cwd=str(FOLDER), model=MODEL, app_version="0")
        await tell(bench, start, ev.UserMessage(text=title), ev.RunStarted())
        if title.startswith("Write"):
            bench.app.asking.put_aside((bench.engine.state.session, "q1"))
            await tell(bench, question_asked("Which [b]version[/b]?"))
    await tell(bench, said(1, "They agree."), ev.RunFinished(reason="finished"))
    await shows(bench, "They agree.")


async def whose_approval(bench: Bench) -> None:
    """Another session than the one in sight asks."""
    await several(bench)
    bench.engine.tell(asked("a9", "c7", **PUSH).model_copy(update={"at": NOW}), session="s1")
    await bench.until(lambda: type(bench.app.screen).__name__ == "ApprovalDialog", "the dialog")


async def first_run(bench: Bench) -> None:
    await shows(bench, "no server answers")


async def trust(bench: Bench) -> None:
    bench.app.ask_trust([".agent-tui/hooks.toml", ".mcp.json"])
    await shows(bench, ".mcp.json")


async def limits(bench: Bench) -> None:
    bench.app.run_slash("limits", "")
    await shows(bench, "Limits of a run")


async def palette(bench: Bench) -> None:
    await pressed("ctrl+p", sees="Ctrl+G")(bench)
    bench.app.screen.query_one(Input).cursor_blink = False


async def sessions(bench: Bench) -> None:
    await finished(bench)
    await pressed("ctrl+o", sees="Port the importer")(bench)


async def rewind(bench: Bench) -> None:
    await finished(bench)
    await pressed("f4", sees="old.py")(bench)


async def panes_away(bench: Bench) -> None:
    """The cache and the tools are put away, the column is wider, the task is lower."""
    await mid_run(bench)
    kept = Arrangement(frozenset({"cache", "tools"}), side=60, heights={"task": 5})
    bench.app.bench.show_panes(kept)


async def said_before(bench: Bench) -> None:
    texts = ("fix the login test", "write the [b]changelog[/]\nfor 1.2", "fix the logout, and say what was wrong " * 6)
    bench.app.bench.composer.recall(texts, ("fix the footer of another page",))
    await pressed(*"fix", "ctrl+r", sees="another page")(bench)


async def jump(bench: Bench) -> None:
    await mid_run(bench)
    await bench.pilot.press("f7")
    await bench.until(lambda: type(bench.app.screen).__name__ == "JumpScreen", "jump mode")


async def player(bench: Bench) -> None:
    await pressed("f3", sees="event  3 / ")(bench)
    await pressed("end", sees="It is mended")(bench)
    await pressed("p", sees="denied")(bench)


async def queue(bench: Bench) -> None:
    """Some of each: delivered, taken back, moved on, and waiting in two lists; one in several lines."""
    long = "then write it into CHANGES.md, 你好，世界, [b]and[/b] what it means for amounts\nof other countries " * 3
    await tell(
        bench, *middle(), ev.MessageQueued(id="m3", kind="steer", text="no new dependency"),
        ev.MessageQueued(id="m4", kind="follow_up", text=long),
        ev.MessageQueued(id="m5", kind="steer", text="on second thoughts"), ev.MessageWithdrawn(id="m5"),
        ev.MessageQueued(id="m6", kind="follow_up", text="and tell ops"),
        ev.MessageWithdrawn(id="m6", reason="waits in the session that goes on"),
        ev.UserMessage(id="m1", kind="steer", text="keep the old name of the function"),
    )  # fmt: skip
    await pressed("f12", sees="DELIVERED AND TAKEN BACK")(bench)


async def stop(bench: Bench) -> None:
    *before, begun, one, two = middle()
    await tell(bench, *before, begun.model_copy(update={"effects": True}), one, two)
    await pressed("escape", sees="Let it finish")(bench)


async def plan(bench: Bench) -> None:
    await finished(bench)
    await tell(
        bench, ev.PlanProposed(id="p1", text="## Steps\n\n1. Mend `parse_amount`\n2. Run the suite\n\n" + ANSWER)
    )
    await bench.until(lambda: type(bench.app.screen).__name__ == "PlanDialog", "the plan")


async def picture(bench: Bench) -> None:
    """A call that read a picture, unfolded: a slope of colours, clear at its edge."""
    pixels = [
        (20 * x, 120, 255 - 25 * y, 0 if x in (0, 11) else 128 if y == 0 else 255) for y in range(8) for x in range(12)
    ]
    bench.engine.answers[ShowPicture] = PictureShown(
        "PNG", 12, 8, 600, 400, 12_345, bytes(value for pixel in pixels for value in pixel)
    )
    read = ev.ToolResult(
        call_id="c9", turn=6, name="fs_read", status="ok", text="[PNG image]", files_read=("docs/plot.png",),
        summary="PNG image, 600 × 400 pixels, 12.3 kB", items=({"path": "docs/plot.png", "kind": "image"},),
    )  # fmt: skip
    await tell(bench, said(6, "I look at it.", call("c9", "fs_read", path="docs/plot.png")), read)
    await shows(bench, "plot.png")
    bench.app.bench.transcript.focus()
    await pressed("left_square_bracket", "enter", sees="600 × 400 pixels")(bench)


SCREENS: dict[str, Scene] = {
    "picture": picture,
    "workbench-idle": idle,
    "workbench-run": mid_run,
    "workbench-finished": finished,
    "workbench-several": several,
    "approval-elsewhere": whose_approval,
    **{f"pane-{number}": pane(number) for number in range(2, 7)},
    "approval-command": approval("shell_run", PUSH),
    "approval-diff": approval("fs_edit", EDIT),
    "question": question,
    "queue": queue,
    "stop": stop,
    "plan": plan,
    "sessions": sessions,
    "player": player,
    "inspector": inspecting(sees="results put aside"),
    "inspector-bytes": inspecting("enter", sees="2 passed in 3.1 s"),
    "inspector-costs": inspecting("s", sees="local/qwen3.gguf"),
    "compaction": inspecting("c", sees="AFTER"),
    "memory": pressed("f5", sees="prefers [short] answers"),
    "settings": pressed("f6", "down", *("tab",) * 2, sees="is stronger"),
    "settings-key": pressed("f6", "slash", *"inspect", "enter", "enter", "f3", sees="does replay already"),
    "settings-choice": pressed("f6", "slash", *"approve", "enter", "enter", sees="every risky operation"),
    "rewind": rewind,
    "jump": jump,
    "panes-away": panes_away,
    "said": said_before,
    "help": pressed("f1", sees="Talk to the agent"),
    "first-run": first_run,
    "trust": trust,
    "palette": palette,
    "ask-text": limits,
}
EMPTY = {"said", "workbench-idle", "first-run", "trust", "ask-text", "help", "palette", "question", "approval-diff"}
NARROW = {name for name in SCREENS if name.startswith("pane-")}
ANEW = {"palette", "jump"}
"""Textual's own keeps the colours it was opened with, jump mode its picture; each is gone with the next key."""

FROZEN = {"jump"}
"""A resize ends it."""


@pytest.mark.parametrize("screen", SCREENS)
async def test_screen(
    screen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    sizes = SIZES[:1] if screen in NARROW else SIZES
    seen: dict[Size, dict[str, Picture]] = {size: {} for size in sizes}
    parts = [{size: seen[size]} for size in sizes] if screen in FROZEN else [seen]
    for names in ((name,) for name in THEMES) if screen in ANEW else (THEMES,):
        for part in parts:
            await look(screen, tmp_path / names[-1], names, part)
    assert left_over([by_theme[themes.LIGHT] for by_theme in seen.values()]) == set()
    monkeypatch.setenv("NO_COLOR", "1")
    for part in parts:
        await look(screen, tmp_path / COLOURLESS, (COLOURLESS,), part)
    stored = page(seen)
    assert str(tmp_path) not in stored
    assert stored == snapshot.use_extension(Pages)


def left_over(pictures: Sequence[Picture]) -> set[str]:
    """Styles of light pictures in a colour that the dark theme alone has: they were not dressed anew."""
    dark, light = (
        {colour.lower() for names in (data.colours, data.roles) for colour in names.values()}
        for data in (themes.read(themes.HERE / f"{name}.toml") for name in THEMES)
    )
    styles = {style for picture in pictures for line in picture.styles for style in line}
    return {style for style in styles if set(style.split()) & (dark - light)}


async def look(screen: str, home: Path, names: Sequence[str], seen: Mapping[Size, dict[str, Picture]]) -> None:
    """See a screen at all sizes and in the themes named, resized and dressed anew while it is open."""
    engine = StoryHandle([] if screen in EMPTY else beginning())
    options = EngineOptions(cwd=FOLDER, theme="" if COLOURLESS in names else names[0])
    sizes = list(seen)
    async with workbench(
        home, size=sizes[0], real=True, engine=engine, options=options, first_run=screen == "first-run"
    ) as bench:
        await bench.until(lambda: bench.app.bench.transcript, "the transcript")
        await still(bench)
        await SCREENS[screen](bench)
        for size in sizes:
            await bench.pilot.resize_terminal(*size)
            for name in names:
                if len(names) > 1:
                    bench.app.theme = name
                seen[size][name] = await still(bench)


async def still(bench: Bench) -> Picture:
    """The picture, once nothing is under way that could change it."""
    app = bench.app
    last: Picture | None = None
    same = 0

    def quiet() -> bool:
        nodes: tuple[Any, ...] = (
            app,
            *app.screen_stack,
            *(n for s in app.screen_stack for n in s.walk_children(Widget)),
        )
        # What a screen still means to lay out, to paint or to call after that is in no queue.
        owed = (app.screen._layout_required, app.screen._dirty_widgets, app.screen._callbacks)
        waiting = (node.message_queue_size or node._next_callbacks for node in nodes)
        return not any(owed) and not any(waiting) and not any(worker.is_running for worker in app.workers)

    def holds() -> bool:
        nonlocal last, same
        now = painted(app)
        same = same + 1 if quiet() and now == last and now.text and len(now.text) == app.size.height else 0
        last = now
        return same >= 3

    await bench.until(holds, "a still picture")
    assert last is not None
    return last
