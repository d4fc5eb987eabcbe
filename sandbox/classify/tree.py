"""Reads any shell line by its syntax tree: every command in it, wherever it hides, and what else makes it risky.

Node kinds form a closed list; a kind that is not on it is reported, never skipped in silence.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.classify.findings import Finding, high, medium
from sandbox.classify.line import Command, Redirect
from sandbox.classify.words import Word, read_word

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

# Beyond these a line is not read at all: a person has to look at it.
_DEEPEST = 120
_MOST_NODES = 12_000
_SECONDS = 0.5
# Broken pipelines take quadratic time in which the parser does not look at the clock.
_MOST_PIPES = 5_000

_local = threading.local()


@dataclass(frozen=True, slots=True)
class Reading:
    """What the tree says. ``plain``: nothing in it but simple commands, their joining and their redirections."""

    commands: tuple[Command, ...]
    findings: tuple[Finding, ...]
    plain: bool


class Unreadable(Exception):
    """The line is broken, too deep or too slow to parse. The message says which."""


_PLAIN_KINDS = frozenset(
    "program list pipeline command redirected_statement negated_command command_name word raw_string string "
    "concatenation number string_content simple_expansion variable_name special_variable_name expansion "
    "file_redirect file_descriptor herestring_redirect variable_assignment comment test_command unary_expression "
    "binary_expression test_operator negation_expression".split()
)
_GRAMMAR_KINDS = frozenset(
    "subshell compound_statement do_group if_statement elif_clause else_clause while_statement for_statement "
    "case_statement case_item extglob_pattern regex parenthesized_expression c_style_for_statement heredoc_redirect "
    "heredoc_start heredoc_body heredoc_content heredoc_end declaration_command unset_command array subscript "
    "ansi_c_string translated_string brace_expression arithmetic_expansion postfix_expression "
    "ternary_expression".split()
)
_NOTED = {
    "command_substitution": "runs a command inside another",
    "process_substitution": "runs a command and hands it over as a file",
    "function_definition": "defines a function",
}
# How the shell reads these differs from how they look; the command position is judged apart.
_WORDS = frozenset(
    "word raw_string string concatenation number simple_expansion expansion command_substitution process_substitution "
    "ansi_c_string translated_string arithmetic_expansion brace_expression special_variable_name".split()
)


def read_tree(text: str) -> Reading:
    """The reading of ``text``. Raises `Unreadable`."""
    source = text.encode()
    if text.count("|") > _MOST_PIPES:
        raise Unreadable("the line is too long to read")
    root = _parse(source).root_node
    if root.has_error:
        raise Unreadable("the line cannot be read with certainty")
    return _Walk(text, source).read(root)


def _parser() -> Parser:
    parser = getattr(_local, "parser", None)
    if parser is None:
        import tree_sitter_bash
        from tree_sitter import Language, Parser

        parser = _local.parser = Parser(Language(tree_sitter_bash.language()))
    return parser


def _parse(source: bytes) -> Tree:
    """Short lines parse at once; long ones may take quadratic time, so those are given a second."""
    parser = _parser()
    if len(source) <= 512:
        return parser.parse(source)
    deadline = time.monotonic() + _SECONDS

    def late(_offset: int, _error: bool) -> bool:
        return time.monotonic() > deadline

    try:
        return parser.parse(lambda offset, _point: source[offset : offset + 4096], progress_callback=late)
    except ValueError as error:
        parser.reset()
        raise Unreadable("the line takes too long to read") from error


class _Walk:
    """One walk over the nodes in the order of the text, without recursion."""

    def __init__(self, text: str, source: bytes) -> None:
        self.text = text
        self.source = source
        self.ascii = len(text) == len(source)
        self.commands: list[Command] = []
        self.findings: list[Finding] = []
        self.functions: list[tuple[str, int, int]] = []
        self.plain = True

    def read(self, root: Node) -> Reading:
        stack: list[tuple[Node, int, tuple[str, ...], str]] = [(root, 0, (), "")]
        count = 0
        while stack:
            node, depth, upstream, fed_by = stack.pop()
            count += 1
            if depth > _DEEPEST or count > _MOST_NODES:
                raise Unreadable("the line is too long or too deeply nested to read")
            if node.is_named:
                self.visit(node, upstream, fed_by)
            stack += reversed([(child, depth + 1, *flow) for child, flow in self.children(node, upstream, fed_by)])
        self.forks()
        return Reading(tuple(self.commands), tuple(self.findings), self.plain)

    def children(
        self, node: Node, upstream: tuple[str, ...], fed_by: str
    ) -> Iterator[tuple[Node, tuple[tuple[str, ...], str]]]:
        """The children of a node, each with what flows into its standard input."""
        children = node.children
        if node.type == "pipeline":
            for i, child in enumerate(children):
                yield child, (upstream, "pipe" if i else fed_by)
                if child.is_named and i + 1 < len(children):
                    upstream = (*upstream[-30:], *self.names(child))
            return
        if node.type == "redirected_statement":
            for child in children:
                if child.type == "heredoc_redirect":
                    fed_by = "text"
                elif child.type == "file_redirect" and any(part.type == "<" for part in child.children):
                    fed_by = "file"
        inner = ((), "") if node.type in _NOTED else (upstream, fed_by)
        for child in children:
            yield child, inner

    def names(self, node: Node) -> list[str]:
        """The programs named below ``node``, for what comes after it in a pipeline."""
        found: list[str] = []
        stack = [node]
        while stack and len(found) < 30:
            current = stack.pop()
            if current.type == "command_name":
                found.append(self.word(current).text.rpartition("/")[2])
            else:
                stack += reversed(current.named_children)
        return found

    def visit(self, node: Node, upstream: tuple[str, ...], fed_by: str) -> None:
        kind = node.type
        if kind not in _PLAIN_KINDS:
            self.plain = False
        if kind == "command":
            self.command(node, upstream, fed_by)
        elif kind in ("declaration_command", "unset_command"):
            self.note(node, medium("changes variables of the shell"))
        elif kind == "redirected_statement":
            self.redirected(node, upstream, fed_by)
        elif kind in _NOTED:
            self.note(node, medium(_NOTED[kind]))
            if kind == "function_definition":
                name = node.child_by_field_name("name")
                self.functions.append((self.slice(name) if name else "", *self.span(node)))
        elif kind not in _PLAIN_KINDS and kind not in _GRAMMAR_KINDS:
            self.note(node, medium(f"uses {kind.replace('_', ' ')}, which is not read here"))

    def note(self, node: Node, finding: Finding) -> None:
        start, end = self.span(node)
        self.findings.append(Finding(finding.risk, finding.reason, finding.effect, finding.contained, (start, end)))

    def command(self, node: Node, upstream: tuple[str, ...], fed_by: str) -> None:
        words: list[Word] = []
        assigns: list[Word] = []
        redirects: list[Redirect] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assigns.append(self.word(child))
            elif child.type == "command_name" or child.type in _WORDS:
                words.append(self.word(child))
            elif child.type in ("file_redirect", "herestring_redirect"):
                redirects.append(self.redirect(child))
                fed_by = "text" if child.type == "herestring_redirect" else fed_by
            elif child.is_named:
                start, end = self.span(child)
                words.append(Word(self.slice(child), start, end, unknown=True))
        self.commands.append(
            Command(tuple(words), tuple(assigns), tuple(redirects), *self.span(node), upstream=upstream, fed_by=fed_by)
        )

    def redirected(self, node: Node, upstream: tuple[str, ...], fed_by: str) -> None:
        """The redirections around a statement, as a command of their own without a program."""
        nodes = [child for child in node.children if child.type in ("file_redirect", "herestring_redirect")]
        for child in node.children:
            if child.type == "heredoc_redirect":
                nodes += [part for part in child.children if part.type == "file_redirect"]
        if nodes:
            redirects = tuple(self.redirect(child) for child in nodes)
            self.commands.append(
                Command((), (), redirects, redirects[0].start, redirects[-1].end, upstream, fed_by=fed_by)
            )

    def redirect(self, node: Node) -> Redirect:
        operator = next((child for child in node.children if not child.is_named), None)
        target = next((child for child in reversed(node.children) if child.type in _WORDS), None)
        start, end = self.span(node)
        word = self.word(target) if target else Word("-", start, end)
        return Redirect(self.slice(operator) if operator else ">", word, start, end)

    def forks(self) -> None:
        """A function that starts itself again in a pipe or in the background."""
        for name, start, end in self.functions:
            inside = [command for command in self.commands if start <= command.start < end and command.name == name]
            if inside and ("|" in self.text[start:end] or "&" in self.text[start:end]):
                bomb = high("starts itself again and again until the machine stops", "fills the machine with processes")
                self.findings.append(Finding(bomb.risk, bomb.reason, bomb.effect, False, (start, end)))

    def word(self, node: Node) -> Word:
        start, _ = self.span(node)
        return read_word(self.slice(node), start)

    def slice(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def span(self, node: Node) -> tuple[int, int]:
        """The node's place in characters; the tree counts bytes."""
        if self.ascii:
            return node.start_byte, node.end_byte
        start = len(self.source[: node.start_byte].decode())
        return start, start + len(self.slice(node))
