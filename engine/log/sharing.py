"""Events that stay in memory for as long as a session is open, made smaller."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)

_GIVEN: dict[type[BaseModel], set[str]] = {}


def shared(event: M) -> M:
    """``event``, with one set of its type's field names for all events of that type.

    Every pydantic model holds a set of the fields that were given when it was made; with many fields that set is larger
    than all the rest. Events are frozen and stored whole, so that nobody asks which fields were given: the sets of
    100,000 events would only be 130 MB of the same names.
    """
    kind = type(event)
    object.__setattr__(event, "__pydantic_fields_set__", _GIVEN.setdefault(kind, set(kind.model_fields)))
    for value in event.__dict__.values():
        if isinstance(value, BaseModel):
            shared(value)
        elif isinstance(value, tuple):
            for item in value:
                if isinstance(item, BaseModel):
                    shared(item)
    return event
