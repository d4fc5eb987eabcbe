"""The tools there are, sorted by name: a fixed set, so that layer B is the same bytes in every session."""

from __future__ import annotations

import re
from typing import Any

from engine.events import ToolSpec
from engine.tools.base import Tool
from engine.tools.fs_edit import FsEdit
from engine.tools.fs_list import FsList
from engine.tools.fs_read import FsRead
from engine.tools.fs_search import FsSearch
from engine.tools.fs_write import FsWrite
from engine.tools.memory_save import MemorySave
from engine.tools.memory_search import MemorySearch
from engine.tools.shell_run import ShellRun
from engine.tools.todo_write import TodoWrite
from engine.tools.user_ask import UserAsk

TOOLS: tuple[Tool[Any], ...] = (
    FsEdit(),
    FsList(),
    FsRead(),
    FsSearch(),
    FsWrite(),
    MemorySave(),
    MemorySearch(),
    ShellRun(),
    TodoWrite(),
    UserAsk(),
)
# Words in the names models bring along, the most telling first.
_HABITS = {
    "todo_write": {"todo", "todos", "plan"},
    "memory_save": {"remember", "memorize", "memory"},
    "memory_search": {"recall"},
    "user_ask": {"ask", "question", "clarify"},
    "fs_edit": {"edit", "replace", "patch"},
    "fs_search": {"grep", "search", "rg", "find"},
    "fs_list": {"ls", "list", "glob", "dir", "tree"},
    "fs_write": {"write", "create", "save"},
    "fs_read": {"read", "cat", "view", "open"},
    "shell_run": {"bash", "sh", "shell", "exec", "execute", "run", "terminal", "command"},
}
_BY_NAME = {tool.name: tool for tool in TOOLS}


def specs() -> tuple[ToolSpec, ...]:
    """Every tool as the model sees it, sorted by name."""
    return tuple(tool.spec() for tool in TOOLS)


def find(name: str) -> Tool[Any] | None:
    """The tool called ``name``."""
    return _BY_NAME.get(name)


def nearest(name: str) -> str:
    """The tool most likely meant by ``name``, by what tools of this kind are called elsewhere or by its letters; empty
    when none is like it."""
    from rapidfuzz import fuzz, process

    words = set(re.findall("[a-z]+", re.sub("([A-Z])", r" \1", name).lower()))
    known = next((tool for tool, habits in _HABITS.items() if words & habits), "")
    found = None if known else process.extractOne(name, list(_BY_NAME), scorer=fuzz.WRatio, score_cutoff=60)
    return str(found[0]) if found else known


def is_read_only(name: str) -> bool:
    """Whether calls of this tool change nothing, so that they may run side by side. False for unknown names."""
    tool = find(name)
    return tool is not None and tool.read_only
