"""Files kept aside and put back: exactly what they were, and never anything outside the workspace."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.shadow import Change, Shadow, scan
from sandbox.shadow.put_back import put_back, take_away
from sandbox.shadow.scan import Entry


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Shadow]:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return workspace, Shadow(workspace, tmp_path / "store")


def tree(folder: Path) -> dict[str, object]:
    """Every file and link below ``folder`` with what it holds."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = path.readlink()
        elif path.is_file():
            found[name] = (path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


def test_everything_comes_back(place: tuple[Path, Shadow]) -> None:
    workspace, shadow = place
    (workspace / "src").mkdir()
    (workspace / "src" / "a.py").write_text("one\n")
    (workspace / "run.sh").write_text("#!/bin/sh\n")
    (workspace / "run.sh").chmod(0o755)
    (workspace / "ünï \n name").write_bytes(b"\x00\xff")
    (workspace / os.fsdecode(b"not utf-8 \xff")).write_text("kept")
    (workspace / "link").symlink_to("src/a.py")
    was = tree(workspace)
    kept = shadow.keep()
    assert kept.files == 5 and not kept.left_out
    (workspace / "src" / "a.py").write_text("two\n")
    (workspace / "src" / "new" / "deep").mkdir(parents=True)
    (workspace / "src" / "new" / "deep" / "b.py").write_text("b")
    (workspace / "run.sh").chmod(0o644)
    (workspace / "ünï \n name").unlink()
    (workspace / "link").unlink()
    (workspace / "link").write_text("no link any more")
    changed = tree(workspace)
    assert shadow.changes(kept.snapshot) == (
        Change("link", "changed"),
        Change("run.sh", "changed"),
        Change("src/a.py", "changed"),
        Change("src/new/deep/b.py", "created"),
        Change("ünï \n name", "deleted"),
    )
    restored = shadow.restore(kept.snapshot)
    assert not restored.problems
    assert len(restored.paths) == 5
    assert tree(workspace) == was
    assert not (workspace / "src" / "new").exists()
    assert shadow.restore(restored.before).problems == ()
    assert tree(workspace) == changed


def test_only_the_paths_asked_for_come_back(place: tuple[Path, Shadow]) -> None:
    workspace, shadow = place
    for name in ("a", "b"):
        (workspace / name).write_text("one")
    kept = shadow.keep()
    for name in ("a", "b"):
        (workspace / name).write_text("two")
    assert shadow.restore(kept.snapshot, {"a"}).paths == ("a",)
    assert (workspace / "a").read_text() == "one"
    assert (workspace / "b").read_text() == "two"


def test_git_and_the_projects_settings_are_never_touched(place: tuple[Path, Shadow]) -> None:
    workspace, shadow = place
    for name in (".git/config", ".agent-tui/config.toml", "node_modules/x/index.js"):
        (workspace / name).parent.mkdir(parents=True)
        (workspace / name).write_text("one")
    kept = shadow.keep()
    assert kept.files == 0
    for name in (".git/config", ".agent-tui/config.toml", "node_modules/x/index.js"):
        (workspace / name).write_text("two")
    assert shadow.changes(kept.snapshot) == ()
    assert shadow.restore(kept.snapshot).paths == ()


def test_what_was_not_kept_is_neither_removed_nor_written(
    place: tuple[Path, Shadow], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, shadow = place
    monkeypatch.setattr(scan, "MOST_BYTES", 10)
    (workspace / "large.log").write_text("x" * 50)
    kept = shadow.keep()
    assert "large.log" in kept.left_out[0]
    (workspace / "large.log").write_text("small")
    assert shadow.restore(kept.snapshot).paths == ()
    assert (workspace / "large.log").read_text() == "small"
    (workspace / "now.log").write_text("ok")
    second = shadow.keep()
    (workspace / "now.log").write_text("y" * 50)
    assert shadow.restore(second.snapshot).paths == ()
    assert (workspace / "now.log").read_text() == "y" * 50


def test_where_there_are_too_many_files_none_counts_as_made_or_deleted(
    place: tuple[Path, Shadow], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, shadow = place
    monkeypatch.setattr(scan, "MOST_FILES", 2)
    for name in "abcd":
        (workspace / name).write_text("one")
    kept = shadow.keep()
    assert kept.left_out == ("more than 2 files",)
    (workspace / "a").unlink()
    (workspace / "b").write_text("two")
    assert shadow.restore(kept.snapshot).paths == ("b",)
    assert (workspace / "c").exists() and (workspace / "d").exists()


def test_links_lead_nowhere(place: tuple[Path, Shadow], tmp_path: Path) -> None:
    workspace, shadow = place
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (workspace / "dir").mkdir()
    (workspace / "dir" / "secret").write_text("mine")
    (workspace / "out").symlink_to(outside)
    kept = shadow.keep()
    assert kept.files == 2
    # The folder a kept file lies in has become a link to somewhere else.
    (workspace / "dir" / "secret").unlink()
    (workspace / "dir").rmdir()
    (workspace / "dir").symlink_to(outside)
    restored = shadow.restore(kept.snapshot)
    assert (outside / "secret").read_text() == "secret"
    assert not restored.problems
    assert (workspace / "dir" / "secret").read_text() == "mine" and not (workspace / "dir").is_symlink()


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a/../../x", "", ".", "a//b", "out/secret"])
@pytest.mark.parametrize("do", [lambda ws, path: put_back(ws, path, Entry("file", ""), b"bad"), take_away])
def test_no_path_leaves_the_workspace(tmp_path: Path, path: str, do: Callable[[Path, str], None]) -> None:
    workspace, outside = tmp_path / "ws", tmp_path / "outside"
    for folder in (workspace, outside):
        folder.mkdir()
    (outside / "secret").write_text("secret")
    (workspace / "out").symlink_to(outside)
    with pytest.raises(OSError):
        do(workspace, path)
    assert tree(outside) == {"secret": (b"secret", 0o644)}
    assert not (tmp_path / "x").exists()


def test_a_fifo_keeps_nobody_waiting(place: tuple[Path, Shadow]) -> None:
    workspace, shadow = place
    os.mkfifo(workspace / "pipe")
    assert shadow.keep().files == 0


def test_a_damaged_copy_is_a_problem_and_the_rest_comes_back(place: tuple[Path, Shadow], tmp_path: Path) -> None:
    workspace, shadow = place
    (workspace / "a").write_text("one")
    (workspace / "b").write_text("uno")
    kept = shadow.keep()
    blob = next(path for path in (tmp_path / "store" / "blobs").rglob("*") if path.is_file())
    blob.write_bytes(b"torn")
    for name in "ab":
        (workspace / name).write_text("two")
    restored = shadow.restore(kept.snapshot)
    assert len(restored.paths) == 1 and len(restored.problems) == 1
    assert "damaged" in restored.problems[0]
    with pytest.raises(OSError):
        shadow.restore("0" * 64)


def test_old_snapshots_go_with_what_only_they_hold(place: tuple[Path, Shadow], tmp_path: Path) -> None:
    workspace, shadow = place
    (workspace / "a").write_text("old")
    old = shadow.keep().snapshot
    (workspace / "a").write_text("new")
    new = shadow.keep().snapshot
    long_ago = time.time() - 40 * 24 * 3600
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file() and new not in str(path):
            os.utime(path, (long_ago, long_ago))
    assert shadow.tidy() == 2
    with pytest.raises(OSError):
        shadow.changes(old)
    (workspace / "a").write_text("newer")
    assert shadow.restore(new).paths == ("a",)
    assert (workspace / "a").read_text() == "new"


names = st.sampled_from(["a", "b", "c/d", "c/e", "f/g/h"])
steps = st.lists(st.tuples(names, st.sampled_from(["write", "delete", "link", "chmod"]), st.binary(max_size=4)))


@settings(max_examples=60, deadline=None)
@given(before=steps, after=steps)
def test_any_changes_can_be_taken_back_and_done_again(
    tmp_path_factory: pytest.TempPathFactory, before: list[tuple[str, str, bytes]], after: list[tuple[str, str, bytes]]
) -> None:
    workspace = tmp_path_factory.mktemp("ws")
    shadow = Shadow(workspace, tmp_path_factory.mktemp("store"))
    _do(workspace, before)
    was = tree(workspace)
    kept = shadow.keep()
    _do(workspace, after)
    became = tree(workspace)
    restored = shadow.restore(kept.snapshot)
    assert not restored.problems
    assert tree(workspace) == was
    shadow.restore(restored.before)
    assert tree(workspace) == became


def _do(workspace: Path, changes: list[tuple[str, str, bytes]]) -> None:
    for name, what, data in changes:
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if what != "chmod":
            path.unlink(missing_ok=True)
        if what == "write":
            path.write_bytes(data)
        elif what == "link":
            path.symlink_to("b" if data else "/nowhere")
        elif what == "chmod" and path.is_file() and not path.is_symlink():
            path.chmod(0o600 if data else 0o640)
