"""Copies of a workspace's files kept aside, so that what an agent did can be taken back.

Never through git: the person's repository, index and stash are not looked at. Nothing outside the workspace is read or
written, whatever links lie in it.
"""

from sandbox.shadow.scan import Entry, Scan
from sandbox.shadow.shadow import Change, Kept, Restored, Shadow

__all__ = ["Change", "Entry", "Kept", "Restored", "Scan", "Shadow"]
