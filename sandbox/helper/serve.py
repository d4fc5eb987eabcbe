"""The helper's loop: one request after another from stdin, answers on stdout, until stdin ends."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from sandbox.helper import files, frames
from sandbox.helper.places import Refused, Space, refusal

Answer = tuple[dict[str, Any], bytes]


def _search(space: Space, header: dict[str, Any], data: bytes) -> Answer:
    from sandbox.helper.search import search  # regular expressions and processes: paid for by the first search

    return search(space, header, data)


_VERBS: dict[str, Callable[[Space, dict[str, Any], bytes], Answer]] = {
    "look": files.look,
    "read": files.read,
    "list": files.listing,
    "write": files.write,
    "search": _search,
}


def main() -> None:
    """Serve until the app closes our stdin. The first frame names the workspace and what is protected in it."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    first = frames.read(source)
    if first is None:
        return
    header = first[0]
    space = Space(header["workspace"], tuple(header["protected"]), header["writable"])
    while (request := frames.read(source)) is not None:
        _answer(sink, space, *request)


def _answer(sink: BinaryIO, space: Space, header: dict[str, Any], data: bytes) -> None:
    try:
        answer, payload = _VERBS[header["op"]](space, header, data)
    except Refused as error:
        answer, payload = {"status": error.status, "error": str(error), "suggestion": error.suggestion}, b""
    except OSError as error:
        said = refusal(error, str(header.get("path", "")))
        answer, payload = {"status": "error", "error": str(said), "suggestion": said.suggestion}, b""
    except RecursionError:
        answer, payload = {"status": "error", "error": "the folders are nested too deeply", "suggestion": ""}, b""
    sink.write(frames.pack(answer, payload))
    sink.flush()
