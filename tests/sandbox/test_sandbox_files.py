"""Files through the helper: what is read, listed, found and written, and what is refused."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from pathlib import Path

import pytest

from sandbox.broker import Broker
from sandbox.operations import ListFiles, Outcome, ReadFile, RunCommand, SearchFiles, Status, WriteFile
from sandbox.policies import named_policy
from tests.sandbox.broker_kit import Person, Rig

BACKENDS = pytest.mark.parametrize("backend", ["bwrap", "bare"])
pytestmark = pytest.mark.usefixtures("walls")


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def one(rig: Rig, op: ReadFile | WriteFile | ListFiles | SearchFiles, backend: str = "bwrap") -> Outcome:
    async with rig.broker(Person(), backend=backend) as broker:
        return await broker.run(op)


@BACKENDS
async def test_reading_a_part(rig: Rig, backend: str) -> None:
    (rig.workspace / "a").write_bytes(b"0123456789\xff\0")
    async with rig.broker(Person(), backend=backend) as broker:
        whole = await broker.run(ReadFile("a"))
        part = await broker.run(ReadFile("a", offset=3, length=4))
        beyond = await broker.run(ReadFile("a", offset=99))
        absolute = await broker.run(ReadFile(str(rig.workspace / "a"), length=2))
    assert whole.data == b"0123456789\xff\0" and whole.size == 12 and not whole.truncated
    assert whole.sha256 == part.sha256 == sha(b"0123456789\xff\0")
    assert part.data == b"3456" and part.truncated
    assert beyond.data == b"" and beyond.status is Status.OK
    assert absolute.data == b"01"


@pytest.mark.parametrize(
    ("path", "says"),
    [("nosuch", "does not exist"), (".", "folder"), ("pipe", "pipe"), ("a/b", "folder is needed"), ("loop", "loop")],
)
async def test_what_is_no_file_is_said_in_words(rig: Rig, path: str, says: str) -> None:
    (rig.workspace / "a").write_text("x")
    os.mkfifo(rig.workspace / "pipe")
    (rig.workspace / "loop").symlink_to("loop")
    done = await asyncio.wait_for(one(rig, ReadFile(path)), 20)
    assert done.status is Status.ERROR and says in done.error and path in done.error


@pytest.mark.parametrize("op", [ReadFile("a\0b"), ReadFile("a", offset=-1), ReadFile("a", length=-1), ReadFile("")])
async def test_odd_requests(rig: Rig, op: ReadFile) -> None:
    (rig.workspace / "a").write_text("x")
    assert (await one(rig, op)).status is Status.ERROR


async def test_names_that_are_no_utf8_and_names_like_markup(rig: Rig) -> None:
    for name in (b"\xff\xfe", b"[bold]x[", b"a\nb", "é".encode()):
        (Path(os.fsdecode(os.fsencode(rig.workspace) + b"/" + name))).write_bytes(name)
    async with rig.broker(Person()) as broker:
        listed = await broker.run(ListFiles())
        assert len(listed.entries) == 4
        for entry in listed.entries:
            assert (await broker.run(ReadFile(entry.path))).data == os.fsencode(entry.path)


@BACKENDS
async def test_listing(rig: Rig, backend: str) -> None:
    for path in ("b/c/d.txt", "b/a.txt", "z.txt", ".hidden", "node_modules/x", "__pycache__/y", ".git/config"):
        (rig.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (rig.workspace / path).write_text("12345")
    (rig.workspace / "link").symlink_to("z.txt")
    os.mkfifo(rig.workspace / "pipe")
    async with rig.broker(Person(), backend=backend) as broker:

        async def paths(op: ListFiles) -> list[str]:
            return [entry.path for entry in (await broker.run(op)).entries]

        top = await broker.run(ListFiles())
        assert [(e.path, e.kind) for e in top.entries] == [
            ("b", "dir"),
            ("link", "link"),
            ("pipe", "other"),
            ("z.txt", "file"),
        ]
        assert top.entries[3].size == 5
        assert await paths(ListFiles(depth=3)) == ["b", "b/a.txt", "b/c", "b/c/d.txt", "link", "pipe", "z.txt"]
        assert await paths(ListFiles("b", depth=1)) == ["b/a.txt", "b/c"]
        everything = await paths(ListFiles(depth=2, all=True))
        assert {".hidden", "node_modules/x", ".git/config"} <= set(everything)
        assert await paths(ListFiles("z.txt")) == ["z.txt"]
        some = await broker.run(ListFiles(depth=3, limit=2))
        assert len(some.entries) == 2 and some.truncated
        assert (await broker.run(ListFiles("nosuch"))).status is Status.ERROR


@BACKENDS
async def test_writing(rig: Rig, backend: str) -> None:
    async with rig.broker(Person(), backend=backend) as broker:
        made = await broker.run(WriteFile("new/deep/a", b"one"))
        assert made.status is Status.OK and made.sha256 == sha(b"one") and made.size == 3
        target = rig.workspace / "new" / "deep" / "a"
        target.chmod(0o755)
        again = await broker.run(WriteFile("new/deep/a", b"two", expected_sha256=sha(b"one")))
        assert again.status is Status.OK
        assert target.read_bytes() == b"two" and target.stat().st_mode & 0o777 == 0o755
        stale = await broker.run(WriteFile("new/deep/a", b"three", expected_sha256=sha(b"one")))
        assert stale.status is Status.ERROR and "changed" in stale.error and "read it again" in stale.suggestion
        taken = await broker.run(WriteFile("new/deep/a", b"three", expected_sha256=""))
        assert taken.status is Status.ERROR and "exists" in taken.error
        gone = await broker.run(WriteFile("other", b"three", expected_sha256=sha(b"one")))
        assert gone.status is Status.ERROR and "no longer" in gone.error
        fresh = await broker.run(WriteFile("other", b"", expected_sha256=""))
        assert fresh.status is Status.OK
        folder = await broker.run(WriteFile("new", b"x"))
        assert folder.status is Status.ERROR
        below = await broker.run(WriteFile("other/x", b"x"))
        assert below.status is Status.ERROR
    assert target.read_bytes() == b"two"
    assert sorted(p.name for p in rig.workspace.rglob("*")) == ["a", "deep", "new", "other"]


async def test_writing_through_a_link_inside_keeps_the_link(rig: Rig) -> None:
    (rig.workspace / "real").write_text("old")
    (rig.workspace / "link").symlink_to("real")
    assert (await one(rig, WriteFile("link", b"new"))).status is Status.OK
    assert (rig.workspace / "link").is_symlink() and (rig.workspace / "real").read_text() == "new"


@BACKENDS
@pytest.mark.parametrize(
    "path", ["../made", "/{base}/made", "outbox/made", "deep/../../made", "dangling", "~/made", "outbox/../made"]
)
async def test_nothing_is_written_outside(rig: Rig, backend: str, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(rig.base))
    outside = rig.base / "outside"
    outside.mkdir()
    (rig.workspace / "outbox").symlink_to(outside)
    (rig.workspace / "dangling").symlink_to("../made")
    person = Person()
    async with rig.broker(person, backend=backend) as broker:
        done = await broker.run(WriteFile(path.format(base=rig.base), b"x"))
    assert done.status is Status.DENIED and "outside the workspace" in done.error and done.suggestion
    assert person.asked == [] and rig.records("blocked")
    assert not (rig.base / "made").exists() and list(outside.iterdir()) == []


@BACKENDS
@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        ".git",
        ".git/../.git/hooks/x",
        "sneaky/pre-commit",
        ".agent-tui/policy.toml",
        ".mcp.json",
        ".claude/settings.json",
        ".claude",
    ],
)
async def test_protected_paths_are_refused_whether_they_exist_or_not(rig: Rig, backend: str, path: str) -> None:
    (rig.workspace / "sneaky").symlink_to(".git/hooks")
    async with rig.broker(Person(), backend=backend) as broker:
        missing = await broker.run(WriteFile(path, b"x"))
        (rig.workspace / ".git" / "hooks").mkdir(parents=True)
        present = await broker.run(WriteFile(path, b"x"))
    assert missing.status is Status.DENIED and "protected" in missing.error
    assert present.status is not Status.OK and ("protected" in present.error or path == ".git")
    assert list((rig.workspace / ".git" / "hooks").iterdir()) == []


@pytest.mark.parametrize("path", ["pipe", "socket-like"])
async def test_special_files_are_not_written(rig: Rig, path: str) -> None:
    os.mkfifo(rig.workspace / "pipe")
    os.mkfifo(rig.workspace / "real-pipe")
    (rig.workspace / "socket-like").symlink_to("real-pipe")
    done = await asyncio.wait_for(one(rig, WriteFile(path, b"x")), 20)
    assert done.status is Status.ERROR and "pipe" in done.error


async def test_a_read_only_policy_writes_nothing(rig: Rig) -> None:
    policy = named_policy("read-only", rig.workspace)
    person = Person()
    async with rig.broker(person, policy=policy) as broker:
        done = await broker.run(WriteFile("a", b"x"))
        shell = await broker.run(RunCommand("touch b"))
    assert done.status is Status.DENIED and "read-only" in done.error and len(person.asked) == 1
    assert shell.exit_code != 0 and list(rig.workspace.iterdir()) == []


async def _helper_pids(broker: Broker) -> list[int]:
    mark = str(broker.policy.workspace).encode()
    found = []
    for entry in Path("/proc").iterdir():
        try:
            helps = entry.name.isdigit() and b"sandbox.helper.serve" in (entry / "cmdline").read_bytes()
            if helps and mark in (entry / "mountinfo").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def test_the_helper_starts_late_comes_back_and_ends(rig: Rig) -> None:
    (rig.workspace / "a").write_text("text")
    async with rig.broker(Person()) as broker:
        assert await _helper_pids(broker) == []
        assert (await broker.run(ReadFile("a"))).data == b"text"
        (pid,) = [p for p in await _helper_pids(broker) if b"python" in Path(f"/proc/{p}/exe").readlink().name.encode()]
        os.kill(pid, signal.SIGKILL)
        assert (await broker.run(ReadFile("a"))).data == b"text"
        assert pid not in await _helper_pids(broker)
    assert await _helper_pids(broker) == []


async def test_many_at_once_and_some_cancelled(rig: Rig) -> None:
    for number in range(20):
        (rig.workspace / f"f{number}").write_text(str(number))
    async with rig.broker(Person()) as broker:
        calls = [asyncio.create_task(broker.run(ReadFile(f"f{number}"))) for number in range(20)]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        done = await asyncio.gather(*calls, return_exceptions=True)
        for number, outcome in enumerate(done):
            if isinstance(outcome, Outcome):
                assert outcome.data == str(number).encode()
        assert (await broker.run(ReadFile("f7"))).data == b"7"


async def test_files_and_commands_see_the_same(rig: Rig) -> None:
    async with rig.broker(Person()) as broker:
        await broker.run(RunCommand("mkdir d; echo made > d/x"))
        assert (await broker.run(ReadFile("d/x"))).data == b"made\n"
        await broker.run(WriteFile("d/x", b"changed"))
        assert (await broker.run(RunCommand("cat d/x"))).data == b"changed"


async def test_large_files_pass_through(rig: Rig) -> None:
    data = os.urandom(3_000_000)
    async with rig.broker(Person()) as broker:
        assert (await broker.run(WriteFile("big", data))).sha256 == sha(data)
        assert (await broker.run(ReadFile("big"))).data == data
