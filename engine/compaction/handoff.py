"""Layer 5: when a session has to go on as a fresh one, and what that starts from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.compaction.known import Known
from engine.compaction.ledger_text import bounded
from engine.compaction.plan import fixed, thresholds
from engine.compaction.visible import CHARS_PER_TOKEN, in_force, last_summary, tokens
from engine.events import Compacted, Event

# More automatic summaries than this within so many turns: making room has become the work.
MOST_SUMMARIES = 2
WITHIN_TURNS = 6
ASKED = "asked for"


def handoff_ledger(
    events: Sequence[Event], window: int, keep: Callable[[bytes], str] | None = None, known: Known | None = None
) -> tuple[str, str, str]:
    """What a fresh session in a window of ``window`` tokens starts from: the ledger of all ``events``, bounded to the
    window; the note: the newest summary's and the newest messages of the person, verbatim or bounded; and the digest
    under which all that was cut can be read, "" when nothing was. keep: stores that, known: as in `plan_summary`."""
    at = thresholds(window)
    budget = int(2 * at.ledger * CHARS_PER_TOKEN)
    ledger = (known or Known()).and_of(events)
    newest = _unanswered(events)
    room = int(at.ledger * CHARS_PER_TOKEN)
    cut = any(len(text) > room // max(1, len(newest)) for text in newest)
    text, artifact = ledger.text(budget), ""
    if (cut or "left out" in text) and keep is not None:
        artifact = keep(ledger.whole().encode())
        where = f"artifact:{artifact}: read it with fs_read" if artifact else ""
        text = ledger.text(budget, where)
    return text, _note(events, newest, room, artifact), artifact


def _note(events: Sequence[Event], newest: Sequence[str], room: int, artifact: str) -> str:
    last = last_summary(events)
    parts = [bounded(last.summary.strip(), room)] if last and last.summary.strip() else []
    if newest:
        where = f" All of it stands in artifact:{artifact}; read it with fs_read." if artifact else ""
        parts.append(f"Not answered yet, the newest last:{where if any(len(t) > room for t in newest) else ''}")
        parts += [bounded(text, max(200, room // len(newest))) for text in newest]
    return "\n\n".join(parts)


def _unanswered(events: Sequence[Event]) -> list[str]:
    """What the person said last: all of it since the model last said or did something."""
    said: list[str] = []
    for event in reversed(events):
        if event.type == "user_message":
            said.append(event.text)
        elif said and (event.type == "tool_result" or (event.type == "assistant_message" and not event.aborted)):
            break
    return said[::-1]


def recurring(events: Sequence[Event], window: int) -> str:
    """Why making room once more would not help, for a person; empty when it would. Only for what the app did by
    itself: a person may compact as often as they like."""
    summaries = [e for e in in_force(events) if e.kind == "summary" and e.reason != ASKED]
    if not summaries:
        return ""
    turns = [e.seq for e in events if e.type == "turn_started"][-WITHIN_TURNS:]
    recent = [e for e in summaries if not turns or e.seq >= turns[0]]
    if len(recent) >= MOST_SUMMARIES:
        return f"the conversation would be summarised {len(recent) + 1} times within {len(turns)} turns"
    last = summaries[-1]
    if last.tokens_before and last.tokens_before - last.tokens_after < thresholds(window).gain:
        return f"the last summary freed only {max(0, last.tokens_before - last.tokens_after):,} tokens"
    return ""


def would_help(events: Sequence[Event], window: int, known: Known | None = None) -> bool:
    """Whether a fresh session would have room to work, and this one has done anything since it began: a hand-off from
    nothing to the same nothing would never end."""
    if not _has_worked(events):
        return False
    ledger, note, _ = handoff_ledger(events, window, known=known)
    at = thresholds(window)
    return fixed(events) + tokens(len(ledger) + len(note)) + 2 * at.gain < at.summary


def _has_worked(events: Sequence[Event]) -> bool:
    """Whether a call has come to something here: after the hand-off this session began by, if it did."""
    first = next((e for e in events if isinstance(e, Compacted)), None)
    since = first.seq if first is not None and first.kind == "handoff" else 0
    return any(e.type == "tool_result" and e.seq > since for e in events)
