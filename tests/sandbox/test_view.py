"""What a program in the sandbox sees: enough to work, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import open_broker
from sandbox.backends import toolchains
from sandbox.operations import ListFiles, ReadFile, RunCommand, Status
from sandbox.policies import named_policy
from tests.sandbox.broker_kit import Person, Rig

pytestmark = pytest.mark.usefixtures("walls")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with things to hide."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("key")
    (home / ".bashrc").write_text("echo started")
    (home / "other-project").mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


async def run(rig: Rig, command: str, **more: object) -> str:
    async with rig.broker(Person(), **more) as broker:  # type: ignore[arg-type]
        done = await broker.run(RunCommand(command))
    assert done.status is Status.OK, done
    return done.data.decode()


async def test_the_home_folder_is_there_empty_private_and_new_each_time(rig: Rig, home: Path) -> None:
    assert await run(rig, "echo $HOME; ls -A ~; echo x > ~/mine; ls -A ~") == f"{home}\nmine\n"
    assert await run(rig, "ls -A ~") == ""
    assert sorted(path.name for path in home.iterdir()) == [".bashrc", ".ssh", "other-project"]


async def test_the_environment_is_built_not_inherited(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    monkeypatch.setenv("LD_PRELOAD", "")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    names = {line.partition("=")[0] for line in (await run(rig, "env")).splitlines()}
    assert {"PATH", "HOME", "LC_ALL"} <= names
    assert not names & {"MY_TOKEN", "LD_PRELOAD", "PYTHONPATH", "VIRTUAL_ENV", "SSH_AUTH_SOCK"}


async def test_this_python_and_tools_on_path_work(rig: Rig) -> None:
    assert await run(rig, f"{sys.executable} -c 'import ssl, sqlite3; print(1)'") == "1\n"
    assert "git version" in await run(rig, "git --version")


async def test_a_tool_folder_on_path_is_shown_without_what_it_hides(
    rig: Rig, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for prefix in (home / ".tools", home / ".cargo"):
        (prefix / "bin").mkdir(parents=True)
        (prefix / "lib").mkdir()
        (prefix / "lib" / "data").write_text("data")
        (prefix / "bin" / f"tool-{prefix.name}").write_text('#!/bin/sh\ncat "${0%/bin/*}/lib/data" || echo none\n')
        (prefix / "bin" / f"tool-{prefix.name}").chmod(0o755)
    (home / ".cargo" / "credentials.toml").write_text("token")
    monkeypatch.setenv("PATH", f"{home}/.tools/bin:{home}/.cargo/bin:{home}:{os.environ['PATH']}")
    assert await run(rig, "tool-.tools") == "data"
    assert await run(rig, "tool-.cargo 2>/dev/null; ls -A ~/.cargo") == "none\nbin\n"
    assert await run(rig, "ls -A ~ | sort") == ".cargo\n.tools\n"


def test_roots_never_show_the_home_folder_or_what_holds_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{home}:{home.parent}:/:/tmp:relative:{home}/bin")
    (home / "bin").mkdir()
    found = toolchains.roots(home / "project")
    assert home / "bin" in found
    assert not any(home.is_relative_to(root) for root in found)


async def test_a_home_folder_as_workspace_hides_its_dot_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / ".tools" / "bin").mkdir(parents=True)
    (home / ".tools" / "bin" / "mine").write_text("#!/bin/sh\necho my tool\n")
    (home / ".tools" / "bin" / "mine").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}/.tools/bin:{os.environ['PATH']}")
    policy = named_policy("workspace", home)
    folders = {
        "rules_path": home / ".config/x/rules.toml",
        "audit_dir": home / ".local/a",
        "state_dir": home / ".local/s",
    }
    broker = await open_broker(policy, mode="ask", asker=Person(), **folders)
    try:
        done = await broker.run(
            RunCommand("cat .ssh/id .bashrc; echo evil >> .bashrc; ls other-project; touch made; echo $HOME; mine")
        )
        assert b"key" not in done.data and b"started" not in done.data and b"/tmp/home\nmy tool\n" in done.data
        assert (home / ".bashrc").read_text() == "echo started" and (home / "made").exists()
        assert (await broker.run(ReadFile(".ssh/id"))).status is Status.ERROR
    finally:
        await broker.close()


async def test_records_and_rules_inside_the_workspace_are_hidden(rig: Rig) -> None:
    inside = rig.workspace / "own"
    policy = named_policy("workspace", rig.workspace)
    broker = await open_broker(
        policy,
        mode="ask",
        asker=Person(),
        rules_path=rig.workspace / "rules.toml",
        audit_dir=inside / "audit",
        state_dir=inside / "state",
    )
    try:
        await broker.run(RunCommand("touch made"))
        await broker.run(
            RunCommand("echo '[[rule]]' > rules.toml; echo x >> own/audit/audit.jsonl; rm -rf own/audit own/state")
        )
        assert (rig.workspace / "rules.toml").read_text() == ""
        assert "touch made" in (inside / "audit" / "audit.jsonl").read_text()
        assert (await broker.run(ListFiles("own/audit"))).entries == ()
    finally:
        await broker.close()


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, timeout=20)


async def test_a_worktree_sees_its_repository_read_only(rig: Rig) -> None:
    main = rig.base / "main"
    main.mkdir()
    git(main, "init", "-q", "-b", "trunk")
    git(main, "commit", "-q", "--allow-empty", "-m", "first words")
    rig.workspace.rmdir()
    git(main, "worktree", "add", "-q", str(rig.workspace))
    assert "first words" in await run(rig, "git log --oneline")
    async with rig.broker(Person()) as broker:
        done = await broker.run(
            RunCommand("echo 'gitdir: evil' > .git; rm -f .git; mv .git x; git config core.pager evil")
        )
        assert done.exit_code != 0
    assert (rig.workspace / ".git").read_text().startswith("gitdir: ") and "pager" not in (
        main / ".git/config"
    ).read_text()


async def test_a_forged_worktree_shows_nothing(rig: Rig, home: Path) -> None:
    for target in (home / ".ssh", home):
        (rig.workspace / ".git").write_text(f"gitdir: {target}\n")
        async with rig.broker(Person()) as broker:
            assert (await broker.run(ReadFile(str(home / ".ssh" / "id")))).status is Status.ERROR


async def test_who_commits_is_known_inside_and_nothing_else_of_the_settings(rig: Rig, home: Path) -> None:
    (home / ".gitconfig").write_text(
        '[user]\n\tname = Ada "L"\n\temail = ada@example.org\n[credential]\n\thelper = secret\n[user]\n\tname = Ada L\n'
    )
    assert await run(rig, "cat ~/.gitconfig") == '[user]\n\temail = "ada@example.org"\n\tname = "Ada L"\n'
    assert "Ada L <ada@example.org>" in await run(
        rig, "git init -q . && git commit -q --allow-empty -m x && git log --format='%an <%ae>'"
    )


async def test_further_folders_of_a_policy_are_read_only(rig: Rig) -> None:
    data = rig.base / "data"
    data.mkdir()
    (data / "x").write_text("text")
    policy = replace(named_policy("workspace", rig.workspace), readable=(data,))
    assert await run(rig, f"cat {data}/x; touch {data}/y 2>/dev/null || echo no", policy=policy) == "textno\n"


async def test_temporary_files_are_private(rig: Rig) -> None:
    with tempfile.NamedTemporaryFile(prefix="of-the-host-") as theirs:
        seen = await run(rig, "echo x > /tmp/mine && cat /tmp/mine && ls -a /tmp /var/tmp")
        assert seen.startswith("x\n") and "mine\n" in seen and Path(theirs.name).name not in seen
    assert "mine" not in await run(rig, "ls /tmp /var/tmp")
