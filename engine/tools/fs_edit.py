"""fs_edit: replace exact text in a file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from pydantic import Field

from engine.text import clean
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.content import look
from engine.tools.diff import counts, unified
from engine.tools.outcomes import failed, trouble
from engine.tools.replace import NotReplaced, Replaced, replace_exactly
from engine.tools.words import octets, one_line, plural, shown_path
from sandbox.operations import ReadFile, WriteFile


class FsEditInput(ToolInput):
    path: str = Field(min_length=1, description="File to change, relative to the workspace or absolute.")
    old: str = Field(
        min_length=1,
        description="Text to replace, exactly as in the file, indentation included, without fs_read's line numbers.",
    )
    new: str = Field(description="Text to put in its place; empty to delete.")
    count: int = Field(default=1, ge=1, description="How often `old` stands in the file; all of them are replaced.")


class FsEdit(Tool[FsEditInput]):
    name = "fs_edit"
    description = (
        "Change part of a file by replacing exact text. Use it for every change to a file there is; to create one use "
        "fs_write. Read the file with fs_read first and copy `old` from there. `old` must stand in the file exactly "
        "`count` times (once by default): give enough lines around the change to make it unique. Several changes in "
        "one file are several calls. Line endings and a byte order mark are kept. A person may be asked before it is "
        "written. Returns where it was replaced; when nothing matches, the closest text in the file."
    )
    input = FsEditInput

    def title(self, args: FsEditInput) -> str:
        return one_line(args.path)

    async def run(self, args: FsEditInput, ctx: ToolContext) -> ToolOutcome:
        if args.old == args.new:
            return failed(
                "`old` and `new` are the same: there is nothing to change.", "Give the text you want as `new`."
            )
        read = await ctx.broker.run(ReadFile(args.path), ctx.caller)
        if (refusal := trouble(read)) is not None:
            return refusal
        if read.size > len(read.data):
            return failed(
                f"{shown_path(args.path)} has {octets(read.size)}, too much for fs_edit.",
                "Change it with a program run by shell_run, for example sed.",
            )
        content = look(read.data)
        if content.kind != "text" or content.what.startswith("UTF-16"):
            return failed(
                f"{shown_path(args.path)} is not UTF-8 text ({content.what}).",
                "Change it with a program run by shell_run, or replace it with fs_write.",
            )
        made = replace_exactly(read.data, clean(args.old), clean(args.new), args.count)
        if isinstance(made, NotReplaced):
            return replace(failed(made.error, made.suggestion, summary="not found or not unique"), seconds=read.seconds)
        outcome = await _write(args, ctx, read.data, made)
        return replace(outcome, seconds=read.seconds + outcome.seconds)


async def _write(args: FsEditInput, ctx: ToolContext, before: bytes, made: Replaced) -> ToolOutcome:
    diff = unified(args.path, before, made.data)
    digest = hashlib.sha256(before).hexdigest()
    wrote = await ctx.broker.run(WriteFile(args.path, made.data, expected_sha256=digest, diff=diff), ctx.caller)
    if (refusal := trouble(wrote)) is not None:
        return replace(refusal, diff=diff if refusal.status == "denied" else "")
    added, removed = counts(diff)
    at = ", ".join(f"{line:,}" for line in made.lines[:20]) + (", …" if len(made.lines) > 20 else "")
    where = f"{plural(len(made.lines), 'place')}, line {at}"
    return ToolOutcome(
        status="ok",
        output=f"Edited {shown_path(args.path)} in {where}: +{added} −{removed}.",
        summary=f"+{added} −{removed}",
        items=(
            {
                "path": args.path,
                "added": added,
                "removed": removed,
                "lines": list(made.lines),
                "sha256": hashlib.sha256(made.data).hexdigest(),
            },
        ),
        diff=diff,
        files_written=(args.path,),
        seconds=wrote.seconds,
    )
