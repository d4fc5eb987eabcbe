"""Protected paths that mounts cannot cover: what a command made of them is taken out of effect when it ends."""

from __future__ import annotations

import asyncio
from pathlib import Path, PurePosixPath

import pytest

from sandbox.backends.guard import survey, sweep
from sandbox.operations import PollBackground, RunCommand, Status
from sandbox.policy import PROTECTED
from tests.sandbox.broker_kit import Person, Rig


def test_what_exists_is_mounted_and_its_parents_cannot_be_renamed(tmp_path: Path) -> None:
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".git" / "config").write_text("")
    found = survey(tmp_path, (".git/hooks", ".git/config", ".mcp.json"))
    assert [(bind.path, bind.read_only) for bind in found.binds] == [
        (tmp_path / ".git", False),
        (tmp_path / ".git/hooks", True),
        (tmp_path / ".git/config", True),
    ]
    assert [(watched.path, watched.target) for watched in found.watched] == [(PurePosixPath(".mcp.json"), None)]


def test_a_file_in_place_of_a_folder_is_protected_itself(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: /elsewhere")
    (bind,) = survey(tmp_path, (".git/hooks", ".git/config")).binds
    assert bind.path == tmp_path / ".git" and bind.read_only


def test_links_inside_are_followed_and_watched_and_links_outside_are_watched(tmp_path: Path) -> None:
    (tmp_path / "work" / "real" / "hooks").mkdir(parents=True)
    (tmp_path / "work" / ".git").symlink_to("real")
    inside = survey(tmp_path / "work", (".git/hooks", ".git/config"))
    assert [bind.path.name for bind in inside.binds] == ["real", "hooks"]
    assert {(str(w.path), w.target) for w in inside.watched} == {
        (".git/hooks", "real"),
        (".git/config", "real"),
        ("real/config", None),
    }
    (tmp_path / "work" / ".git").unlink()
    (tmp_path / "work" / ".git").symlink_to(tmp_path)
    outside = survey(tmp_path / "work", (".git/hooks",))
    assert outside.binds == () and outside.watched[0].target == str(tmp_path)


def swept(workspace: Path, *, protected: tuple[str, ...] = PROTECTED) -> list[tuple[str, str]]:
    watched = survey(workspace, protected).watched
    yield_to_the_command(workspace)
    return [(v.path, v.moved_to) for v in sweep(workspace, watched)]


def yield_to_the_command(workspace: Path) -> None:
    """Stands for the command: each test puts its own in place."""
    raise AssertionError


CONFIG = '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://x\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'


@pytest.mark.parametrize(
    ("files", "blocked"),
    [
        ({".git/hooks/pre-commit.sample": "x", ".git/config": CONFIG, ".git/HEAD": "ref"}, []),
        ({".git/hooks/pre-commit": "x"}, [".git/hooks"]),
        ({".git/config": "[core]\n\tfsmonitor = evil\n"}, [".git/config"]),
        ({".git/config": "[alias]\n\tx = !evil\n"}, [".git/config"]),
        ({".git/config": "[core]\n\tbare = false\\\n"}, [".git/config"]),
        ({".git/config": "[include]\n\tpath = evil\n"}, [".git/config"]),
        ({".git/config": "[user] name = x\n"}, [".git/config"]),
        ({".git/config": '[remote "a"]\n\tuploadpack = evil\n'}, [".git/config"]),
        ({".git/config": "x" * 100_000}, [".git/config"]),
        ({".git/commondir": "x"}, [".git/commondir"]),
        ({".git/config.worktree": ""}, [".git/config.worktree"]),
        ({".git": "gitdir: evil"}, [".git"]),
        ({".mcp.json": "{}"}, [".mcp.json"]),
        ({".claude/settings.json": "{}", ".claude/hooks/x": ""}, [".claude/hooks", ".claude/settings.json"]),
        ({".agent-tui/config.toml": ""}, [".agent-tui"]),
        ({"src/a.py": ""}, []),
    ],
)
def test_new_ones_stay_only_when_they_run_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], blocked: list[str]
) -> None:
    def command(workspace: Path) -> None:
        for name, text in files.items():
            (workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (workspace / name).write_text(text)

    monkeypatch.setattr("tests.sandbox.test_guard.yield_to_the_command", command)
    found = swept(tmp_path)
    assert sorted(path for path, _ in found) == blocked
    for path, moved in found:
        assert moved == f"{path}.blocked"
        assert not (tmp_path / path).exists() and (tmp_path / moved).exists()


def test_links_put_in_the_way_are_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "work"
    (outside / "hooks").mkdir(parents=True)
    (outside / "hooks" / "mine").write_text("the person's own")
    workspace.mkdir()
    monkeypatch.setattr(
        "tests.sandbox.test_guard.yield_to_the_command", lambda work: (work / ".claude").symlink_to(outside)
    )
    found = swept(workspace)
    assert [path for path, _ in found] == [".claude"]
    assert (outside / "hooks" / "mine").read_text() == "the person's own"
    assert not (workspace / ".claude").is_symlink() and (workspace / ".claude.blocked").is_symlink()


def test_a_link_that_was_there_is_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").symlink_to("/elsewhere/repository")

    def command(workspace: Path) -> None:
        (workspace / ".git").unlink()
        (workspace / ".git").mkdir()

    monkeypatch.setattr("tests.sandbox.test_guard.yield_to_the_command", command)
    assert swept(tmp_path) == [(".git", ".git.blocked")]
    assert str((tmp_path / ".git").readlink()) == "/elsewhere/repository"
    monkeypatch.setattr("tests.sandbox.test_guard.yield_to_the_command", lambda work: (work / ".git").unlink())
    assert swept(tmp_path) == [(".git", "")]
    assert str((tmp_path / ".git").readlink()) == "/elsewhere/repository"


def test_blocked_names_do_not_overwrite_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.sandbox.test_guard.yield_to_the_command", lambda work: (work / ".mcp.json").write_text("x")
    )
    assert [swept(tmp_path)[0][1] for _ in range(3)] == [
        ".mcp.json.blocked",
        ".mcp.json.blocked1",
        ".mcp.json.blocked2",
    ]


async def test_the_model_is_told_and_it_is_recorded(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand("echo evil > .mcp.json; echo fine"))
        assert done.status is Status.FAILED and done.data == b"fine\n" and done.exit_code == 0
        assert ".mcp.json.blocked" in done.error and done.suggestion
        assert done.blocked == (".mcp.json",) and rig.records("blocked")[-1]["subject"] == ".mcp.json"
        begun = await broker.run(RunCommand("echo evil > .mcp.json; touch ready; exec sleep 600", background=True))
        while not (rig.workspace / "ready").exists():
            await asyncio.sleep(0.01)
        ended = await broker.run(PollBackground(begun.handle, stop=True))
        assert ended.exit_code is not None and not (rig.workspace / ".mcp.json").exists()
    assert len(rig.records("blocked")) == 2 and len(rig.records("result")) == 2


async def test_a_new_repository_works_and_is_protected_from_then_on(rig: Rig, walls: None) -> None:
    async with rig.broker(Person()) as broker:
        made = await broker.run(RunCommand("git init -q . && echo x > f && git add f && git status --short"))
        assert made.status is Status.OK and made.data == b"A  f\n", made
        hook = await broker.run(RunCommand("echo evil > .git/hooks/pre-commit"))
        setting = await broker.run(RunCommand("git config core.pager evil"))
    assert hook.exit_code != 0 and b"Read-only" in hook.data
    assert setting.exit_code != 0
