"""A request cut into blocks in the order a provider caches them: for simulated usage and for append-only checks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tests.fakes.turns import Format

_LOOKBACK = 20


@dataclass(frozen=True)
class Block:
    """A piece of the prompt. ``marked``: a cache breakpoint follows it, which is no part of its content."""

    section: str
    place: str
    content: str
    marked: bool = False

    @property
    def tokens(self) -> int:
        return tokens(self.content)


@dataclass(frozen=True)
class Count:
    """Prompt tokens of one request, roughly, and how many of them came out of and went into the cache."""

    total: int
    read: int
    write: int


def tokens(text: str) -> int:
    """Roughly the tokens of ``text``."""
    return (len(text) + 3) // 4


def format_of(body: dict[str, Any]) -> Format:
    """The wire format a request is in."""
    if "input" in body:
        return "openai"
    if "system" in body or any("input_schema" in tool for tool in body.get("tools", ())):
        return "anthropic"
    return "anthropic" if isinstance(body["messages"][0].get("content"), list) else "openai-chat"


def blocks(body: dict[str, Any]) -> list[Block]:
    """The prompt's blocks: tools, system, messages."""
    found = [_block("tools", f"tools[{at}]", tool) for at, tool in enumerate(body.get("tools", ()))]
    if format_of(body) == "anthropic":
        system = body.get("system", [])
        system = [{"type": "text", "text": system}] if isinstance(system, str) else system
        found += [_block("system", f"system[{at}]", block) for at, block in enumerate(system)]
    elif "instructions" in body:
        found.append(_block("system", "instructions", {"text": body["instructions"]}))
    name = "input" if "input" in body else "messages"
    for at, message in enumerate(body[name]):
        section = "system" if message.get("role") in ("system", "developer") else "messages"
        content = message.get("content")
        if isinstance(content, list):
            shell = {key: value for key, value in message.items() if key != "content"}
            found += [
                _block(section, f"{name}[{at}].content[{place}]", {**shell, "content": part}, part)
                for place, part in enumerate(content)
            ]
        else:
            found.append(_block(section, f"{name}[{at}]", message))
    return found


def _block(section: str, place: str, data: dict[str, Any], marked: dict[str, Any] | None = None) -> Block:
    inner = data if marked is None else marked
    bare = {key: value for key, value in inner.items() if key != "cache_control"}
    whole = bare if marked is None else {**data, "content": bare}
    return Block(section, place, json.dumps(whole, sort_keys=True, ensure_ascii=False), "cache_control" in inner)


def assert_append_only(requests: Sequence[dict[str, Any]]) -> None:
    """Fail unless every request begins with the one before: same tools, same system, messages only appended.

    Cache breakpoints may move, and the last text of a plain-string user message may have grown at its end.
    """
    for number, (before, after) in enumerate(pairwise([blocks(body) for body in requests]), start=1):
        for section in ("tools", "system"):
            old, new = ([b.content for b in found if b.section == section] for found in (before, after))
            assert old == new, f"request {number} has other {section} than request {number - 1}:\n{old}\n{new}"
        old_messages, new_messages = ([b for b in found if b.section == "messages"] for found in (before, after))
        assert len(old_messages) <= len(new_messages), f"request {number} has lost messages of request {number - 1}"
        for at, (old_block, new_block) in enumerate(zip(old_messages, new_messages, strict=False)):
            grown = at == len(old_messages) - 1 and _has_grown(old_block.content, new_block.content)
            assert old_block.content == new_block.content or grown, (
                f"request {number} diverges from request {number - 1} at {old_block.place}:\n"
                f"{old_block.content}\n{new_block.content}"
            )


def _has_grown(old: str, new: str) -> bool:
    before, after = json.loads(old), json.loads(new)
    text = before.get("content")
    if before.get("role") != "user" or not isinstance(text, str) or not isinstance(after.get("content"), str):
        return False
    return {**before, "content": ""} == {**after, "content": ""} and after["content"].startswith(text)


class PrefixCache:
    """Remembers requests as a provider's cache does and says what a new one finds in it."""

    def __init__(self) -> None:
        self._entries: set[str] = set()
        self._prompts: dict[str, list[str]] = {}

    def account(self, body: dict[str, Any], key: str) -> Count:
        """What ``body`` reads and writes; remembers it. ``key`` keeps accounts (or cache keys) apart."""
        found = blocks(body)
        return self._by_breakpoint(found, key) if format_of(body) == "anthropic" else self._by_prefix(found, key)

    def _by_breakpoint(self, found: list[Block], key: str) -> Count:
        """Entries end at breakpoints; from each breakpoint the lookup goes back over 20 blocks."""
        prefixes, counts, prefix, count = [], [], key, 0
        for block in found:
            prefix, count = f"{hash((prefix, block.content))}", count + block.tokens
            prefixes.append(prefix)
            counts.append(count)
        marked = [at for at, block in enumerate(found) if block.marked]
        reachable = {at - back for at in marked for back in range(_LOOKBACK) if at >= back}
        read = max((counts[at] for at in reachable if prefixes[at] in self._entries), default=0)
        self._entries.update(prefixes[at] for at in marked)
        written = counts[marked[-1]] if marked else read
        return Count(count, read, max(0, written - read))

    def _by_prefix(self, found: list[Block], key: str) -> Count:
        """The longest common beginning with any earlier prompt, to the character."""
        prompt = "\n".join(block.content for block in found)
        earlier = self._prompts.setdefault(key, [])
        read = max((_common(prompt, other) for other in earlier), default=0)
        earlier.append(prompt)
        return Count(tokens(prompt), read // 4, 0)


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
