"""Where a command runs, and what the paths it names mean there: inside or outside, secret, protected.

Symbolic links are followed, so a link that leads out of the workspace counts as outside.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from sandbox.classify.words import Word
from sandbox.policy import PROTECTED


@dataclass(frozen=True, slots=True)
class Place:
    """The workspace and home folder, and the folders the command may be in (several after a ``cd``).

    cwds: absolute paths; empty when the folder is not known any more.
    """

    workspace: str
    home: str
    cwds: tuple[str, ...]

    @classmethod
    def of(cls, workspace: Path, cwd: str, home: Path | None) -> Place:
        root = os.path.realpath(workspace)
        return cls(root, os.path.realpath(home or Path("~").expanduser()), (os.path.normpath(_join(root, cwd)),))

    def entered(self, word: Word | None) -> Place:
        """The place after ``cd word``: there, or still here when it fails."""
        if word is None:
            return replace(self, cwds=(*self.cwds, self.home))
        if word.glob or word.unknown or word.text == "-":
            return replace(self, cwds=())
        cwds = tuple(dict.fromkeys((*self.cwds, *self.absolute(word.text))))
        return replace(self, cwds=cwds if len(cwds) <= 8 else ())

    def inside(self, word: Word) -> Place:
        """The place strictly inside ``word``, as for ``git -C word``."""
        known = not (word.glob or word.unknown or word.fed)
        return replace(self, cwds=tuple(self.absolute(word.text)) if known else ())

    def absolute(self, text: str) -> list[str]:
        """Every absolute path ``text`` may mean, normalised but with links unresolved."""
        if text == "~" or text.startswith("~/"):
            text = self.home + text[1:]
        if text.startswith("/"):
            return [os.path.normpath(text)]
        return [os.path.normpath(_join(cwd, text)) for cwd in self.cwds]

    def outside(self, word: Word) -> bool:
        """Whether writing to ``word`` would reach beyond the workspace and the private temporary folder."""
        text = _fixed_part(word)
        if len(text) > _LONGEST_PATH:
            return True
        if text.startswith("~") and not text.startswith("~/") and text != "~":
            return True
        if not self.cwds and not text.startswith("/"):
            return True
        for path in self.absolute(text):
            real = os.path.realpath(path)
            if real != path and _is_temporary(path, self.workspace) and path == os.path.normpath(text):
                real = path
            if not _below(real, self.workspace) and not _is_temporary(real, self.workspace):
                return True
        return False

    def covers_home(self, word: Word) -> bool:
        """Whether reading everything below ``word`` would read the keys in the home folder."""
        if not self.cwds and not word.text.startswith(("/", "~")):
            return True
        return any(_below(self.home, os.path.realpath(path)) for path in self.absolute(_fixed_part(word)))

    def secret(self, word: Word, content: bool = True) -> bool:
        """Whether ``word`` names something private: keys, credentials, password files, memory, raw devices.

        content: whether the program shows what is inside; one that shows names only may look at the workspace's own.
        """
        if len(word.text) > _LONGEST_PATH:
            return word.glob
        if content and word.glob and self._glob_may_be_secret(word):
            return True
        for path in self.absolute(word.text) or [word.text]:
            real = os.path.realpath(path) if os.access(path, os.F_OK) else path
            if (_SECRET.search(path) or _SECRET.search(real)) and (content or not _below(real, self.workspace)):
                return True
        return False

    def _glob_may_be_secret(self, word: Word) -> bool:
        """As in bash, a leading dot is matched only by a dot. A bare ``*`` in the workspace is everyday."""
        paths = self.absolute(_fixed_part(word))
        inside = bool(paths) and all(_below(os.path.realpath(path), self.workspace) for path in paths)
        names = _SECRET_NAMES if inside else _SECRET_NAMES + _SYSTEM_NAMES
        for part in word.text.split("/"):
            if inside and (part in ("*", "**") or not re.search(r"[*?\[]", part)):
                continue
            pattern = part.replace("[^", "[!")
            if any(fnmatchcase(name, pattern) for name in names if pattern[:1] == "." or name[0] != "."):
                return True
        return False

    def protected(self, word: Word) -> bool:
        """Whether ``word`` is one of the workspace's own files that run something later, outside the sandbox."""
        for path in self.absolute(word.text):
            for real in (path, os.path.realpath(path)):
                relative = os.path.relpath(real, self.workspace)
                if any(relative == item or relative.startswith(item + "/") for item in PROTECTED):
                    return True
        return False

    def starts_later(self, word: Word) -> bool:
        """Whether a write to ``word`` would make something run again later: shell start-up files, services, hooks."""
        return any(_STARTS_LATER.search(path) for path in self.absolute(word.text) or [word.text])


