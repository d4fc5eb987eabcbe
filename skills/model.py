"""What a skill is: a folder with a SKILL.md that tells a model how to do one kind of task. Frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Literal


class Source(IntEnum):
    """Where a skill comes from; of two skills with one name the higher wins."""

    LIBRARY = 1
    USER = 2
    PROJECT = 3

    @property
    def word(self) -> str:
        """``library``, ``user`` or ``project``."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that can be read.

    path: its SKILL.md as found; file: that with every link followed. folder: the real path of its folder, the only
    place its other files are served from.
    trusted: False for a project's skill until a person trusts the folder. hidden: its author wants only people to
    start it. messages: what is odd about it, for people.
    """

    name: str
    description: str
    path: Path
    file: Path
    folder: Path
    source: Source
    trusted: bool = True
    hidden: bool = False
    messages: tuple[str, ...] = ()

    @property
    def offered(self) -> bool:
        """Whether the model is told of it and may read it."""
        return self.trusted and not self.hidden

    @property
    def state(self) -> str:
        """One word or two for people: ``offered``, ``needs trust`` or ``hidden``."""
        return "offered" if self.offered else "hidden" if self.trusted else "needs trust"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something found where skills are looked for that could not be used, or only in part."""

    path: Path
    message: str
    level: Literal["warn", "broken"] = "broken"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The skills of a session, sorted by name, and what went wrong while looking for them."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def offered(self) -> tuple[Skill, ...]:
        """Those the model may use."""
        return tuple(skill for skill in self.skills if skill.offered)
