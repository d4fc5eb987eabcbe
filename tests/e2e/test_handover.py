"""A session that keeps running out of room goes on as a fresh one, over each wire, and nothing is rejected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.log import LogStore
from engine.paths import Home
from tests.e2e.cli import agent_tui
from tests.e2e.test_twelve_steps import KEYS, MODELS
from tests.fakes import Call, StrictServer, Turn

TASK = "Read chapter after chapter; never touch poem-7.txt."
CHAPTERS = 24


def chapters() -> list[Turn]:
    """Long answers, which nothing but a summary can shorten, each with a call; the summaries are careless."""
    long = [
        Turn(text=f"Chapter {n}: " + f"what I think of page {n} is long and hard to shorten. " * 560,
             calls=(Call("fs_read", {"path": f"chapter-{n}.txt"}),))
        for n in range(CHAPTERS)
    ]  # fmt: skip
    return [*long, *(Turn(text="All chapters are read.") for _ in range(4))]


@pytest.mark.parametrize("format", list(MODELS))
def test_the_work_goes_on_in_a_fresh_session(format: str, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    for n in range(CHAPTERS):
        (folder / f"chapter-{n}.txt").write_text(f"chapter {n}\n")
    with StrictServer(format, chapters()) as server:  # type: ignore[arg-type]
        flags = ["--model", MODELS[format], "--base-url", server.base_url, "--context-window", "24000"]
        done = agent_tui(["run", *flags, "--output", "jsonl", TASK], tmp_path, folder, KEYS)
        assert (done.code, server.rejections) == (0, []), done.err
        events = [json.loads(line) for line in done.out.splitlines()]
        handed = [event for event in events if event["type"] == "handed_off"]
        assert handed, "the window forces it"
        ends = [event["reason"] for event in events if event["type"] == "run_finished"]
        assert ends == ["handed_off"] * len(handed) + ["finished"]
        last = handed[-1]["to"]
        started = next(e for e in events if e["type"] == "session_started" and e["session"] == handed[0]["to"])
        assert started["parent"] == handed[0]["session"] and started["goal"] == TASK
        first = next(e for e in events if e["type"] == "compacted" and e["session"] == handed[0]["to"])
        assert first["kind"] == "handoff" and TASK in first["ledger"] and "chapter-0.txt" in first["ledger"]
        after = [json.dumps(body) for body in server.requests]
        assert "never touch poem-7.txt" in after[-1]
        assert "summarised 3 times within" in handed[0]["reason"]

        # The newest session of the folder is the one that goes on, and what is said next is said there.
        more = agent_tui(["run", *flags, "--continue", "--json", "Say it again."], tmp_path, folder, KEYS)
        assert (more.code, server.rejections) == (0, []), more.err
        assert more.json["session"] == last
    home = Home(*(tmp_path / "app" / name for name in ("data", "config", "cache")))
    old = LogStore(home).load(handed[0]["session"])
    assert not old.skipped and old.events[-1].type == "run_finished"


def test_limits_are_those_of_the_whole_run(tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    with StrictServer("openai-chat", chapters()) as server:
        flags = ["--model", "openai-chat/test", "--base-url", server.base_url, "--context-window", "24000"]
        done = agent_tui(["run", *flags, "--max-turns", "14", "--json", TASK], tmp_path, folder)
    assert done.code == 3, done.err
    home = Home(*(tmp_path / "app" / name for name in ("data", "config", "cache")))
    store = LogStore(home)
    session, turns = done.json["session"], 0
    while session:
        events = store.load(session).events
        turns += sum(event.type == "turn_started" for event in events)
        start = events[0]
        session = start.parent if start.type == "session_started" else ""
    assert turns == 14
