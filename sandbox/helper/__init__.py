"""The file helper: runs inside the sandbox, from the standard library alone, and answers one request at a time.

Nothing here may import from outside this folder: inside the sandbox this folder is all there is of the app.
"""
