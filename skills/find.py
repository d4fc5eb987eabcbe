"""The skills of a session: the project's, the user's and the library's, in this order of precedence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from skills.model import Catalogue, Problem, Skill, Source
from skills.parse import parse
from skills.scan import read_bounded, scan

PROJECT_FOLDERS = (".agent-tui/skills", ".agents/skills", ".claude/skills")
USER_FOLDERS = (".agents/skills", ".claude/skills")
LIBRARY = Path(__file__).parent / "library"


def user_folders(config: Path, home: Path | None = None) -> tuple[Path, ...]:
    """Where a user keeps skills: the app's configuration folder first, then the folders other tools use."""
    home = home if home is not None else Path.home()
    return (config / "skills", *(home / folder for folder in USER_FOLDERS))


def find_skills(project: Path, user_dirs: Sequence[Path] = (), trusted: bool = False) -> Catalogue:
    """Every skill there is for ``project``, one a name, sorted by name, with what went wrong.

    A project's skills need ``trusted``; without it they are listed but never offered, and never hide another skill of
    the same name. A folder reached on several ways counts once, where it has precedence.
    """
    places = [(project / folder, Source.PROJECT, trusted) for folder in PROJECT_FOLDERS]
    places += [(folder, Source.USER, True) for folder in user_dirs]
    places.append((LIBRARY, Source.LIBRARY, True))
    if not trusted:
        # What is not trusted must not claim a folder that is the user's as well.
        places.sort(key=lambda place: not place[2])
    seen: set[str] = set()
    skills: list[Skill] = []
    problems: list[Problem] = []
    for root, source, is_trusted in places:
        found = scan(root, seen=seen)
        problems += found.problems
        for path in found.files:
            loaded = load(path, source, is_trusted)
            if isinstance(loaded, Skill):
                skills.append(loaded)
            else:
                problems.append(loaded)
    kept, shadowed = _one_a_name(skills)
    return Catalogue(tuple(sorted(kept, key=lambda s: (s.name, -s.source))), (*problems, *shadowed))


def load(path: Path, source: Source = Source.USER, trusted: bool = True) -> Skill | Problem:
    """The skill of one SKILL.md, or why it is none."""
    data = read_bounded(path)
    if isinstance(data, str):
        return Problem(path, data)
    file, folder = Path(os.path.realpath(path)), Path(os.path.realpath(path.parent))
    parsed = parse(data, path.parent.name or folder.name)
    if parsed.error:
        return Problem(path, "; ".join((parsed.error, *parsed.messages)))
    hidden = parsed.fields.get("disable-model-invocation") is True
    return Skill(parsed.name, parsed.description, path, file, folder, source, trusted, hidden, parsed.messages)


def _one_a_name(skills: Iterable[Skill]) -> tuple[list[Skill], list[Problem]]:
    """The first trusted skill of each name; untrusted ones stand beside it, one a name too."""
    kept: dict[tuple[str, bool], Skill] = {}
    problems = []
    for skill in skills:
        first = kept.setdefault((skill.name, skill.trusted), skill)
        if first is not skill:
            problems.append(Problem(skill.path, f"its name {skill.name} is taken by {first.path}", "warn"))
    return list(kept.values()), problems
