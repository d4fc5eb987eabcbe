"""The ``[task]`` table of a settings file: when tasks are done and the stages on the way there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.parts import Stage

Refuse = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """``done_when``: conditions of being finished; ``stages``: the way there; None where a file says nothing."""

    done_when: tuple[str, ...] | None = None
    stages: tuple[Stage, ...] | None = None

    def over(self, other: TaskSettings) -> TaskSettings:
        """These where they say something, else those of ``other``."""
        return TaskSettings(
            other.done_when if self.done_when is None else self.done_when,
            other.stages if self.stages is None else self.stages,
        )


def read_task(data: object, refuse: Refuse) -> TaskSettings:
    """What the table says; ``refuse(key, reason)`` is called for each part that cannot be used. Conditions are refused
    one by one; stages only together, since they follow one another."""
    if not isinstance(data, dict):
        refuse("task", "must be a table: [task]")
        return TaskSettings()
    for name in sorted(data.keys() - {"done_when", "stages"}):
        refuse(f"task.{name}", "there is no such setting; there are done_when and stages")
    return TaskSettings(_conditions(data.get("done_when"), refuse), _stages(data.get("stages"), refuse))


def _conditions(data: object, refuse: Refuse) -> tuple[str, ...] | None:
    from engine.stages import problems

    if data is None:
        return None
    texts = [data] if isinstance(data, str) else data
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        refuse("task.done_when", 'must be a list of conditions, such as ["tests_pass == true"]')
        return None
    good = []
    for text in texts:
        if found := problems((text,)):
            refuse("task.done_when", found[0])
        else:
            good.append(text)
    return tuple(good)


def _stages(data: object, refuse: Refuse) -> tuple[Stage, ...] | None:
    from pydantic import TypeAdapter, ValidationError

    from engine.parts import Stage
    from engine.stages import problems

    if data is None:
        return None
    try:
        stages = TypeAdapter(tuple[Stage, ...]).validate_python(data)
    except ValidationError:
        refuse("task.stages", 'must be a list such as [{name = "look", until = "files_read >= 3", tools = ["fs_"]}]')
        return None
    tables = data if isinstance(data, list) else []
    unknown = {key for stage in tables for key in stage} - set(Stage.model_fields)
    if found := (*problems((), stages), *(f"a stage has no {key}" for key in sorted(unknown))):
        refuse("task.stages", "; ".join(found))
        return None
    return stages
