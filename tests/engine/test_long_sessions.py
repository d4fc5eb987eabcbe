"""Three hundred calls through the real loop, as each wire carries them, with windows that fill many times over.

Between recorded compactions requests are append-only, a summary is asked for on the hot prefix, nothing is larger than
the window, every request is one the provider accepts, and our own count of it is right.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from engine import events as ev
from engine.compaction import thresholds
from engine.prompt import tokens
from engine.prompt.request import ModelRequest
from tests.engine.kit import Kit, make_kit
from tests.engine.long_kit import Repeated, Sent, long_kit
from tests.fakes import Call, StrictServer, Turn
from tests.fakes.asking import FORMATS, model_for, params_for, problem_with
from tests.fakes.prefix import assert_append_only
from tests.fakes.turns import Format

CALLS = 300
WINDOWS = (24_000, 45_000, 200_000)


async def play(tmp_path: Path, format: Format, window: int) -> tuple[Kit, list[Sent], int]:
    """A session of 300 calls, closed and resumed in the middle; all requests of both halves, and how many the first
    half has."""
    kit, first = long_kit(tmp_path, format, window, CALLS // 2)
    kit.runner.send("Make everything work. Never touch `vendor/`.", "steer")
    await kit.runner.idle()
    await kit.runner.close()
    kit, second = long_kit(tmp_path, format, window, CALLS, resume=kit.runner.session.id)
    second.keys = first.keys
    kit.runner.send("Go on.", "steer")
    await kit.runner.idle()
    return kit, [*first.sent, *second.sent], len(first.sent)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("format", FORMATS)
async def test_three_hundred_calls(tmp_path: Path, format: Format, window: int) -> None:
    kit, sent, resumed = await play(tmp_path, format, window)
    state = kit.runner.session.state
    assert (state.stage, state.calls) == ("finished", CALLS), state.stage_detail
    assert not kit.of(ev.HandedOff), "the window is large enough to go on in"
    check_prefixes(format, sent)
    assert sent[resumed].shared == sent[resumed - 1].total, "resuming reads all of it again"
    check_hits(sent)
    check_sizes(kit, sent, window)
    checked = sent if window < 40_000 else sent[::25]
    assert [problem for one in checked if (problem := problem_with(format, one.request))] == []
    made = batches(kit)
    assert 1 <= made <= forced(sent, window) + 1
    print(f"\n{format} {window:,}: {len(sent)} requests, {made} compactions, {forced(sent, window)} forced")
    await kit.runner.close()


def batches(kit: Kit) -> int:
    """Compactions as the cache feels them: layers made in one go, right after each other, break it once."""
    seqs = [e.seq for e in kit.events if e.type == "compacted"]
    return sum(seq - 1 not in seqs for seq in seqs)


def check_prefixes(format: Format, sent: list[Sent]) -> None:
    """Each request begins with the one before, unless a compaction was stored between them."""
    for before, after in pairwise(sent):
        if before.compactions == after.compactions and not before.summary:
            assert begins_with(after.request, before.request)
        if after.summary:
            assert after.shared >= 0.95 * before.total, "the summary request reads the previous prefix"
    # The same on the wire, for some of them: putting a long request on it takes a while.
    for before, after in list(pairwise(sent))[::24]:
        if before.compactions == after.compactions and not before.summary:
            assert_append_only([params_for(format, one.request) for one in (before, after)])


def check_hits(sent: list[Sent]) -> None:
    """Between compactions what the provider can read is all of the request before: hit ÷ ideal is 1.00 for each pair.
    Nothing but a recorded compaction ever makes it less."""
    for before, after in pairwise(sent):
        if before.compactions == after.compactions and not before.summary:
            assert after.shared / before.total == 1.0
        elif after.shared < before.total:
            assert before.summary or before.compactions < after.compactions


def begins_with(after: ModelRequest, before: ModelRequest) -> bool:
    """The same layers A and B, and all messages of ``before``, the last of which may have grown."""
    *whole, last = before.messages
    grown = after.messages[len(whole)]
    return (
        (after.identity, after.catalogue, after.tools) == (before.identity, before.catalogue, before.tools)
        and after.messages[: len(whole)] == tuple(whole)
        and (grown.role, grown.parts[: len(last.parts)]) == (last.role, last.parts)
    )


def check_sizes(kit: Kit, sent: list[Sent], window: int) -> None:
    assert not kit.of(ev.ModelFailed), "no request was larger than the window"
    largest = max(sent, key=lambda one: one.total)
    assert tokens.count(str(params_for("openai-chat", largest.request))) <= window
    # Ours is stored before the request, the server's with the answer.
    ours = [e.tokens for e in kit.events if e.type == "turn_started"]
    theirs = [e.usage.input for e in kit.events if e.type == "assistant_message"]
    # Of what a compaction leaves, and of more than all there was before, there is no report yet.
    fresh = turns_after_compactions(kit) | {n for n in range(1, len(theirs)) if theirs[n] > 2 * theirs[n - 1]}
    off = {n: o / t - 1 for n, (o, t) in enumerate(zip(ours, theirs, strict=True)) if n >= 2}
    worst = max((n for n in off if n not in fresh), key=lambda n: abs(off[n]))
    assert abs(off[worst]) <= 0.03, f"turn {worst}: {off[worst]:+.1%} ({ours[worst]} for {theirs[worst]})"
    assert all(abs(off[n]) <= 0.1 for n in fresh if n in off), [(n, off[n]) for n in fresh]


def turns_after_compactions(kit: Kit) -> set[int]:
    """Places, among the turns, of those whose request is the first after a compaction."""
    found, turn = set(), 0
    for event in kit.events:
        if event.type == "compacted":
            found.add(turn)
        turn += event.type == "turn_started"
    return found


def forced(sent: list[Sent], window: int) -> int:
    """Compactions without which all that was sent would not have fitted: each time the window is full to where room
    has to be kept, all goes but the layers A and B, the tail and the ledger."""
    at = thresholds(window)
    size, count = sent[0].total, 0
    turns = [one for one in sent if not one.summary]
    for before, after in pairwise(turns):
        size += max(0, after.total - before.total) if before.compactions == after.compactions else 0
        if size >= at.summary:
            count, size = count + 1, sent[0].total + at.tail + at.ledger
    return count


@pytest.mark.parametrize("format", FORMATS)
async def test_the_strict_server_counts_what_we_count_after_two_turns(tmp_path: Path, format: Format) -> None:
    """Through the real wire, with a server whose tokens are larger or smaller than ours."""
    lines = "\n".join(f"{n}: the quick brown fox jumps over the lazy dog" for n in range(90))
    steps = [Turn(text=f"Step {n}.", calls=(Call("shell_run", {"command": f"make {n}"}),)) for n in range(8)]
    kit = make_kit(tmp_path, [])
    kit.broker.run = Repeated(lines.encode()).run  # type: ignore[method-assign]
    async with StrictServer(format, [*steps, Turn(text="Done.")]) as server:
        kit.runner._replace_model(model_for(server))
        kit.runner.send("Make all of it.", "steer")
        await kit.runner.idle()
        assert kit.runner.session.state.stage == "finished" and not server.rejections
        assert_append_only(server.requests)
        ours = [e.tokens for e in kit.events if e.type == "turn_started"]
        theirs = [e.usage.input for e in kit.events if e.type == "assistant_message"]
        assert all(abs(o / t - 1) <= 0.03 for o, t in list(zip(ours, theirs, strict=True))[2:]), (ours, theirs)
        await kit.runner.close()
