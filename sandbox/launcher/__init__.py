"""What runs inside before the command, where a policy takes away more than bubblewrap can: see ``enter``."""
