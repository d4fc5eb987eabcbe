"""One afternoon's work as events, and what the engine would answer about it: fixed times, names, prices and counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engine import events as ev
from engine import queries as q
from engine.options import EngineOptions
from engine.settings_keys import KEYS
from engine.settings_shown import SettingProblem, SettingRow, SettingSaid, SettingsShown
from tests.tui.fake_engine import FakeHandle

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MODEL = "anthropic/claude-sonnet-4-5"
FOLDER = Path("/src/shop")
DIFF = """--- a/shop/amount.py
+++ b/shop/amount.py
@@ -12,6 +12,6 @@
 def parse_amount(text: str) -> Decimal:
     \"\"\"An amount as people write it.\"\"\"
-    return Decimal(text.replace(",", ""))
+    whole, _, cents = text.rpartition(",")
+    return Decimal(f"{whole.replace('.', '')}.{cents}")
\x20
 def total(lines: list[str]) -> Decimal:
     return sum(map(parse_amount, lines), Decimal(0))
"""
ANSWER = """The comma is taken for a thousands separator. German amounts use it for **cents**:

- `1.234,56` becomes `1234.56`
- `12,5` became `125`, which is the bug

| input | was | should be |
| --- | ---: | ---: |
| 1.234,56 | 1.23456 | 1234.56 |
| 12,5 | 125 | 12.5 |

