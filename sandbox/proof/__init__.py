"""Proof that the sandbox holds: attacks tried for real inside it, next to bare runs in which the same attacks work."""
