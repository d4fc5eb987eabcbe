"""memory_save: one line that later sessions begin with."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import failed


class MemorySaveInput(ToolInput):
    text: str = Field(min_length=1, max_length=2000, description="One line: the fact, as it will be read later.")
    scope: Literal["project", "user"] = Field(
        "project", description="project: only in this folder; user: how this person wants things, everywhere."
    )
    replaces: str = Field("", description="The exact text of the memory that this one takes the place of.")


class MemorySave(Tool[MemorySaveInput]):
    name = "memory_save"
    description = (
        "Remember one fact for later sessions, which begin with all of them: how this project is built and tested, a "
        "decision that holds, a wish of the person. Use it when the person asks you to remember something, or when you "
        "learned something by trouble that would cost the same trouble again. Do not use it for what the code or the "
        "project's own files say, for the state of the present task, or for secrets. The person sees every memory. "
        "Returns what was saved, or why not: it is known already, or says otherwise than a memory there is, which is "
        "quoted so that you can replace it."
    )
    input = MemorySaveInput

    def title(self, args: MemorySaveInput) -> str:
        return args.text

    async def run(self, args: MemorySaveInput, ctx: ToolContext) -> ToolOutcome:
        refused = await ctx.memory.save(args.scope, args.text, args.replaces)
        if refused:
            why, advice = refused
            return failed(f"Not saved: {why}.", f"{advice[0].upper()}{advice[1:]}.", summary="not saved")
        return ToolOutcome(
            status="ok",
            output=f"Saved for {'this project' if args.scope == 'project' else 'every project'}. "
            "Later sessions begin with it; this one knows it already.",
            summary="replaced" if args.replaces else "saved",
        )
