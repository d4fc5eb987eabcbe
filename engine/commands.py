"""What the screens can tell the engine. Frozen, sent through `EngineHandle.send`, handled on the worker thread.

Plain dataclasses on purpose: the first frame must not wait for pydantic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class OpenSession:
    """Open a session: ``id`` to resume that one, ``newest`` to go on with the newest of the folder, else a new one.

    ``task`` starts at once when not empty.
    """

    id: str = ""
    newest: bool = False
    task: str = ""


@dataclass(frozen=True, slots=True)
class CloseSession:
    """End a session here: what runs in it is interrupted and stored, and another program may open it again."""

    session: str


@dataclass(frozen=True, slots=True)
class SendMessage:
    """Text of a person. While the agent works ``steer`` enters after the running tool, ``follow_up`` after the run;
    when it is idle both start a run."""

    session: str
    text: str
    kind: Literal["steer", "follow_up"] = "steer"


@dataclass(frozen=True, slots=True)
class TakeBack:
    """Withdraw a queued message (the newest when ``id`` is empty)."""

    session: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Cut what runs; ``after_calls``: let the running calls end first, and start no other."""

    session: str
    after_calls: bool = False


@dataclass(frozen=True, slots=True)
class Decide:
    """Answer an approval. ``digest`` is that of the request as shown, so that the answer is bound to it."""

    session: str
    id: str
    digest: str
    choice: Literal["once", "session", "rule", "deny", "edit"]
    reason: str = ""
    rule: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    session: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ChangeSetting:
    """``name`` and ``value`` as in `engine.events.SettingChanged`."""

    session: str
    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Compact:
    session: str
    focus: str = ""


@dataclass(frozen=True, slots=True)
class EditTodo:
    """A person changed todo.md in the app; the file is written and the model hears of it."""

    session: str
    text: str


@dataclass(frozen=True, slots=True)
class UndoCompaction:
    """Take back the newest compaction that is in force."""

    session: str


@dataclass(frozen=True, slots=True)
class RefreshPrompt:
    """Render layers A and B anew with today's tools, skills, memory and project rules: a known cache break."""

    session: str


@dataclass(frozen=True, slots=True)
class ChangeMemory:
    """A person saves ``text`` (``before`` empty), edits ``before`` into ``text``, or removes it (``text`` empty)."""

    session: str
    scope: Literal["project", "user"]
    text: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop before the next turn."""

    session: str


@dataclass(frozen=True, slots=True)
class GoOn:
    """Let a paused run go on: for ``turns`` turns, 0 without end."""

    session: str
    turns: int = 0


@dataclass(frozen=True, slots=True)
class ArrangeQueue:
    """What waits as a person edited and ordered it: (id, kind, text). One without text is taken back; one that is not
    named, because it came meanwhile, waits on after the others."""

    session: str
    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A person's own command, run in the sandbox and shown to the model."""

    session: str
    command: str


@dataclass(frozen=True, slots=True)
class DecidePlan:
    """Approve the plan (``text`` as edited), and the ``mode`` its work goes on in; or reject it with a reason."""

    session: str
    id: str
    choice: Literal["approve", "reject"]
    text: str = ""
    reason: str = ""
    mode: Literal["ask", "sandboxed"] = "ask"


@dataclass(frozen=True, slots=True)
class Rewind:
    """Go back to before event ``to``: the conversation, the files, or both; ``undoes``: take that Rewound back."""

    session: str
    to: int = 0
    conversation: bool = True
    files: bool = False
    undoes: int = 0


Command = (
    OpenSession
    | CloseSession
    | SendMessage
    | TakeBack
    | Interrupt
    | Decide
    | AnswerQuestion
    | ChangeSetting
    | Compact
    | EditTodo
    | UndoCompaction
    | RefreshPrompt
    | ChangeMemory
    | Pause
    | GoOn
    | ArrangeQueue
    | RunCommand
    | DecidePlan
    | Rewind
)
