"""Commands inside text that some program will run: not parsed, only searched for what should never pass unasked."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sandbox.classify.findings import Finding, high
from sandbox.classify.words import Word

_DANGER = re.compile(
    r"""(?x) (?<![\w./-]) (?: rm\s+-\w*[rRf] | rm\s+--(?:rec|for) | git\s+(?:push|reset\s+--hard|clean) | sudo | doas
    | shred | mkfs | truncate | chmod\s+-R | chown | crontab | scp | ssh | nc | docker | kill | killall | pkill
    | (?:curl|wget)\b[^|]*\|\s*\w*sh )(?=[\s;|"']|$)
    | >\s*(?:/etc/|/dev/sd|~/\.)
    """
)


def hidden(words: Iterable[Word]) -> list[Finding]:
    """A finding when one of ``words`` holds a command that destroys, leaks or escalates."""
    for word in words:
        if len(word.text) > 3 and (found := _DANGER.search(word.text)):
            return [high(f"hides “{found[0].strip()[:40]}” in an argument that may be run", at=word)]
    return []
