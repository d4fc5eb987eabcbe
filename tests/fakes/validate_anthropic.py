"""What the Messages API refuses, in its words. Stricter in one point: roles must alternate."""

from __future__ import annotations

import re
from typing import Any

from tests.fakes.checks import CALL_ID, reject, schema_problem, verdict
from tests.fakes.seals import is_genuine, seal

_PARAMS = {
    "model", "max_tokens", "messages", "system", "tools", "tool_choice", "stream", "metadata", "stop_sequences",
    "temperature", "top_k", "top_p", "thinking", "service_tier", "container", "output_config", "cache_control",
    "context_management",
}  # fmt: skip
_TOOL_FIELDS = {"name", "description", "input_schema", "cache_control", "type", "strict"}
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_BLOCK_FIELDS = {
    "text": {"type", "text", "cache_control", "citations"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}
_BLOCKS_OF = {"user": {"text", "tool_result"}, "assistant": {"text", "tool_use", "thinking", "redacted_thinking"}}


def validate_anthropic(body: Any) -> str | None:
    """Why the API would answer 400, None if it would not."""
    return verdict(_check, body)


def _check(body: dict[str, Any]) -> None:
    for name in body:
        if name not in _PARAMS:
            reject(f"{name}: Extra inputs are not permitted")
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            reject(f"{name}: Field required")
    if not isinstance(body["max_tokens"], int) or body["max_tokens"] < 1:
        reject("max_tokens: Input should be greater than or equal to 1")
    _check_system(body.get("system", "x"))
    _check_tools(body)
    if not isinstance(body["messages"], list) or not body["messages"]:
        reject("messages: at least one message is required")
    _check_messages(body["messages"])
    _check_calls(body["messages"])
    if "tools" not in body and _blocks_of_type(body["messages"], "tool_use"):
        reject("Requests which include `tool_use` or `tool_result` blocks must define tools")
    _check_breakpoints(body)
    _check_thinking(body)


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        return
    if not isinstance(system, list):
        reject("system: Input should be a valid list")
    for at, block in enumerate(system):
        if block.get("type") != "text":
            reject(f"system.{at}.type: Input should be 'text'")
        _check_text_block(f"system.{at}", "system", block)


def _check_tools(body: dict[str, Any]) -> None:
    names = []
    for at, tool in enumerate(body.get("tools", ())):
        where = f"tools.{at}.custom"
        for field in tool:
            if field not in _TOOL_FIELDS:
                reject(f"{where}.{field}: Extra inputs are not permitted")
        if not isinstance(tool.get("name"), str) or not _NAME.fullmatch(tool["name"]):
            reject(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if problem := schema_problem(tool.get("input_schema")):
            reject(f"{where}.input_schema: JSON schema is invalid: {problem}")
        names.append(tool["name"])
    if len(set(names)) != len(names):
        reject("tools: Tool names must be unique.")
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        reject("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'")
    if choice["type"] == "tool" and choice.get("name") not in names:
        reject(f"Tool '{choice.get('name')}' not found in provided tools")


def _check_messages(messages: list[Any]) -> None:
    if messages[0].get("role") != "user":
        reject('messages: first message must use the "user" role')
    for at, message in enumerate(messages):
        role = message.get("role")
        if role not in _BLOCKS_OF:
            reject(f'messages: Unexpected role "{role}". The Messages API accepts a top-level `system` parameter')
        if set(message) - {"role", "content"}:
            reject(f"messages.{at}.{min(set(message) - {'role', 'content'})}: Extra inputs are not permitted")
        if at and messages[at - 1]["role"] == role:
            reject(f'messages: roles must alternate, but found multiple "{role}" roles in a row')
        if not message.get("content"):
            reject(f"messages.{at}: all messages must have non-empty content")
        for place, block in enumerate(_blocks(message)):
            _check_block(f"messages.{at}.content.{place}", role, block)
        if role == "assistant" and "thinking" in _blocks(message)[-1]["type"]:
            reject(f"messages.{at}: The final block in an assistant message cannot be `thinking`.")
    if messages[-1]["role"] == "assistant":
        reject("This model does not support assistant message prefill. The conversation must end with a user message.")


def _check_block(where: str, role: str, block: Any) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in _BLOCKS_OF[role]:
        reject(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    for field in block:
        if field not in _BLOCK_FIELDS[kind]:
            reject(f"{where}.{kind}.{field}: Extra inputs are not permitted")
    match kind:
        case "text":
            _check_text_block(where, "messages", block)
        case "tool_use":
            _check_id(f"{where}.tool_use.id", block.get("id"))
            if not isinstance(block.get("name"), str) or not _NAME.fullmatch(block["name"]):
                reject(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
            if not isinstance(block.get("input"), dict):
                reject(f"{where}.tool_use.input: Input should be a valid dictionary")
        case "tool_result":
            _check_id(f"{where}.tool_result.tool_use_id", block.get("tool_use_id"))
            if not isinstance(block.get("content", ""), str):
                for inner in block["content"]:
                    _check_text_block(where, "messages", inner)
        case "thinking":
            if block.get("signature") != seal(str(block.get("thinking"))):
                reject(f"{where}: Invalid `signature` in `thinking` block")
        case "redacted_thinking":
            if not is_genuine(block.get("data")):
                reject(f"{where}: Invalid `data` in `redacted_thinking` block")


def _check_text_block(where: str, section: str, block: Any) -> None:
    if not isinstance(block, dict) or not isinstance(block.get("text"), str):
        reject(f"{where}.text.text: Field required")
    if not block["text"]:
        reject(f"{section}: text content blocks must be non-empty")
    if not block["text"].strip():
        reject(f"{section}: text content blocks must contain non-whitespace text")


def _check_id(where: str, value: Any) -> None:
    if not isinstance(value, str) or not CALL_ID.fullmatch(value):
        reject(f"{where}: String should match pattern '^[a-zA-Z0-9_-]+$'")


def _check_calls(messages: list[Any]) -> None:
    """Each call has one result at the start of the next message; no result is without its call; ids are unique."""
    ids = [block["id"] for block in _blocks_of_type(messages, "tool_use")]
    if len(set(ids)) != len(ids):
        reject("messages: `tool_use` ids must be unique")
    wanted: list[str] = []
    for at, message in enumerate(messages):
        blocks = _blocks(message)
        given = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        for place, call_id in enumerate(given):
            if call_id not in wanted:
                reject(
                    f"messages.{at}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}."
                    " Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
            if given.count(call_id) > 1:
                reject(f"messages.{at}: each tool_use must have a single result. Found multiple for id {call_id}")
        early = [b["tool_use_id"] for b in blocks[: len(given)] if b["type"] == "tool_result"]
        if missing := [call_id for call_id in wanted if call_id not in early]:
            reject(
                f"messages.{at - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block."
            )
        wanted = [b["id"] for b in blocks if b["type"] == "tool_use"]


def _check_breakpoints(body: dict[str, Any]) -> None:
    system = body.get("system")
    blocks = [*body.get("tools", ()), *(system if isinstance(system, list) else ())]
    blocks += [block for message in body["messages"] for block in _blocks(message)]
    found = [block["cache_control"] for block in blocks if block.get("cache_control") is not None]
    if any(not isinstance(mark, dict) or mark.get("type") != "ephemeral" for mark in found):
        reject("cache_control.type: Input should be 'ephemeral'")
    if len(found) > 4:
        reject(f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}.")


def _check_thinking(body: dict[str, Any]) -> None:
    thinking = body.get("thinking")
    if thinking is None:
        return
    if thinking.get("type") not in ("enabled", "disabled", "adaptive"):
        reject("thinking.type: Input tag does not match any of the expected tags")
    if thinking["type"] != "enabled":
        return
    if thinking.get("budget_tokens", 0) < 1024:
        reject("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    said = [_blocks(message) for message in body["messages"] if message["role"] == "assistant"]
    if said and any(block["type"] == "tool_use" for block in said[-1]) and "thinking" not in said[-1][0]["type"]:
        reject(
            "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final "
            "`assistant` message must start with a thinking block."
        )


def _blocks(message: dict[str, Any]) -> list[Any]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _blocks_of_type(messages: list[Any], kind: str) -> list[Any]:
    return [block for message in messages for block in _blocks(message) if block["type"] == kind]
