"""Pictures: decoded from a file that the sandbox may read, refused in words otherwise, and never by our own process."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import subprocess
import sys
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from PIL import Image

from sandbox.backends import pictures
from sandbox.backends.bubblewrap import BubblewrapBackend
from sandbox.backends.local import LocalSandbox
from sandbox.operations import DecodePicture, Outcome, Status
from sandbox.policies import named_policy
from tests.sandbox.broker_kit import Person, Rig

pytestmark = pytest.mark.usefixtures("walls")

RED, CLEAR = b"\xff\x00\x00\xff", b"\x00\x00\x00\x00"


async def shown(rig: Rig, path: str, width: int = 120, height: int = 80, backend: str = "bwrap") -> Outcome:
    async with rig.broker(Person(), backend=backend) as broker:
        return await broker.run(DecodePicture(path, width, height))


def png_header(width: int, height: int) -> bytes:
    """A PNG that says it is so large and has next to nothing in it."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(9))) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("suffix", "kind"), [("png", "PNG"), ("jpg", "JPEG"), ("gif", "GIF"), ("webp", "WebP")])
async def test_a_picture_comes_scaled_down_with_its_aspect(rig: Rig, suffix: str, kind: str) -> None:
    Image.new("RGB", (640, 480), (255, 0, 0)).save(rig.workspace / f"a.{suffix}")
    done = await shown(rig, f"a.{suffix}")
    found = done.picture
    assert found is not None, done.error
    assert (found.kind, found.full_width, found.full_height) == (kind, 640, 480)
    assert (found.width, found.height, len(found.pixels)) == (107, 80, 107 * 80 * 4)
    assert done.size == (rig.workspace / f"a.{suffix}").stat().st_size
    red, green, blue, alpha = found.pixels[:4]
    assert red > 245 and green < 10 and blue < 10 and alpha == 255


async def test_a_small_picture_keeps_its_pixels_and_its_clear_ones(rig: Rig) -> None:
    image = Image.new("RGBA", (2, 2), (0, 0, 0, 0))
    image.putpixel((0, 0), (255, 0, 0, 255))
    image.save(rig.workspace / "a.png")
    found = (await shown(rig, "a.png")).picture
    assert found is not None and found.pixels == RED + 3 * CLEAR


async def test_a_picture_that_was_taken_sideways_is_turned(rig: Rig) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (400, 100), (255, 0, 0)).save(rig.workspace / "a.jpg", exif=exif)
    found = (await shown(rig, "a.jpg", 200, 80)).picture
    assert found is not None and (found.width, found.height) == (20, 80)


async def test_sixteen_bits_a_pixel_are_not_all_white(rig: Rig) -> None:
    Image.new("I;16", (4, 4), 0x8000).save(rig.workspace / "a.png")
    found = (await shown(rig, "a.png")).picture
    assert found is not None and found.pixels[:4] == b"\x80\x80\x80\xff"


async def test_no_more_pixels_than_a_screen_needs(rig: Rig) -> None:
    Image.new("L", (900, 900)).save(rig.workspace / "a.png")
    found = (await shown(rig, "a.png", 100_000, 100_000)).picture
    assert found is not None and (found.width, found.height) == (160, 160)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cut.png", "damaged or cut off"),
        ("cut.jpg", "damaged or cut off"),
        ("bomb.png", "too many pixels"),
        ("text.png", "is no PNG"),
        ("empty.png", "is no PNG"),
        ("gone.png", "does not exist"),
        ("folder.png", "folder"),
        ("large.png", "larger than"),
    ],
)
async def test_what_cannot_be_shown_is_said_in_words(rig: Rig, name: str, says: str) -> None:
    for kind in ("png", "jpg"):
        whole = rig.workspace / f"whole.{kind}"
        Image.effect_noise((300, 300), 80).save(whole)
        (rig.workspace / f"cut.{kind}").write_bytes(whole.read_bytes()[:4000])
    (rig.workspace / "bomb.png").write_bytes(png_header(50_000, 50_000))
    (rig.workspace / "text.png").write_text("no picture at all\n")
    (rig.workspace / "empty.png").touch()
    (rig.workspace / "folder.png").mkdir()
    with (rig.workspace / "large.png").open("wb") as large:
        large.truncate(pictures.MOST_BYTES + 1)
    done = await shown(rig, name)
    assert done.status is Status.ERROR and done.picture is None and says in done.error


async def test_a_picture_outside_is_as_far_away_as_any_other_file(rig: Rig) -> None:
    Image.new("RGB", (4, 4)).save(rig.workspace.parent / "secret.png")
    (rig.workspace / "link.png").symlink_to(rig.workspace.parent / "secret.png")
    for path in (str(rig.workspace.parent / "secret.png"), "../secret.png", "link.png"):
        done = await shown(rig, path)
        assert done.status is Status.ERROR and "does not exist" in done.error


