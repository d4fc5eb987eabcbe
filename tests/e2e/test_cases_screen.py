"""Output and input that garbled, froze or crashed other tools, in a real terminal."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, call, shell, turn
from tests.e2e.terminal import MOUSE_AND_SCREEN, Terminal

HOSTILE = (
    r"\033[?1049h\033[?1000h\033[?1002h\033[?2004h\033[?25l\033]0;owned\007\033[2J\033[10;10Hmoved\016\033(0lqk\033c"
)
MARKUP = "ZLEXCOUNT z [b + and [/ [/] [bold [red]x[/red] [id=14629,state=CLOSED,name=x] [@click=app.quit]q[/]"
ANSWER = f"Say \x1b[?1049h\x1b]0;owned\x07 {MARKUP}"
RAW = "head -c 4096 /dev/urandom; printf '\\377\\376\\360'"
SPLIT = "printf '\\344\\275'; sleep 0.1; printf '\\240\\345\\245\\275 whole\\n'"
WIDE = "你好，世界"
FAMILY = "👩\u200d👩\u200d👧"
ACCENT = "e\u0301"
ARABIC = "مرحبا"
PROMPT = 3
"""Cells before the text that is typed."""


def printed(text: str) -> str:
    return f"printf '%s\\n' {shlex.quote(text)}"


def test_output_never_commands_the_terminal_live_or_in_replay(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.folder / "[bold].py").write_text(f"# {MARKUP}\n")
    model = desk.script(
        turn(
            shell(f"printf '{HOSTILE} end of it\\n'"),
            shell(printed(MARKUP)),
            shell(RAW),
            shell(SPLIT),
            shell("printf 'a\\0needle after it\\n'"),
            call("fs_read", path="[bold].py"),
            call("[/]tool[b", path="[/"),
            call("todo_write", items=[{"text": f"{MARKUP}\x1b[2J", "status": "active"}]),
        ),
        turn(text=ANSWER),
    )
    with desk.open("--model", model, "--approve", "sandboxed") as term:
        term.wait_for("say what should be done")
        at_rest = term.modes
        term.say(f"Look. {MARKUP}")
        term.wait_for("finished")
        term.keys("alt+1")
        term.wait_for("i type")
        term.keys("z")
        term.wait_for("Say ")
        term.wait_for("[/] [bold [red]x[/red]")
        unfolded(term)
        assert term.modes == at_rest
        assert "owned" not in term.titles
        term.keys("ctrl+q")
        assert term.exit_code() == 0
        assert term.modes & MOUSE_AND_SCREEN == set()
    outputs = [result.text for result in desk.of("tool_result")]
    assert "你好 whole" in outputs[3], "a character split between two reads is whole"
    assert "\ufffd" in outputs[2]

    with desk.open("replay") as term:
        term.wait_for("ZLEXCOUNT")
        at_rest = term.modes
        term.keys("/")
        term.wait_for(lambda: term.cursor[1] == 2)
        term.send("needle after")
        term.wait_for(lambda: "ZLEXCOUNT" in term.text and "needle" in term.text)
        term.keys("enter", "enter")
        term.wait_for("event  3 / ")
        term.keys("end")
        term.wait_for("Say ")
        term.keys("z")
        unfolded(term)
        assert term.modes == at_rest
        assert "owned" not in term.titles
        term.keys("ctrl+q")
        assert term.exit_code() == 0


def unfolded(term: Terminal) -> None:
    """See every screenful of the unfolded transcript, from its end to its beginning and back."""
    for key, seen in (("pageup", "end of it"), ("pagedown", "Say ")):
        for _ in range(12):
            painted = len(term.raw)
            term.keys(key)
            term.wait_for(partial(_painted_or_shows, term, painted, seen))
        term.wait_for(seen)


def _painted(term: Terminal, since: int) -> bool:
    return len(term.raw) > since


def _painted_or_shows(term: Terminal, since: int, text: str) -> bool:
    return _painted(term, since) or text in term.text


LOOKS: dict[str, Mapping[str, str]] = {
    "no colour": {"NO_COLOR": "1"},
    "16 colours": {"TERM": "xterm", "COLORTERM": ""},
    "light": {"COLORFGBG": "0;15"},
}


@pytest.mark.parametrize("look", list(LOOKS))
def test_it_can_be_read_in_any_terminal(look: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(shell("false"), shell("rm -rf kept"), text="Plain **words**."), turn(text="Over."))
    with desk.open("--model", model, "--approve", "ask", "Do it.", env=LOOKS[look]) as term:
        term.wait_for("Approve?")
        term.wait_for(lambda: "rm -rf kept" in term.text and "high risk" in term.text.lower())
        term.wait_for("Esc later")
        assert term.invisible == ""
        desk.answer(term, "n")
        term.wait_for("Over.")
        term.wait_for("denied")
        term.wait_for("words")
        assert term.invisible == ""
        term.keys("ctrl+q")
        assert term.exit_code() == 0
        assert term.modes & MOUSE_AND_SCREEN == set()
        colours = re.findall(rb"\x1b\[[\d;]*?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7]|[34]8;[25];[\d;]+)m", term.raw)
        deep = [colour for colour in colours if b"8;2;" in colour]
        assert (colours == []) == (look == "no colour"), colours[:5]
        assert deep == [] or look == "light"


def test_wide_text_is_typed_erased_and_sent_as_it_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(text="I see.", label="more", to="more"))
    with desk.open("--model", model) as term:
        term.wait_for("say what should be done")
        term.send(WIDE)
        term.wait_for(lambda: WIDE in term.text and term.cursor[0] == PROMPT + 10)
        for sign in (FAMILY, ACCENT, "好"):
            term.send(sign)
            term.wait_for(lambda: term.cursor[0] > PROMPT + 10)
            term.keys("backspace")
            term.wait_for(lambda: term.cursor[0] == PROMPT + 10)
        term.send(ARABIC)
        term.wait_for(ARABIC)
        term.keys("enter")
        term.wait_for(lambda: len(desk.of("run_finished")) == 1)
        assert desk.of("user_message")[-1].text == WIDE + ARABIC

        term.send(f"ab\x7fcd\x7f\x7fe{FAMILY}\x7f{ACCENT}\x7f\x1b[D\x1b[D>\x1b[Fend")
        term.wait_for(">aeend")
        term.keys("enter")
        term.wait_for(lambda: len(desk.of("run_finished")) == 2)
        assert desk.of("user_message")[-1].text == ">aeend", "keys that come together keep their order"
        term.keys("ctrl+q")
        assert term.exit_code() == 0


def test_pastes_of_any_size_go_out_whole_and_send_nothing_by_themselves(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    model = desk.script(turn(text="Read.", label="more", to="more"), context_window=10_000_000)
    unbracketed = "\n".join(f"line {n:03} of what was pasted" for n in range(77))
    megabyte = "\n".join(f"{n:07} {'x' * 91}" for n in range(10_000)) + "\nits last line"
    with desk.open("--model", model) as term:
        term.wait_for("say what should be done")
        term.send(unbracketed.replace("\n", "\r"))
        term.wait_for(lambda: "line 076" in term.text or "pasted" in term.text)
        assert desk.of("user_message") == []
        term.wait_for(lambda: sent(term, desk, unbracketed))

        term.send(f"\x1b[200~{megabyte}\x1b[201~")
        term.wait_for("[pasted", 10)
        term.send(" seen")
        term.wait_for("seen", 2)
        term.keys("enter")
        term.wait_for(lambda: len(desk.of("user_message")) == 2)
        assert desk.of("user_message")[-1].text == f"{megabyte} seen"

        term.send("\x1b[200~echo safe\x1b[201~\rrm -rf /\r\x1b[201~")
        term.wait_for("rm -rf /")
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert len(desk.of("user_message")) == 2, "the end mark smuggled into a paste sent nothing"


def sent(term: Terminal, desk: Desk, text: str) -> bool:
    """Press Enter until the paste has been taken in and is sent."""
    if not desk.of("user_message"):
        term.keys("enter")
        return False
    assert desk.of("user_message")[-1].text == text
    return True


def test_a_storm_of_sizes_while_a_table_streams_leaves_one_whole_table(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    names = [f"row {n:03}" for n in range(60)]
    rows = "\n".join(f"| {name} | some words that take room | {len(name)} |" for name in names)
    table = f"| name | what it says | square |\n| --- | --- | ---: |\n{rows}\n\nThat was the table."
    model = desk.script(turn(text=table, pace=0.01))
    env = {"AGENT_TUI_SCRIPT_WAITING": "1"}
    with desk.open("--model", model, "Show a table.", env=env, size=(140, 40)) as term:
        term.wait_for("row 0")
        sizes = [(60, 30), (140, 40), (20, 5), (5, 3), (1, 1), (140, 40), (80, 24), (200, 60), (33, 9)]
        while not desk.of("run_finished"):
            for size in sizes:
                painted = len(term.raw)
                term.resize(*size)
                term.wait_for(partial(_painted, term, painted))
        term.resize(120, 75)
        term.wait_for("That was the table.")
        term.wait_for(lambda: [line.split("some")[0].strip(" ▍") for line in term.screen if "row 0" in line] == names)
        assert len({line.index("some") for line in term.screen if "row 0" in line}) == 1, "laid out for one width"
        term.keys("ctrl+q")
        assert term.exit_code() == 0


def test_what_a_person_names_is_text_everywhere(tmp_path: Path) -> None:
    """Titles, words in passing, requests and questions, in a terminal within tmux that may drop what is copied."""
    desk = Desk(tmp_path)
    command = 'echo "A=value" >> f; echo "[id=14629,state=CLOSED,name=x] [/"'
    model = desk.script(
        turn(shell(command), call("user_ask", question=f"Which {MARKUP}?", options=["[/]", "[bold"])),
        turn(text=f"So {MARKUP}"),
    )
    tmux = {"TMUX": "/nowhere/tmux,1,0", "TERM": "screen-256color"}
    with desk.open("--model", model, "--approve", "ask", env=tmux) as term:
        term.wait_for("say what should be done")
        term.say("/theme [bold [/ x")
        term.wait_for("There is no theme '[bold [/ x'")
        term.say("/title [/] [b + and [/")
        term.wait_for(lambda: term.screen[0].startswith(" [/] [b + and [/"))
        term.say("Ask me.")
        term.wait_for('echo "A=value" >> f')
        desk.answer(term, "y")
        term.wait_for("ZLEXCOUNT z [b + and [/ [/] [bold [red]")
        term.wait_for("The agent asks")
        while not desk.has("question_answered", 1):
            term.wait_gone("keys count")
            term.keys("2")
            term.wait_for(lambda: desk.has("question_answered", 1) or "keys count" in term.text)
        term.wait_for("So ZLEXCOUNT")
        term.keys("alt+1")
        term.wait_for("i type")
        term.keys("y")
        term.wait_for("Offered")
        assert "Copied" not in term.text
        term.keys("ctrl+q")
        assert term.exit_code() == 0
    assert desk.of("question_answered")[0].text == "[bold"
