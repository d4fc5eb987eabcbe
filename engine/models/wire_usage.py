"""Token counts of each wire, in our one definition: the whole prompt is uncached + cache read + cache write."""

from __future__ import annotations

from typing import Any

from engine.events import Usage


def look(data: Any, *path: str) -> Any:
    """The value at ``path`` in objects or mappings, None where something is missing: servers leave fields out."""
    for name in path:
        if data is None:
            return None
        data = data.get(name) if isinstance(data, dict) else getattr(data, name, None)
    return data


def _count(data: Any, *path: str) -> int:
    value = look(data, *path)
    return max(0, int(value)) if isinstance(value, int | float) else 0


def anthropic_usage(reported: Any, before: Usage) -> Usage:
    """Messages API. ``input_tokens`` leaves cached ones out; later reports are cumulative but may leave fields out."""

    def newest(old: int, *path: str) -> int:
        return old if look(reported, *path) is None else _count(reported, *path)

    return Usage(
        input_uncached=newest(before.input_uncached, "input_tokens"),
        cache_read=newest(before.cache_read, "cache_read_input_tokens"),
        cache_write=newest(before.cache_write, "cache_creation_input_tokens"),
        output=newest(before.output, "output_tokens"),
        reasoning=newest(before.reasoning, "output_tokens_details", "thinking_tokens"),
    )


def responses_usage(reported: Any) -> Usage:
    """Responses API. ``input_tokens`` is the whole prompt."""
    details = look(reported, "input_tokens_details")
    return _of_whole_prompt(
        _count(reported, "input_tokens"),
        _count(details, "cached_tokens"),
        _count(details, "cache_write_tokens"),
        output=_count(reported, "output_tokens"),
        reasoning=_count(reported, "output_tokens_details", "reasoning_tokens"),
    )


def chat_usage(reported: Any, timings: Any) -> Usage:
    """Chat Completions. ``prompt_tokens`` is the whole prompt; llama.cpp counts in ``timings`` too, or only there."""
    details = look(reported, "prompt_tokens_details")
    cached = max(_count(details, "cached_tokens"), _count(timings, "cache_n"))
    return _of_whole_prompt(
        _count(reported, "prompt_tokens") or _count(timings, "prompt_n") + cached,
        cached,
        _count(details, "cache_write_tokens"),
        output=_count(reported, "completion_tokens") or _count(timings, "predicted_n"),
        reasoning=_count(reported, "completion_tokens_details", "reasoning_tokens"),
    )


def _of_whole_prompt(prompt: int, read: int, write: int, *, output: int, reasoning: int) -> Usage:
    read = min(read, prompt)
    write = min(write, prompt - read)
    return Usage(
        input_uncached=prompt - read - write,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=min(reasoning, output),
    )
