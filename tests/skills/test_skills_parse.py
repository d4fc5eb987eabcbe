"""A SKILL.md as people write it: what loads, with which remark, and what does not, with which reason."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skills.parse import Parsed, parse
from skills.validate import validate
from tui.main import main


def skill(front: str, body: str = "Do it.\n") -> bytes:
    return f"---\n{front}\n---\n{body}".encode()


GOOD = "name: demo\ndescription: Does it."


def test_a_good_skill_has_no_remarks() -> None:
    parsed = parse(skill(GOOD + "\nlicense: MIT\nmetadata:\n  author: me\nallowed-tools: Read Bash(git:*)"), "demo")
    assert parsed == Parsed("demo", "Does it.", "Do it.", parsed.fields)
    assert parsed.fields["metadata"] == {"author": "me"}


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("name: demo\ndescription: A colon: followed by text.", "A colon: followed by text."),
        ('name: demo\nargument-hint: [action] — e.g. "list", "status"\ndescription: ok', "ok"),
        ("name: demo\ndescription: @someone wrote it", "@someone wrote it"),
        ("name: demo\ndescription: first: half\n  second: half", "first: half second: half"),
        ("name: demo\ndescription: `code` first", "`code` first"),
        ('name: demo\ndescription: 50% off: "all" \\ of it', '50% off: "all" \\ of it'),
    ],
)
def test_yaml_that_only_lacks_quotes_is_mended(front: str, description: str) -> None:
    parsed = parse(skill(front), "demo")
    assert (parsed.error, parsed.name, parsed.description) == ("", "demo", description)
    assert any("quotes added" in message and "line" in message for message in parsed.messages)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + skill(GOOD),
        skill(GOOD).replace(b"\n", b"\r\n"),
        b"---\nname: demo\ndescription: Does it.\n---",
        b"---\r\nname: demo\r\ndescription: Does it.\r\n---",
        b"\n\n" + skill(GOOD),
        skill(GOOD).decode().encode("utf-16"),
        skill("name: demo\ndescription: >\n  Does\n  it."),
        skill('name: "demo"\ndescription: "Does\\nit."'),
    ],
)
def test_the_same_skill_in_other_clothes(data: bytes) -> None:
    parsed = parse(data, "demo")
    assert (parsed.error, parsed.name) == ("", "demo")
    assert parsed.description in ("Does it.", "Does it.")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"# Just Markdown\n", "no frontmatter"),
        (b"---\nname: demo\ndescription: x\n", "not closed"),
        (b"---\n---\nbody", "empty"),
        (skill("- a\n- b"), "key: value"),
        (skill("name: demo"), "no description"),
        (skill("name: demo\ndescription: '  '"), "no description"),
        (skill("name: demo\ndescription: [a, b]"), "not text"),
        (skill("name: demo\n<<<<<<< HEAD\ndescription: a\n=======\ndescription: b\n>>>>>>> x"), "line"),
        (skill("name: demo\nx: " + "y" * 70_000), "too long"),
    ],
    ids=range(10),
)
def test_what_cannot_load_says_why(data: bytes, reason: str) -> None:
    assert reason in parse(data, "demo").error


@pytest.mark.parametrize(
    "field",
    [
        "at: 2026-99-99",
        "x: " + "[" * 50_000,
        "x: 0x" + "f" * 9000,
        "? 0x" + "f" * 9000 + "\n: x",
        "x: !!python/object/apply:os.system [ls]",
        "a: &a {x: 1}\n" + "\n".join(f"b{i}: {{<<: [{', '.join(['*a'] * 9)}]}}" for i in range(9)),
    ],
    ids=["impossible date", "deep nesting", "huge number", "huge key", "python object", "alias bomb"],
)
def test_a_hostile_field_spoils_no_other(field: str) -> None:
    parsed = parse(skill(f"{GOOD}\n{field}"), "demo")
    assert (parsed.error, parsed.name, parsed.description) == ("", "demo", "Does it.")


@pytest.mark.parametrize(
    ("data", "remark"),
    [
        (skill("name: other\ndescription: x"), "not that of its folder (demo)"),
        (skill("name: Demo_1\ndescription: x"), "breaks the rule"),
        (skill("description: x"), "no name"),
        (skill("name: 7\ndescription: x"), "not text"),
        (skill(GOOD + "\nmetadata: {a: {b: c}}"), "metadata"),
        (skill(GOOD + "\nmetadata: '{}'"), "metadata"),
        (skill(GOOD + "\nallowed-tools: [Read]"), "allowed-tools"),
        (skill(GOOD + "\ncompatibility: ''"), "compatibility"),
        (skill(GOOD + "\nuser-invocable: true"), "user-invocable"),
        (skill(GOOD, ""), "no instructions"),
        (skill(f"name: demo\ndescription: {'x' * 1100}"), "1,100 characters"),
        (skill(GOOD, "zero\u200bwidth \U000e0041\n"), "invisible characters in it (2 times, first in line 5)"),
        (skill(GOOD, "bell\x07 and c1 \x9b\n"), "control characters in it (2 times"),
        (skill(GOOD, "caf") + b"\xe9", "not valid UTF-8"),
        (b"\n" + skill(GOOD), "blank space before"),
    ],
)
def test_what_is_odd_is_said_and_loads(data: bytes, remark: str) -> None:
    parsed = parse(data, "demo")
    assert not parsed.error and any(remark in message for message in parsed.messages)


def test_hidden_text_never_reaches_the_list() -> None:
    parsed = parse(skill('name: demo\ndescription: "ok\\u200b\\u202e \\u0000\\U000E0041 é 👩\u200d👩"'), "demo")
    assert parsed.description == "ok é 👩\u200d👩"


def test_a_name_is_always_fit_for_a_path() -> None:
    assert parse(skill("name: ../../Etc Passwd\ndescription: x"), "demo").name == "etc-passwd"
    assert parse(skill("description: x"), "..").name == "skill"
    assert parse(skill("name: größe\ndescription: x"), "größe").messages == ()


fragments = st.sampled_from(
    ["---\n", "name: x\n", "description: ", "- ", "{", "[", "*a ", "&a ", "<<: ", "\n", '"', "!!python/x "]
)
texts = st.lists(fragments | st.text(max_size=5), max_size=30).map(lambda parts: "".join(parts).encode())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300) | texts)
def test_no_bytes_break_the_parser(data: bytes) -> None:
    for content in (data, b"---\n" + data + b"\n---\nbody", skill(GOOD) + data):
        parsed = parse(content, "demo")
        json.dumps([parsed.name, parsed.description, parsed.messages, parsed.error]).encode()
        (parsed.name + parsed.description + "".join(parsed.messages) + parsed.error).encode()
        assert parsed.error or (parsed.name and parsed.description)
        assert "\n" not in parsed.name + parsed.description


# --- validate --------------------------------------------------------------------------------------------------------


def put(folder: Path, data: bytes, name: str = "SKILL.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    return folder / name


def test_validate_finds_every_skill_and_judges_it(tmp_path: Path) -> None:
    put(tmp_path / "a" / "demo", skill(GOOD))
    put(tmp_path / "a" / "demo" / "inner" / "two", skill("name: two\ndescription: x"))
    put(tmp_path / "b" / "demo", skill(GOOD), "skill.md")
    put(tmp_path / "broken", b"nothing")
    put(tmp_path / "node_modules" / "demo", skill(GOOD))
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    (tmp_path / "a" / "demo" / "loop").symlink_to(tmp_path)
    verdicts = {str(v.path.relative_to(tmp_path)): v for v in validate([tmp_path])}
    assert {path: v.verdict for path, v in verdicts.items()} == {
        "a/demo/SKILL.md": "ok",
        "a/demo/inner/two/SKILL.md": "ok",
        "b/demo/skill.md": "warn",
        "broken/SKILL.md": "broken",
        "gone": "broken",
    }
    assert "called skill.md" in verdicts["b/demo/skill.md"].messages[0]


def test_validate_takes_odd_places_calmly(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    huge = put(tmp_path / "huge", b"")
    os.truncate(huge, 50_000_000)
    strange = tmp_path / os.fsdecode(b"caf\xe9\n")
    put(strange, skill(GOOD))
    by_name = {v.path.parent.name: v for v in validate([tmp_path])}
    assert by_name["pipe"].messages == ("is not a regular file",)
    assert "too large" in by_name["huge"].messages[0]
    assert by_name[strange.name].verdict == "warn"
    assert "folder" not in by_name
    assert validate([tmp_path / "none"])[0].messages == ("there is nothing there",)
    assert [v.verdict for v in validate([huge])] == ["broken"]


def test_the_command_prints_json_and_says_when_something_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path / "demo", skill(GOOD))
    strange = put(tmp_path / os.fsdecode(b"\xff"), skill(GOOD))
    assert main(["skills", "validate", str(tmp_path), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows[0] == {"path": str(tmp_path / "demo/SKILL.md"), "name": "demo", "verdict": "ok", "messages": []}
    assert rows[1]["path"].endswith("\ufffd/SKILL.md")
    strange.write_bytes(b"\x1b[2J")
    assert main(["skills", "validate", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "1 ok, 1 broken" in out and "\x1b" not in out


def test_validate_ends_soon_on_a_thicket_of_links(tmp_path: Path) -> None:
    for n in range(30):
        put(tmp_path / f"s{n}", skill(f"name: s{n}\ndescription: x"))
        for m in range(30):
            (tmp_path / f"s{n}" / f"to{m}").symlink_to(tmp_path / f"s{m}")
    before = time.process_time()
    assert len(validate([tmp_path])) == 30
    assert time.process_time() - before < 5, "each folder is visited once, not once a way"


def test_a_description_is_text_on_one_line_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AGENT_TUI_HOME", str(tmp_path / "home"))
    folder = tmp_path / ".agents" / "skills" / "demo"
    folder.mkdir(parents=True)
    hostile = r"Red \e[2J \x9b31m \u202Eabc ZLEXCOUNT z [b + and [/ [/] [bold"
    (folder / "SKILL.md").write_text(f'---\nname: demo\ndescription: "{hostile}"\n---\n# Body\ndo it\n')
    assert main(["skills", "list", "--cwd", str(tmp_path)]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "Red" in line]
    assert line.endswith("ZLEXCOUNT z [b + and [/ [/] [bold")
    assert line.isprintable()
