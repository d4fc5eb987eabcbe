"""A call becomes one true result, whatever the call is and whatever its tool does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.events import EVENT, ToolCall
from engine.tools.base import Tool, ToolContext, ToolOutcome
from engine.tools.cap import MAX_BYTES, MAX_LINES, cut, lines_of
from engine.tools.output_tail import MOST, OutputTail
from engine.tools.registry import TOOLS, find, is_read_only, specs
from engine.tools.runner import cancelled_result, run_call, skipped_result, title_of_call
from engine.tools.todo import notes_of, parse_todo, render_todo
from engine.tools.user_ask import UserAsk
from sandbox.operations import Outcome, PollBackground, RunCommand, Status
from tests.engine.tools_kit import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- the set of tools ------------------------------------------------------------------------------------------------


def test_tools_are_sorted_and_their_schemas_plain_and_stable() -> None:
    names = [spec.name for spec in specs()]
    assert names == sorted(names) and len(names) == 10
    text = json.dumps([spec.model_dump() for spec in specs()])
    assert text == json.dumps([tool.spec().model_dump() for tool in TOOLS])
    assert "$ref" not in text and "$defs" not in text and '"title"' not in text and "anyOf" not in text
    assert [name for name in names if is_read_only(name)] == ["fs_list", "fs_read", "fs_search", "memory_search"]
    assert not is_read_only("nope")


# --- arguments -------------------------------------------------------------------------------------------------------


async def test_unknown_tool_names_the_nearest(bench: Bench) -> None:
    meant = {"read_file": "fs_read", "Bash": "shell_run", "TodoWrite": "todo_write", "fs_serach": "fs_search"}
    for name, tool in meant.items():
        result = await bench.call(name, path="x")
        assert result.status == "error" and f"Did you mean {tool}?" in result.suggestion and result.retryable
    assert "Did you mean" not in (await bench.call("zzzz")).suggestion


async def test_arguments_that_are_no_json_are_named(bench: Bench) -> None:
    result = await bench.call("fs_read", bad_input='{"path": "a')
    assert result.status == "error" and '{"path": "a' in result.text


async def test_wrong_arguments_are_explained_field_by_field(bench: Bench) -> None:
    result = await bench.call("fs_read", file="x", offset="many")
    assert "- path: is missing" in result.text and "- file: there is no such argument" in result.text
    assert "- offset: " in result.text and "'many'" in result.text
    assert "path, offset (optional), limit (optional)" in result.suggestion
    neither = await bench.call("shell_run")
    assert "either a command to run or the handle" in neither.text


async def test_small_slips_are_forgiven(bench: Bench) -> None:
    bench.write("a.txt", "x\n")
    assert (await bench.call("fs_read", path="a.txt", offset=None, limit="5")).status == "ok"
    listed = await bench.call("todo_write", items=json.dumps([{"text": "a"}]))
    assert listed.items == ({"text": "a", "status": "pending"},)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(
    st.sampled_from(["path", "offset", "old", "new", "command", "items", "question", "handle", "x"]), json_values
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from([*(t.name for t in TOOLS), "nope", ""]), input=arguments)
def test_any_call_gets_one_storable_result(tmp_path_factory: Any, name: str, input: dict[str, Any]) -> None:
    bench = Bench(tmp_path_factory.mktemp("any"), commands=lambda op, out: Outcome(Status.OK, exit_code=0))
    call = ToolCall(id="c", name=name, input=input)
    result = asyncio.run(run_call(call, 1, bench.context, bench.put))
    assert result.call_id == "c" and result.text and result.status in ("ok", "error", "denied")
    assert EVENT.validate_json(result.model_dump_json()) == result
    title = title_of_call(call)
    title.encode()
    assert "\n" not in title


# --- failing and interrupted tools -----------------------------------------------------------------------------------


async def test_a_fault_of_a_tool_is_a_result(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def explode(self: Tool[Any], args: Any, ctx: ToolContext) -> ToolOutcome:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(UserAsk, "run", explode)
    result = await bench.call("user_ask", question="?")
    assert result.status == "error" and "ZeroDivisionError: oops" in result.text and not result.retryable


async def test_an_interrupt_goes_through(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.Event()

    async def wait(self: Tool[Any], args: Any, ctx: ToolContext) -> ToolOutcome:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setattr(UserAsk, "run", wait)
    task = asyncio.create_task(bench.call("user_ask", question="?"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_results_of_calls_that_did_not_end_say_what_is_true() -> None:
    call = ToolCall(id="c", name="shell_run", input={"command": "x"})
    ran = cancelled_result(call, 3, started=True)
    assert (ran.status, ran.turn) == ("cancelled", 3) and "may have had side effects" in ran.text
    cut = cancelled_result(call, 3, started=True, said="12 passed\n", seconds=4.5)
    assert cut.text.startswith("12 passed\n[Interrupted while it was running.") and cut.seconds == 4.5
    never = cancelled_result(call, 3, started=False)
    assert never.status == "skipped" and "Nothing was done" in never.text
    skipped = skipped_result(call, 3, "not started: the person sent a new message first.")
    assert skipped.text.startswith("Not run: the person sent a new message first.")


@pytest.mark.parametrize("pieces", [["one\n", "two\n"], ["x" * 79 + "\n"] * 1_000, ["y" * 50_000], []])
def test_the_end_of_what_a_cut_call_said_is_kept(pieces: list[str]) -> None:
    heard: list[str] = []
    said = OutputTail()
    context = said.hearing(ToolContext(None, None, Path(), None, None, None, progress=heard.append))  # type: ignore[arg-type]
    for piece in pieces:
        context.progress(piece)
    whole = "".join(pieces)
    assert "".join(heard) == whole, "what is shown live is not touched"
    if len(whole) <= MOST:
        assert said.text == whole
    else:
        first, _, rest = said.text.partition("\n")
        assert first == "[What it said before that is lost.]" and whole.endswith(rest)
        assert MOST - 100 < len(said.text) < MOST + 100


# --- the cap ---------------------------------------------------------------------------------------------------------


def _printing(data: bytes, code: int = 0) -> Any:
    status = Status.OK if code == 0 else Status.FAILED
    return lambda op, out: Outcome(status, data=data, exit_code=code, total=len(data), seconds=1.5)


async def test_a_long_output_shows_both_ends_and_the_middle_can_be_read(bench: Bench) -> None:
    lines = [f"row {n}" for n in range(1, 9001)]
    bench.broker.commands = _printing("\n".join(lines).encode() + b"\n", code=1)
    result = await bench.call("shell_run", command="make")
    assert result.truncated and len(result.text.encode()) <= MAX_BYTES and result.text.count("\n") < MAX_LINES
    shown = result.text.split("\n")
    gap = next(i for i, row in enumerate(shown) if "left out here" in row)
    assert shown[0] == "row 1" and shown[-2:] == ["row 9000", "[exit code 1]"]
    offset = int(shown[gap].split("offset ")[1].rstrip(".]"))
    assert shown[gap - 1] == f"row {offset - 1}"
    page = await bench.call("fs_read", path=f"artifact:{result.artifact}", offset=offset, limit=1)
    assert page.text.split("\n")[0] == f"{offset:>6}\trow {offset}"
    assert bench.artifacts[result.artifact].decode().split("\n")[:9000] == lines


async def test_one_endless_line_can_be_read_on_too(bench: Bench) -> None:
    bench.broker.commands = _printing(b"".join(b"%06d," % n for n in range(60_000)))
    result = await bench.call("shell_run", command="cat min.js")
    offset = int(result.text.split("offset ")[1].split(".]")[0])
    page = await bench.call("fs_read", path=f"artifact:{result.artifact}", offset=offset, limit=1)
    whole = bench.artifacts[result.artifact].decode()
    assert page.text.split("\t")[1].split("\n")[0] == lines_of(whole)[offset - 1]


async def test_a_full_disk_loses_no_result(bench: Bench) -> None:
    def full(data: bytes) -> str:
        raise OSError(28, "No space left on device")

    bench.broker.commands = _printing(b"x\n" * 9000)
    call = ToolCall(id="c", name="shell_run", input={"command": "yes"})
    result = await run_call(call, 1, bench.context, full)
    assert result.truncated and not result.artifact and "could not be stored" in result.text


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "größe" * 30, "x" * 3000]), st.integers(1, 600)), max_size=8),
    st.sampled_from(["head", "ends"]),
)
def test_what_is_cut_fits_and_keeps_its_place(runs: list[tuple[str, int]], keep: Any) -> None:
    text = "\n".join(line for line, times in runs for _ in range(times))
    parts = cut(text, keep)
    if parts is None:
        assert len(text.encode()) <= MAX_BYTES and len(lines_of(text)) <= MAX_LINES
        return
    shown = parts.text("[gap]")
    lines = lines_of(text)
    assert len(shown.encode()) <= MAX_BYTES and shown.count("\n") < MAX_LINES and parts.missing > 0
    assert list(parts.head) == lines[: len(parts.head)]
    assert list(parts.tail) == lines[len(lines) - len(parts.tail) :]


# --- shell_run -------------------------------------------------------------------------------------------------------


async def test_shell_says_how_it_ended(bench: Bench) -> None:
    bench.broker.commands = _printing(b"ok\n")
    good = await bench.call("shell_run", command="true")
    assert (good.status, good.text, good.exit_code, good.seconds) == ("ok", "ok\n[exit code 0]", 0, 1.5)
    bench.broker.commands = _printing(b"", code=2)
    bad = await bench.call("shell_run", command="false")
    assert (bad.status, bad.error, bad.text) == ("error", "exit code 2", "[No output.]\n[exit code 2]")
    bench.broker.commands = lambda op, out: Outcome(
        Status.TIMED_OUT, data=b"half", exit_code=-9, error="it did not end within 2 s", suggestion="be patient"
    )
    late = await bench.call("shell_run", command="sleep 9")
    assert late.retryable and late.text == "half\n[timed out: it did not end within 2 s]\nbe patient"
    bench.broker.commands = lambda op, out: Outcome(Status.FAILED, exit_code=0, error="protected paths were created")
    assert (await bench.call("shell_run", command="x")).status == "error"
    bench.broker.commands = lambda op, out: Outcome(Status.CANCELLED, data=b"half")
    assert (await bench.call("shell_run", command="x")).status == "cancelled"


async def test_shell_shows_no_terminal_codes_but_every_line(bench: Bench) -> None:
    noise = (
        b"\x1b[31mred\x1b[0m\n\x1b]0;title\x07a\x1b[2Kb\r\n 10%\r 99%\r100%\n\x0e\xff\xfe\x00z\x1b[?1049h\nab\x08c\n"
    )
    bench.broker.commands = _printing(noise)
    result = await bench.call("shell_run", command="x")
    assert result.text == "red\nab\n100%\n\ufffd\ufffd\u2400z\nac\n[exit code 0]"


async def test_progress_never_shows_half_a_character(bench: Bench) -> None:
    data = "größe 👩‍👩‍👧 你好\n".encode() * 3

    def piecewise(op: Any, out: Any) -> Outcome:
        for i in range(len(data)):
            out(data[i : i + 1])
        out(b"\xe4")
        return Outcome(Status.OK, data=data, exit_code=0)

    bench.broker.commands = piecewise
    await bench.call("shell_run", command="x")
    assert "".join(bench.progress) == data.decode() + "\ufffd"


async def test_background_is_read_on_without_gap_or_half_characters(bench: Bench) -> None:
    data = "größe\nmehr größe\n".encode()
    cut_at = data.index("ö".encode()) + 1

    def background(op: Any, out: Any) -> Outcome:
        if isinstance(op, RunCommand):
            assert op.background
            return Outcome(Status.OK, handle="bg-1")
        assert isinstance(op, PollBackground)
        if op.stop:
            return Outcome(Status.OK, data=data[op.offset :], exit_code=-15, total=len(data))
        return Outcome(Status.OK, data=data[op.offset : cut_at], handle="bg-1", total=cut_at)

    bench.broker.commands = background
    started = await bench.call("shell_run", command="serve", background=True)
    assert started.status == "ok" and "handle bg-1 and offset 0" in started.text
    first = await bench.call("shell_run", handle="bg-1")
    assert first.text.startswith("gr\n") and "offset 2" in first.text
    rest = await bench.call("shell_run", handle="bg-1", offset=2, stop=True)
    assert (rest.status, rest.text) == ("ok", "öße\nmehr größe\n[stopped; ended by signal 15]")


async def test_a_command_changed_by_a_person_is_named(bench: Bench) -> None:
    bench.broker.commands = lambda op, out: Outcome(Status.OK, data=b"x\n", exit_code=0, command="ls -l")
    result = await bench.call("shell_run", command="rm -r x")
    assert "A person changed the command" in result.text and "ls -l" in result.text


async def test_a_denied_command_is_not_an_error_to_retry(bench: Bench) -> None:
    bench.broker.commands = lambda op, out: Outcome(Status.DENIED, error="nobody answered in 300 s")
    result = await bench.call("shell_run", command="git push")
    assert result.status == "denied" and "nobody answered in 300 s" in result.text and not result.retryable
    assert result.exit_code is None and "another way" in result.text


def test_titles_are_one_line() -> None:
    call = ToolCall(id="c", name="shell_run", input={"command": "for i in 1 2\ndo echo [b\ndone"})
    assert title_of_call(call) == "for i in 1 2 …"
    assert title_of_call(ToolCall(id="c", name="nope", input={"n": 1, "q": "hm\x1b[2J"})) == "hm [2J"
    assert title_of_call(ToolCall(id="c", name="fs_read", bad_input='{"pa')) == '{"pa'


# --- todo_write, user_ask --------------------------------------------------------------------------------------------


async def test_todo_keeps_what_a_person_wrote_and_says_what_is_gone(bench: Bench) -> None:
    await bench.call("todo_write", items=[{"text": "a", "status": "done"}, {"text": "b\nc", "status": "active"}])
    path = bench.session_dir / "todo.md"
    assert path.read_text() == "# Todo\n\n- [x] a\n- [~] b c\n"
    path.write_text(path.read_text() + "* [ ] and the changelog\n\nMind the old name!\n")
    result = await bench.call("todo_write", items=[{"text": "a", "status": "done"}])
    assert path.read_text() == "# Todo\n\n- [x] a\n\nMind the old name!\n"
    assert "- and the changelog" in result.text and "- b c" in result.text
    assert [p.name for p in bench.session_dir.iterdir()] == ["todo.md"]


async def test_todo_that_cannot_be_written_is_an_error_with_a_way_out(bench: Bench) -> None:
    bench.session_dir.write_text("a file where the folder should be")
    result = await bench.call("todo_write", items=[{"text": "a"}])
    assert result.status == "error" and result.suggestion


def test_todo_as_people_write_it() -> None:
    text = "\ufeffplan:\r\n1. [X] one\r\n  * [>] two\r\n+ three\r\n- [ ]\r\n- [?] four\r\n- [link](x) five\r\n---\r\n"
    items = parse_todo(text)
    assert [(i.text, i.status) for i in items] == [
        ("one", "done"),
        ("two", "active"),
        ("three", "pending"),
        ("four", "pending"),
        ("[link](x) five", "pending"),
    ]
    assert notes_of(text).startswith("plan:")


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200))
def test_todo_survives_its_own_text(text: str) -> None:
    items = parse_todo(text)
    notes = notes_of(render_todo(items, notes_of(text)))
    again = render_todo(items, notes)
    assert parse_todo(again) == items
    assert notes_of(again) == notes


async def test_a_question_brings_the_answer_or_says_that_nobody_is_there(bench: Bench) -> None:
    bench.answers = ["the second"]
    result = await bench.call("user_ask", question="Which?", options=["the first", " ", "the second"])
    assert "the second" in result.text and bench.asked == [("Which?", ("the first", "the second"))]
    nobody = await bench.call("user_ask", question="Which?")
    assert nobody.status == "error" and "assumption" in nobody.suggestion


def test_every_description_says_when_not_to_use_it() -> None:
    for name in ("fs_read", "fs_list", "fs_search", "fs_write", "fs_edit", "shell_run", "todo_write", "user_ask"):
        tool = find(name)
        assert tool is not None and "Returns" in tool.description and "se it" in tool.description
