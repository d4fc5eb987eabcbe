"""A sandbox on this machine: commands as process trees of their own, files through the helper. Both walls or none.

What wraps a program (bubblewrap, or nothing) is the backend's; everything around it is here.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from sandbox.backends import guard, running
from sandbox.backends.base import OnOutput, Place
from sandbox.backends.files import FileHelper
from sandbox.backends.hardlinks import OldLinks
from sandbox.backends.mounts import Bind
from sandbox.backends.pictures import MOST_BYTES, Decoder
from sandbox.backends.running import Launch, Running
from sandbox.backends.way_out import Way, WayOut
from sandbox.limits import disk, hits
from sandbox.operations import DecodePicture, ListFiles, Outcome, ReadFile, SearchFiles, Status, WriteFile
from sandbox.policy import Policy

_CANCEL_GRACE = 0.25
_NOT_FOUND = 127


class Wrap(Protocol):
    """How a backend starts a program. ``path``: PATH as programs see it. ``python``: interpreter and import folder for
    the file helper, as seen from inside."""

    policy: Policy
    path: str
    python: tuple[str, str]

    def launch(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        binds: tuple[Bind, ...],
        way: Way | None = None,
    ) -> Launch: ...


class Command:
    """A running command of this sandbox; after its end the protected paths have been looked at."""

    def __init__(self, run: Running, owner: LocalSandbox, way: Way | None = None) -> None:
        self._run = run
        self._way = way
        self._owner = owner
        self._timed_out = 0.0
        self._violations: tuple[guard.Violation, ...] | None = None

    @property
    def output(self) -> bytearray:
        return self._run.output

    @property
    def total(self) -> int:
        return self._run.total

    @property
    def exit_code(self) -> int | None:
        return self._run.exit_code

    async def wait(self, timeout: float | None) -> bool:
        """Whether it ended within ``timeout`` seconds; None waits for ever."""
        ended = await self._run.wait(timeout)
        if ended:
            self._settle()
        return ended

    async def stop(self, grace: float = 2.0) -> None:
        """End the whole tree; returns when it is gone, even when cancelled meanwhile."""
        try:
            await running.uncancelled(self._run.stop(grace))
        finally:
            self._settle()

    async def finish(self, timeout: float) -> Outcome:
        """Wait for the end, enforce the time limit. Cancelling ends the tree before the cancellation goes on."""
        try:
            if not await self.wait(timeout):
                self._timed_out = timeout
                await self.stop()
        except BaseException:
            await self.stop(_CANCEL_GRACE)
            raise
        return self.outcome()

    def outcome(self) -> Outcome:
        """How it ended, or (``exit_code`` None) how far it has come."""
        run, code = self._run, self._run.exit_code
        done = Outcome(
            Status.OK if code in (0, None) else Status.FAILED,
            data=bytes(run.output),
            exit_code=code,
            total=run.total,
            truncated=run.total > len(run.output),
            seconds=run.seconds,
            reached=tuple(self._way.reached) if self._way else (),
        )
        if code is None:
            return done
        if self._timed_out:
            done = replace(
                done,
                status=Status.TIMED_OUT,
                error=f"it did not end within {self._timed_out:g} s and was stopped, with everything it had started",
                suggestion="give a longer timeout, or run it in the background and read on",
            )
        else:
            done = explain(done)
        return self._report(self._limited(done))

    def _limited(self, done: Outcome) -> Outcome:
        """Say which limit was reached. A command that was refused or stopped has failed, whatever it makes of it."""
        hit = self._run.hit
        if hit is None and done.status is Status.FAILED and not done.error:
            hit = hits.of_exit(done.exit_code, done.data)
            if hit is not None and hit.kind is hits.Kind.SCRATCH and disk.full(self._owner.policy.workspace):
                return replace(done, error="the disk is full", suggestion="a person has to make room on it")
        if hit is None:
            return done
        error, suggestion = hits.explain(hit, self._owner.policy.limits)
        return replace(
            done,
            status=Status.FAILED if done.status is Status.OK else done.status,
            error=f"{done.error}; {error}" if done.error else error,
            suggestion=suggestion,
        )

    def _settle(self) -> None:
        if self._violations is None and self._run.ended.done():
            self._violations = self._owner.settled()

    def _report(self, done: Outcome) -> Outcome:
        if not self._violations:
            return done
        undone = ", ".join(f"{v.path} (now {v.moved_to})" if v.moved_to else v.path for v in self._violations)
        status = Status.FAILED if done.status is Status.OK else done.status
        return replace(
            done,
            status=status,
            blocked=tuple(v.path for v in self._violations),
            error=f"protected paths were created and have been taken out of effect: {undone}",
            suggestion="leave these paths alone: they can run code outside the sandbox; a person can make the change",
        )


class LocalSandbox:
    """See `sandbox.backends.base.Sandbox`. ``guarded``: protected paths are enforced (only with real walls).
    ``way_out``: None where nothing keeps a command from the network anyway. ``decoder``: None where there are no walls
    to decode a picture behind."""

    def __init__(self, wrap: Wrap, way_out: WayOut | None, *, guarded: bool, decoder: Decoder | None = None) -> None:
        self._decoder = decoder
        self._wrap = wrap
        self._way_out = way_out
        self._guarded = guarded and wrap.policy.writable
        self._old_links = OldLinks(wrap.policy.workspace)
        self._active = 0
        self._watched: tuple[guard.Watched, ...] = ()
        self._files = FileHelper(self._helper_launch, wrap.policy)
        self._commands: set[Command] = set()

    @property
    def policy(self) -> Policy:
        return self._wrap.policy

    @property
    def path(self) -> str:
        """PATH as programs see it."""
        return self._wrap.path

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str = ".",
        env: Mapping[str, str] | None = None,
        timeout: float | None = None,
        on_output: OnOutput | None = None,
        call: str = "",
    ) -> Outcome:
        """Run a program to its end. ``timeout`` in seconds, capped by the policy."""
        wall = self.policy.limits.wall_seconds
        started = await self._start(argv, cwd, env, call, on_output)
        if isinstance(started, Outcome):
            return started
        return await started.finish(min(timeout if timeout is not None else wall, wall))

    async def spawn(
        self, argv: Sequence[str], *, cwd: str = ".", env: Mapping[str, str] | None = None, call: str = ""
    ) -> Command | Outcome:
        """Start a program and leave it running; an Outcome when it cannot be started. Ended by `stop` at the latest."""
        return await self._start(argv, cwd, env, call, None)

    async def _start(
        self, argv: Sequence[str], cwd: str, env: Mapping[str, str] | None, call: str, on_output: OnOutput | None
    ) -> Command | Outcome:
        try:
            way = await self._way_out.open(call) if self._way_out is not None else None
        except (OSError, ValueError) as error:
            return Outcome(Status.ERROR, error=f"the network could not be set up, so nothing ran: {error}")
        started = self._start_with(way, argv, cwd, env, on_output)
        if isinstance(started, Outcome):
            self._shut(way)
        return started

    def _shut(self, way: Way | None) -> None:
        if self._way_out is not None:
            self._way_out.shut(way)

    def _start_with(
        self,
        way: Way | None,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str] | None,
        on_output: OnOutput | None,
    ) -> Command | Outcome:
        try:
            binds = self._protect() + (self._old_links.binds() if self._guarded else ())
            launch = self._wrap.launch(argv, cwd, env or {}, binds, way)
            run = running.start(launch, self.policy.limits, on_output, self._writes())
        except ValueError as error:
            return Outcome(Status.ERROR, error=str(error), suggestion="write it without NUL characters")
        except FileNotFoundError as error:
            return Outcome(Status.FAILED, exit_code=_NOT_FOUND, error=f"{error.filename}: not found")
        except OSError as error:
            return Outcome(Status.ERROR, error=f"it could not be started: {error.strerror or error}")
        self._active += 1
        command = Command(run, self, way)
        self._commands.add(command)
        run.ended.add_done_callback(lambda _task: self._commands.discard(command))
        run.ended.add_done_callback(lambda _task: self._shut(way))
        return command

    def _writes(self) -> Path | None:
        """The folder on disk that commands may fill."""
        return self.policy.workspace if self.policy.writable else None

    def _protect(self) -> tuple[Bind, ...]:
        """Survey protected paths. While commands run, what is watched stays as it was before the first of them."""
        if not self._guarded:
            return ()
        protection = guard.survey(self.policy.workspace, self.policy.protected)
        if not self._active:
            self._watched = protection.watched
        return protection.binds

    def settled(self) -> tuple[guard.Violation, ...]:
        """A command ended: undo what it did to protected paths."""
        self._active -= 1
        return guard.sweep(self.policy.workspace, self._watched) if self._guarded else ()

    def _helper_launch(self) -> Launch:
        python, root = self._wrap.python
        start = f"import sys; sys.path.insert(0, {root!r}); from sandbox.helper.serve import main; main()"
        return self._wrap.launch((python, "-I", "-S", "-c", start), ".", {}, self._protect())

    async def look(self, path: str) -> Place:
        """Where ``path`` leads. Never raises for what it finds: see ``Place.error``."""
        return await self._files.look(path)

    async def read(self, op: ReadFile) -> Outcome:
        """Bytes of a regular file."""
        return await self._files.read(op)

    async def list(self, op: ListFiles) -> Outcome:
        """Entries below a folder, sorted by path."""
        return await self._files.list(op)

    async def search(self, op: SearchFiles) -> Outcome:
        """Matching lines, sorted by path and line."""
        return await self._files.search(op)

    async def write(self, op: WriteFile) -> Outcome:
        """Replace or create a file of the workspace."""
        return await self._files.write(op)

    async def picture(self, op: DecodePicture) -> Outcome:
        """A picture: its file read as any other, then decoded where nothing but its bytes is to be had."""
        if self._decoder is None:
            return Outcome(Status.ERROR, error="pictures are decoded in a sandbox only, and there is none here")
        got = await self._files.read(ReadFile(op.path, length=MOST_BYTES))
        if got.status is not Status.OK:
            return got
        if got.truncated:
            return Outcome(Status.ERROR, size=got.size, error=f"it is larger than {MOST_BYTES >> 20} MiB")
        return await self._decoder.decode(got.data, op)

    async def stop(self) -> None:
        """End every command and the helper."""
        for command in tuple(self._commands):
            await command.stop(_CANCEL_GRACE)
        await self._files.stop()
        if self._way_out is not None:
            await self._way_out.close()


def explain(done: Outcome) -> Outcome:
    """Say in words what an exit code hides: bwrap's own failures, and a call the filter stopped."""
    code = done.exit_code
    if code == 1 and done.data.startswith(b"bwrap: "):
        message = done.data.decode(errors="replace").strip().removeprefix("bwrap: ")
        if message.startswith("execvp "):
            return replace(
                done,
                exit_code=_NOT_FOUND,
                data=b"",
                total=0,
                error=f"the program could not be started: {message.removeprefix('execvp ')}",
                suggestion="check the name; programs outside the system folders are not visible in the sandbox",
            )
        if message.startswith("Can't chdir to "):
            folder = Path(message.removeprefix("Can't chdir to ").split(": ")[0])
            return replace(
                done, status=Status.ERROR, data=b"", total=0, error=f"there is no folder {folder} to run it in"
            )
        return replace(done, status=Status.ERROR, data=b"", total=0, error=f"the sandbox could not start it: {message}")
    if code == _NOT_FOUND and done.data.startswith(b"bridge: "):
        said = done.data.decode(errors="replace").strip().removeprefix("bridge: ")
        return replace(done, data=b"", total=0, error=f"the program could not be started: {said}")
    if code in (128 + signal.SIGSYS, -signal.SIGSYS):
        return replace(done, error="it made a system call no program here may make (is it a 32-bit program?)")
    return done
