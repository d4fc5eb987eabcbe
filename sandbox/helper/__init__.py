"""Our own code inside the sandbox: the file helper, which answers one request at a time, and the decoder of pictures.

The file helper needs the standard library alone. Nothing here may import from outside this folder, but for Pillow in
the decoder: inside the sandbox this folder is all there is of the app.
"""
