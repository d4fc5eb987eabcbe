"""fs_list: what a folder holds."""

from __future__ import annotations

from pydantic import Field

from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import trouble
from engine.tools.words import octets, one_line, shown_path
from sandbox.operations import Entry, ListFiles

LIMIT = 1000
_MARKS = {"dir": "/", "link": " (link)", "other": " (special file)"}


class FsListInput(ToolInput):
    path: str = Field(default=".", min_length=1, description="Folder to list, relative to the workspace or absolute.")
    depth: int = Field(default=1, ge=1, le=20, description="How many levels to go down; 1 lists only the folder.")
    all: bool = Field(
        default=False, description="Also list hidden files and generated folders such as .git and node_modules."
    )


class FsList(Tool[FsListInput]):
    name = "fs_list"
    description = (
        "List the files and folders of a folder. Use it to get to know a project or to check that a path exists; to "
        "find text use fs_search. Returns one path a line that can be given to the other fs_ tools as it is, folders "
        "with a `/` at the end, files with their size, at most 1000 entries. Hidden files and folders of generated "
        "files such as node_modules are left out unless `all` is true."
    )
    input = FsListInput
    read_only = True

    def title(self, args: FsListInput) -> str:
        return one_line(args.path) + (f" to depth {args.depth}" if args.depth > 1 else "")

    async def run(self, args: FsListInput, ctx: ToolContext) -> ToolOutcome:
        got = await ctx.broker.run(ListFiles(args.path, depth=args.depth, limit=LIMIT, all=args.all), ctx.caller)
        if (refusal := trouble(got)) is not None:
            return refusal
        lines = [_line(entry) for entry in got.entries]
        if not lines:
            hint = "" if args.all else " Hidden files are not counted; set `all` to see them."
            lines = [f"[The folder is empty.{hint}]"]
        if got.truncated:
            lines.append(f"[Only the first {LIMIT} entries. List a folder further down, or use a smaller depth.]")
        return ToolOutcome(
            status="ok",
            output="\n".join(lines),
            summary=f"{len(got.entries):,} {'entry' if len(got.entries) == 1 else 'entries'}"
            + (" and more" if got.truncated else ""),
            items=tuple({"path": e.path, "kind": e.kind, "size": e.size} for e in got.entries),
            seconds=got.seconds,
        )


def _line(entry: Entry) -> str:
    path = shown_path(entry.path)
    return f"{path}  {octets(entry.size)}" if entry.kind == "file" else path + _MARKS.get(entry.kind, "")
