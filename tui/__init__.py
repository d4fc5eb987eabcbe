"""The screens."""

import os

# Textual paints at most this often. After a piece of an answer was painted, a key would wait for its turn: up to 17 ms
# at Textual's own 60. How often pieces come is up to `tui.bridge`. A person's own setting is left alone.
os.environ.setdefault("TEXTUAL_FPS", "240")
