"""Decoding a picture outside our own process: a decoder for each one, behind walls of its own, gone when it answered.

It is given the bytes, so it needs to see no file: its sandbox shows the system, this Python and Pillow, and nothing of
the workspace; it has no network and nothing it writes stays. What it answers is believed in nothing but its shape.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sandbox.backends.running import Launch, Starter, exit_of, let_go, uncancelled
from sandbox.backends.tree import Group
from sandbox.helper import picture
from sandbox.helper.frames import LENGTHS, pack
from sandbox.operations import DecodePicture, Outcome, Picture, Status
from sandbox.policy import Limits, Policy

MOST_BYTES = 32 * 1024 * 1024
"""Of a picture's file."""
MOST_WIDE, MOST_HIGH = 240, 160
SECONDS = 10.0

_MIB = 1024 * 1024
_LIMITS = Limits(
    memory_bytes=512 * _MIB,
    processes=16,
    cpu_seconds=SECONDS,
    file_bytes=_MIB,
    open_files=64,
    scratch_bytes=_MIB,
    wall_seconds=SECONDS,
)
_MOST_HEADER = 4096
_MOST_ANSWER = LENGTHS.size + _MOST_HEADER + 4 * MOST_WIDE * MOST_HIGH
_WORDS = {
    picture.TOO_LARGE: ("the picture has too many pixels to be shown", "make a smaller copy of it"),
    picture.NO_PICTURE: ("it is no PNG, JPEG, GIF, WebP or BMP picture", ""),
    picture.BROKEN: ("the picture is damaged or cut off", ""),
    picture.NO_PILLOW: ("Pillow, which decodes pictures, does not work in the sandbox", "pip install pillow"),
}

Enclose = Callable[[Policy, Sequence[str]], Launch]


class Decoder:
    """``enclose`` puts a program behind the walls of a policy. ``python``: interpreter and import folder inside."""

    def __init__(self, enclose: Enclose, python: tuple[str, str]) -> None:
        self._enclose = enclose
        self._python = python

    def launch(self, code: str = "from sandbox.helper.picture import main; main()") -> Launch:
        """How the decoder is started, or other code in its place. Raises ImportError when Pillow is not installed."""
        folder, libraries = _pillow()
        policy = Policy(
            "pictures",
            folder,
            writable=False,
            readable=(libraries,) if libraries.is_dir() else (),
            protected=(),
            env=(),
            limits=_LIMITS,
        )
        interpreter, root = self._python
        paths = f"import sys; sys.path[:0] = [{root!r}]; sys.path.append({str(folder.parent)!r}); "
        return self._enclose(policy, (interpreter, "-I", "-S", "-c", paths + code))

    async def decode(self, data: bytes, op: DecodePicture) -> Outcome:
        """The picture in ``data``, or in words why there is none. Safe to cancel."""
        started = time.monotonic()
        header = {"width": _within(op.width, MOST_WIDE), "height": _within(op.height, MOST_HIGH)}
        try:
            answer = await _ask(self.launch(), pack(header, data))
            return _believed(answer, len(data), time.monotonic() - started)
        except ImportError:
            return _failed(picture.NO_PILLOW)
        except TimeoutError:
            return _outcome_of(f"the picture was not decoded within {SECONDS:g} s", "make a smaller copy of it")
        except ValueError:
            return _outcome_of("the picture could not be decoded within the limits of its sandbox", "")
        except OSError as error:
            return _outcome_of(f"the decoder could not be started: {error.strerror or error}", "")


def _pillow() -> tuple[Path, Path]:
    """Pillow's folder, and the one beside it that a wheel keeps its libraries in. Nothing of it is imported."""
    found = find_spec("PIL")
    if found is None or not found.submodule_search_locations:
        raise ImportError("Pillow is not installed")
    folder = Path(found.submodule_search_locations[0]).resolve()
    return folder, folder.parent / "pillow.libs"


async def _ask(launch: Launch, request: bytes) -> bytes:
    """What the decoder answers, cut at the most it may say. It is gone afterwards. Raises OSError and TimeoutError."""
    with Starter(launch, _LIMITS) as starter:
        process = starter.start(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        group = starter.admit(process.pid)
    loop = asyncio.get_running_loop()
    if group.waits and group.info is not None:
        loop.add_reader(group.info, _begin, loop, group, group.info)
    assert process.stdin is not None and process.stdout is not None
    write = asyncio.to_thread(_write, process.stdin, request)
    read = asyncio.to_thread(process.stdout.read, _MOST_ANSWER)
    try:
        _, answer = await asyncio.wait_for(asyncio.gather(write, read), SECONDS)
        return bytes(answer)
    finally:
        await uncancelled(_end(process, group))


def _begin(loop: asyncio.AbstractEventLoop, group: Group, info: int) -> None:
    """bwrap has made its first process, which waits to be limited."""
    loop.remove_reader(info)
    group.open_gate(_LIMITS)


def _write(sink: Any, request: bytes) -> None:
    # A decoder that ended early has said why, or its silence says it.
    with suppress(BrokenPipeError), sink:
        sink.write(request)


async def _end(process: subprocess.Popen[bytes], group: Group) -> None:
    group.kill()
    await exit_of(process)
    if group.waits and group.info is not None:
        asyncio.get_running_loop().remove_reader(group.info)
    let_go(group)
    if process.stdout is not None:
        process.stdout.close()


def _believed(answer: bytes, size: int, seconds: float) -> Outcome:
    """The answer as an outcome. Raises ValueError for one that is not of the shape agreed on."""
    if len(answer) < LENGTHS.size:
        raise ValueError("no answer")
    header_size, data_size = LENGTHS.unpack_from(answer)
    pixels = answer[LENGTHS.size + header_size :]
    if header_size > _MOST_HEADER or len(pixels) != data_size:
        raise ValueError("a torn answer")
    header = json.loads(answer[LENGTHS.size : LENGTHS.size + header_size])
    if not isinstance(header, dict):
        raise ValueError("no header")
    if "error" in header:
        return _failed(str(header["error"]))
    kind = picture.KINDS.get(str(header.get("kind")), "")
    width, height, full_width, full_height = (
        _number(header.get(name)) for name in ("width", "height", "full_width", "full_height")
    )
    if not kind or width > MOST_WIDE or height > MOST_HIGH or data_size != 4 * width * height:
        raise ValueError("pixels that do not fit")
    shown = Picture(kind, width, height, full_width, full_height, pixels)
    return Outcome(Status.OK, size=size, picture=shown, seconds=seconds)


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 < value < 2**31:
        raise ValueError("no number")
    return value


def _failed(word: str) -> Outcome:
    return _outcome_of(*_WORDS.get(word, _WORDS[picture.BROKEN]))


def _outcome_of(error: str, suggestion: str) -> Outcome:
    return Outcome(Status.ERROR, error=error, suggestion=suggestion)


def _within(wanted: int, most: int) -> int:
    return max(1, min(wanted, most))
