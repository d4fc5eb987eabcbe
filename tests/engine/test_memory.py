"""What is remembered: kept word for word, once, without secrets, and there at the start of the next session."""

from __future__ import annotations

import fcntl
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import events as ev
from engine.commands import ChangeMemory
from engine.memory import Memory, files, refusal
from engine.memory.checks import is_secret
from engine.memory.files import MOST_INJECTED, MOST_LINES
from engine.prompt.build import build
from tests.e2e.cli import agent_tui
from tests.engine.kit import Kit, make_kit, text
from tests.fakes import Call, StrictServer, Turn


def save(id: str, words: str, **more: str) -> ev.ToolCall:
    return ev.ToolCall(id=id, name="memory_save", input={"text": words, **more})


def results(kit: Kit) -> list[ev.ToolResult]:
    return [e for e in kit.events if e.type == "tool_result"]


async def test_the_model_saves_replaces_and_is_told_what_stands_in_the_way(tmp_path: Path) -> None:
    kit = make_kit(
        tmp_path,
        [
            [save("c1", "Tests run with pytest -q")],
            [save("c2", "tests run with  pytest -q.")],
            [save("c3", "Tests run with make check")],
            [save("c4", "Tests run with make check", replaces="Tests run with pytest -q")],
            [save("c5", "The key is sk-abcdefghijklmnop1234")],
            [save("c6", "Answer in German", scope="user")],
            [text("done")],
        ],
    )
    kit.runner.send("remember", "steer")
    await kit.runner.idle()
    said = results(kit)
    assert [r.status for r in said] == ["ok", "error", "error", "ok", "error", "ok"]
    assert "known already" in said[1].error
    assert "says otherwise" in said[2].error and "'Tests run with pytest -q'" in said[2].error
    assert "replaces" in said[2].suggestion and "secret" in said[4].error
    memory = Memory(tmp_path / "data", tmp_path / "work")
    assert memory.lines("project") == ("Tests run with make check",)
    assert memory.lines("user") == ("Answer in German",)
    changed = [(e.action, e.scope, e.text, e.before) for e in kit.events if e.type == "memory_changed"]
    assert changed == [
        ("saved", "project", "Tests run with pytest -q", ""),
        ("edited", "project", "Tests run with make check", "Tests run with pytest -q"),
        ("saved", "user", "Answer in German", ""),
    ]
    assert "sk-abc" not in memory.paths["project"].read_text()
    await kit.runner.close()


async def test_a_person_saves_edits_and_removes_and_the_model_hears_of_it(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [[text("hello")]])
    id = kit.runner.session.id
    await kit.runner.change_memory(ChangeMemory(id, "project", text="Port 8000"))
    await kit.runner.change_memory(ChangeMemory(id, "project", text="Port 9000", before="Port 8000"))
    await kit.runner.change_memory(ChangeMemory(id, "user", text="password: hunter2hunter2"))
    await kit.runner.change_memory(ChangeMemory(id, "project", before="Port 1"))
    memory = Memory(tmp_path / "data", tmp_path / "work")
    assert memory.lines("project") == ("Port 9000",)
    notices = [e.text for e in kit.events if e.type == "notice"]
    assert any("secret" in said for said in notices) and any("not there any more" in said for said in notices)
    kit.runner.send("hi", "steer")
    await kit.runner.idle()
    sent = [part.text for message in kit.model.requests[-1].messages for part in message.parts if hasattr(part, "text")]
    assert any("saved: Port 8000" in said and "edited: Port 9000" in said for said in sent)
    await kit.runner.change_memory(ChangeMemory(id, "project", before="Port 9000"))
    assert memory.lines("project") == ()
    assert build(kit.events, kit.runner.session.state)
    await kit.runner.close()


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("use tabs for indentation", "use spaces for indentation"),
        ("the server listens on port 9000", "the server listens on port 8000"),
        ("Tests run with make test", "Tests run with pytest -q"),
        ("do not deploy on Friday", "deploy on Friday"),
        ("Python 3.12 is required", "Python 3.11 is required"),
    ],
)
def test_what_says_otherwise_is_caught_both_ways(new: str, old: str) -> None:
    for one, other in ((new, old), (old, new)):
        found = refusal(one, [other])
        assert found is not None and found.other == other
    assert refusal(new, [old], replaces=old) is None


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("The API lives in src/api", "Tests run with pytest -q"),
        ("Deploy with make deploy", "Docs are built with mkdocs"),
        ("The person prefers short answers", "The staging server is slow in the morning"),
    ],
)
def test_what_is_about_something_else_is_not(new: str, old: str) -> None:
    assert refusal(new, [old]) is None


@pytest.mark.parametrize(
    "secret",
    [
        "ghp_abcdefghijklmnopqrstuvwxyz012345",
        "the password is correct-horse",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://me:secret@db/x",
        "token Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MEFCQ0RFRg",
        "-----BEGIN RSA PRIVATE KEY-----",
    ],
)
def test_secrets_are_refused(secret: str) -> None:
    found = refusal(secret, [])
    assert found is not None and "secret" in found.why


@pytest.mark.parametrize(
    "plain",
    ["src/engine/compaction/handoff.py holds it", "test_the_task_runs_to_its_end", "use --model anthropic/x", "a" * 60],
)
def test_paths_and_names_are_no_secrets(plain: str) -> None:
    assert not is_secret(plain)


