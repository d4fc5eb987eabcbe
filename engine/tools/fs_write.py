"""fs_write: create a file or replace all of it."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from engine.text import clean
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.diff import counts, unified
from engine.tools.outcomes import trouble
from engine.tools.words import one_line, plural, shown_path
from sandbox.operations import Outcome, ReadFile, Status, WriteFile


class FsWriteInput(ToolInput):
    path: str = Field(min_length=1, description="File to write, relative to the workspace or absolute.")
    content: str = Field(description="The whole content of the file, exactly as it shall be, line ends included.")


class FsWrite(Tool[FsWriteInput]):
    name = "fs_write"
    description = (
        "Create a file, or replace the whole content of one. Use it for new files and complete rewrites; to change "
        "part of a file use fs_edit, which is safer and shorter. Missing folders are created. A person may be asked "
        "before it is written. Returns how many lines were added and removed."
    )
    input = FsWriteInput

    def title(self, args: FsWriteInput) -> str:
        return one_line(args.path)

    async def run(self, args: FsWriteInput, ctx: ToolContext) -> ToolOutcome:
        after = clean(args.content).encode()
        before = await ctx.broker.run(ReadFile(args.path), ctx.caller)
        if before.status in (Status.DENIED, Status.CANCELLED, Status.TIMED_OUT):
            return trouble(before) or _unchanged(args, before.seconds)
        exists = before.status is Status.OK
        if exists and before.data == after:
            return _unchanged(args, before.seconds)
        diff = _diff(args.path, before, after)
        # Where nothing could be read nothing may be there either: the sandbox refuses if something is after all.
        expected = (before.sha256 or None) if exists else ""
        wrote = await ctx.broker.run(WriteFile(args.path, after, expected_sha256=expected, diff=diff), ctx.caller)
        seconds = before.seconds + wrote.seconds
        if (refusal := trouble(wrote)) is not None:
            return replace(refusal, seconds=seconds, diff=diff if refusal.status == "denied" else "")
        added, removed = counts(diff)
        row = {"path": args.path, "added": added, "removed": removed, "created": not exists, "sha256": wrote.sha256}
        lines = plural(after.count(b"\n") + (not after.endswith(b"\n") and bool(after)), "line")
        did = f"Replaced {shown_path(args.path)}: +{added} −{removed}" if exists else f"Created {shown_path(args.path)}"
        return ToolOutcome(
            status="ok",
            output=f"{did}, now {lines}.{_ending_note(before.data, after)}",
            summary=f"+{added} −{removed}" if exists else f"new, {lines}",
            items=(row,),
            diff=diff,
            files_written=(args.path,),
            seconds=seconds,
        )


def _diff(path: str, before: Outcome, after: bytes) -> str:
    if before.status is not Status.OK:
        return unified(path, None, after)
    if before.size > len(before.data):
        return f"--- {path}\n+++ {path}\n@@ too long to show: {before.size:,} bytes are replaced by {len(after):,} @@"
    return unified(path, before.data, after)


def _ending_note(before: bytes, after: bytes) -> str:
    if b"\r\n" in before and b"\r\n" not in after and b"\n" in after:
        return " The file had CRLF line ends before; it has LF now."
    return ""


def _unchanged(args: FsWriteInput, seconds: float) -> ToolOutcome:
    return ToolOutcome(
        status="ok",
        output=f"{shown_path(args.path)} already has exactly this content; nothing was written.",
        summary="unchanged",
        seconds=seconds,
    )
