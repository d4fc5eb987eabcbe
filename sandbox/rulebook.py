"""The rules a person stored, in a TOML file they can edit: each with when it was made and from which request."""

from __future__ import annotations

import fcntl
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.risk import Risk
from sandbox.rules import Rule, RuleError, parse_rule

_KEYS = frozenset(("text", "added", "request", "risk"))
_HEADER = "Approval rules. One line each; delete an entry to revoke it. See `agent-tui sandbox rules`."
_MAX_REQUEST = 500


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule with its origin. ``added`` is an ISO time, ``request`` the command or path it was made for."""

    rule: Rule
    added: str = ""
    request: str = ""


class RuleBook:
    """The rules in one file. Safe to use from several processes; read again when the file changes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._stored: tuple[StoredRule, ...] = ()

    def list(self) -> tuple[StoredRule, ...]:
        """Every stored rule, oldest first. Raises RuleError naming the file and the entry that is wrong."""
        try:
            status = self.path.stat()
        except FileNotFoundError:
            self._seen, self._stored = None, ()
            return ()
        seen = (status.st_ino, status.st_mtime_ns, status.st_size)
        if seen != self._seen:
            self._stored = self._parse()
            self._seen = seen
        return self._stored

    def rules(self) -> tuple[Rule, ...]:
        """The rules alone. Raises RuleError."""
        return tuple(stored.rule for stored in self.list())

    def add(self, text: str, request: str, risk: Risk) -> Rule:
        """Store a rule a person confirmed for ``request`` of that ``risk``; a second time changes nothing.

        Raises RuleError for a text that cannot be read, OSError when the file cannot be written.
        """
        rule = parse_rule(text, risk)
        with self._changing() as document:
            entries = document["rule"]
            if not any(e.get("text") == rule.text and e.get("risk", "medium") == rule.ceiling.word for e in entries):
                added = datetime.now(UTC).isoformat(timespec="seconds")
                entries.append(_table(text=rule.text, risk=risk.word, added=added, request=request[:_MAX_REQUEST]))
        return rule

    def revoke(self, text: str) -> bool:
        """Take every entry of that text out. Whether there was one."""
        with self._changing() as document:
            entries = document["rule"]
            kept = [entry for entry in entries if str(entry.get("text", "")).strip() != text.strip()]
            found = len(kept) < len(entries)
            if found:
                document.remove("rule")
                document["rule"] = _tables(kept)
        return found

    @contextmanager
    def _changing(self) -> Iterator[Any]:
        """The file as a tomlkit document that keeps comments; written back in one step."""
        import tomlkit

        self.list()
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            text = self.path.read_text(encoding="utf-8") if self.path.exists() else f"# {_HEADER}\n"
            document = tomlkit.parse(text)
            if "rule" not in document:
                document["rule"] = _tables([])
            yield document
            temporary = self.path.with_name(self.path.name + ".new")
            temporary.write_text(tomlkit.dumps(document), encoding="utf-8")
            temporary.chmod(0o600)
            temporary.replace(self.path)
        finally:
            os.close(lock)

    def _parse(self) -> tuple[StoredRule, ...]:
        try:
            data = tomllib.loads(self.path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise RuleError(f"{self.path}: {error}") from error
        if unknown := set(data) - {"rule"}:
            raise RuleError(f"{self.path}: unknown entry {min(unknown)!r}; rules are [[rule]] tables")
        entries = data.get("rule", [])
        if not isinstance(entries, list):
            raise RuleError(f"{self.path}: rules are [[rule]] tables")
        return tuple(self._entry(number, entry) for number, entry in enumerate(entries, 1))

    def _entry(self, number: int, entry: Any) -> StoredRule:
        where = f"{self.path}, rule {number}"
        if not isinstance(entry, dict) or not isinstance(entry.get("text"), str):
            raise RuleError(f'{where}: needs text = "allow …" or "deny …"')
        if unknown := set(entry) - _KEYS:
            raise RuleError(f"{where}: unknown key {min(unknown)!r}; known are {', '.join(sorted(_KEYS))}")
        try:
            ceiling = Risk.parse(str(entry.get("risk", "medium")))
        except KeyError:
            raise RuleError(f"{where}: risk is low, medium or high, not {entry['risk']!r}") from None
        try:
            rule = parse_rule(entry["text"], ceiling)
        except RuleError as error:
            raise RuleError(f"{where}: {error}") from error
        return StoredRule(rule, str(entry.get("added", "")), str(entry.get("request", "")))


def _table(**values: str) -> Any:
    import tomlkit

    table = tomlkit.table()
    for name, value in values.items():
        table[name] = value
    return table


def _tables(entries: list[Any]) -> Any:
    import tomlkit

    tables = tomlkit.aot()
    for entry in entries:
        tables.append(entry)
    return tables
