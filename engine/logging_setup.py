"""A rotating log file for trouble. Secrets never reach it; nothing of it reaches the screen."""

from __future__ import annotations

import logging
import logging.handlers
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.paths import Home

LOG_BYTES = 1_000_000
LOG_FILES = 3
MASK = "[secret]"

ROOMS = ("engine", "tui", "sandbox", "skills")

_SECRET_NAME = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_PATTERNS = (
    re.compile(r"\b(?:sk|pk|rk|xox[abp]|gh[pousr]|github_pat|glpat|hf)[-_][A-Za-z0-9_\-]{12,}"),
    re.compile(r"\bAKIA[0-9A-Z]{16}\b"),
    re.compile(r"\bAIza[A-Za-z0-9_\-]{30,}"),
    re.compile(r"(?<=\bBearer )[A-Za-z0-9._~+/=\-]{8,}", re.IGNORECASE),
    re.compile(r"(?<=\bBasic )[A-Za-z0-9+/=]{8,}", re.IGNORECASE),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(
        r"""((?:api[_-]?key|x-api-key|access[_-]?token|secret|password)["']?\s*[:=]\s*["']?)[^\s"',;&]{6,}""",
        re.IGNORECASE,
    ),
)
# Shorter values would mask half the words of a text.
_SHORTEST = 8


class Redactor(logging.Filter):
    """Masks keys, bearer tokens and the values of the environment's secrets in every record, tracebacks included."""

    def __init__(self, env: Mapping[str, str]) -> None:
        super().__init__()
        self._secrets = secrets_of(env)

    def filter(self, record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = redact(record.exc_text, self._secrets)
        record.msg, record.args = redact(message, self._secrets), None
        return True


def secrets_of(env: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables named like secrets, longest first."""
    values = {value for name, value in env.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST}
    return tuple(sorted(values, key=len, reverse=True))


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """``text`` with everything that looks like a secret, and every one of ``secrets``, masked."""
    for secret in secrets:
        text = text.replace(secret, MASK)
    for pattern in _PATTERNS:
        text = pattern.sub(lambda m: (m[1] if m.re.groups else "") + MASK, text)
    return text


def set_up_logging(home: Home, env: Mapping[str, str], *, debug: bool = False) -> Path | None:
    """Send all logging to a file in ``home.logs`` and nowhere else. Returns the file, None when it cannot be written:
    trouble with the log must never be trouble for the work."""
    root = logging.getLogger()
    for old in [h for h in root.handlers if getattr(h, "agent_tui", False)]:
        root.removeHandler(old)
        old.close()
    handler, path = _handler(home)
    handler.agent_tui = True  # type: ignore[attr-defined]  # found again by the lines above
    handler.addFilter(Redactor(env))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.INFO if debug else logging.WARNING)
    for room in ROOMS:
        logging.getLogger(room).setLevel(logging.DEBUG if debug else logging.INFO)
    logging.captureWarnings(True)
    # A handler that cannot write would print a traceback over the screen.
    logging.raiseExceptions = False
    return path


def _handler(home: Home) -> tuple[logging.Handler, Path | None]:
    path = home.logs / "agent-tui.log"
    try:
        home.logs.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(
            path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", errors="backslashreplace"
        )
        path.chmod(0o600)
    except OSError:
        return logging.NullHandler(), None
    return handler, path
