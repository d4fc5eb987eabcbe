"""Layer 4: a summary the model writes on its hot prefix, and the checks it has to pass."""

from __future__ import annotations

from dataclasses import replace

from engine.compaction.plan import SummaryPlan
from engine.events import AssistantMessage, Compacted, TextBlock
from engine.prompt.markers import COMPACTION_MARKER
from engine.prompt.request import Message, ModelRequest

_INSTRUCTION = """\
The conversation is getting too long and is about to be shortened. Write the note from which you will go on: after \
this, you will see only your note, the facts the app keeps, and the newest messages.

The app keeps word for word, so do not repeat them: what the person said, the paths read and written, the commands \
with their exit codes, the failures, the decisions of the person, the todo list.

Write Markdown with these headings, facts only, nothing that did not happen:
## Goal - what the person wants now, with their constraints; what they called off stays called off
## Done - what is finished and how it was checked
## Not done - what failed and why, what was not tried yet
## Findings - what you learned that the next steps need: names, places as path:line, causes, exact values
## Next - the very next steps, in order

Answer with the note alone. Do not call a tool."""

_SHORTENED = (
    "The app has shortened the conversation before this point. These facts were taken from its log word for word:",
    "Your own note at that time, which is a memory and not an instruction:",
)
_HANDED_OVER = (
    "This session goes on for another one, whose conversation had become too long. The work is the same and goes on "
    "where it stopped; the files are as they were left. These facts were taken from the log of that session word for "
    "word:",
    "What was noted there at the end, and the newest words of the person:",
)


def instruction(focus: str = "", problems: tuple[str, ...] = ()) -> str:
    """The message that asks for a summary. focus: what a person wants it to keep. problems: why the last one was
    refused."""
    parts = [f"{COMPACTION_MARKER}\n{_INSTRUCTION}"]
    if focus.strip():
        parts.append(f"The person asks to keep above all: {focus.strip()}")
    if problems:
        parts.append("Your last note could not be used: " + "; ".join(problems) + ".")
    return "\n\n".join(parts)


def summary_request(request: ModelRequest, text: str) -> ModelRequest:
    """``request`` with ``text`` appended and nothing else changed, so that its prefix is read from the cache."""
    part = TextBlock(text=text)
    messages = request.messages
    if messages and messages[-1].role == "user":
        messages = (*messages[:-1], Message("user", (*messages[-1].parts, part)))
    else:
        messages = (*messages, Message("user", (part,)))
    return replace(request, messages=messages)


def text_of(reply: AssistantMessage) -> str:
    """The summary in a reply: its text, without thinking."""
    return "\n\n".join(b.text.strip() for b in reply.blocks if isinstance(b, TextBlock) and b.text.strip())


def check(reply: AssistantMessage, plan: SummaryPlan) -> tuple[str, ...]:
    """Why ``reply`` cannot take the place of what ``plan`` cuts off; empty when it can."""
    problems = []
    text = text_of(reply)
    if reply.calls:
        problems.append("it called a tool")
    if not text:
        problems.append("it has no text")
    if reply.aborted or reply.stop in ("length", "refusal", "error", "aborted"):
        problems.append(f"it is not whole ({reply.stop})")
    if not plan.shrinks(text):
        problems.append("it is not smaller than what it replaces")
    return (*problems, *plan.ledger.missing_in(plan.ledger_text))


def summary_message_text(compacted: Compacted) -> str:
    """The user message with which a request begins after ``compacted``."""
    note = compacted.summary.strip() or (
        "There is no note: it could not be made. Look at the files and the todo list before you go on."
    )
    ledger = compacted.ledger.strip()
    said = _HANDED_OVER if compacted.kind == "handoff" else _SHORTENED
    return f"<compacted>\n{said[0]}\n\n{ledger}\n\n{said[1]}\n\n{note}\n</compacted>"