async def test_without_walls_nothing_is_decoded(rig: Rig) -> None:
    Image.new("RGB", (4, 4)).save(rig.workspace / "a.png")
    done = await shown(rig, "a.png", backend="bare")
    assert done.status is Status.ERROR and "in a sandbox only" in done.error


async def _sandbox(rig: Rig) -> LocalSandbox:
    return await BubblewrapBackend().start(named_policy("workspace", rig.workspace))


async def _tried(rig: Rig, code: str, monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """What comes of it when ``code`` runs in the decoder's place, as after a hole in it was used."""
    Image.new("RGB", (4, 4)).save(rig.workspace / "a.png")
    sandbox = await _sandbox(rig)
    assert sandbox._decoder is not None
    launch = sandbox._decoder.launch(code)
    monkeypatch.setattr(sandbox._decoder, "launch", lambda: launch)
    try:
        return await asyncio.wait_for(sandbox.picture(DecodePicture("a.png", 8, 8)), 30)
    finally:
        await sandbox.stop()


def _saying(expression: str) -> str:
    """Code that answers with a picture one pixel wide when ``expression`` is true, and two when it is not."""
    return (
        "import os, socket, pathlib\n"
        "from sandbox.helper import frames\n"
        "def fails(act):\n"
        "    try: act()\n"
        "    except OSError: return True\n"
        "    return False\n"
        f"width = 1 if ({expression}) else 2\n"
        "head = {'kind': 'PNG', 'width': width, 'height': 1, 'full_width': 1, 'full_height': 1}\n"
        "os.write(1, frames.pack(head, bytes(4 * width)))"
    )


@pytest.mark.parametrize(
    "holds",
    [
        "not os.path.exists({workspace!r})",
        "fails(lambda: socket.create_connection(('127.0.0.1', {port}), 1))",
        "os.getpid() < 10 and not os.path.exists('/proc/{pid}/cwd')",
        "fails(lambda: open('/run/agent-tui/sandbox/helper/picture.py', 'a'))",
        "fails(lambda: open(__import__('PIL').__file__, 'a'))",
        "fails(lambda: os.mkdir('/usr/x'))",
        "not any(name.startswith(('AWS', 'ANTHROPIC', 'SECRET')) for name in os.environ)",
    ],
)
async def test_the_decoder_is_confined(rig: Rig, monkeypatch: pytest.MonkeyPatch, holds: str) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = holds.format(workspace=str(rig.workspace), port=server.getsockname()[1], pid=os.getpid())
        done = await _tried(rig, _saying(told), monkeypatch)
    assert done.picture is not None, done.error
    assert done.picture.width == 1


async def test_the_probe_for_the_walls_can_fail(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    done = await _tried(rig, _saying("not os.path.exists('/usr')"), monkeypatch)
    assert done.picture is not None and done.picture.width == 2


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import os; os.write(1, b'x' * 3)", "within the limits"),
        ("import os\nwhile True: os.write(1, b'x' * 65536)", "within the limits"),
        ("x = bytearray(2 * 1024**3)", "within the limits"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "within the limits"),
        (
            "import os; from sandbox.helper import frames; "
            "head = dict.fromkeys(('width', 'height', 'full_width', 'full_height'), 9); "
            "os.write(1, frames.pack(head | {'kind': 'PNG'}, b''))",
            "within the limits",
        ),
        (
            "import os; from sandbox.helper import frames; os.write(1, frames.pack({'error': 'do as I say'}))",
            "damaged or cut off",
        ),
    ],
)
async def test_a_decoder_that_was_taken_over_is_not_believed(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, code: str, says: str
) -> None:
    done = await _tried(rig, code, monkeypatch)
    assert done.status is Status.ERROR and says in done.error


async def test_a_decoder_that_hangs_is_ended(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "SECONDS", 0.5)
    mark = f"600.{os.getpid()}"
    done = await _tried(rig, f"import time; time.sleep({mark})", monkeypatch)
    assert done.status is Status.ERROR and "not decoded within 0.5 s" in done.error
    assert not [line for line in _command_lines() if mark in line]


def _command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_text(errors="replace"))
    return found


def test_our_own_process_never_loads_the_decoder(rig: Rig) -> None:
    """In a fresh process: a picture is shown, and Pillow was not imported."""
    Image.new("RGB", (4, 4), (255, 0, 0)).save(rig.workspace / "a.png")
    code = (
        "import asyncio, sys, pathlib\n"
        "from sandbox.backends.bubblewrap import BubblewrapBackend\n"
        "from sandbox.operations import DecodePicture\n"
        "from sandbox.policies import named_policy\n"
        "async def main():\n"
        f"    box = await BubblewrapBackend().start(named_policy('workspace', pathlib.Path({str(rig.workspace)!r})))\n"
        "    done = await box.picture(DecodePicture('a.png', 8, 8))\n"
        "    print(done.picture.width, 'PIL' in sys.modules)\n"
        "    await box.stop()\n"
        "asyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "4 False\n", done.stderr
