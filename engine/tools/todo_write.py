"""todo_write: the plan of the task, in todo.md of the session's own folder."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator

from engine.events import TodoItem
from engine.text import clean
from engine.tools.base import Tool, ToolContext, ToolInput, ToolOutcome
from engine.tools.outcomes import failed
from engine.tools.todo import FILE_NAME, flat, notes_of, parse_todo, render_todo

MOST_BYTES = 256 * 1024


class TodoLine(ToolInput):
    text: str = Field(min_length=1, max_length=500, description="One step, as an imperative.")
    status: Literal["pending", "active", "done"] = "pending"


class TodoWriteInput(ToolInput):
    items: list[TodoLine] = Field(max_length=100, description="The whole list, in order; it replaces the one before.")

    @field_validator("items", mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        """Some models send the list as JSON text."""
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            return value


class TodoWrite(Tool[TodoWriteInput]):
    name = "todo_write"
    description = (
        "Write the plan of the task as a checklist that the person sees and may edit. Use it for work of three or "
        "more steps: at the start, and whenever a step begins, ends or turns out to be needed. Do not use it for a "
        "single simple step. Send the whole list every time; keep one item `active`; mark an item `done` only when it "
        "is done and checked. Returns how the list changed, with items that were in the file and are gone now."
    )
    input = TodoWriteInput

    def title(self, args: TodoWriteInput) -> str:
        active = next((flat(item.text) for item in args.items if item.status == "active"), "")
        return f"{_progress(args.items)} {active}".rstrip()

    async def run(self, args: TodoWriteInput, ctx: ToolContext) -> ToolOutcome:
        path = ctx.session_dir / FILE_NAME
        # Through the file's own syntax, so that what the log holds is what the next reading of the file gives.
        items = parse_todo(render_todo(TodoItem(text=clean(i.text), status=i.status) for i in args.items))
        before = _read(path)
        try:
            _write(path, render_todo(items, notes_of(before)))
        except OSError as error:
            return failed(
                f"todo.md could not be written: {error.strerror or error}.",
                "Go on without it and name the steps in your answers.",
                retryable=True,
            )
        kept = {item.text for item in items}
        gone = [item.text for item in parse_todo(before) if item.text not in kept]
        lines = [f"todo.md: {_progress(args.items)} done."]
        if gone:
            lines += ["No longer in the list (put back what a person added):", *(f"- {text}" for text in gone)]
        return ToolOutcome(
            status="ok",
            output="\n".join(lines),
            summary=f"{_progress(args.items)} done",
            items=tuple(item.model_dump() for item in items),
        )


def _progress(items: list[TodoLine]) -> str:
    return f"{sum(item.status == 'done' for item in items)}/{len(items)}"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return clean(file.read(MOST_BYTES).decode("utf-8", "replace"))
    except OSError:
        return ""


def _write(path: Path, text: str) -> None:
    """All or nothing: a person's editor or a watcher never sees half a list."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".todo-", suffix=".md")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
