"""Events and an app to try the transcript with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from textual.app import App, ComposeResult

from engine import events as ev
from engine.events import AnyEvent
from tui.signs import Signs
from tui.transcript.view import Transcript

AT = datetime(2026, 11, 30, 10, 2, tzinfo=UTC)
EDIT = "--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n import os\n-a = 1\n+a = 2\n b = 3\n"
MARKUP = "ZLEXCOUNT z [b + and [/"


def stored(*events: ev.Stored) -> list[AnyEvent]:
    """The events as the log would give them back: numbered from 1."""
    return [event.model_copy(update={"session": "s", "seq": n, "at": AT}) for n, event in enumerate(events, 1)]


def said(text: str, turn: int = 1, *calls: ev.ToolCall) -> ev.AssistantMessage:
    blocks = (ev.TextBlock(text=text), *calls) if text else calls
    return ev.AssistantMessage(turn=turn, model="m", blocks=blocks)


def call(id: str = "c1", name: str = "shell_run", **arguments: object) -> ev.ToolCall:
    return ev.ToolCall(id=id, name=name, input=arguments)


def result(id: str = "c1", turn: int = 1, status: str = "ok", text: str = "out", **more: object) -> ev.ToolResult:
    data = {"call_id": id, "turn": turn, "name": "shell_run", "status": status, "text": text, **more}
    return ev.ToolResult.model_validate(data)


def delta(text: str, turn: int = 1, index: int = 0, kind: str = "text", **more: str) -> ev.StreamDelta:
    return ev.StreamDelta.model_validate({"turn": turn, "index": index, "kind": kind, "text": text, **more})


def notices(count: int, first: int = 1) -> list[AnyEvent]:
    """``count`` notices "line N"."""
    return [ev.Notice(seq=n, level="info", text=f"line {n}") for n in range(first, first + count)]


class TranscriptApp(App[None]):
    """Nothing but a transcript, in signs that do not depend on the terminal."""

    def __init__(self, events: Sequence[AnyEvent] = ()) -> None:
        super().__init__()
        self._first = events
        self.heard: list[object] = []

    def compose(self) -> ComposeResult:
        yield Transcript(signs=Signs())

    def on_mount(self) -> None:
        self.transcript.focus()
        if self._first:
            self.transcript.feed(self._first)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    def on_transcript_selected(self, message: Transcript.Selected) -> None:
        self.heard.append(message)

    def on_transcript_wants_artifact(self, message: Transcript.WantsArtifact) -> None:
        self.heard.append(message)

    def on_transcript_found(self, message: Transcript.Found) -> None:
        self.heard.append(message)


def screen_lines(app: App[None]) -> list[str]:
    """What is on the screen, line by line, trailing space and the scrollbar left out."""
    return [strip.crop(0, strip.cell_length - 1).text.rstrip() for strip in app.screen._compositor.render_strips()]


def screen_text(app: App[None]) -> str:
    return "\n".join(screen_lines(app))
