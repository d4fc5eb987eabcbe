"""Who installed a program: the stand-in for a signature on systems with Debian's package database."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

DATABASE = Path("/var/lib/dpkg/info")


@lru_cache(maxsize=256)
def origin(path: str, sha256: str, database: Path = DATABASE) -> str:
    """Where the program at ``path`` comes from, in words; empty where there is no such database.

    ``sha256`` is that of its bytes now, so that an answer holds only for them. The database has MD5 sums: enough to
    tell a changed file from an installed one, no proof against somebody who forges both.
    """
    if not database.is_dir():
        return ""
    package = _owner(path, database)
    if not package:
        return "of no package"
    expected = _sum_of(path, database / f"{package}.md5sums")
    if not expected:
        return f"package {package}"
    actual = hashlib.md5(Path(path).read_bytes(), usedforsecurity=False).hexdigest()
    if actual != expected:
        return f"changed since package {package} was installed"
    return f"package {package}, as installed"


def _names(path: str) -> tuple[str, ...]:
    """``path`` as packages may list it: before or after /bin and its like became links into /usr."""
    return (path, path.removeprefix("/usr")) if path.startswith("/usr/") else (path,)


def _owner(path: str, database: Path) -> str:
    wanted = [b"\n" + name.encode("utf-8", "surrogateescape") + b"\n" for name in _names(path)]
    for listing in sorted(database.glob("*.list")):
        data = b"\n" + listing.read_bytes()
        if any(name in data for name in wanted):
            return listing.name.removesuffix(".list")
    return ""


def _sum_of(path: str, sums: Path) -> str:
    try:
        lines = sums.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    wanted = {name.lstrip("/") for name in _names(path)}
    return next((line[:32] for line in lines if line[34:] in wanted), "")
