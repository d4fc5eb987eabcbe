"""Where the workbench's larger parts come from: each is imported at the moment it is needed and not before, so that
the first frame pays only for what it shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from textual.screen import ModalScreen, Screen
    from textual.widget import Widget

    from engine.commands import Command
    from engine.queries import RuleTrial
    from engine.state import OpenCall, TaskState
    from tui.arranging import Arranging
    from tui.host import Ask
    from tui.screens.compaction import Control
    from tui.transcript.view import Transcript


def transcript() -> type[Transcript]:
    """The class of the transcript. Importing it takes longer than a frame, so that no frame waits for it."""
    from tui.transcript.view import Transcript

    return Transcript


def composer(ask: Ask) -> Widget:
    """Where a person types; completes files by asking the engine."""
    from tui.actions import slash_commands
    from tui.widgets.composer import Composer

    async def complete(text: str) -> tuple[str, ...]:
        from engine.queries import CompleteFiles

        return tuple(await ask(CompleteFiles(text)))

    return Composer(complete, slash_commands(), ())


def dialog(request: Any, place: tuple[int, int], ask: Ask, whose: str = "") -> ModalScreen[Any]:
    """The dialog for an approval, a question or a plan; ``whose`` names the session, where more than one could ask."""
    if request.type == "plan_proposed":
        from tui.dialogs.plan import PlanDialog

        return PlanDialog(request, whose)
    if request.type == "question_asked":
        from tui.dialogs.question import QuestionDialog

        return QuestionDialog(request, whose=whose)
    from tui.dialogs.approval import ApprovalDialog

    async def try_rule(rule: str) -> RuleTrial:
        from engine.queries import TryRule

        trial: RuleTrial = await ask(TryRule(request.session, rule))
        return trial

    return ApprovalDialog(request, *place, try_rule, whose=whose)


def queue(arranging: Arranging, state: Callable[[], TaskState | None], give: Callable[[str], None]) -> Screen[None]:
    """What waits to be said, and what became of those before."""
    from tui.screens.queue import QueueScreen

    return QueueScreen(arranging, state, give)


def stop(running: Callable[[], Sequence[OpenCall]], waiting: int) -> ModalScreen[Any]:
    """What becomes of the calls that run when a person stops the agent, while ``waiting`` messages wait."""
    from tui.dialogs.stop import StopDialog

    return StopDialog(running, waiting)


def rewind(ask: Ask, session: str, send: Callable[[Callable[[str], Command]], None]) -> Screen[None]:
    """Where to go back to in a session, and what that would change."""
    from tui.screens.rewind import RewindScreen

    return RewindScreen(ask, session, send)


def memory(
    ask: Ask, folder: str, send: Callable[[Callable[[str], Command]], None], seq: Callable[[], int]
) -> Screen[None]:
    """What is remembered in ``folder``."""
    from tui.screens.memory import MemoryScreen

    return MemoryScreen(ask, folder, send, seq)


def settings(ask: Ask, folder: str, session: Callable[[], Mapping[str, object]]) -> Screen[None]:
    """The settings as they hold in ``folder``; ``session``: what the open session has instead."""
    from tui.screens.settings import SettingsScreen

    return SettingsScreen(ask, folder, session)


def sessions(ask: Ask, folder: str = "", enter: Literal["open", "play"] = "open") -> Screen[str | None]:
    """The list of stored sessions, where Enter opens or plays; its result is the id of the one to open."""
    from tui.screens.sessions import SessionsScreen

    return SessionsScreen(ask, folder=folder, enter=enter)


def player(ask: Ask, session: str) -> Screen[str | None]:
    """The replay of a stored session, or of an exported one's file; its result is the id of a session to go on with."""
    from tui.screens.player import PlayerScreen

    return PlayerScreen(ask, session)


def inspector(ask: Ask, session: str, turn: int = 0, control: Control | None = None) -> Screen[None]:
    """What was sent to the model in a session, request by request; ``turn`` 0 begins with the newest."""
    from tui.screens.inspector import InspectorScreen

    return InspectorScreen(ask, session, turn, control)


def compactions(ask: Ask, session: str, control: Control | None = None, number: int = 0) -> Screen[None]:
    """The compactions of a session, beginning with ``number``, or, 0, with the newest."""
    from tui.screens.compaction import CompactionScreen

    return CompactionScreen(ask, session, control, number)