def _join(base: str, text: str) -> str:
    return text if text.startswith("/") else f"{base}/{text}"


def _fixed_part(word: Word) -> str:
    """The folder of a pattern that is certain: ``src`` of ``src/*.py``; all of a literal word."""
    if not word.glob and not word.unknown:
        return word.text
    fixed = re.split(r"[*?\[$]", word.text, maxsplit=1)[0]
    return fixed.rpartition("/")[0] or ("/" if fixed.startswith("/") else ".")


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_temporary(path: str, workspace: str) -> bool:
    """The sandbox has a /tmp of its own. Where the workspace itself is below it, its surroundings are real."""
    parts = path.split("/")
    if len(parts) < 3 or parts[1] != "tmp":
        return path == "/tmp"
    return parts[:3] != workspace.split("/")[:3]


_LONGEST_PATH = 4096
_SECRET = re.compile(
    r"""(?ix) /( \.ssh | \.gnupg | \.aws | \.azure | \.kube | \.password-store | \.config/(gcloud|gh|op|rclone)
    | \.docker/config\.json | [._]netrc | \.pgpass | \.git-credentials | \.npmrc | \.pypirc | \.vault-token
    | \.local/share/keyrings | keyrings? | \.cargo/credentials(\.toml)? | \.m2/settings\.xml | \.gem/credentials
    | \.terraform\.d | \.mozilla | google-chrome | chromium | credentials(\.json|\.ya?ml|\.toml)?
    | secrets?\.(json|ya?ml|toml|env|txt) | \.(bash|zsh|python|psql|mysql|node_repl|sqlite)_history
    | \.env(?! \.(example|sample|template|dist)($|/)) (\.[^/]*)? | id_(rsa|dsa|ecdsa|ed25519)(_sk)?
    | [^/]*\.(p12|pfx|kdbx|jks|keystore|key) )($|/)
    | ^/etc/(shadow|gshadow|sudoers|security/opasswd)(\.d)?-?($|/) | ^/etc/ssh/ssh_host_[a-z0-9]*_key$
    | ^/etc/ssl/private | ^/proc/[^/]+/(task/[^/]+/)?(environ|mem|maps|auxv|fd|root|cwd)($|/) | ^/proc/kcore
    | docker\.sock$ | ^/dev/(?!(null|zero|full|random|urandom|tty|stdin|stdout|stderr)$)
    | ^/var/(run|spool/cron)/secrets | ^/run/secrets
    """
)
_SECRET_NAMES = (
    *(
        ".ssh",
        ".gnupg",
        ".aws",
        ".azure",
        ".kube",
        ".netrc",
        ".pgpass",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".env",
    ),
    *(".bash_history", ".zsh_history", ".docker", ".env.local", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"),
)
_SYSTEM_NAMES = (
    ".config",
    ".local",
    "shadow",
    "gshadow",
    "sudoers",
    "environ",
    "mem",
    "sda",
    "credentials",
    "keyrings",
)
_STARTS_LATER = re.compile(
    r"""(?x) /( \.(bash|zsh|k?sh|csh|tcsh|fish)(rc|env|_profile|_login|_logout|_aliases)? | \.profile
    | \.zshenv | \.zprofile | \.login | \.inputrc | \.xinitrc | \.xsession(rc)? | \.xprofile | \.pam_environment
    | \.gitconfig | \.vimrc | \.config/(fish|git|systemd|autostart|environment\.d) | authorized_keys2? | \.ssh
    | LaunchAgents | LaunchDaemons | \.git/hooks | \.git/config | \.githooks | \.husky | \.direnv | \.envrc )($|/)
    | ^/etc/(profile|bash|zsh|environment|rc|init|systemd|cron|ld\.so|pam|sudoers|passwd|group|hosts|ssh)
    | ^/(usr/)?lib/systemd | ^/var/spool/cron"""
)
