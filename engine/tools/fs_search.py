"""fs_search: lines that match, grouped by file."""

from __future__ import annotations

from itertools import groupby

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from engine.text import clean
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import trouble
from engine.tools.words import one_line, plural, shown_path
from sandbox.operations import Match, SearchFiles

LIMIT = 200
LINE_LENGTH = 300


class FsSearchInput(ToolInput):
    pattern: str = Field(
        min_length=1, description="Regular expression, matched within single lines; plain text if `literal` is true."
    )
    path: str = Field(default=".", min_length=1, description="File or folder to search, recursively.")
    glob: str | SkipJsonSchema[None] = Field(
        default=None, description="Only files whose path matches, for example `*.py` or `src/**/*.ts`."
    )
    literal: bool = Field(default=False, description="Take the pattern as plain text.")
    ignore_case: bool = Field(default=False, description="Let upper and lower case match each other.")


class FsSearch(Tool[FsSearchInput]):
    name = "fs_search"
    description = (
        "Find text in files. Use it to locate definitions, uses and messages instead of reading files one by one or "
        "running grep; set `literal` when the text holds characters such as ( [ . *. Returns matching lines grouped "
        "by file as `number: line`, at most 200; long lines are cut. Hidden files, binary files and generated folders "
        "such as node_modules are skipped. No match is an answer, not an error."
    )
    input = FsSearchInput
    read_only = True

    def title(self, args: FsSearchInput) -> str:
        where = args.path if args.glob is None else f"{args.path} ({args.glob})"
        return one_line(args.pattern) + ("" if where == "." else f" in {one_line(where)}")

    async def run(self, args: FsSearchInput, ctx: ToolContext) -> ToolOutcome:
        got = await ctx.broker.run(
            SearchFiles(
                args.pattern,
                path=args.path,
                glob=args.glob or None,
                literal=args.literal,
                ignore_case=args.ignore_case,
                limit=LIMIT,
            ),
            ctx.caller,
        )
        if (refusal := trouble(got)) is not None:
            return refusal
        files = len({match.path for match in got.matches})
        return ToolOutcome(
            status="ok",
            output=_report(got.matches, got.truncated) if got.matches else "[No matches.]",
            summary=f"{len(got.matches):,} in {plural(files, 'file')}" if files else "no matches",
            items=tuple({"path": m.path, "line": m.line, "text": _short(m.text)} for m in got.matches),
            seconds=got.seconds,
        )


def _report(matches: tuple[Match, ...], truncated: bool) -> str:
    blocks = [
        "\n".join((shown_path(path), *(f"{match.line:>6}: {_short(match.text)}" for match in group)))
        for path, group in groupby(matches, key=lambda match: match.path)
    ]
    if truncated:
        blocks.append(f"[Only the first {len(matches):,} matches. Narrow the pattern, the path or the glob.]")
    return "\n\n".join(blocks)


def _short(line: str) -> str:
    line = clean(line).rstrip("\r\n")
    return line if len(line) <= LINE_LENGTH else f"{line[:LINE_LENGTH]} … [{len(line):,} characters]"
