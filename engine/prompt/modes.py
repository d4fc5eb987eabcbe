"""What the model reads and may call by the person's hand: the plan mode, and the commands a person ran. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.events import PersonRan
    from engine.state import TaskState

PLAN = "plan"
"""The approve mode in which the agent only reads and its run ends in a plan."""
READS = ("fs_list", "fs_read", "fs_search", "memory_search", "user_ask")
"""The tools that may be called while planning: they change nothing."""
KIND = "mode"
PLANNING = (
    "mode: plan. You may only look: " + ", ".join(READS) + ". Nothing that changes anything will run. End with a final "
    "answer that is the plan and nothing else: the steps in order, the files each touches, and how each is checked. "
    "The person approves it, perhaps edited, or rejects it."
)
OVER = "mode: the plan mode is over; all tools can be called again."
_TAG = re.compile(r"<(?=[\s/\\]*person_ran)", re.IGNORECASE)


def allows(name: str, state: TaskState) -> bool:
    """Whether the tool called ``name`` may be called in the present mode."""
    return state.approve != PLAN or name in READS


def ran_text(ran: PersonRan) -> str:
    """The command and what came of it. Nothing in the output can end the tag."""
    inside = _TAG.sub("&lt;", f"$ {ran.command}\n{ran.text}")
    return f"<person_ran>\nThe person ran this themselves, in the sandbox:\n{inside}\n</person_ran>"
