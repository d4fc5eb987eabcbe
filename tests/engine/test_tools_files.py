"""The file tools against real files: what is read, found, written and changed, byte for byte."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.tools.cap import MAX_BYTES, MAX_LINES
from engine.tools.content import look
from engine.tools.diff import counts, unified
from engine.tools.replace import NotReplaced, Replaced, replace_exactly
from sandbox.operations import Outcome, ReadFile, Status, WriteFile
from tests.engine.tools_kit import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


# --- fs_read ---------------------------------------------------------------------------------------------------------


async def test_read_numbers_lines_and_names_the_file(bench: Bench) -> None:
    bench.write("a.txt", "one\ntwo\n")
    result = await bench.call("fs_read", path="a.txt")
    assert result.status == "ok"
    assert result.text == "     1\tone\n     2\ttwo"
    assert (result.summary, result.files_read) == ("2 lines", ("a.txt",))


async def test_read_pages_through_a_long_file_without_a_gap(bench: Bench) -> None:
    lines = [f"line {n}" for n in range(1, 4501)]
    bench.write("long.txt", "\n".join(lines))
    seen: list[str] = []
    offset = 1
    while True:
        result = await bench.call("fs_read", path="long.txt", offset=offset)
        body = [row for row in result.text.split("\n") if "\t" in row]
        assert len(result.text.encode()) <= MAX_BYTES and len(body) <= MAX_LINES
        assert not result.truncated, "a page is under the cap by itself"
        seen += [row.split("\t", 1)[1] for row in body]
        if "Read on with offset" not in result.text:
            break
        offset = int(result.text.rsplit("offset ", 1)[1].rstrip(".]"))
    assert seen == lines


async def test_read_says_when_there_is_nothing(bench: Bench) -> None:
    bench.write("empty", b"")
    bench.write("two", "a\nb\n")
    assert "empty" in (await bench.call("fs_read", path="empty")).text
    past = await bench.call("fs_read", path="two", offset=9)
    assert past.status == "error" and "2 lines" in past.text and past.files_read == ()
    missing = await bench.call("fs_read", path="nope.txt")
    assert missing.status == "error" and "nope.txt" in missing.error and missing.suggestion


async def test_read_shows_odd_bytes_and_never_crashes(bench: Bench) -> None:
    bench.write("latin1.txt", "caf\xe9\n".encode("latin-1"))
    bench.write("nul.txt", b"a\0b and a long enough text around it\n")
    bench.write("bom.txt", b"\xef\xbb\xbfx = 1\r\n")
    bench.write("wide.txt", "größe".encode("utf-16"))
    assert "caf\ufffd" in (await bench.call("fs_read", path="latin1.txt")).text
    assert "a\u2400b" in (await bench.call("fs_read", path="nul.txt")).text
    assert (await bench.call("fs_read", path="bom.txt")).text == "     1\tx = 1"
    assert "größe" in (await bench.call("fs_read", path="wide.txt")).text


async def test_read_describes_images_and_binaries(bench: Bench) -> None:
    bench.write("p.png", b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\0" * 50)
    bench.write("a.gif", b"GIF89a" + struct.pack("<HH", 3, 5) + b"\0" * 20)
    bench.write("w.webp", b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x7f\x02\0\xdf\x01\0" + bytes(20))
    bench.write("b.bmp", b"BM" + bytes(16) + struct.pack("<ii", 7, -9) + bytes(20))
    header = b"\xff\xc0\0\x11\x08" + struct.pack(">HH", 480, 640) + bytes(20)
    bench.write("j.jpg", b"\xff\xd8\xff\xe0\0\x10" + bytes(14) + header)
    bench.write("cut.jpg", b"\xff\xd8\xff\xe0\0\x10")
    bench.write("x.bin", bytes(range(256)) * 20)
    bench.write("z.zip", b"PK\x03\x04abc")
    assert "PNG image, 640 × 480 pixels" in (await bench.call("fs_read", path="p.png")).text
    assert "WebP image, 640 × 480 pixels" in (await bench.call("fs_read", path="w.webp")).text
    assert "BMP image, 7 × 9 pixels" in (await bench.call("fs_read", path="b.bmp")).text
    assert "JPEG image, 640 × 480 pixels" in (await bench.call("fs_read", path="j.jpg")).text
    assert "JPEG image, 6 bytes" in (await bench.call("fs_read", path="cut.jpg")).text
    assert "GIF image, 3 × 5 pixels" in (await bench.call("fs_read", path="a.gif")).text
    assert "Binary data, 5.1 kB" in (await bench.call("fs_read", path="x.bin")).text
    assert "ZIP archive" in (await bench.call("fs_read", path="z.zip")).text


async def test_read_cuts_an_endless_line_and_says_so(bench: Bench) -> None:
    bench.write("min.js", "x" * 300_000 + "\nlast\n")
    text = (await bench.call("fs_read", path="min.js")).text
    assert "line cut here: it has 300,000 characters" in text and text.endswith("     2\tlast")


async def test_read_never_splits_a_character_between_chunks(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.tools.fs_read.CHUNK", 1000)
    monkeypatch.setattr("engine.tools.fs_read.MOST_BYTES", 5000)
    bench.write("u.txt", "".join(f"ü{n:03}\n" for n in range(2000)))
    result = await bench.call("fs_read", path="u.txt", limit=250)
    assert "\ufffd" not in result.text and "   250\tü249" in result.text
    beyond = await bench.call("fs_read", path="u.txt", offset=1500)
    assert beyond.status == "error" and "sed -n" in beyond.suggestion


async def test_read_refuses_a_fifo_and_a_folder(bench: Bench) -> None:
    os.mkfifo(bench.workspace / "pipe")
    (bench.workspace / "dir").mkdir()
    for path in ("pipe", "dir"):
        assert (await bench.call("fs_read", path=path)).status == "error"


async def test_read_serves_skills_only_from_the_catalogue(bench: Bench) -> None:
    bench.skills["demo/SKILL.md"] = b"---\nname: demo\n---\nDo it.\n"
    found = await bench.call("fs_read", path="skill:demo/SKILL.md")
    assert "Do it." in found.text and found.files_read == ()
    assert (await bench.call("fs_read", path="skill:other/SKILL.md")).status == "error"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400))
def test_looking_at_any_bytes_gives_storable_text(data: bytes) -> None:
    content = look(data)
    content.text.encode()
    assert "\0" not in content.text and content.what


# --- fs_list, fs_search ----------------------------------------------------------------------------------------------


async def test_list_and_search_give_paths_that_can_be_used(bench: Bench) -> None:
    bench.write("src/a.py", "def f():\n    return 1\n")
    bench.write(".hidden", "x")
    listed = await bench.call("fs_list", depth=2)
    assert "src/\n" in listed.text and "src/a.py  22 bytes" in listed.text and ".hidden" not in listed.text
    assert ".hidden" in (await bench.call("fs_list", all=True)).text
    found = await bench.call("fs_search", pattern="return", glob="*.py")
    assert found.text == "src/a.py\n     2:     return 1"
    assert found.items == ({"path": "src/a.py", "line": 2, "text": "    return 1"},)
    assert (found.summary, (await bench.call("fs_read", path="src/a.py")).status) == ("1 in 1 file", "ok")


async def test_search_without_a_match_is_an_answer_and_a_bad_pattern_is_explained(bench: Bench) -> None:
    bench.write("a.txt", "a(b\n")
    assert (await bench.call("fs_search", pattern="zzz")).status == "ok"
    bad = await bench.call("fs_search", pattern="a(b")
    assert bad.status == "error" and "pattern" in bad.error
    assert "a(b" in (await bench.call("fs_search", pattern="a(b", literal=True)).text


async def test_a_file_name_with_a_line_break_stays_on_its_line(bench: Bench) -> None:
    bench.write("a\nb", "x")
    assert (await bench.call("fs_list")).text == "a\\nb  1 byte"


# --- fs_write --------------------------------------------------------------------------------------------------------


async def test_write_creates_with_folders_and_shows_the_diff(bench: Bench) -> None:
    result = await bench.call("fs_write", path="new/x.txt", content="a\nb\n")
    assert (bench.workspace / "new/x.txt").read_text() == "a\nb\n"
    assert result.diff.startswith("--- /dev/null\n+++ new/x.txt") and result.files_written == ("new/x.txt",)
    again = await bench.call("fs_write", path="new/x.txt", content="a\nc\n")
    assert again.summary == "+1 −1" and "-b\n+c" in again.diff
    same = await bench.call("fs_write", path="new/x.txt", content="a\nc\n")
    assert same.summary == "unchanged" and same.files_written == ()


async def test_write_does_not_overwrite_what_appeared_meanwhile(bench: Bench) -> None:
    bench.broker.before_write = lambda: bench.write("x", "theirs") and None
    result = await bench.call("fs_write", path="x", content="mine")
    assert result.status == "error" and (bench.workspace / "x").read_text() == "theirs"


async def test_write_into_a_folder_or_a_protected_place_fails_plainly(bench: Bench) -> None:
    (bench.workspace / "dir").mkdir()
    assert (await bench.call("fs_write", path="dir", content="x")).status == "error"
    protected = await bench.call("fs_write", path=".git/hooks/pre-commit", content="x")
    assert protected.status == "denied" and not (bench.workspace / ".git").exists()


async def test_denied_write_carries_the_words_and_the_diff(bench: Bench) -> None:
    bench.broker.deny[WriteFile] = Outcome(Status.DENIED, feedback="not in this file, use b.txt")
    result = await bench.call("fs_write", path="a.txt", content="x\n")
    assert result.status == "denied" and "not in this file, use b.txt" in result.text
    assert "another way" in result.text and "+x" in result.diff and result.files_written == ()


# --- fs_edit ---------------------------------------------------------------------------------------------------------


async def test_edit_keeps_bom_line_endings_and_bytes_that_are_no_text(bench: Bench) -> None:
    bench.write("w.txt", b"\xef\xbb\xbfone\r\ntwo\r\ncaf\xe9\r\n")
    result = await bench.call("fs_edit", path="w.txt", old="one\ntwo", new="1\n2\n3")
    assert (bench.workspace / "w.txt").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n3\r\ncaf\xe9\r\n"
    assert (result.summary, result.files_written) == ("+3 −2", ("w.txt",))


async def test_edit_wants_one_place_or_the_count(bench: Bench) -> None:
    bench.write("m.txt", "x\ny\nx\n")
    several = await bench.call("fs_edit", path="m.txt", old="x", new="z")
    assert several.status == "error" and "lines 1, 3" in several.text and "`count` to 2" in several.suggestion
    assert (bench.workspace / "m.txt").read_text() == "x\ny\nx\n"
    assert (await bench.call("fs_edit", path="m.txt", old="x", new="z", count=2)).status == "ok"
    assert (bench.workspace / "m.txt").read_text() == "z\ny\nz\n"


async def test_edit_shows_the_closest_lines(bench: Bench) -> None:
    bench.write("c.py", "import os\n\ndef load(path):\n    return open(path).read()\n")
    space = await bench.call("fs_edit", path="c.py", old="def load(path):\n  return open(path).read()", new="")
    assert "white space only" in space.suggestion and "     3\tdef load(path):" in space.text
    typo = await bench.call("fs_edit", path="c.py", old="def loud(path):", new="")
    assert "     3\tdef load(path):" in typo.text and "white space" not in typo.text
    nothing = await bench.call("fs_edit", path="c.py", old="zebra crossing the river", new="")
    assert "Nothing similar" in nothing.suggestion


async def test_edit_knows_copied_line_numbers_and_replacement_characters(bench: Bench) -> None:
    bench.write("n.txt", b"alpha\nbeta\ncaf\xe9\n")
    assert "line numbers" in (await bench.call("fs_edit", path="n.txt", old="     1\talpha\n     2\tbeta", new="")).text
    assert "U+FFFD" in (await bench.call("fs_edit", path="n.txt", old="caf\ufffd", new="")).text


async def test_edit_is_bound_to_what_it_read(bench: Bench) -> None:
    bench.write("r.txt", "a\n")
    bench.broker.before_write = lambda: bench.write("r.txt", "a\nchanged by someone\n") and None
    result = await bench.call("fs_edit", path="r.txt", old="a", new="b")
    assert result.status == "error" and "changed" in result.error
    assert (bench.workspace / "r.txt").read_text() == "a\nchanged by someone\n"


async def test_edit_refuses_binaries_and_what_it_may_not_read(bench: Bench) -> None:
    bench.write("x.bin", b"\x00\x01\x02" * 100)
    assert "not UTF-8 text" in (await bench.call("fs_edit", path="x.bin", old="a", new="b")).error
    bench.broker.deny[ReadFile] = Outcome(Status.DENIED, error="outside the workspace")
    assert (await bench.call("fs_edit", path="/etc/x", old="a", new="b")).status == "denied"


plain = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=30)


@settings(max_examples=100, deadline=None)
@given(plain, st.text(st.sampled_from("ab \n"), min_size=1, max_size=4), plain, plain, st.booleans())
def test_replacing_changes_that_place_and_nothing_else(before: str, old: str, after: str, new: str, crlf: bool) -> None:
    whole = before + old + after
    data = (whole.replace("\n", "\r\n") if crlf else whole).encode()
    made = replace_exactly(data, old, new, 1)
    if isinstance(made, NotReplaced):
        assert whole.count(old) != 1 or crlf or "\r" in whole
        return
    assert isinstance(made, Replaced)
    text = made.data.decode()
    if not crlf:
        at = whole.index(old)
        assert text == whole[:at] + new + whole[at + len(old) :]
    elif "\n" in whole:
        assert "\n" not in text.replace("\r\n", ""), "a CRLF file stays a CRLF file"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=40), st.lists(st.sampled_from(["a", "b", "d"]), max_size=9)
)
def test_a_diff_applies(old: list[str], new: list[str]) -> None:
    at = len(old) // 2
    before = "".join(f"{line}\n" for line in old).encode()
    after = "".join(f"{line}\n" for line in (*old[:at], *new, *old[at + 1 :])).encode()
    diff = unified("f", before, after)
    assert _applied(before.decode().split("\n")[:-1], diff) == after.decode().split("\n")[:-1]


def _applied(lines: list[str], diff: str) -> list[str]:
    """What patch(1) does, for hunks in order."""
    result: list[str] = []
    at = 0
    for row in diff.split("\n")[2:]:
        if row.startswith("@@"):
            start, _, length = row.split()[1].lstrip("-").partition(",")
            to = int(start) - (length != "0")
            result += lines[at:to]
            at = to
        elif row.startswith("+"):
            result.append(row[1:])
        else:
            assert lines[at] == row[1:]
            at += 1
            if row.startswith(" "):
                result.append(row[1:])
    return result + lines[at:]


def test_diffs_say_what_cannot_be_shown_as_lines() -> None:
    assert "No newline at end of file" in unified("f", b"a\n", b"a")
    assert "only line endings" in unified("f", b"a\n", b"a\r\n")
    long = unified("f", b"a\n" * 9000, b"b\n" * 9000)
    assert "9,000 lines" in long and len(long) < 200
    big = unified("f", b"x\n" * 100_000, b"x\n" * 50_000 + b"y\n" + b"x\n" * 50_000)
    assert counts(big) == (1, 0) and "@@ -" in big
