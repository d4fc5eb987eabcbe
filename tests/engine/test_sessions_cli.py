"""``agent-tui sessions``, through its own parser and, where pipes matter, as a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engine import events as ev
from engine.cli import sessions
from engine.log import LogStore
from engine.paths import Home
from engine.text import visible
from tests.engine.log_kit import result, said, sql, started, write

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LogStore:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    return LogStore(Home.here())


@pytest.fixture
def run(store: LogStore, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a verb: exit code, standard output, standard error."""

    def run(*args: str) -> tuple[int, str, str]:
        parser = argparse.ArgumentParser(prog="agent-tui")
        sessions.add_parser(parser.add_subparsers(required=True))
        capsys.readouterr()
        try:
            parsed = parser.parse_args(["sessions", *args])
            code = int(parsed.func(parsed))
        except SystemExit as ended:
            code = int(ended.code or 0)
        return code, *capsys.readouterr()

    return run


ROOT = str(Path(sessions.__file__).parents[2])
VERBS = ["list", "show", "fork", "export", "import", "verify", "rm"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_and_json(run: Run, verb: str) -> None:
    code, out, _ = run(verb, "--help")
    assert code == 0
    assert f"example: agent-tui sessions {verb}" in out
    assert "--json" in out


@pytest.mark.parametrize(
    "args", [("show",), ("nonsense",), (), ("list", "--limit", "0"), ("fork", "x", "--at", "a"), ("rm",)]
)
def test_wrong_use_is_2(run: Run, args: tuple[str, ...]) -> None:
    code, out, err = run(*args)
    assert (code, out) == (2, "")
    assert "usage:" in err


@pytest.mark.parametrize(
    "args", [("show", "x7k2"), ("fork", "x7k2"), ("export", "x7k2"), ("verify", "x7k2"), ("rm", "x7k2")]
)
def test_a_session_that_is_not_there_is_1_and_says_what_to_do(run: Run, store: LogStore, args: tuple[str, ...]) -> None:
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert "no stored sessions yet" in err
    write(store, started())
    code, out, err = run(*args)
    assert (code, out) == (1, "")
    assert "There is no session x7k2" in err
    assert "agent-tui sessions list" in err


def test_list_is_an_aligned_table(run: Run, store: LogStore) -> None:
    assert run("list") == (0, "There are no stored sessions yet.\n", "")
    write(store, started(cwd="/a"), said("你好，世界"), ev.RunStarted(), ev.RunFinished(reason="finished"))
    write(store, started(cwd="/b"), said("Fix [/b] the [id=1,state=x] parser"))
    code, out, _ = run("list")
    head, first, second = out.splitlines()
    assert code == 0
    assert head.split() == ["ID", "UPDATED", "STATE", "TURNS", "COST", "TITLE", "FOLDER"]
    assert "Fix [/b] the [id=1,state=x] parser" in first
    assert "finished" in second
    column = head.index("FOLDER")
    assert first[column:] == "/b"
    wide = sum(2 if ord(char) > 0x2E80 else 1 for char in second[: second.index("/a")])
    assert wide == column
    assert run("list", "nothing", "like", "it")[:2] == (0, "No session matches.\n")


@pytest.mark.parametrize("columns", [60, 300])
def test_list_in_a_terminal_fits_it(run: Run, store: LogStore, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    write(store, started(cwd="/a/folder"), said("Fix the parser of the module"))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = run("list")[1].splitlines()
    if columns > 100:
        assert len(lines) == 2
    else:
        assert [line.startswith("  ") for line in lines] == [False, True] * 2
        assert lines[1] == "  TITLE  FOLDER" and lines[3] == "  Fix the parser of the module  /a/folder"


def test_list_narrows_by_text_and_folder(run: Run, store: LogStore, tmp_path: Path) -> None:
    here = write(store, started(cwd=str(tmp_path)), said("one"), result("a yellow banana here"))
    write(store, started(cwd="/elsewhere"), said("two"))
    rows = json.loads(run("list", "--folder", str(tmp_path), "--json")[1])
    assert [row["id"] for row in rows] == [here.session]
    rows = json.loads(run("list", "banana", "yellow", "--json")[1])
    assert [(row["title"], row["events"], row["open_elsewhere"]) for row in rows] == [("one", 3, False)]
    assert "yellow banana" in rows[0]["snippet"]
    assert rows[0]["started"].startswith("20")
    assert "«a yellow banana here»" in run("list", "banana")[1]


def every_kind() -> list[ev.Event]:
    call = ev.ToolCall(id="call-1", name="shell_run")
    return [
        started(),
        said("Run the\ntests"),
        ev.AssistantMessage(turn=1, model="m", blocks=(ev.TextBlock(text="I will."), call)),
        ev.ApprovalRequested(
            id="a", digest="d", call_id="call-1", tool="shell_run", kind="command", subject="pytest", cwd="/",
            policy="p", risk="low",
        ),
        ev.ApprovalDecided(id="a", digest="d", choice="deny", reason="not now"),
        result("no", summary="denied"),
        ev.RunFinished(reason="denied"),
    ]  # fmt: skip


def test_show_is_a_line_an_event(run: Run, store: LogStore) -> None:
    writer = write(store, *every_kind())
    code, out, _ = run("show", writer.session[-4:])
    lines = [" ".join(line.split()[2:]) for line in out.splitlines()[1:]]
    assert code == 0
    assert lines == [
        "session script/demo in /project",
        "you Run the tests",
        "agent I will. → shell_run",
        "approval asked (low): pytest",
        "approval deny by person not now",
        "result shell_run ok: denied",
        "run ends: denied",
    ]


def test_show_tells_what_was_skipped_in_its_place(run: Run, store: LogStore) -> None:
    writer = write(store, *every_kind())
    sql(store, "UPDATE events SET body='{}' WHERE seq=2")
    assert "skipped" in run("show", writer.session)[1].splitlines()[2]
    shown = json.loads(run("show", writer.session, "--json")[1])
    assert [event["seq"] for event in shown["events"]] == [1, 3, 4, 5, 6, 7]
    assert shown["skipped"][0]["seq"] == 2


def test_stored_escapes_never_reach_the_terminal(run: Run, store: LogStore) -> None:
    nasty = "\x1b[?1049h\x1b]0;title\x07\x9b2J\x0e a\u202eb \u2028 \x7f\0"
    writer = write(
        store, started(cwd=nasty, model=nasty), said(nasty), result(nasty), ev.SettingChanged(name="title", value=nasty)
    )
    shown = [run("list"), run("list", "title"), run("show", writer.session), run("show", nasty)]
    for _, out, err in shown:
        assert not [char for char in out + err if (ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0]
        assert "\u202e" not in out + err
    assert "␛[?1049h" in shown[0][1]


def test_fork_export_import_and_remove(run: Run, store: LogStore, tmp_path: Path) -> None:
    parent = write(store, *every_kind()).session
    made = json.loads(run("fork", parent, "--at", "2", "--json")[1])
    assert made["parent"] == parent
    assert len(store.load(made["id"]).events) == 2
    assert run("fork", parent)[1].endswith("\n")
    code, _, err = run("fork", parent, "--at", "99")
    assert (code, "It has events 1 to 7." in err) == (1, True)

    file = tmp_path / "out.jsonl"
    assert run("export", parent, "-o", str(file))[0] == 0
    assert run("export", parent)[1] == file.read_text()
    file.write_text(file.read_text() + '{"type":"user_mess')
    code, out, err = run("import", str(file))
    imported = out.split()[0]
    assert (code, out.split()[1:]) == (0, ["7", "events"])
    assert "1 line skipped:\n  line 8: not valid JSON" in err
    assert len(store.load(imported).events) == 7

    assert run("rm", imported, parent)[:2] == (0, f"Removed {imported}\nRemoved {parent}\n")
    assert json.loads(run("rm", made["id"], "--json")[1]) == {"removed": [made["id"]]}
    assert len(store.list()) == 1


def test_files_that_cannot_be_used_are_told(run: Run, store: LogStore, tmp_path: Path) -> None:
    writer = write(store, started())
    for args in (
        ("import", str(tmp_path / "no")),
        ("import", str(tmp_path)),
        ("export", writer.session, "-o", "/no/no"),
    ):
        code, out, err = run(*args)
        assert (code, out) == (1, "")
        assert "Check the path" in err
    (tmp_path / "empty").touch()
    assert run("import", str(tmp_path / "empty"))[2] == "There is no event in that file.\nThe file is empty.\n"


def test_a_session_that_is_open_is_not_removed(run: Run, store: LogStore) -> None:
    with store.create() as writer:
        writer.append(started())
        code, _, err = run("rm", writer.session)
        assert code == 1
        assert "is open in another window" in err
    assert len(store.list()) == 1


def test_verify_says_whole_or_damaged(run: Run, store: LogStore) -> None:
    good = write(store, *every_kind()).session
    assert run("verify", good)[0] == 0
    bad = write(store, started(), said("x"), result("big " * 30_000, "c9")).session
    sql(store, "UPDATE events SET body='nonsense' WHERE seq=2 AND session=?", bad)
    for path in store.home.artifacts.rglob("*"):
        if path.is_file():
            path.write_bytes(b"torn")
    code, out, _ = run("verify")
    assert code == 1
    assert f"{good}  whole    7 events, 0 artifacts" in out
    assert f"{bad}  DAMAGED" in out
    assert "event 2: the row is empty or cut off" in out
    assert "whose call c9 was not made before it" in out
    assert "missing or changed" in out
    reports = json.loads(run("verify", "--json")[1])
    assert {report["id"]: report["ok"] for report in reports} == {good: True, bad: False}


def test_a_wrecked_database_is_told_without_a_traceback(run: Run, store: LogStore) -> None:
    store.home.database.parent.mkdir(parents=True)
    store.home.database.write_bytes(b"no database " * 1000)
    code, out, err = run("list")
    assert (code, out) == (1, "")
    assert "is damaged" in err
    assert "aside" in err


CALL = "import sys; from engine.cli import sessions; import argparse; p = argparse.ArgumentParser(); \
sessions.add_parser(p.add_subparsers()); a = p.parse_args(sys.argv[1:]); sys.exit(a.func(a))"


@pytest.mark.parametrize("much", [1, 3_000])
def test_a_reader_that_goes_away_is_no_failure(store: LogStore, much: int) -> None:
    writer = write(store, *[said(f"line {number}") for number in range(much)])
    child = subprocess.Popen(
        [sys.executable, "-c", CALL, "sessions", "show", writer.session],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": ROOT},
    )
    assert child.stdout is not None and child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == b""
    child.stderr.close()
    assert child.wait(30) == 0


def test_an_ascii_terminal_gets_escapes_not_a_traceback(store: LogStore) -> None:
    write(store, started(), said("你好"))
    done = subprocess.run(
        [sys.executable, "-c", CALL, "sessions", "list"],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONIOENCODING": "ascii"},
        check=False,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb"\u4f60\u597d" in done.stdout


def test_visible_leaves_honest_text_alone() -> None:
    honest = "tab\tnewline\n你好 👩‍👩‍👧 é العربية [bold] ␛"
    assert visible(honest) == honest
    assert visible("a\r\nb\rc\x1b\0\x7f\x85\u2066") == "a\nb␍c␛␀␡⟨U+0085⟩⟨U+2066⟩"
