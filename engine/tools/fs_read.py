"""fs_read: a page of a text file, of a stored output or of a skill's file; images and binaries are described."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pydantic import Field

from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.cap import LINE_LENGTH, MAX_BYTES, MAX_LINES, fitting, lines_of
from engine.tools.content import Content, look
from engine.tools.outcomes import failed, trouble
from engine.tools.words import octets, one_line, plural, shown_path
from sandbox.operations import ReadFile

ARTIFACT = "artifact:"
SKILL = "skill:"
CHUNK = 16 * 1024 * 1024
MOST_BYTES = 4 * CHUNK


class FsReadInput(ToolInput):
    path: str = Field(
        min_length=1,
        description="File to read, relative to the workspace or absolute. Also `artifact:DIGEST` for the whole of an "
        "output that was cut, and `skill:NAME/FILE` for a file of a skill.",
    )
    offset: int = Field(default=1, ge=0, description="First line to return, counted from 1.")
    limit: int = Field(default=MAX_LINES, ge=1, description="How many lines to return, at most 2000.")


@dataclass(frozen=True, slots=True)
class _Source:
    """Lines to page through. ``complete`` False: the file goes on beyond what was read."""

    lines: list[str]
    complete: bool = True
    notes: tuple[str, ...] = ()


class FsRead(Tool[FsReadInput]):
    name = "fs_read"
    description = (
        "Read a text file. Use it before you edit a file and whenever you need its exact text; use fs_search to find "
        "where something is, and fs_list for what a folder holds. Returns lines as `number<TAB>text`: the number and "
        "the tab are not part of the file. At most 2000 lines / 50 KB a call; when there is more, the last line says "
        "with which offset to read on. Very long lines are cut and say so. Images and binary files are described, "
        "not shown."
    )
    input = FsReadInput
    read_only = True

    def title(self, args: FsReadInput) -> str:
        return one_line(args.path) + (f" from line {args.offset}" if args.offset > 1 else "")

    async def run(self, args: FsReadInput, ctx: ToolContext) -> ToolOutcome:
        if args.path.startswith(ARTIFACT):
            return _artifact(args, ctx)
        if args.path.startswith(SKILL):
            return _skill(args, ctx)
        return await _file(args, ctx)


def _artifact(args: FsReadInput, ctx: ToolContext) -> ToolOutcome:
    data = ctx.read_artifact(args.path.removeprefix(ARTIFACT).strip())
    if data is None:
        return failed(
            f"There is no stored output {shown_path(args.path)}.",
            "Copy the digest exactly from the note in the result that was cut, or run the call again.",
        )
    return _page(args, _Source(lines_of(look(data).text or data.decode("utf-8", "replace"))))


def _skill(args: FsReadInput, ctx: ToolContext) -> ToolOutcome:
    data = ctx.read_skill(args.path.removeprefix(SKILL).strip())
    if data is None:
        return failed(
            f"There is no readable file {shown_path(args.path)}.",
            "The skills and their names are listed in the skill catalogue; `skill:NAME/SKILL.md` is where one begins.",
        )
    content = look(data)
    return _page(args, _text_source(content, complete=True)) if content.kind == "text" else _described(args, content)


async def _file(args: FsReadInput, ctx: ToolContext) -> ToolOutcome:
    wanted = max(1, args.offset) + min(args.limit, MAX_LINES)
    data, size, seconds = b"", 0, 0.0
    while len(data) < MOST_BYTES:
        got = await ctx.broker.run(ReadFile(args.path, offset=len(data), length=CHUNK), ctx.caller)
        seconds += got.seconds
        if (refusal := trouble(got)) is not None:
            return replace(refusal, seconds=seconds)
        data, size = data + got.data, got.size
        if len(data) >= size or not got.data or data.count(b"\n") > wanted:
            break
    content = look(data, size)
    if content.kind != "text":
        outcome = _described(args, content)
    elif not data:
        outcome = ToolOutcome(status="ok", output="[The file is empty.]", summary="empty")
    else:
        outcome = _page(args, _text_source(_whole_lines(data, size, content), complete=len(data) >= size))
    return replace(outcome, files_read=(args.path,) if outcome.status == "ok" else (), seconds=seconds)


def _whole_lines(data: bytes, size: int, content: Content) -> Content:
    """Of a part of a file only the whole lines, so that no character is cut in two."""
    end = data.rfind(b"\n") + 1
    return content if len(data) >= size or not end else look(data[:end], size)


def _text_source(content: Content, complete: bool) -> _Source:
    lines = content.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    notes = []
    if content.replaced:
        notes.append("Bytes that are not UTF-8 are shown as U+FFFD; fs_edit leaves them as they are.")
    if content.what.startswith("UTF-16"):
        notes.append("The file is UTF-16; fs_edit cannot change it.")
    return _Source([_short(line.removesuffix("\r")) for line in lines], complete, tuple(notes))


def _short(line: str) -> str:
    if len(line) <= LINE_LENGTH:
        return line
    return f"{line[:LINE_LENGTH]} … [line cut here: it has {len(line):,} characters]"


def _described(args: FsReadInput, content: Content) -> ToolOutcome:
    what = content.what[:1].upper() + content.what[1:]
    hint = (
        "Images cannot be shown to you here; a program run with shell_run can examine it."
        if content.kind == "image"
        else "It is not text; a program run with shell_run can examine it."
    )
    return ToolOutcome(
        status="ok",
        output=f"[{what}. {hint}]",
        summary=content.what,
        items=({"path": args.path, "kind": content.kind},),
    )


def _page(args: FsReadInput, source: _Source) -> ToolOutcome:
    """Lines ``offset`` .. of ``source`` as far as they fit, with a note on what is left."""
    total, first = len(source.lines), max(1, args.offset)
    if first > total and source.complete:
        known = f"It has {plural(total, 'line')}." if total else "It is empty."
        return failed(f"Offset {first} is past the end of {shown_path(args.path)}. {known}", "Use a smaller offset.")
    if first > total:
        return failed(
            f"Line {first:,} lies beyond the first {octets(MOST_BYTES)} of {shown_path(args.path)}.",
            f"Use shell_run, for example: sed -n '{first},{first + 200}p' FILE. Or find the place with fs_search.",
        )
    numbered = (f"{first + i:>6}\t{line}" for i, line in enumerate(source.lines[first - 1 :]))
    shown = fitting(numbered, min(args.limit, MAX_LINES - 2), MAX_BYTES - 400)
    last = first + len(shown) - 1
    notes = list(source.notes)
    if last < total or not source.complete:
        of = f"{total:,}" if source.complete else f"more than {total:,}"
        notes.append(f"Lines {first:,} to {last:,} of {of}. Read on with offset {last + 1}.")
    whole = first == 1 and last == total and source.complete
    return ToolOutcome(
        status="ok",
        output="\n".join((*shown, *(f"[{note}]" for note in notes))),
        summary=plural(total, "line") if whole else f"lines {first:,}–{last:,}" + (f" of {total:,}" if total else ""),
        items=({"path": args.path, "kind": "text", "first": first, "last": last, "total": total},),
    )