```python
whole, _, cents = text.rpartition(",")
```
"""
TODO = "- [x] find the failing test\n- [>] mend parse_amount\n- [ ] run the whole suite\n- [ ] say what was wrong\n"
ITEMS = (
    ev.TodoItem(text="find the failing test", status="done"),
    ev.TodoItem(text="mend parse_amount", status="active"),
    ev.TodoItem(text="run the whole suite"),
    ev.TodoItem(text="say what was wrong"),
)


def call(id: str, name: str, **given: Any) -> ev.ToolCall:
    return ev.ToolCall(id=id, name=name, input=given)


def said(turn: int, text: str, *calls: ev.ToolCall, read: int = 0, write: int = 0) -> ev.AssistantMessage:
    usage = ev.Usage(input_uncached=60, cache_read=read, cache_write=write, output=180)
    blocks = (ev.TextBlock(text=text), *calls)
    timing = ev.Timing(first_token=0.6, total=2.4)
    return ev.AssistantMessage(
        turn=turn, model=MODEL, blocks=blocks, usage=usage, cost=0.012, saved=read * 2.7e-6, timing=timing
    )


def started(turn: int) -> ev.TurnStarted:
    return ev.TurnStarted(turn=turn, model=MODEL, tokens=6000)


def asked(id: str, call_id: str, **more: Any) -> ev.ApprovalRequested:
    facts = {"id": id, "digest": id, "call_id": call_id, "tool": "shell_run", "kind": "command",
             "cwd": str(FOLDER), "policy": "workspace", "risk": "medium", "reasons": ("installs packages",),
             "effects": ("reach pypi.org",), "rule": "allow shell pip install *"}  # fmt: skip
    return ev.ApprovalRequested.model_validate(facts | more)


def beginning() -> list[ev.Event]:
    """A task, a failing test, a file read, a command allowed, one denied, an edit."""
    pip, push = "pip install hypothesis", "git push origin main"
    edit = call("c5", "fs_edit", path="shop/amount.py", old="Decimal(text", new="whole")
    return [
        ev.SessionStarted(cwd=str(FOLDER), model=MODEL, app_version="1"),
        ev.SettingChanged(name="title", value="Mend parse_amount"),
        ev.UserMessage(text="test_german_amounts fails. Find out why and mend it."),
        ev.RunStarted(limits=ev.Limits(turns=20, cost=0.5)),
        started(1),
        said(1, "I run the tests first.", call("c1", "shell_run", command="pytest -q"), write=5200),
        ev.ToolStarted(call_id="c1", turn=1, name="shell_run", title="pytest -q"),
        result("c1", 1, "error", text="F.\n1 failed, 1 passed", summary="1 failed", exit_code=1, seconds=3.2),
        ev.TodoChanged(text=TODO, items=ITEMS),
        started(2),
        said(2, "Now the code.", call("c2", "fs_read", path="shop/amount.py"), call("c3", "shell_run", command=pip),
             read=5200, write=900),
        ev.ToolStarted(call_id="c2", turn=2, name="fs_read", title="shop/amount.py"),
        result("c2", 2, name="fs_read", text="def parse_amount(text):", summary="64 lines",
               files_read=("shop/amount.py",)),
        asked("a1", "c3", subject=pip),
        ev.ApprovalDecided(id="a1", digest="a1", choice="once"),
        ev.ToolStarted(call_id="c3", turn=2, name="shell_run", title=pip),
        result("c3", 2, text="Successfully installed", summary="exit 0", exit_code=0, seconds=6.8),
        started(3),
        said(3, ANSWER, call("c4", "shell_run", command=push), read=6100, write=700),
        asked("a2", "c4", subject=push, risk="high", reasons=("leaves this machine",)),
        ev.ApprovalDecided(id="a2", digest="a2", choice="deny", reason="nothing leaves today"),
        result("c4", 3, "denied", text="denied: nothing leaves today"),
        started(4),
        said(4, "Then only the edit.", edit, read=6800, write=400),
        ev.ToolStarted(call_id="c5", turn=4, name="fs_edit", title="shop/amount.py"),
        result("c5", 4, name="fs_edit", text="edited", summary="+2 -1", diff=DIFF, files_written=("shop/amount.py",)),
    ]  # fmt: skip


def middle() -> list[ev.Event]:
    """The suite runs, and a person has said more."""
    return [
        started(5),
        said(5, "The whole suite.", call("c6", "shell_run", command="pytest -q --slow"), read=7200, write=300),
        ev.ToolStarted(call_id="c6", turn=5, name="shell_run", title="pytest -q --slow"),
        ev.MessageQueued(id="m1", kind="steer", text="keep the old name of the function"),
        ev.MessageQueued(id="m2", kind="follow_up", text="then write it into CHANGES.md"),
    ]


def end() -> list[ev.Event]:
    return [
        started(5),
        said(5, "It is mended: the comma parts the **cents** from the whole.", read=7200, write=200),
        ev.RunFinished(reason="finished"),
    ]


def result(call_id: str, turn: int, status: str = "ok", **more: Any) -> ev.ToolResult:
    data = {"call_id": call_id, "turn": turn, "name": "shell_run", "status": status, "seconds": 0.1, **more}
    return ev.ToolResult.model_validate(data)


def stored(events: list[ev.Event]) -> tuple[ev.Event, ...]:
    """The events as the log gives them back, three seconds apart."""
    return tuple(
        event.model_copy(update={"session": "s1", "seq": n, "at": NOW - timedelta(hours=1) + timedelta(seconds=3 * n)})
        for n, event in enumerate(events, 1)
    )


# --- what the engine answers ------------------------------------------------------------------------------------------

ROWS = tuple(
    q.SessionRow(
        id=f"s{n}", title=title, folder=folder, model=MODEL, started=NOW - timedelta(days=n, hours=2),
        updated=NOW - timedelta(days=n), turns=turns, calls=2 * turns, approvals=n, events=20 * turns, cost=cost,
        state=state, open_elsewhere=state == "running", skipped=2 if state == "limit" else 0,
    )
    for n, (title, folder, turns, cost, state) in enumerate((
        ("Mend parse_amount", "/src/shop", 5, 0.06, "running"),
        ("Which tests cover parse_amount, and do they pass?", "/src/shop", 3, 0.02, "finished"),
        ("Say what data/2026-01.txt adds up to", "/src/shop", 6, 0.11, "limit"),
        ("Make the suite green again", "/src/billing", 41, 2.3, "interrupted"),
        ("你好，世界 and [brackets", "/src/billing", 2, 0.0, "denied"),
        ("Port the importer", "/src/importer", 12, 0.4, "failed"),
    ))
)  # fmt: skip


def _block(layer: str, kind: str, title: str, tokens: int, state: str, text: str = "") -> q.InspectedBlock:
    words = text or f"{title}\n" * 6
    return q.InspectedBlock(layer, kind, title, words, tokens, tokens * 3e-6, state)  # type: ignore[arg-type]


BLOCKS = (
    _block("A", "identity", "identity, rules", 900, "read"),
    *(_block("B", "tool", name, 240, "read") for name in ("fs_edit", "fs_list", "fs_read", "shell_run")),
    _block("C", "user", "Find out why and mend it.", 40, "read"),
    _block("C", "result", "pytest -q", 800, "broken", "F.\n1 failed, 1 passed in 3.2 s\n"),
    _block("C", "result", "shop/amount.py", 1500, "new", "def parse_amount(text):\n\x1b[31m[bold]red[/bold]\n"),
    _block("D", "runtime", "date, budget", 60, "new"),
)
REQUEST = q.InspectedRequest(
    number=4, count=4, turn=4, model=MODEL, tokens=4260, cost=0.0128, blocks=BLOCKS, predicted=q.Split(1900, 2300, 60),
    reported=q.Split(1880, 2320, 60), as_predicted=True, against=3, same=6, cause="results put aside at compaction 1",
    broken=True, byte=3, before="..\n2 passed in 3.1 s\n", why="", exact=True,
    rules="4 marks, 5 min; costs: read 0.1, write 1.25",
)  # fmt: skip
REQUESTS = tuple(
    q.RequestLine(n, total, read, 0.01, n == 4, "results put aside" if n == 4 else "")
    for n, (total, read) in enumerate(((5260, 0), (6160, 5200), (6860, 6100), (4260, 1880)), 1)
)
COMPACTIONS = (
    q.CompactionLine(1, "offload", "the window was three quarters full", 2, 9000, 4000, None, False),
    q.CompactionLine(2, "summary", "asked for", 4, 12_000, 3000, 0.05, False),
)
COMPACTION = q.InspectedCompaction(
    line=COMPACTIONS[1], before=BLOCKS, after=BLOCKS[:6],
    facts=(
        q.FactFate("Goal, as the person put it", "Find out why and mend it.", "ledger"),
        q.FactFate("Files", "shop/amount.py was edited", "recent"),
        q.FactFate("Errors", "1 failed: test_german_amounts", "pointer"),
        q.FactFate("Commands", "pip install hypothesis", "left_out"),
    ),
    checks=(("the goal is there word for word", True), ("every denied command is named", True)),
    summary="## Goal\nMend parse_amount.\n", ledger="## Goal, as the person put it\n- Find out why and mend it.\n",
    artifact="ab12", undoable=True,
)  # fmt: skip
COSTS = (
    q.SimulatedCost(MODEL, 0.06, 0.21, 25_300, 7500, 300, 900, 0.76, 0.06, "4 marks, 5 min"),
    q.SimulatedCost("openai/gpt-5", 0.04, 0.12, 22_000, 0, 11_100, 900, 0.66, None, "automatic"),
    q.SimulatedCost("local/qwen3.gguf", None, None, 31_000, 2100, 0, 900, 0.94),
)

MEMORIES = q.Memories(
    (
        q.MemoryLine("project", "amounts are German: the comma parts the cents"),
        q.MemoryLine("user", "prefers [short] answers"),
    ),
    {"project": "/src/shop/.agent-tui/MEMORY.md", "user": "/home/ada/.agent-tui/MEMORY.md"},
)
POINTS = q.RewindChoices(
    (
        q.RewindPoint(23, "turn 4", "Then only the edit.", NOW, True),
        q.RewindPoint(18, "turn 3", "The comma is taken for a thousands separator.", NOW, True),
        q.RewindPoint(3, "you", "test_german_amounts fails. Find out why and mend it.", NOW, True),
    ),
    undoable=21,
)
CHANGES = q.RewindFiles((("shop/amount.py", "changed"), ("shop/notes [b].md", "created"), ("old.py", "deleted")))


HOME = "/home/ada/.config/agent-tui/config.toml"


def settings() -> SettingsShown:
    """Some of the settings, each from another place, and something that is not used."""
    rows = {name: settings_row(name) for name in KEYS}
    rows["theme"] = replace(
        rows["theme"], value="lamplight", source="user", said=(SettingSaid("user", f"{HOME}:2", "lamplight"),)
    )
    rows["limits.turns"] = replace(
        rows["limits.turns"],
        value=60,
        source="environment",
        said=(SettingSaid("user", f"{HOME}:9", 40), SettingSaid("environment", "AGENT_TUI_LIMITS_TURNS", 60)),
    )
    rows["limits.cost"] = replace(
        rows["limits.cost"],
        value=2.0,
        source="project",
        said=(SettingSaid("project", "/src/shop/.agent-tui/config.toml:4", 2.0),),
    )
    problem = SettingProblem(HOME, 3, "modle", "not used: there is no such setting; did you mean model?")
    return SettingsShown(tuple(rows.values()), (problem,), {"help": ("f11", 12)}, HOME)


def settings_row(name: str) -> SettingRow:
    key = KEYS[name]
    return SettingRow(
        name,
        key.group,
        key.meaning,
        key.may_be,
        key.default,
        "default",
        key.default,
        choices=key.choices,
        switch=key.kind is bool,
        at_once=key.personal,
    )


class StoryHandle(FakeHandle):
    """A fake engine that knows the story."""

    def __init__(self, past: list[ev.Event] | None = None) -> None:
        super().__init__(EngineOptions(cwd=FOLDER))
        self.past = stored(past or [])
        self.answers |= {
            q.ListSessions: ROWS,
            q.LoadSession: lambda asked: q.LoadedSession(asked.id, stored(beginning() + end())),
            q.InspectRequests: REQUESTS,
            q.InspectRequest: REQUEST,
            q.InspectCompactions: COMPACTIONS,
            q.InspectCompaction: COMPACTION,
            q.Simulate: COSTS,
            q.ListMemories: MEMORIES,
            q.ShowSettings: settings(),
            q.RewindPoints: POINTS,
            q.RewindPreview: CHANGES,
            q.TryRule: q.RuleTrial(("pip install hypothesis", "pip install ruff")),
        }
