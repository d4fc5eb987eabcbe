"""``agent-tui run TASK``: the same engine without a screen."""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
from typing import TYPE_CHECKING, Any, Protocol

from engine.cli.options import add_engine_options, engine_options
from engine.commands import ChangeSetting, OpenSession, SendMessage

if TYPE_CHECKING:
    from engine.events import AnyEvent
    from engine.state import TaskState

EXIT_CODES = {"finished": 0, "failed": 1, "limit": 3, "denied": 4, "no_model": 5, "interrupted": 130, "handed_off": 1}


def add_parser(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = sub.add_parser(
        "run",
        help="carry out a task without a screen",
        description="Carry out TASK and exit: 0 finished, 1 failed, 2 usage, 3 a limit stopped it, 4 something was "
        "denied, 5 no model can be used, 130 interrupted. With --resume or --continue, TASK may be left out.",
        epilog='example: agent-tui run --approve sandboxed "make the tests pass"',
    )
    parser.add_argument("task", nargs="*", metavar="TASK")
    parser.add_argument("--output", choices=["text", "json", "jsonl"], default="text", help="what goes to stdout")
    parser.add_argument("--json", dest="output", action="store_const", const="json", help="the same as --output json")
    parser.add_argument(
        "--done-when", action="append", default=[], metavar="EXPR",
        help="finished only when this holds, such as 'tests_pass == true' (repeatable)",
    )  # fmt: skip
    add_engine_options(parser)
    parser.set_defaults(func=lambda parsed: run(parser, parsed))


def run(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> int:
    """Run to the end; returns the exit code."""
    task = " ".join(parsed.task)
    if task == "-":
        task = sys.stdin.read()
    if not task.strip() and not (parsed.resume or parsed.newest):
        parser.error("TASK is missing: what should be done?")
    if parsed.done_when:
        from engine.stages import problems

        if found := problems(tuple(parsed.done_when)):
            parser.error(f"--done-when {found[0]}")
    options = engine_options(parsed)
    command = OpenSession(id=parsed.resume, newest=parsed.newest)
    return asyncio.run(_run(options, command, task, OUTPUTS[parsed.output]()))


async def _run(options: Any, command: OpenSession, task: str, output: Output) -> int:
    from engine.engine import Engine, OpenError

    engine = Engine(options, output.event, headless=True)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, engine.interrupt_all)
    try:
        runner = await engine.open(command)
        if options.done_when and runner.session.state.done_when != options.done_when:
            await engine.handle(ChangeSetting(runner.session.id, "done_when", list(options.done_when)))
        if task.strip():
            await engine.handle(SendMessage(runner.session.id, task))
        else:
            runner.start(resumed=True)
        await runner.idle()
        while (successor := engine.successor(runner)) is not None:
            runner = successor
            await runner.idle()
        state = runner.session.state
    except OpenError as error:
        print(f"agent-tui: {error}", file=sys.stderr)
        return error.exit_code
    finally:
        await engine.close()
    output.end(state)
    return EXIT_CODES.get(state.stage, 1)


class Output(Protocol):
    """Where the events of a run go. ``event`` is called with every event, ``end`` once with the last state."""

    def event(self, event: AnyEvent) -> None: ...
    def end(self, state: TaskState) -> None: ...


class TextOutput:
    """The final answer on stdout; what happens meanwhile on stderr, one line each."""

    def __init__(self) -> None:
        self._answer = ""

    def event(self, event: AnyEvent) -> None:
        from engine.text import visible

        if event.type == "assistant_message" and not event.aborted:
            self._answer = "".join(b.text for b in event.blocks if b.kind == "text")
            if event.calls and self._answer.strip():
                self._note(visible(self._answer))
        elif event.type == "tool_started":
            self._note(visible(f"* {event.name} {event.title}"))
        elif event.type == "tool_result" and event.status != "ok":
            self._note(visible(f"  {event.status}: {event.error or event.summary}"))
        elif event.type == "model_retry":
            self._note(visible(f"  retry {event.attempt} in {event.wait:.1f} s: {event.error}"))
        elif event.type == "notice":
            self._note(visible(f"! {event.text} {event.hint}".rstrip()))
        elif event.type == "log_health" and not event.saving:
            self._note(visible(f"! nothing is being saved: {event.error}"))

    def end(self, state: TaskState) -> None:
        from engine.text import visible

        if self._answer.strip():
            print(visible(self._answer).strip())
        if state.stage != "finished":
            self._note(visible(f"{state.stage}: {state.stage_detail}"))
            self._note(f"The state is saved: agent-tui run --resume {state.session}")

    def _note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class JsonOutput:
    """One JSON object at the end."""

    def __init__(self) -> None:
        self._answer = ""
        self._saving = True

    def event(self, event: AnyEvent) -> None:
        if event.type == "assistant_message" and not event.aborted:
            self._answer = "".join(b.text for b in event.blocks if b.kind == "text")
        elif event.type == "log_health":
            self._saving = event.saving

    def end(self, state: TaskState) -> None:
        result = {
            "session": state.session,
            "reason": state.stage,
            "detail": state.stage_detail,
            "answer": self._answer,
            "model": state.model,
            "turns": state.run_turns,
            "tool_calls": state.run_calls,
            "usage": state.run_usage.model_dump(),
            "cost": None if state.unpriced else state.run_cost,
            "saved": self._saving,
        }
        print(json.dumps(result))


class JsonlOutput:
    """Every stored event, one a line, as it is stored."""

    def event(self, event: AnyEvent) -> None:
        from engine.events import Stored

        if isinstance(event, Stored):
            print(json.dumps(event.model_dump(mode="json")), flush=True)

    def end(self, state: TaskState) -> None:
        sys.stdout.flush()


OUTPUTS: dict[str, type[TextOutput] | type[JsonOutput] | type[JsonlOutput]] = {
    "text": TextOutput,
    "json": JsonOutput,
    "jsonl": JsonlOutput,
}
