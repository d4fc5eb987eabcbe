"""Conditions over the facts of a task: ``tests_pass == true and todo_open == 0``. Read and judged by code, never run.

A fact that is not known (None) makes a comparison unknown, and what is unknown does not hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Value = bool | float | str | None
Facts = Mapping[str, Value]
DEEPEST = 40

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)(?![\w.])|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<text>\"[^\"]*\"|'[^']*')|(?P<sign>==|!=|<=|>=|<|>|\(|\)))"
)
_COMPARE: dict[str, Callable[[Value, Value], bool]] = {"==": operator.eq, "!=": operator.ne}
_ORDER: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_KEYWORDS = ("and", "or", "not", "true", "false")

Judge = Callable[[Facts], bool | None]
Read = Callable[[Facts], Value]


class ConditionError(ValueError):
    """A condition that cannot be read; says where (``column``, from 1) and which facts there are."""

    def __init__(self, text: str, column: int, problem: str, known: Iterable[str]) -> None:
        super().__init__(f"{text!r}, column {column}: {problem}. Known facts: {', '.join(sorted(known))}")
        self.column = column


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as written, the facts it names in order, and how to judge it: True, False, or None for unknown."""

    text: str
    names: tuple[str, ...]
    judge: Judge

    def holds(self, facts: Facts) -> bool:
        return self.judge(facts) is True


def parse(text: str, known: Mapping[str, type]) -> Condition:
    """The condition ``text`` over ``known`` facts (name to bool, float or str). Raises ConditionError."""
    return _Parser(text, known).condition()


def say(value: Value) -> str:
    """A value as it is written in a condition."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


class _Parser:
    """Recursive descent: or, and, not, then one comparison, a fact that is true or false, or parentheses."""

    def __init__(self, text: str, known: Mapping[str, type]) -> None:
        self._text, self._known = text, known
        self._names: dict[str, None] = {}
        self._tokens = list(self._split())
        self._at = 0

    def condition(self) -> Condition:
        judge = self._or(0)
        if self._peek()[0] != "end":
            raise self._error("expected and, or, or the end")
        return Condition(self._text, tuple(self._names), judge)

    def _split(self) -> Iterable[tuple[str, str, int]]:
        at, end = 0, len(self._text.rstrip())
        while at < end:
            found = _TOKEN.match(self._text, at)
            if found is None:
                at += len(self._text[at:]) - len(self._text[at:].lstrip())
                raise ConditionError(self._text, at + 1, f"{self._text[at]!r} is not understood here", self._known)
            kind = str(found.lastgroup)
            yield ("sign" if found[kind] in _KEYWORDS else kind), found[kind], found.start(kind) + 1
            at = found.end()
        yield "end", "", end + 1

    def _peek(self) -> tuple[str, str, int]:
        return self._tokens[self._at]

    def _take(self, *signs: str) -> str:
        kind, text, _ = self._peek()
        if kind != "sign" or text not in signs:
            return ""
        self._at += 1
        return text

    def _error(self, problem: str) -> ConditionError:
        return ConditionError(self._text, self._peek()[2], problem, self._known)

    def _or(self, depth: int) -> Judge:
        left = self._and(depth)
        while self._take("or"):
            left = _either(left, self._and(depth), True)
        return left

    def _and(self, depth: int) -> Judge:
        left = self._not(depth)
        while self._take("and"):
            left = _either(left, self._not(depth), False)
        return left

    def _not(self, depth: int) -> Judge:
        if depth > DEEPEST:
            raise self._error("too deeply nested")
        if self._take("not"):
            return _opposite(self._not(depth + 1))
        if self._take("("):
            inner = self._or(depth + 1)
            if not self._take(")"):
                raise self._error("a closing parenthesis is missing")
            return inner
        return self._comparison()

    def _comparison(self) -> Judge:
        left, kind = self._operand()
        sign = self._take(*_COMPARE, *_ORDER)
        if not sign:
            if kind is not bool:
                raise self._error("a comparison is missing, such as >= 1")
            return lambda facts: None if (value := left(facts)) is None else value is True
        place = self._at
        right, other = self._operand()
        if other is not kind or (sign in _ORDER and kind is not float):
            self._at = place
            raise self._error(f"{_KIND[kind]} cannot be compared by {sign} with {_KIND[other]}")
        return _compared(left, sign, right)

    def _operand(self) -> tuple[Read, type]:
        kind, text, _ = self._peek()
        value: Value
        if kind == "number":
            value = float(text)
        elif kind == "text":
            value = text[1:-1]
        elif kind == "sign" and text in ("true", "false"):
            value = text == "true"
        elif kind == "word" and text in self._known:
            self._at += 1
            self._names[text] = None
            return (lambda facts: facts.get(text)), self._known[text]
        else:
            raise self._error(f"there is no fact {text}" if kind == "word" else "expected a fact or a value")
        self._at += 1
        return (lambda facts: value), type(value)


_KIND = {bool: "true or false", float: "a number", str: "text"}


def _either(left: Judge, right: Judge, decisive: bool) -> Judge:
    """or (``decisive`` True) and and (False), with unknown as the third value."""

    def judge(facts: Facts) -> bool | None:
        both = (left(facts), right(facts))
        if decisive in both:
            return decisive
        return None if None in both else not decisive

    return judge


def _opposite(inner: Judge) -> Judge:
    return lambda facts: None if (value := inner(facts)) is None else not value


def _compared(left: Read, sign: str, right: Read) -> Judge:
    def judge(facts: Facts) -> bool | None:
        a, b = left(facts), right(facts)
        if a is None or b is None:
            return None
        if sign in _COMPARE:
            return _COMPARE[sign](a, b)
        return _ORDER[sign](float(a), float(b))

    return judge
