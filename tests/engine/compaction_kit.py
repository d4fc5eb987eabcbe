"""Logs as the engine writes them, for what looks at events alone."""

from __future__ import annotations

from typing import Any

from engine import events as ev


class Log:
    """Numbers events as the log does."""

    def __init__(self, *events: ev.Stored) -> None:
        self.events: list[Any] = []
        self.add(*events)

    def add(self, *events: ev.Stored) -> Log:
        for event in events:
            self.events.append(event.model_copy(update={"seq": len(self.events) + 1}))
        return self

    def turn(self, number: int, *calls: ev.ToolCall, text: str = "") -> Log:
        blocks = (*((ev.TextBlock(text=text),) if text else ()), *calls)
        return self.add(
            ev.TurnStarted(turn=number, model="m"),
            ev.AssistantMessage(turn=number, model="m", blocks=blocks, stop="tool_calls" if calls else "end"),
        )


def call(id: str, name: str = "fs_read", **input: Any) -> ev.ToolCall:
    return ev.ToolCall(id=id, name=name, input=input)


def result(id: str, text: str = "x", name: str = "fs_read", **fields: Any) -> ev.ToolResult:
    return ev.ToolResult(**{"call_id": id, "turn": 1, "name": name, "status": "ok", "text": text, **fields})


def working(turns: int, size: int = 4000) -> Log:
    """A session of one prompt and many reads."""
    log = Log(ev.UserMessage(text="Fix the login test and keep the old name."))
    for n in range(turns):
        log.turn(n, call(f"c{n}", path=f"src/{n}.py"))
        log.add(result(f"c{n}", "x" * size, files_read=(f"src/{n}.py",), summary="9 lines"))
    return log
