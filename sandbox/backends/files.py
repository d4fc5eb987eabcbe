"""The app's end of the file helper: started at the first use, asked one thing at a time, started again if it dies."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sandbox.backends.base import Place
from sandbox.backends.running import Launch, Started, let_go, spawn
from sandbox.helper.frames import LENGTHS, pack
from sandbox.operations import Entry, ListFiles, Match, Outcome, ReadFile, SearchFiles, Status, WriteFile
from sandbox.policy import Policy

_REQUEST_SECONDS = 30.0


class FileHelper:
    """File operations with the sandbox's own view of the file system. ``launch`` says how to start the helper."""

    def __init__(self, launch: Callable[[], Launch], policy: Policy) -> None:
        self._launch = launch
        self._policy = policy
        self._started: Started | None = None
        self._turn = asyncio.Lock()

    async def look(self, path: str) -> Place:
        """Where ``path`` leads; ``error`` is set when that cannot be told."""
        answer, _, _ = await self._ask({"op": "look", "path": path})
        if "error" in answer:
            return Place(path, inside=False, protected="", kind="missing", error=answer["error"])
        return Place(**answer)

    async def read(self, op: ReadFile) -> Outcome:
        if op.offset < 0 or op.length < 0:
            return Outcome(Status.ERROR, error="offset and length cannot be negative", suggestion="count from 0")
        header = {"op": "read", "path": op.path, "offset": op.offset, "length": op.length}
        answer, data, seconds = await self._ask(header)
        return _refused(answer, seconds) or Outcome(
            Status.OK, data=data, total=len(data), seconds=seconds, **_pick(answer, "size", "sha256", "truncated")
        )

    async def list(self, op: ListFiles) -> Outcome:
        header = {"op": "list", "path": op.path, "depth": op.depth, "limit": op.limit, "all": op.all}
        answer, _, seconds = await self._ask(header)
        if refused := _refused(answer, seconds):
            return refused
        entries = tuple(Entry(*row) for row in answer["entries"])
        return Outcome(Status.OK, entries=entries, truncated=answer["truncated"], seconds=seconds)

    async def search(self, op: SearchFiles) -> Outcome:
        header = {"op": "search", "path": op.path, "pattern": op.pattern, "glob": op.glob, "literal": op.literal}
        answer, _, seconds = await self._ask(header | {"ignore_case": op.ignore_case, "limit": op.limit})
        if refused := _refused(answer, seconds):
            return refused
        matches = tuple(Match(*row) for row in answer["matches"])
        return Outcome(Status.OK, matches=matches, truncated=answer["truncated"], seconds=seconds)

    async def write(self, op: WriteFile) -> Outcome:
        header = {"op": "write", "path": op.path, "expected": op.expected_sha256}
        answer, _, seconds = await self._ask(header, op.data)
        return _refused(answer, seconds) or Outcome(Status.OK, seconds=seconds, **_pick(answer, "size", "sha256"))

    async def stop(self) -> None:
        """End the helper; it starts again when it is needed."""
        started, self._started = self._started, None
        if started is not None:
            started.group.kill()
            await started.process.wait()
            let_go(started.group)

    async def _ask(self, header: dict[str, Any], data: bytes = b"") -> tuple[dict[str, Any], bytes, float]:
        """One request: answer, bytes, seconds. A helper that died in between is started again once."""
        async with self._turn:
            started = time.monotonic()
            for last in (False, True):
                try:
                    answer, payload = await asyncio.wait_for(self._exchange(header, data), _REQUEST_SECONDS)
                    return answer, payload, time.monotonic() - started
                except TimeoutError:
                    await self.stop()
                    hint = "ask for less: a smaller folder, a simpler pattern"
                    return _failed(f"it took longer than {_REQUEST_SECONDS:g} s", hint), b"", _REQUEST_SECONDS
                except (OSError, ValueError, asyncio.IncompleteReadError) as error:
                    reason = await self._last_words() or str(error)
                    await self.stop()
                    if last:
                        hint = "run `agent-tui doctor` to see what the sandbox can do here"
                        return _failed(f"the sandbox's file helper does not work: {reason}", hint), b"", 0.0
                except BaseException:
                    await self.stop()  # the answer to a request nobody waits for must not be taken for the next one's
                    raise
        raise AssertionError("unreachable")

    async def _exchange(self, header: dict[str, Any], data: bytes) -> tuple[dict[str, Any], bytes]:
        if self._started is None or self._started.process.returncode is not None:
            await self.stop()
            self._started = await self._start()
        writer, reader = self._started.process.stdin, self._started.process.stdout
        assert writer is not None and reader is not None
        writer.write(pack(header, data))
        await writer.drain()
        header_size, data_size = LENGTHS.unpack(await reader.readexactly(LENGTHS.size))
        answer = json.loads(await reader.readexactly(header_size))
        return answer, await reader.readexactly(data_size)

    async def _start(self) -> Started:
        pipe = subprocess.PIPE
        limits = replace(self._policy.limits, open_files=min(1024, self._policy.limits.open_files))
        started = await spawn(self._launch(), limits, stdin=pipe, stdout=pipe, stderr=pipe)
        assert started.process.stdin is not None
        hello = {"workspace": str(self._policy.workspace), "protected": list(self._policy.protected)}
        started.process.stdin.write(pack(hello | {"writable": self._policy.writable}))
        return started

    async def _last_words(self) -> str:
        """What a helper that died wrote to stderr: its last line."""
        if self._started is None or self._started.process.stderr is None:
            return ""
        self._started.group.kill()
        said = await self._started.process.stderr.read(64 * 1024)
        return said.decode(errors="replace").strip().rpartition("\n")[2]


def _failed(error: str, suggestion: str) -> dict[str, Any]:
    return {"status": "error", "error": error, "suggestion": suggestion}


def _refused(answer: dict[str, Any], seconds: float) -> Outcome | None:
    if "error" not in answer:
        return None
    return Outcome(
        Status(answer["status"]), error=answer["error"], suggestion=answer.get("suggestion", ""), seconds=seconds
    )


def _pick(answer: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: answer[name] for name in names}
