"""What the inspector predicts of the prefix cache, held against what a real llama.cpp reports, turn by turn."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.models.base import Part
from engine.models.wire_chat import OpenAIChatModel
from engine.prompt.inspect import Inspector
from engine.prompt.request import ModelRequest
from engine.queries import InspectedRequest
from tests.engine.kit import make_kit
from tests.real_model import llama_server, real_weights

TURNS = 20
ANSWER = 12
"""Tokens of an answer: enough to be a message of its own in the next request."""
THINGS = "ape ship sun stone cloud train paper glass bread horse music lamp field stair rope wheel coin sand leaf door"


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_weights(tmp_path_factory.mktemp("weights"))


class Brief(OpenAIChatModel):
    """Asks for short answers: a small model hardly ends by itself."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        async for part in super().stream(replace(request, max_output=ANSWER)):
            yield part


async def test_predicted_and_reported_cache_agree_within_a_block(tmp_path: Path, weights: Path) -> None:
    with llama_server(weights, ANSWER) as url:
        kit = make_kit(tmp_path, [])
        model = Brief("openai-chat/smollm2", "smollm2", api_key="none", base_url=url, context_window=8192)
        kit.runner._replace_model(model)
        inspector, seen = Inspector(), []
        for thing in THINGS.split()[:TURNS]:
            kit.runner.send(f"Say one thing about: {thing}", "steer")
            await kit.runner.idle()
            asked = inspector.request(kit.events)
            assert asked and asked.reported, kit.runner.session.state.stage_detail
            seen.append(asked)
            print(row(asked), flush=True)
        await kit.runner.close()
    assert [asked.turn for asked in seen] == list(range(1, TURNS + 1))
    assert [row(asked) for asked in seen if abs(missed(asked)) > allowed(asked)] == []
    assert all(asked.reported and asked.reported.read > 0 for asked in seen[1:]), "the server reused its cache"


def missed(asked: InspectedRequest) -> int:
    """Tokens by which the prediction was too high."""
    assert asked.reported
    return asked.predicted.read - asked.reported.read


def allowed(asked: InspectedRequest) -> int:
    """The block at which the cache was predicted to end: the larger of its two neighbours there."""
    read = [n for n, block in enumerate(asked.blocks) if block.state == "read"]
    edge = read[-1] if read else 0
    return max(block.tokens for block in asked.blocks[edge : edge + 2])


def row(asked: InspectedRequest) -> str:
    assert asked.reported
    return (
        f"turn {asked.turn:2}: {asked.tokens:5} tokens, predicted {asked.predicted.read:5}, "
        f"reported {asked.reported.read:5}, off by {missed(asked):4} of {allowed(asked):4} ({asked.cause or asked.why})"
    )
