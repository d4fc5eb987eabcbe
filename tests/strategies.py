"""Hypothesis strategies for stored events, derived from the models themselves: a new event type is covered at once."""

from __future__ import annotations

import json
import types
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel

from engine import events as ev
from engine.events import Event, Frozen

EVENT_TYPES: tuple[type[ev.Stored], ...] = get_args(get_args(Event)[0])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)


def of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values for a field's annotation."""
    simple = {
        str: texts,
        int: st.integers(0, 2**31),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        Any: json_values,
        types.NoneType: st.none(),
    }
    if annotation in simple:
        return simple[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, types.UnionType):
        return st.one_of([of(arm) for arm in inner])
    if origin is tuple and inner[1:] == (...,):
        return st.lists(of(inner[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(of(arm) for arm in inner))
    if origin is dict:
        return json_objects if inner[1] is Any else st.dictionaries(texts, of(inner[1]), max_size=3)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return model(annotation)
    return of(inner[0])  # Annotated


def model(kind: type[BaseModel], **fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Instances of an event or a part of one, not appended yet: session, seq and at are left as they are."""
    tags = {"type"} if issubclass(kind, ev.Stored) else {"kind"}
    skipped = tags | set(ev.Stored.model_fields)
    fields = {name: of(field.annotation) for name, field in kind.model_fields.items() if name not in skipped}
    return st.builds(kind, **(fields | fixed))


limits = model(ev.Limits)
settings_changed = st.one_of(
    st.builds(ev.SettingChanged, name=st.sampled_from(["model", "approve", "title"]), value=texts),
    st.builds(
        ev.SettingChanged, name=st.just("limits"), value=limits.map(lambda made: json.loads(made.model_dump_json()))
    ),
)
by_type: dict[type[Frozen], st.SearchStrategy[Any]] = {
    kind: settings_changed if kind is ev.SettingChanged else model(kind) for kind in EVENT_TYPES
}
events: st.SearchStrategy[Event] = st.one_of(list(by_type.values()))
event_lists: st.SearchStrategy[list[Event]] = st.lists(events, max_size=8)
