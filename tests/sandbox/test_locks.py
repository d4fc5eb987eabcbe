"""What only some policies turn: noexec mounts, Landlock, memory protection; and where a kernel has none of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends import bubblewrap, locks, pick_backend
from sandbox.backends.locks import LocksError
from sandbox.operations import ReadFile, RunArgv, RunCommand, Status, WriteFile
from sandbox.policies import named_policy
from sandbox.policy import Network, Policy
from tests.sandbox.broker_kit import Person, Rig

PYTHON = (sys.executable, "-I", "-S", "-c")


@pytest.fixture
def strict(rig: Rig) -> Policy:
    return named_policy("strict", rig.workspace)


@pytest.fixture(autouse=True)
def ask_again() -> Iterator[None]:
    """What was found out about this kernel is forgotten before and after each test."""
    cached = (locks.landlock_abi, locks.has_noexec, locks.has_memory_protection, locks.gaps, bubblewrap._probe)
    for each in cached:
        each.cache_clear()
    yield
    for each in cached:
        each.cache_clear()


def an_old_kernel(monkeypatch: pytest.MonkeyPatch, *, landlock: int = 0, noexec: bool = False) -> None:
    monkeypatch.setattr(locks, "landlock_abi", lambda: landlock)
    monkeypatch.setattr(locks, "has_noexec", lambda: noexec)
    monkeypatch.setattr(locks, "has_memory_protection", lambda: False)
    locks.gaps.cache_clear()
    bubblewrap._probe.cache_clear()


async def run(rig: Rig, policy: Policy, command: str) -> str:
    async with rig.broker(Person(), policy=policy) as broker:
        done = await broker.run(RunCommand(command))
    assert done.status is Status.OK, done
    return done.data.decode()


async def test_nothing_is_left_of_what_the_launcher_needs(rig: Rig, walls: None, strict: Policy) -> None:
    said = await run(rig, strict, "grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status")
    values = dict(line.split(":\t") for line in said.splitlines())
    assert {int(value, 16) for name, value in values.items() if name.startswith("Cap")} == {0}
    assert values["NoNewPrivs"] == "1" and values["Seccomp"] == "2"


async def test_work_goes_on_under_strict(rig: Rig, walls: None, strict: Policy) -> None:
    (rig.workspace / "s.py").write_text("print('from a script')")
    command = (
        "python3 s.py && bash -c 'echo in a shell' && mkdir d && echo x > d/a && mv d/a b && rm -r d && "
        "ls / > /dev/null && git init -q . && git status --short && yes | head -1 && echo x > /tmp/y && cat /tmp/y"
    )
    assert await run(rig, strict, command) == "from a script\nin a shell\n?? b\n?? s.py\ny\nx\n"


async def test_files_work_behind_both_walls(rig: Rig, walls: None, strict: Policy) -> None:
    async with rig.broker(Person(), policy=strict) as broker:
        assert (await broker.run(WriteFile("new/a", b"text"))).status is Status.OK
        assert (await broker.run(ReadFile("new/a"))).data == b"text"
        assert (await broker.run(ReadFile("/etc/shadow"))).status is not Status.OK


async def test_a_refused_program_and_a_missing_one_are_told_apart(rig: Rig, walls: None, strict: Policy) -> None:
    program = rig.workspace / "mine"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    async with rig.broker(Person(), policy=strict) as broker:
        refused = await broker.run(RunArgv(("./mine",)))
        missing = await broker.run(RunArgv(("no-such-program",)))
    assert refused.exit_code == missing.exit_code == 127
    assert "Permission denied" in refused.error and "runs nothing" in refused.suggestion
    assert "No such file" in missing.error and "check the name" in missing.suggestion


async def test_an_exception_under_a_policy_that_forbids_execution(rig: Rig, walls: None, strict: Policy) -> None:
    policy = replace(strict, wx=(Path(sys.executable).name,))
    code = "import mmap; mmap.mmap(-1, 4096, prot=7); print(1)"
    async with rig.broker(Person(), policy=policy) as broker:
        assert (await broker.run(RunArgv((*PYTHON, code)))).data == b"1\n"
    async with rig.broker(Person(), policy=strict) as broker:
        assert b"PermissionError" in (await broker.run(RunArgv((*PYTHON, code)))).data


async def test_tcp_is_closed_only_where_there_is_no_network(rig: Rig, walls: None, strict: Policy) -> None:
    listen = "python3 -c 'import socket; socket.create_server((\"127.0.0.1\", 0)); print(1)'"
    async with rig.broker(Person(), policy=strict) as broker:
        assert (await broker.run(RunCommand(listen))).exit_code == 1
    assert await run(rig, replace(strict, network=Network.FULL), listen) == "1\n"


async def test_only_a_data_folder_is_closed(rig: Rig, walls: None) -> None:
    policy = replace(named_policy("workspace", rig.workspace), data=("in/coming", "other"))
    command = (
        "cp /bin/echo here; ./here ran; cp here in/coming/x; cp here other/x; in/coming/x bad; other/x bad; ls -A other"
    )
    assert (await run(rig, policy, command + " 2>/dev/null; true")).splitlines()[0] == "ran"
    assert "bad" not in [line for line in (await run(rig, policy, command)).splitlines()]
    assert (rig.workspace / "in" / "coming" / "x").exists()


def test_a_data_folder_must_be_one_of_the_workspace(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "file").write_text("")
    (workspace / "link").symlink_to(tmp_path)
    for name in ("file", "link"):
        with pytest.raises(LocksError, match=name):
            locks.check(replace(named_policy("workspace", workspace), data=(name,)), (), "/usr/bin/python3")
    with pytest.raises(LocksError, match="cannot be used"):
        locks.check(replace(named_policy("read-only", workspace), data=("missing",)), (), "/usr/bin/python3")


def test_an_interpreter_that_could_be_changed_turns_no_locks(tmp_path: Path) -> None:
    strict = named_policy("strict", tmp_path)
    with pytest.raises(LocksError, match="nothing inside can change"):
        locks.check(strict, (), str(tmp_path / "venv" / "bin" / "python3"))
    locks.check(strict, (tmp_path / "tools",), str(tmp_path / "tools" / "bin" / "python3"))


@pytest.mark.parametrize("name", ["with space", "back\\slash", "new\nline", "tab\t", "ünï", "=", "--"])
async def test_odd_names(tmp_path: Path, walls: None, name: str) -> None:
    rig = Rig(tmp_path / name)
    policy = replace(named_policy("strict", rig.workspace))
    assert (
        await run(rig, policy, "echo x > a && cat a && cp /bin/true b && (./b 2>/dev/null || echo refused)")
        == "x\nrefused\n"
    )


async def test_a_workspace_that_is_the_home_folder_keeps_its_tools(
    tmp_path: Path, walls: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path)
    monkeypatch.setenv("HOME", str(rig.workspace))
    tool = rig.workspace / ".tools" / "bin" / "tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho ran\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    policy = named_policy("strict", rig.workspace)
    assert (
        await run(rig, policy, "tool; cp $(command -v tool) mine; ./mine 2>/dev/null || echo refused")
        == "ran\nrefused\n"
    )


def test_the_default_needs_no_launcher(tmp_path: Path) -> None:
    assert not locks.needed(named_policy("workspace", tmp_path))
    assert not locks.needed(named_policy("read-only", tmp_path))
    assert locks.needed(named_policy("strict", tmp_path))


async def test_a_kernel_that_cannot_is_not_pretended_to(
    rig: Rig, walls: None, strict: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_old_kernel(monkeypatch)
    found = pick_backend().capabilities()
    assert found.works and found.landlock == 0 and len(found.gaps) == 3 and "Landlock" in " ".join(found.gaps)
    with pytest.raises(ValueError, match=r"strict forbids running files.*Linux 5\.12"):
        async with rig.broker(Person(), policy=strict):
            pass
    assert await run(rig, named_policy("workspace", rig.workspace), "echo works") == "works\n"


async def test_without_landlock_the_mounts_still_hold(
    rig: Rig, walls: None, strict: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    an_old_kernel(monkeypatch, noexec=True)
    assert "Landlock" in locks.gaps()[0]
    async with rig.broker(Person(), policy=strict) as broker:
        done = await broker.run(RunCommand("cp /bin/true mine; ./mine"))
    assert done.exit_code == 126


@pytest.mark.parametrize(("abi", "lacks"), [(1, "TCP"), (3, "TCP"), (4, "signals"), (5, "signals")])
async def test_older_landlocks_are_used_as_far_as_they_go(
    rig: Rig, walls: None, strict: Policy, monkeypatch: pytest.MonkeyPatch, abi: int, lacks: str
) -> None:
    if locks.landlock_abi() < abi:
        pytest.skip(f"this kernel has no Landlock {abi}")
    an_old_kernel(monkeypatch, landlock=abi, noexec=True)
    assert lacks in " ".join(locks.gaps())
    assert await run(rig, strict, "echo x > a; cat a; ls") == "x\na\n"


async def test_landlock_alone_holds(rig: Rig, walls: None, strict: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the mounts left as they are, the second wall by itself refuses to run what was written."""
    if not locks.landlock_abi():
        pytest.skip("this kernel has no Landlock")
    words = locks.words
    monkeypatch.setattr(locks, "words", lambda *a, **k: [w for w in words(*a, **k) if not w.startswith("noexec=")])
    async with rig.broker(Person(), policy=strict) as broker:
        done = await broker.run(RunCommand("grep -c noexec /proc/self/mountinfo; cp /bin/true mine; ./mine"))
        wrote = await broker.run(RunCommand("echo x > /proc/self/comm"))
    assert done.exit_code == 126 and b"Permission denied" in done.data and wrote.exit_code == 1


async def test_what_cannot_be_locked_does_not_run(
    rig: Rig, walls: None, strict: Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = locks.words
    monkeypatch.setattr(locks, "words", lambda *a, **k: ["noexec=/no/such/mount", *words(*a, **k)])
    async with rig.broker(Person(), policy=strict) as broker:
        done = await broker.run(RunCommand("touch made"))
    assert done.status is Status.ERROR and "noexec on /no/such/mount" in done.error
    assert not (rig.workspace / "made").exists()