def test_a_persons_own_file_stays_as_it_is(tmp_path: Path) -> None:
    memory = Memory(tmp_path, tmp_path / "shop")
    path = memory.paths["project"]
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xef\xbb\xbf# Shop\r\n\r\nSome words.\r\n  * one\r\n+ two [/]\r\n\r\nThe end \xff")
    assert memory.lines("project") == ("one", "two [/]")
    memory.add("project", "three")
    assert memory.replace("project", "one", "ONE") and not memory.replace("project", "gone", "x")
    written = path.read_bytes()
    assert written.startswith(b"\xef\xbb\xbf# Shop\r\n\r\nSome words.\r\n  * ONE\n") and b"The end \xff" in written
    assert memory.lines("project") == ("ONE", "two [/]", "three")
    assert memory.replace("project", "two [/]", "")
    assert memory.lines("project") == ("ONE", "three")
    assert not list(path.parent.glob(".memory-*"))


def test_a_file_that_cannot_be_read_is_never_written_over(tmp_path: Path) -> None:
    memory = Memory(tmp_path, tmp_path / "shop")
    path = memory.paths["project"]
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert memory.lines("project") == ()
    with pytest.raises(OSError, match="no file"):
        memory.add("project", "x")
    path.unlink()
    path.write_text("- old\n" + "x" * 300_000)
    with pytest.raises(OSError, match="shorten"):
        memory.add("project", "x")
    assert path.read_text().startswith("- old")


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "data", tmp_path / "shop")
    path, real = memory.paths["user"], tmp_path / "notes.md"
    path.parent.mkdir(parents=True)
    real.write_text("- one\n")
    path.symlink_to(real)
    memory.add("user", "two")
    assert path.is_symlink() and real.read_text() == "- one\n- two\n"


def test_a_lock_that_is_held_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TRIES", 2)
    memory = Memory(tmp_path, tmp_path / "shop")
    memory.add("user", "one")
    with memory.paths["user"].with_suffix(".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(OSError, match="another process"):
            memory.add("user", "two")
    memory.add("user", "two")
    assert memory.lines("user") == ("one", "two")


@pytest.mark.parametrize("odd", ["one\rtwo", "one\x0btwo", "one\u2028two", "\x1b[31mred", "a\x85b"])
def test_a_memory_is_one_plain_line(odd: str) -> None:
    found = refusal(odd, [])
    assert found is not None and "one line" in found.why


def test_random_tokens_are_taken_for_secrets() -> None:
    made = random.Random(7)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    tokens = ["".join(made.choice(letters) for _ in range(40)) for _ in range(100)]
    hexes = ["".join(made.choice("0123456789abcdef") for _ in range(32)) for _ in range(100)]
    assert sum(is_secret(f"it is {token}") for token in tokens) >= 98
    assert all(is_secret(f"it is {token}") for token in hexes)


def test_what_goes_into_a_prompt_is_bounded_and_says_what_was_left_out(tmp_path: Path) -> None:
    memory = Memory(tmp_path, tmp_path / "shop")
    memory.paths["user"].parent.mkdir(parents=True)
    memory.paths["user"].write_text("\n".join(f"- fact {n} {'x' * 60}" for n in range(400)))
    ((scope, said),) = memory.prompt()
    assert "every project" in scope and "fact 399" in said and "older left out" in said
    assert len(said.encode()) < MOST_INJECTED + 200 and said.count("\n- ") <= MOST_LINES


@given(st.text(max_size=40))
def test_any_text_is_saved_word_for_word_or_refused(tmp_path_factory: pytest.TempPathFactory, words: str) -> None:
    tmp_path = tmp_path_factory.mktemp("m")
    memory = Memory(tmp_path, tmp_path)
    from engine.text import clean

    line = clean(words).strip()
    if refusal(line, []) is None and line.isprintable():
        memory.add("project", line)
        assert memory.lines("project") == (" ".join(line.split(" ")),)


def test_the_next_session_begins_with_it_and_finds_what_was_said(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    fact = "The login cookie is parsed in load()"
    turns = [
        Turn(calls=(Call("memory_save", {"text": fact}),)),
        Turn(text="The zebra crossing is mended."),
        Turn(calls=(Call("memory_search", {"query": "zebra crossing"}), Call("memory_search", {"query": "cookie"}))),
        Turn(text="Found."),
        Turn(calls=(Call("memory_search", {"query": "zebra"}),)),
        Turn(text="Nothing."),
    ]
    with StrictServer("anthropic", turns) as server:
        flags = ["run", "--model", "anthropic/claude-test", "--base-url", server.base_url, "--json"]
        key = {"ANTHROPIC_API_KEY": "k"}
        assert agent_tui([*flags, "mend the zebra crossing"], tmp_path, folder, key).code == 0
        assert fact not in str(server.requests[0]["system"])
        assert agent_tui([*flags, "what did we do?"], tmp_path, folder, key).code == 0
        assert fact in str(server.requests[2]["system"])
        found = str(server.requests[3]["messages"][-1])
        assert "mend the zebra crossing" in found and fact in found
        assert agent_tui([*flags, "and here?"], tmp_path, elsewhere, key).code == 0
        assert fact not in str(server.requests[4]["system"])
        assert "Nothing is remembered or was said" in str(server.requests[5]["messages"][-1])
        assert server.rejections == []
