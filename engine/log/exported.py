"""An exported session read from its file, for looking at it without taking it over."""

from __future__ import annotations

from pathlib import Path

from engine.events import Event
from engine.log.errors import LogError
from engine.log.transfer import read_jsonl
from engine.queries import LoadedSession, Skipped

HOW = "Only files of 'agent-tui sessions export' can be played."


def load_file(path: Path) -> LoadedSession:
    """The events of the first session in ``path``; a line that is none of them is skipped, and counted by its number.

    Raises LogError when the file cannot be read or holds no event.
    """
    events: list[Event] = []
    skipped: list[Skipped] = []
    try:
        with path.open("rb") as stream:
            for line in read_jsonl(stream):
                if line.event is None:
                    skipped.append(Skipped(line.number, line.problem))
                elif events and line.event.session != events[0].session:
                    skipped.append(Skipped(line.number, f"belongs to another session ({line.event.session[:64]})"))
                else:
                    events.append(line.event)
    except OSError as error:
        raise LogError(f"{path} cannot be read: {error.strerror or error}.", "Check the path.") from error
    if not events:
        raise LogError(f"There is no event in {path}.", HOW)
    return LoadedSession(events[0].session, tuple(events), tuple(skipped))
