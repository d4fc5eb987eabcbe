"""shell_run: a command line in the sandbox, in the foreground or in the background."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from engine.events import External
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import cancelled, denied, failed
from engine.tools.terminal import Decoder, complete_length, plain
from engine.tools.words import octets, one_line
from sandbox.broker import Broker
from sandbox.operations import Outcome, PollBackground, RunCommand, Status

RUN_SECONDS = 120.0
POLL_SECONDS = 5.0
MOST_SECONDS = 3600.0
FIRST_LOOK = 0.05
LONGEST_LOOK = 0.5


class ShellRunInput(ToolInput):
    command: str = Field(default="", description="Command line for a shell. Leave out when you give a handle.")
    timeout: Annotated[float, Field(gt=0, le=MOST_SECONDS)] | SkipJsonSchema[None] = Field(
        default=None,
        description="Seconds after which the command is ended, 120 by default; with a handle: how long to wait for "
        "more output, 5 by default.",
    )
    background: bool = Field(default=False, description="Start it and return at once with a handle.")
    handle: str = Field(default="", description="Read on from this background command instead of running a new one.")
    offset: int = Field(default=0, ge=0, description="With a handle: byte to read from, as the last result said.")
    stop: bool = Field(default=False, description="With a handle: end the background command.")

    @model_validator(mode="after")
    def _one_of(self) -> ShellRunInput:
        if bool(self.command.strip()) == bool(self.handle):
            raise ValueError("give either a command to run or the handle of a background command to read on from")
        return self


class ShellRun(Tool[ShellRunInput]):
    name = "shell_run"
    description = (
        "Run a command line with a shell in the sandbox, in the workspace folder. Use it to run tests, builds, "
        "programs and git; to read, list, search, write or edit files use the fs_ tools. Every call starts a new "
        "shell: folder and variables do not carry over, so chain with `&&`. There is no keyboard and usually no "
        "network; give programs their non-interactive options. A person may be asked first and may change the command. "
        "Servers and watchers: `background: true`, then read on with `handle` and `offset`, and end them with "
        "`stop: true`. Returns standard output and standard error as they came, without colours, and the exit code at "
        "the end; of a long output the beginning and the end, with how to read the middle."
    )
    input = ShellRunInput
    keep = "ends"

    def title(self, args: ShellRunInput) -> str:
        if args.handle:
            return f"{'stop' if args.stop else 'read on from'} {one_line(args.handle)}"
        return one_line(args.command) + (" (background)" if args.background else "")

    def only_reads(self, args: ShellRunInput, broker: Broker) -> bool:
        return bool(args.handle) or broker.only_reads(RunCommand(args.command))

    async def run(self, args: ShellRunInput, ctx: ToolContext) -> ToolOutcome:
        if args.handle:
            return await _poll(args, ctx)
        decoder = Decoder()

        def on_output(data: bytes) -> None:
            if text := decoder.feed(data):
                ctx.progress(text)

        got = await ctx.broker.run(
            RunCommand(args.command, timeout=args.timeout or RUN_SECONDS, background=args.background),
            ctx.caller,
            on_output,
        )
        if rest := decoder.feed(b"", final=True):
            ctx.progress(rest)
        outcome = _started(got) if args.background and got.status is Status.OK and got.handle else _ended(got)
        outcome = replace(outcome, external=_external(got))
        if got.command and got.command != args.command and outcome.status != "denied":
            changed = f"[A person changed the command before it ran. This ran:\n{got.command}\n]"
            outcome = replace(outcome, output=f"{changed}\n{outcome.output}")
        return outcome


async def _poll(args: ShellRunInput, ctx: ToolContext) -> ToolOutcome:
    got = await _look(args, ctx)
    if got.status is Status.DENIED:
        return denied(got)
    if got.status is Status.ERROR:
        return _not_run(got)
    if not got.handle:
        ended = _ended(got, args.offset, stopped=args.stop and got.status is Status.OK)
        return replace(ended, external=_external(got))
    data = got.data[: complete_length(got.data)]
    where = args.offset + len(data)
    note = f"[Still running. Read on with handle {args.handle} and offset {where}.]"
    return ToolOutcome(
        status="ok",
        output=_joined(plain(data) or "[No new output.]", note),
        summary=f"running, {octets(len(data))} more",
        items=({"handle": args.handle, "offset": where, "running": True},),
        seconds=got.seconds,
        external=_external(got),
    )


async def _look(args: ShellRunInput, ctx: ToolContext) -> Outcome:
    """What is new, as soon as there is something new, the command has ended, or the time is over."""
    if args.stop:
        return await ctx.broker.run(PollBackground(args.handle, args.offset, stop=True), ctx.caller)
    left, step = args.timeout or POLL_SECONDS, FIRST_LOOK
    while True:
        got = await ctx.broker.run(PollBackground(args.handle, args.offset, wait=min(step, left)), ctx.caller)
        left -= step
        if complete_length(got.data) or not got.handle or got.status is not Status.OK or left <= 0:
            return got
        step = min(2 * step, LONGEST_LOOK)


def _started(got: Outcome) -> ToolOutcome:
    data = got.data[: complete_length(got.data)]
    note = f"[Running in the background. Read on with handle {got.handle} and offset {len(data)}.]"
    return ToolOutcome(
        status="ok",
        output=_joined(plain(data), note),
        summary=f"in the background as {got.handle}",
        items=({"handle": got.handle, "offset": len(data), "running": True},),
        seconds=got.seconds,
    )


def _ended(got: Outcome, offset: int = 0, stopped: bool = False) -> ToolOutcome:
    """A command that came to an end of any kind; what it wrote from byte ``offset`` on is kept. ``stopped``: the model
    ended it, so that the way it ended is no error."""
    if got.status is Status.DENIED:
        return denied(got)
    if got.status is Status.CANCELLED:
        base = cancelled(got.seconds)
        return replace(base, output=_joined(plain(got.data), f"[{base.output}]"), exit_code=got.exit_code)
    if got.exit_code is None and got.status is not Status.TIMED_OUT:
        return _not_run(got)
    error, suggestion = ("", "") if stopped else _fault(got)
    lost = ""
    if got.total > offset + len(got.data):
        lost = f"[It wrote {octets(got.total)}; only the first {octets(offset + len(got.data))} were kept.]"
    end = f"stopped; {_how(got)}" if stopped else error or _how(got)
    last = f"[{end}]" + (f"\n{suggestion}" if suggestion else "")
    lines = plain(got.data)
    return ToolOutcome(
        status="error" if error else "ok",
        output=_joined(lines or "[No output.]", lost, last),
        summary=error or ("stopped" if stopped else _size(lines)),
        error=error,
        suggestion=suggestion,
        retryable=got.status is Status.TIMED_OUT,
        exit_code=got.exit_code,
        seconds=got.seconds,
    )


def _external(got: Outcome) -> External | None:
    """Output of a command that reached the network may be anybody's words."""
    if not got.reached:
        return None
    return External(source="shell_run", url=", ".join(got.reached), at=datetime.now(UTC).isoformat(timespec="seconds"))


def _fault(got: Outcome) -> tuple[str, str]:
    """What is wrong with how it ended, and what to do; both empty when nothing is."""
    if got.status is Status.TIMED_OUT:
        return (
            f"timed out: {got.error or f'it did not end within {got.seconds:.0f} s and was stopped'}",
            got.suggestion or "Give a longer timeout, or start it with background: true and read on.",
        )
    ended = _how(got) if got.exit_code else ""
    return ": ".join(part for part in (ended, got.error) if part), got.suggestion


def _how(got: Outcome) -> str:
    code = got.exit_code or 0
    return f"ended by signal {-code}" if code < 0 else f"exit code {code}"


def _not_run(got: Outcome) -> ToolOutcome:
    error = got.error or "The command could not be run."
    base = failed(error, got.suggestion, retryable=got.status is Status.TIMED_OUT, seconds=got.seconds)
    return replace(base, output=_joined(plain(got.data), base.output))


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    return "no output" if not lines else "1 line" if lines == 1 else f"{lines:,} lines"


def _joined(*parts: str) -> str:
    """The parts that are not empty, each beginning on a line of its own."""
    return "\n".join(part.rstrip("\n") for part in parts if part)
