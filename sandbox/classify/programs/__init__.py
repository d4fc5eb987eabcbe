"""What each known program does, one theme a file. `table` finds the judge for a name."""

from __future__ import annotations

from functools import cache

from sandbox.classify.call import Judge


@cache
def table() -> dict[str, Judge]:
    """Program name → judge. Built once, on the first command, so that importing stays cheap."""
    from sandbox.classify.programs import (
        builtins,
        files,
        find,
        network,
        packages,
        project,
        readers,
        shells,
        system,
        text,
    )
    from sandbox.classify.programs.git import git
    from sandbox.classify.wrappers import WRAPPERS

    return {
        **readers.JUDGES,
        **builtins.JUDGES,
        **files.JUDGES,
        **network.JUDGES,
        **packages.JUDGES,
        **project.JUDGES,
        **shells.JUDGES,
        **system.JUDGES,
        **text.JUDGES,
        **WRAPPERS,
        "find": find.find,
        "git": git,
    }
