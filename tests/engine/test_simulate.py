"""What a session would have cost elsewhere, against what strict servers counted for the session as it was."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine import events as ev
from engine.log import LogStore
from engine.models.base import Done, Part
from engine.models.pricing import price
from engine.paths import Home
from engine.prompt.request import ModelRequest
from engine.prompt.simulate import USUAL, requests, simulate
from tests.engine.kit import Kit, make_kit
from tests.engine.long_kit import Outputs, StrictModel, long_kit
from tests.fakes.asking import params_for
from tests.fakes.prefix import PrefixCache
from tests.fakes.turns import Format
from tui.main import main

FORMATS: dict[str, Format] = {
    "anthropic/claude-sonnet-5-5": "anthropic",
    "openai/gpt-5-mini": "openai",
    "openai/gpt-6-sol": "openai",
}


@dataclass
class Counted(StrictModel):
    """Reports usage as the wire's strict server accounts for it: reads and writes between marks, or by prefix."""

    cache: PrefixCache = field(default_factory=PrefixCache)
    writes: bool = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[Part]:
        count = self.cache.account(params_for(self.format, request), "key")
        async for part in super().stream(request):
            if isinstance(part, Done):
                new = count.total - count.read - count.write
                usage = ev.Usage(
                    input_uncached=0 if self.writes else new,
                    cache_read=count.read,
                    cache_write=new if self.writes else count.write,
                    output=part.usage.output,
                )
                part = replace(part, usage=usage)
            yield part


async def ran(tmp_path: Path, spec: str, steps: int = 120, window: int = 24_000) -> Kit:
    """A session of ``steps`` calls with ``spec``, whose results are too small to be moved out: what makes room in it is
    a summary, which is paid for."""
    kit, _ = long_kit(tmp_path, FORMATS[spec], window, steps)
    kit.broker.run = Outputs(steps, 1_900).run  # type: ignore[method-assign]
    session = kit.runner.session
    model = Counted(
        FORMATS[spec],
        window,
        steps,
        lambda: session.state.compactions,
        spec=spec,
        writes=spec == "openai/gpt-6-sol",
    )
    kit.runner._replace_model(model)
    kit.runner.send("Build it", "steer")
    await kit.runner.idle()
    return kit


@pytest.mark.parametrize("spec", FORMATS)
async def test_for_the_own_model_it_says_what_was_paid(tmp_path: Path, spec: str) -> None:
    kit = await ran(tmp_path, spec)
    assert any(e.usage.input for e in kit.events if isinstance(e, ev.Compacted)), "a summary was paid for"
    own, *others = simulate(kit.events)
    reported = [one.usage for one in requests(kit.events)]
    assert own.model == spec and own.real is not None and own.cached is not None and own.uncached is not None
    assert own.cached == pytest.approx(own.real, rel=0.05)
    assert own.read + own.write + own.new == sum(usage.input for usage in reported)
    assert own.read == pytest.approx(sum(usage.cache_read for usage in reported), rel=0.05)
    assert own.output == sum(usage.output for usage in reported)
    plain = [price(spec, ev.Usage(input_uncached=u.input, output=u.output))[0] or 0 for u in reported]
    assert own.uncached == pytest.approx(sum(plain))
    assert [line.model for line in others] == [model for model in USUAL if model != spec]
    assert all(line.real is None and line.cached and line.uncached for line in others)
    assert all(line.cached < line.uncached for line in others if line.cached and line.uncached)


async def test_requests_for_summaries_count(tmp_path: Path) -> None:
    kit = await ran(tmp_path, "anthropic/claude-sonnet-5-5")
    summaries = [e.cost or 0.0 for e in kit.events if isinstance(e, ev.Compacted) and e.usage.input]
    answers = [e.cost or 0.0 for e in kit.events if isinstance(e, ev.AssistantMessage)]
    asked = list(requests(kit.events))
    assert len(asked) == len(answers) + len(summaries)
    assert sum(one.cost or 0.0 for one in asked) == pytest.approx(sum(answers) + sum(summaries))


async def test_a_cache_that_ran_out_between_turns_is_paid_again(tmp_path: Path) -> None:
    kit = await ran(tmp_path, "anthropic/claude-sonnet-5-5", steps=6, window=200_000)
    slow = [e.model_copy(update={"at": e.at + timedelta(minutes=20 * e.seq)}) for e in kit.events]
    quick, late = simulate(kit.events)[0], simulate(slow)[0]
    assert quick.read > 0 and late.read == 0 and late.hit == 0
    assert late.cached and late.uncached and late.cached > late.uncached, "writing costs more and nothing is read"
    assert late.uncached == quick.uncached


async def test_models_can_be_named_and_unknown_ones_have_no_price(tmp_path: Path) -> None:
    kit = await ran(tmp_path, "anthropic/claude-sonnet-5-5", steps=3, window=200_000)
    own, unknown, local = simulate(kit.events, ("openai/no-such-model", "ollama/qwen3"))
    assert own.model == "anthropic/claude-sonnet-5-5"
    assert unknown.cached is None and unknown.uncached is None and unknown.read + unknown.new > 0
    assert local.cached == local.uncached == 0.0 and local.hit > 0.3


async def test_what_another_model_did_a_part_of_has_no_price_of_its_own(tmp_path: Path) -> None:
    kit = await ran(tmp_path, "anthropic/claude-sonnet-5-5", steps=3, window=200_000)
    first = next(n for n, e in enumerate(kit.events) if isinstance(e, ev.TurnStarted))
    mixed = list(kit.events)
    mixed[first] = mixed[first].model_copy(update={"model": "openai/gpt-5-mini"})
    assert simulate(mixed)[0].real is None


async def test_without_an_answered_request_there_is_nothing_to_say(tmp_path: Path) -> None:
    kit = make_kit(tmp_path, [])
    assert simulate(kit.events) == () == simulate(())
    started = ev.TurnStarted(turn=1, model="script/x")
    assert simulate([*kit.events, started]) == ()
    cut = ev.AssistantMessage(turn=1, model="script/x", aborted=True, stop="aborted")
    assert simulate([*kit.events, started, cut]) == ()


async def test_the_command_prints_a_table_or_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kit = await ran(tmp_path, "anthropic/claude-sonnet-5-5", steps=2, window=200_000)
    monkeypatch.setattr(Home, "here", lambda: Home(tmp_path / "data", tmp_path / "config", tmp_path / "cache"))
    id = kit.runner.session.id
    assert main(["sessions", "cost", id, "--model", "openai/gpt-6-luna"]) == 0
    out = capsys.readouterr().out
    assert "PAID" in out and "anthropic/claude-sonnet-5-5" in out and "openai/gpt-6-luna" in out
    assert main(["sessions", "cost", id, "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)
    assert lines[0]["model"] == "anthropic/claude-sonnet-5-5" and len(lines) == len(USUAL)
    assert main(["sessions", "cost", id, "--model", "nonsense"]) == 1
    assert "provider/model" in capsys.readouterr().err
    empty = LogStore(Home.here()).create()
    empty.append(ev.SessionStarted(cwd="/", model="script/x", app_version="1"))
    empty.close()
    assert main(["sessions", "cost", empty.session]) == 0
    assert "No request" in capsys.readouterr().out
