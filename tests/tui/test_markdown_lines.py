"""Markdown in lines, and streamed: however it arrives, the same lines stand there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tui.transcript import markdown as module
from tui.transcript.look import Look
from tui.transcript.markdown import MarkdownLines

DOCUMENT = """# Heading one

Intro *with* **bold** and `code` plus [a link](https://example.com/x) and <https://auto.link>.
Second line joined. ~~gone~~

- first item that is long enough to be wrapped around the edge
- second
  - nested **bold**
    1. deep

- after a blank line
1. one
1. one
1. one

> quote line
>
> - in quote

```python
def f(x):
    return x + 1  # comment
```

| name | value | note |
|:-----|------:|:----:|
| a | 1 | `x` |
| bb | 22222 | 你好 long text that wraps |

---
<b>html</b> [/] [bold
ZLEXCOUNT z [b + and [/
"""
PARTS = st.sampled_from(
    ["# h\n", "text *em* ", "\n", "\n\n", "- item\n", "  - deep\n", "1. one\n", "> q\n", "```py\n", "x = 1\n", "```\n"]
) | st.sampled_from(
    ["| a | b |\n|---|---|\n", "| 1 | 2 |\n", "---\n", "[x] ", "\t", "\r\n", "    code\n", "`", "**", "*", "=", "["]
)


def lines_of(text: str, width: int = 40, look: Look | None = None) -> list[str]:
    markdown = MarkdownLines(width, look or Look())
    markdown.update(text)
    return [strip.text.rstrip() for strip in markdown.strips]


def streamed(text: str, step: int, width: int = 40) -> list[str]:
    markdown = MarkdownLines(width, Look())
    for end in range(step, len(text) + step, step):
        markdown.update(text[:end])
    return [strip.text.rstrip() for strip in markdown.strips]


def style_at(text: str, word: str) -> Style:
    markdown = MarkdownLines(60, Look())
    markdown.update(text)
    return next(s.style or Style() for strip in markdown.strips for s in strip if word in s.text)


@pytest.mark.parametrize("step", [1, 3, 7, 64])
@pytest.mark.parametrize("width", [12, 40, 100])
def test_streamed_in_any_pieces_it_ends_the_same(step: int, width: int) -> None:
    assert streamed(DOCUMENT, step, width) == lines_of(DOCUMENT, width)


@settings(max_examples=150, deadline=None)
@given(st.lists(PARTS, max_size=25).map("".join), st.integers(1, 9))
def test_any_markdown_streams_to_what_it_is_as_a_whole(text: str, step: int) -> None:
    assert streamed(text, step) == lines_of(text)


@settings(max_examples=100, deadline=None)
@given(st.lists(PARTS, max_size=25).map("".join), st.integers(1, 50))
def test_no_line_is_wider_than_the_page(text: str, width: int) -> None:
    markdown = MarkdownLines(width, Look())
    markdown.update(text)
    assert all(cell_len(strip.text) <= max(width, 14) for strip in markdown.strips)


def test_elements_look_as_they_should() -> None:
    lines = lines_of(DOCUMENT, 60)
    text = "\n".join(lines)
    assert lines[0] == "Heading one"
    assert "Intro with bold and code plus a link (https://example.com/x)" in text
    assert "<https" not in text and "https://auto.link." in text
    assert "    1. deep" in lines and "• after a blank line" in lines
    assert lines[lines.index("1. one") : lines.index("1. one") + 3] == ["1. one", "2. one", "3. one"]
    assert "  def f(x):" in lines
    assert "name  value" in text and "a         1" in text
    assert "<b>html</b> [/] [bold ZLEXCOUNT z [b + and [/" in lines


def test_styles_say_what_is_code_and_what_is_strong() -> None:
    assert style_at("some **strong** words", "strong").bold
    assert style_at("some `code` words", "code").color == Look().roles.accent.color
    assert style_at("a [link](http://x)", "link").underline


def test_without_colour_code_keeps_its_backticks() -> None:
    assert lines_of("call `load()` now", look=Look(colour=False)) == ["call `load()` now"]


def test_text_is_never_markup_and_entities_cannot_smuggle_controls() -> None:
    assert lines_of("[red]x[/red] &#27;[31m &#8238;y") == ["[red]x[/red] \ufffd[31m <U+202E>y"]


def test_a_table_without_room_is_stacked() -> None:
    table = "| first | second | third |\n|---|---|---|\n| one and more | 2 | 3 |"
    assert lines_of(table, 16) == ["first: one and", "more", "second: 2", "third: 3", ""]


def test_a_growing_table_keeps_its_columns_and_loses_no_row() -> None:
    rows = "".join(f"| row {n} | {'x' * (n % 9)} |\n" for n in range(300))
    text = f"| name | bar |\n|---|---|\n{rows}\nafter"
    assert streamed(text, 97) == lines_of(text)
    assert sum("row" in line for line in streamed(text, 97)) == 300


def test_a_list_begun_elsewhere_keeps_its_numbers() -> None:
    assert streamed("3. three\n4. four\n5. five\n", 2) == ["3. three", "4. four", "5. five"]


def test_finished_lines_are_kept_as_they_are() -> None:
    markdown = MarkdownLines(40, Look())
    markdown.update("first paragraph\n\nsecond\n")
    first = markdown.strips[0]
    markdown.update("first paragraph\n\nsecond\n\nthird")
    assert markdown.strips[0] is first


def test_a_text_that_does_not_go_on_from_the_last_is_rendered_anew() -> None:
    markdown = MarkdownLines(40, Look())
    markdown.update("one\n\ntwo")
    markdown.update("other")
    assert [strip.text for strip in markdown.strips] == ["other"]


def test_a_long_fence_is_kept_whole() -> None:
    code = "".join(f"value_{n} = {n}\n" for n in range(500))
    text = f"before\n\n```python\n{code}```\nafter"
    assert streamed(text, 211) == lines_of(text)
    assert sum("value_" in line for line in streamed(text, 211)) == 500


def test_a_megabyte_in_one_line_is_capped() -> None:
    lines = lines_of("x" * 1_000_000, 100)
    assert len(lines) < 200 and "more characters in this line" in lines[-1]


def kilobytes(text: str, count: int) -> str:
    return (text * (count * 1000 // len(text) + 1))[: count * 1000]


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda n: kilobytes(DOCUMENT, n), id="mixed"),
        pytest.param(lambda n: "```\n" + kilobytes("a line of code\n", n), id="one fence"),
        pytest.param(lambda n: "|a|b|\n|---|---|\n" + kilobytes("| cell | cell |\n", n), id="one table"),
        pytest.param(lambda n: kilobytes("words *and* words\n", n), id="one paragraph"),
        pytest.param(lambda n: kilobytes("- an item\n", n), id="one list"),
        pytest.param(lambda n: kilobytes("> quoted\n", n), id="one quote"),
    ],
)
def test_what_is_parsed_grows_with_what_arrives(make: Callable[[int], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: characters given to the parser, for 10 KB and for 40 KB of the same."""
    parsed = 0
    tree = module._tree

    def counting(source: str, env: dict[str, object]) -> list[object]:
        nonlocal parsed
        parsed += len(source)
        return tree(source, env)

    monkeypatch.setattr(module, "_tree", counting)
    counts = []
    for size in (10, 40):
        parsed = 0
        streamed(make(size), 500)
        counts.append(parsed)
    assert counts[1] <= 4.6 * counts[0]
