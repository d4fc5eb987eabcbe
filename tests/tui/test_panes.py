"""Panes are pure: given this state, these lines, and never a cell too many."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.text import Text

from engine import events as ev
from engine import live
from engine.events import Limits, Stage, TodoItem, Usage
from engine.hands import Plan
from engine.state import Pending, Retry, TaskState, TurnUsage, Waiting
from tests.tui.test_app_approvals import request
from tui import limits
from tui.actions import ACTIONS
from tui.look import Look, bar, clip, columns, one_line, spread, wrapped
from tui.signs import ASCII, signs_for
from tui.widgets.approvals import Decided, approval_lines
from tui.widgets.banners import Facts, banner_lines
from tui.widgets.cache import cache_lines
from tui.widgets.header import header_line, read_branch, short_folder, short_model
from tui.widgets.keys import keys_line
from tui.widgets.queue import Delivered, Deliveries, queue_lines
from tui.widgets.tabs import tab_line
from tui.widgets.task import task_lines
from tui.widgets.todo import todo_lines
from tui.widgets.tools import ToolsLog, tool_lines

LOOK = Look()
TEXTS = st.text(max_size=80) | st.sampled_from(
    ["你好，世界" * 9, "[/] [bold", "👩‍👩‍👧" * 9, "a\x1b[2Jb\x00", "مرحبا " * 20, ""]
)
WIDTHS = st.integers(24, 220)
NUMBERS = st.integers(0, 10**9)

TURN = TurnUsage(1, 88_000, 4_000, 2_000, 300, 0.02, 0.05, 0.8, 3.0)
STATE = TaskState(
    session="s", seq=9, title="Fix it", cwd="/src/shop", model="anthropic/claude-x", goal="Fix the login test",
    stage="running tools", running=True, turn=7, calls=14, cost=0.21, saved=0.31, run_turns=7, run_calls=14,
    run_cost=0.21, usage=Usage(cache_read=94, input_uncached=6), limits=Limits(turns=20, tool_calls=60, cost=2.0),
    todo=(TodoItem(text="one", status="done"), TodoItem(text="two", status="active"), TodoItem(text="three")),
    context_tokens=96_000, context_window=200_000, turns=(TURN,),
)  # fmt: skip


@st.composite
def states(draw: st.DrawFn) -> TaskState:
    text = draw(TEXTS)
    return replace(
        STATE,
        title=text,
        goal=draw(TEXTS),
        model=draw(TEXTS),
        done_when=tuple(draw(st.lists(TEXTS | st.just("calls > 3"), max_size=6))),
        stages=tuple(Stage(name=t, until=t) for t in draw(st.lists(TEXTS, max_size=2))),
        task_stage=text,
        stage=draw(st.sampled_from(["idle", "thinking", "waiting for you", "limit", "failed"])),
        todo=tuple(TodoItem(text=t) for t in draw(st.lists(TEXTS, max_size=4))),
        todo_text=text,
        waiting=tuple(
            Waiting(str(n), "approval", "c", t, t, "high") for n, t in enumerate(draw(st.lists(TEXTS, max_size=3)))
        ),
        pending=tuple(Pending(str(n), "steer", t) for n, t in enumerate(draw(st.lists(TEXTS, max_size=6)))),
        turns=tuple(replace(TURN, read=draw(NUMBERS), write=draw(NUMBERS), new=draw(NUMBERS)) for _ in range(3)),
        run_turns=draw(NUMBERS),
        run_cost=draw(st.floats(0, 1e6)),
        limits=Limits(turns=draw(st.none() | NUMBERS), cost=draw(st.none() | st.floats(0, 1e6))),
        context_tokens=draw(NUMBERS),
        context_window=draw(NUMBERS),
    )


def plain(lines: list[Text]) -> str:
    return "\n".join(line.plain for line in lines)


@settings(max_examples=60, deadline=None)
@given(states(), WIDTHS, st.sampled_from([LOOK, Look(signs=ASCII)]), TEXTS)
def test_no_line_is_wider_than_its_pane_nor_holds_a_control_character(
    state: TaskState, width: int, look: Look, text: str
) -> None:
    log = ToolsLog()
    log.take(ev.ToolStarted(call_id="a", turn=1, name=text or "x", title=text), 0.0)
    log.take(ev.ToolStarted(call_id="b", turn=1, name=text or "x", title=text), 0.0)
    log.take(ev.ToolResult(call_id="b", turn=1, name=text or "x", status="ok", text="", summary=text), 1.0)
    log.take(live.ToolProgress(session="s", call_id="a", text=text, title=text), 1.0)
    log.take(live.ToolProgress(session="s", call_id="own", text=text, title=text), 1.0)
    call = ev.ToolCall(id="q", name=text or "x", input={"command": text})
    log.take(ev.AssistantMessage(turn=1, model="m", blocks=(call,), stop="tool_calls"), 1.0)
    lines = [
        *task_lines(state, width, look),
        *todo_lines(state, width, look),
        *cache_lines(state, width, look),
        *approval_lines(state, (Decided(text, "deny", "person"),), width, look),
        *tool_lines(log, 5.0, width, look),
        *queue_lines(state, (Delivered(text, 3),), width, look),
        header_line(state, text, text, text, "ask", width, look),
        tab_line("todo", {"approvals": 3}, width, look),
    ]
    for line in lines:
        assert line.cell_len <= width, line.plain
        assert all(c.isprintable() or c == "\u200d" for c in line.plain), line.plain


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, WIDTHS)
def test_left_and_right_always_fill_the_line(left: str, right: str, width: int) -> None:
    assert spread(Text(one_line(left)), Text(one_line(right)), width).cell_len <= width
    assert clip(Text(one_line(left)), width).cell_len <= width
    assert all(Text(line).cell_len <= max(2, width) for line in wrapped(left, width, 3))


def test_the_task_pane_judges_the_stage_and_each_condition() -> None:
    stages = (Stage(name="look", until="files_read >= 3"), Stage(name="fix", until="tests_pass"))
    conditions = ("todo_open == 0 and commands_failed == 0", "calls >= 3", "nonsense")
    state = replace(STATE, done_when=conditions, stages=stages, task_stage="fix")
    lines = [line.plain.rstrip() for line in task_lines(state, 38, LOOK)][2:10]
    assert lines == [
        " step    fix                     2 / 2",
        " until   · tests_pass      now unknown",
        " done    · todo_open == 0 and",
        "           commands_failed == 0",
        "           now todo_open 2,",
        "           commands_failed 0",
        "         ✓ calls >= 3",
        "         · nonsense",
    ]
    assert "all done" in plain(task_lines(replace(state, task_stage=""), 38, LOOK))


def test_turns_of_this_run_are_told_from_those_of_the_session() -> None:
    first = replace(STATE, turn=2, run_turns=2, limits=Limits())
    assert "in this run" not in plain(task_lines(first, 40, LOOK))
    later = replace(first, turn=9)
    assert "2 in this run" in plain(task_lines(later, 40, LOOK))
    assert "2 / 20" in plain(task_lines(replace(later, limits=Limits(turns=20)), 40, LOOK)), (
        "a limit is the run's anyway"
    )


def test_the_task_pane_says_what_is_left() -> None:
    text = plain(task_lines(STATE, 38, LOOK))
    for words in (
        "Fix the login test",
        "● running tools",
        "todo 1 / 3",
        "7 / 20",
        "14 / 60",
        "$0.21 / $2.00",
        "96.0k / 200k",
    ):
        assert words in text
    assert "tokens" in text and "time" in text


def test_the_window_shows_where_it_will_be_compacted() -> None:
    (window,) = [line for line in task_lines(STATE, 60, LOOK) if "window" in line.plain]
    gauge = window.plain[9:45]
    assert "┼" in gauge
    assert gauge.index("┼") > len(gauge) // 2


def test_gauges_fill_and_their_colour_warns() -> None:
    assert bar(0.0, 10, LOOK).plain == "─" * 10
    assert bar(0.001, 10, LOOK).plain == "━" + "─" * 9
    assert bar(0.5, 10, LOOK).plain == "━" * 5 + "─" * 5
    assert bar(7.0, 10, LOOK).plain == "━" * 10
    styles = [str(bar(share, 10, LOOK).spans[0].style) for share in (0.5, 0.8, 0.95)]
    assert len(set(styles)) == 3


def test_the_cache_pane_shows_every_turn_on_one_scale() -> None:
    turns = (replace(TURN, read=0, write=90_000), TURN)
    text = plain(cache_lines(replace(STATE, turns=turns), 40, LOOK))
    read, write, new, money = text.splitlines()
    assert read.endswith("88.0k") and "·▇" in read.replace("█", "▇")
    assert write.endswith("4.0k") and "█▁" in write
    assert new.endswith("2.0k")
    assert "$0.31" in money and "800 ms" in money


def test_columns_show_nothing_as_a_dot_and_the_most_as_full() -> None:
    assert columns([0, 1, 50, 100], 10, 100, LOOK) == "·▁▄█"
    assert columns([5, 6, 7], 2, 7, LOOK) == columns([6, 7], 2, 7, LOOK)
    assert columns([1], 0, 1, LOOK) == ""


def test_states_are_told_apart_without_colour() -> None:
    signs = {LOOK.stage(stage)[0] for stage in ("idle", "thinking", "waiting for you", "finished", "failed", "limit")}
    assert len(signs) == 6
    text = plain(todo_lines(STATE, 30, LOOK))
    assert "✓ one" in text and "● two" in text and "· three" in text


def test_approvals_wait_oldest_first_and_the_last_decisions_follow() -> None:
    state = replace(
        STATE,
        waiting=(
            Waiting("a", "approval", "c", "git push", "shell_run", "high"),
            Waiting("b", "question", "d", "Which?"),
        ),
    )
    lines = approval_lines(
        state, (Decided("fs_edit a.py", "once", "person"), Decided("rm -rf x", "deny", "timeout")), 60, LOOK
    )
    text = [line.plain for line in lines]
    assert "git push" in text[0] and "! high" in text[0]
    assert "asks: Which?" in text[1]
    assert "rm -rf x" in text[2] and "no answer" in text[2]
    assert "fs_edit a.py" in text[3] and "once" in text[3]


def test_a_plan_waits_among_the_approvals_with_its_key() -> None:
    text = plain(approval_lines(replace(STATE, plan=Plan("p", "1. this")), (), 60, LOOK))
    assert "a plan to decide" in text and "F10" in text and "nothing waits" not in text


def test_messages_that_wait_are_counted_when_there_are_many() -> None:
    state = replace(STATE, pending=tuple(Pending(str(n), "follow_up", f"message {n}") for n in range(9)))
    text = plain(queue_lines(state, (), 80, LOOK))
    assert len(text.splitlines()) == 4
    assert "9 follow-ups wait" in text and "message 8" in text
    assert "Alt+Up" in text.splitlines()[-1] and "F12 all" in text.splitlines()[-1]


def test_a_delivered_steer_is_shown_until_its_turn_was_answered() -> None:
    strip = Deliveries()
    strip.feed([ev.TurnStarted(turn=3, model="m"), ev.UserMessage(kind="steer", text="x")])
    assert strip.delivered == (Delivered("x", 4),)
    strip.feed([ev.TurnStarted(turn=4, model="m")])
    assert strip.delivered
    strip.feed([ev.AssistantMessage(turn=4, model="m")])
    assert not strip.delivered


def test_tools_are_counted_and_the_end_of_a_run_leaves_none_running() -> None:
    log = ToolsLog()
    for n in range(3):
        log.take(ev.ToolStarted(call_id=str(n), turn=1, name="fs_read", title=f"f{n}"), 10.0)
    log.take(ev.ToolResult(call_id="0", turn=1, name="fs_read", status="ok", text="", seconds=2.0), 12.0)
    text = plain(tool_lines(log, 15.0, 50, LOOK))
    assert text.count("5 s") == 2 and "2.0 s" in text
    log.take(ev.RunFinished(reason="interrupted"), 16.0)
    assert not log.running


def test_calls_wait_run_and_ask_in_the_tools_pane() -> None:
    log = ToolsLog()
    calls = (ev.ToolCall(id="1", name="shell_run", input={"command": "make"}), ev.ToolCall(id="2", name="fs_read"))
    log.take(ev.AssistantMessage(turn=1, model="m", blocks=calls, stop="tool_calls"), 0.0)
    assert plain(tool_lines(log, 0.0, 50, LOOK)).count("comes next") == 2
    log.take(ev.ToolStarted(call_id="1", turn=1, name="shell_run", title="make"), 10.0)
    log.take(request("a", "1"), 10.0)
    text = plain(tool_lines(log, 70.0, 50, LOOK))
    assert "waits for you" in text and "60 s" not in text and text.count("comes next") == 1
    log.take(ev.ApprovalDecided(id="a", digest="d", choice="once"), 70.0)
    for n in range(9):
        log.take(live.ToolProgress(session="s", call_id="1", text=f"line {n}\x1b[2J\n\n"), 71.0)
    lines = plain(tool_lines(log, 75.0, 50, LOOK)).splitlines()
    assert lines[0].endswith("5 s") and lines[1:4] == ["   line 6", "   line 7", "   line 8"]
    log.take(ev.ToolResult(call_id="1", turn=1, name="shell_run", status="ok", text="", seconds=5.0), 76.0)
    assert "line 8" not in plain(tool_lines(log, 76.0, 50, LOOK))
    log.take(ev.RunFinished(reason="interrupted"), 76.0)
    assert not log.queue and not log.running


def test_a_command_of_ones_own_runs_in_the_tools_pane_too() -> None:
    log = ToolsLog()
    log.take(live.ToolProgress(session="s", call_id="own", text="", title="ls -l"), 1.0)
    assert "you" in plain(tool_lines(log, 4.0, 50, LOOK)) and "3 s" in plain(tool_lines(log, 4.0, 50, LOOK))
    log.take(ev.PersonRan(command="ls -l", status="ok", text="", seconds=3.0), 4.0)
    assert not log.running and log.counts == {"you": (1, 3.0)}


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (Facts(saving=False, save_error="disk full"), "Nothing is being saved: disk full"),
        (Facts(sandbox_works=False, sandbox_why="no user namespaces"), "No sandbox here (no user namespaces)"),
        (Facts(offline=True), "offline script"),
        (Facts(failed="boom"), "The engine stopped: boom"),
        (Facts(skipped=1), "1 stored row could not be read"),
        (Facts(retry=Retry(2, 8.0, "overloaded", 4), retry_at=108.0), "overloaded. Try 3 in 5 s."),
        (Facts(stopping=True), "Stopping safely"),
    ],
)
def test_banners(facts: Facts, words: str) -> None:
    ((_, text),) = banner_lines(facts, 103.0)
    assert words in text


def test_the_worst_banner_comes_first_and_a_calm_app_has_none() -> None:
    assert banner_lines(Facts(), 0.0) == []
    levels = [level for level, _ in banner_lines(Facts(offline=True, saving=False, sandbox_works=False), 0.0)]
    assert levels == ["danger", "warn", "info"]


def test_the_last_line_keeps_help_however_narrow() -> None:
    hinted = [action for action in ACTIONS if action.hint]
    for width in (12, 30, 80, 200):
        line = keys_line(hinted, width, LOOK)
        assert line.cell_len <= width
        assert line.plain.endswith("F1 help")


def test_a_narrow_header_keeps_stage_and_title() -> None:
    line = header_line(STATE, "~/a/very/long/folder/of/some/project", "main", "", "ask", 60, LOOK).plain
    assert "running tools" in line and "Fix it" in line
    assert "running tools" in header_line(STATE, "~/x", "main", "", "ask", 24, LOOK).plain


def test_models_and_folders_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert short_folder(Path("/home/me/src/shop")) == "~/src/shop"
    assert short_folder(Path("/home/me")) == "~"
    assert short_folder(Path("/srv")) == "/srv"
    assert short_model("local//big/disk/model.gguf") == "model.gguf"
    assert short_model("openai-chat/org/model") == "model"


def test_the_branch_of_a_repository_a_worktree_and_of_none(tmp_path: Path) -> None:
    assert read_branch(tmp_path / "nothing") in ("", read_branch(tmp_path))
    repository = tmp_path / "repo"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/fix/login\n")
    (repository / "src").mkdir()
    assert read_branch(repository / "src") == "fix/login"
    worktree = tmp_path / "tree"
    worktree.mkdir()
    private = repository / ".git" / "worktrees" / "tree"
    private.mkdir(parents=True)
    (private / "HEAD").write_text("0123456789abcdef\n")
    (worktree / ".git").write_text(f"gitdir: {private}\n")
    assert read_branch(worktree) == "01234567"


def test_a_terminal_without_unicode_gets_plain_signs() -> None:
    assert signs_for({"TERM": "linux"}, "utf-8") == ASCII
    assert signs_for({"TERM": "xterm"}, "ascii") == ASCII
    text = plain(task_lines(STATE, 38, Look(signs=ASCII)))
    assert text.isascii()


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("turns=5", {"turns": 5}),
        ("calls=7 cost=$0.50", {"tool_calls": 7, "cost": 0.5}),
        ("turns=none seconds=90.5", {"turns": None, "seconds": 90.5}),
        ("", {}),
    ],
)
def test_limits_as_people_write_them(text: str, changed: dict[str, Any]) -> None:
    present = Limits(turns=20, cost=2.0).model_dump()
    assert limits.parse(text, present) == {**present, **changed}
    assert limits.parse(limits.write(present), {}) == present


@pytest.mark.parametrize("text", ["turns", "turns=x", "turns=0", "cost=-1", "cost=inf", "cost=nan", "hue=3", "=3"])
def test_limits_that_make_no_sense_are_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        limits.parse(text, {})
