"""Kills a run with SIGKILL right after its N-th event, for every N, and lets a new process go on. Run as a program.

Forks from one warm process, so that hundreds of lives fit into a test. Prints one JSON line a life:
``{"n", "died", "lost", "skipped", "stage", "unpaired"}``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from engine.commands import OpenSession, SendMessage
from engine.engine import Engine
from engine.events import AnyEvent, Stored
from engine.options import EngineOptions
from tests.e2e.task import TASK, make_repository


def options_for(format: str, base_url: str, repository: Path) -> EngineOptions:
    names = {"anthropic": "anthropic/claude-test", "openai": "openai/gpt-test", "openai-chat": "openai-chat/test"}
    return EngineOptions(cwd=repository, model=names[format], base_url=base_url, approve="sandboxed")


def live(options: EngineOptions, told: int, die_after: int | None, resume: str) -> str:
    """One life: run to the end, or die after ``die_after`` events. Each acknowledged event is told before dying."""
    seen = 0

    def publish(event: AnyEvent) -> None:
        nonlocal seen
        if not isinstance(event, Stored):
            return
        seen += 1
        os.write(told, f"{event.session} {event.seq}\n".encode())
        if seen == die_after:
            os.kill(os.getpid(), signal.SIGKILL)

    async def main() -> str:
        engine = Engine(options, publish, headless=True)
        runner = await engine.open(OpenSession(id=resume))
        state = runner.session.state
        if not resume or not any(e.type == "user_message" for e in runner.session.events):
            await engine.handle(SendMessage(runner.session.id, TASK))
        elif state.stage != "finished":
            runner.start(resumed=True)
        await runner.idle()
        stage = runner.session.state.stage
        await engine.close()
        return stage

    return asyncio.run(main())


def fork(options: EngineOptions, die_after: int | None, resume: str) -> tuple[int, list[tuple[str, int]], str]:
    """Live in a child; returns its exit status, what it acknowledged and the stage it ended in."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        try:
            os.write(write, f"= {live(options, write, die_after, resume)}\n".encode())
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read) as pipe:
        lines = pipe.read().splitlines()
    _, status = os.waitpid(child, 0)
    told = [(session, int(seq)) for session, seq in (line.split() for line in lines if line[0] != "=")]
    stage = next((line[2:] for line in lines if line.startswith("= ")), "")
    return status, told, stage


def one_life(n: int, format: str, base_url: str, folder: Path) -> dict[str, object]:
    """Die after event ``n``, go on in a new process, and look at what the log holds."""
    from engine.log import LogStore
    from engine.paths import Home

    home = folder / f"life-{n}"
    os.environ["AGENT_TUI_HOME"] = str(home)
    repository = make_repository(home / "shop")
    options = options_for(format, base_url, repository)
    _, told, stage = fork(options, n, "")
    session = told[-1][0] if told else ""
    died = not stage
    if died:
        _, more, stage = fork(replace(options), None, session)
        told += more
    loaded = LogStore(Home.here()).load(session)
    stored = {event.seq for event in loaded.events}
    calls = [c.id for e in loaded.events if e.type == "assistant_message" for c in e.calls if not e.aborted]
    results = [e.call_id for e in loaded.events if e.type == "tool_result"]
    return {
        "n": n,
        "died": died,
        "lost": sorted(seq for _, seq in told if seq not in stored),
        "skipped": len(loaded.skipped),
        "stage": stage,
        "unpaired": sorted(set(calls) ^ set(results)) + [c for c in set(results) if results.count(c) > 1],
    }


def main() -> None:
    format, base_url, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    for name in ("anthropic", "openai", "sqlite_utils", "tree_sitter_bash", "genai_prices", "watchfiles", "stamina"):
        import_module(name)
    os.environ.update({"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "HOME": str(folder)})
    for n in range(1, 1000):
        life = one_life(n, format, base_url, folder)
        print(json.dumps(life), flush=True)
        if not life["died"]:
            return


if __name__ == "__main__":
    main()
