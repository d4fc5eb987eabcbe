"""What is remembered from session to session: lines of MEMORY.md, one file for the person and one for each project.

Both lie in the person's own data folder: a repository cannot plant a memory, and no command in the sandbox can write
one behind the person's back.
"""

from engine.memory.checks import Refusal, refusal
from engine.memory.files import Memory, Scope

__all__ = ["Memory", "Refusal", "Scope", "refusal"]
