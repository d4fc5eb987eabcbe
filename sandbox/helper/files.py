"""Looking at, reading, listing and writing files. Every function answers a header and bytes, or raises Refused."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import Any

from sandbox.helper.places import HASH_LIMIT, SKIPPED, Refused, Space, digest_of, kind_of, open_file, refusal, special

Answer = tuple[dict[str, Any], bytes]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def look(space: Space, header: dict[str, Any], _data: bytes) -> Answer:
    """Where a path leads and what is there now."""
    real = space.real(header["path"])
    answer = {"real": real, "inside": space.inside(real), "protected": space.protecting(real), "sha256": ""}
    try:
        found = os.stat(real, follow_symlinks=False)
    except FileNotFoundError:
        return answer | {"kind": "missing"}, b""
    except OSError as error:
        raise refusal(error, header["path"]) from error
    kind = kind_of(found.st_mode)
    if kind == "file" and found.st_size <= HASH_LIMIT and os.access(real, os.R_OK):
        fd = open_file(real, header["path"])
        try:
            answer["sha256"] = digest_of(fd, found.st_size)
        finally:
            os.close(fd)
    return answer | {"kind": kind}, b""


def read(space: Space, header: dict[str, Any], _data: bytes) -> Answer:
    """``length`` bytes from ``offset`` of a regular file, with size and digest of all of it."""
    fd = open_file(space.real(header["path"]), header["path"])
    try:
        size = os.fstat(fd).st_size
        digest = digest_of(fd, size)
        os.lseek(fd, header["offset"], os.SEEK_SET)
        data = _read_up_to(fd, header["length"])
    except OSError as error:
        raise refusal(error, header["path"]) from error
    finally:
        os.close(fd)
    return {"size": size, "sha256": digest, "truncated": header["offset"] + len(data) < size}, data


def _read_up_to(fd: int, length: int) -> bytes:
    parts: list[bytes] = []
    while length > 0 and (chunk := os.read(fd, min(length, 1024 * 1024))):
        parts.append(chunk)
        length -= len(chunk)
    return b"".join(parts)


def listing(space: Space, header: dict[str, Any], _data: bytes) -> Answer:
    """Entries below a folder, a folder before what is in it, each level by name."""
    real = space.real(header["path"])
    try:
        found = os.stat(real)
        walked = _walk(real, header["depth"], header["all"]) if stat.S_ISDIR(found.st_mode) else iter([(real, found)])
        rows: list[list[Any]] = []
        truncated = False
        for path, status in walked:
            if len(rows) >= header["limit"]:
                truncated = True
                break
            rows.append([space.shown(path), kind_of(status.st_mode), status.st_size])
    except OSError as error:
        raise refusal(error, header["path"]) from error
    return {"entries": rows, "truncated": truncated}, b""


def _walk(folder: str, depth: int, everything: bool) -> Iterator[tuple[str, os.stat_result]]:
    for name in sorted(os.listdir(folder)):
        if not everything and (name.startswith(".") or name in SKIPPED):
            continue
        path = os.path.join(folder, name)
        try:
            status = os.lstat(path)
        except OSError:
            continue
        yield path, status
        if depth > 1 and stat.S_ISDIR(status.st_mode) and os.access(path, os.R_OK | os.X_OK):
            yield from _walk(path, depth - 1, everything)


def write(space: Space, header: dict[str, Any], data: bytes) -> Answer:
    """Replace or create a file in one step: whoever reads it sees the old bytes or the new ones."""
    path = header["path"]
    real = space.real(path)
    _check_place(space, path, real)
    parts = os.path.relpath(real, space.root).split("/")
    try:
        folder = _open_folder(space.root, parts[:-1])
        try:
            mode = _check_current(folder, parts[-1], path, header["expected"])
            _replace(folder, parts[-1], data, mode)
        finally:
            os.close(folder)
    except OSError as error:
        raise refusal(error, path) from error
    return {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}, b""


def _check_place(space: Space, path: str, real: str) -> None:
    if not space.inside(real) or real == space.root:
        raise Refused(
            f"{path} leads to {real}, outside the workspace {space.root}",
            "write into the workspace; a person can copy it elsewhere",
            "denied",
        )
    if name := space.protecting(real):
        raise Refused(
            f"{path} is protected ({name}): it can run code outside the sandbox",
            "leave it as it is and tell the person what to change",
            "denied",
        )
    if not space.writable:
        raise Refused(f"the policy does not allow writing {path}", "only read, or ask for another policy", "denied")
    if path.endswith("/"):
        raise Refused(f"{path} names a folder", "name a file in it")


def _open_folder(root: str, parts: list[str]) -> int:
    """Walk from the workspace down to a folder, making what is missing and following no link."""
    fd = os.open(root, _DIRECTORY)
    for part in parts:
        try:
            try:
                below = os.open(part, _DIRECTORY, dir_fd=fd)
            except FileNotFoundError:
                os.mkdir(part, dir_fd=fd)
                below = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def _check_current(folder: int, name: str, path: str, expected: str | None) -> int:
    """The mode the new file gets. Raises Refused when what is there is not what the caller read."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if expected:
            raise Refused(f"{path} no longer exists", "list the folder, then write it as a new file") from None
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{path} is {special(found.st_mode)}, not a file", "choose another name")
    if expected == "":
        raise Refused(f"{path} exists already", "read it first, then edit it")
    if expected is not None and expected != _digest_at(folder, name):
        raise Refused(f"{path} has changed since it was read", "read it again and redo the change")
    return stat.S_IMODE(found.st_mode)


def _digest_at(folder: int, name: str) -> str:
    fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        return digest_of(fd, 0)
    finally:
        os.close(fd)


def _replace(folder: int, name: str, data: bytes, mode: int) -> None:
    """Write a new file beside the old one, then take its place."""
    temporary = f".agent-tui-{secrets.token_hex(8)}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException as error:
        try:
            os.unlink(temporary, dir_fd=folder)
        except FileNotFoundError:
            pass
        if isinstance(error, OSError) and error.errno == errno.EBUSY:
            raise Refused(f"{name} is protected and cannot be replaced", "leave it as it is", "denied") from error
        raise
