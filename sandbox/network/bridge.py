"""Runs inside the sandbox: makes the proxy's unix socket a proxy on a loopback port, then becomes the command.

    python3 -I -S bridge.py SOCKET PORT -- ARGV...

From the standard library alone, and in one file: inside the sandbox nothing else of the app is there. The process that
was started becomes the command by exec, so exit code, signals and terminal are the command's own. The relay is a
process of its own that belongs to nobody (its parent is the namespace's init, so a command that waits for all its
children does not wait for it) and ends with the command; with a PID namespace around, everything does.

AGENT_TUI_PROXY_TOKEN holds the token of the call. It becomes part of the proxy's URL in HTTP_PROXY, HTTPS_PROXY and
ALL_PROXY, which all are http:// URLs, because some programs cannot start with a SOCKS one; SOCKS5 is served on the
same port. PORT 0 takes any free port. Exit codes of its own: 125 set-up failed, 126 not executable, 127 not found.
"""

import fcntl
import os
import selectors
import signal
import socket
import struct
import sys

TOKEN = "AGENT_TUI_PROXY_TOKEN"
USER = "agent"

_SET_UP_FAILED, _NOT_EXECUTABLE, _NOT_FOUND = 125, 126, 127
_CHUNK = 256 * 1024
_BACKLOG = 128
_MAX_PAIRS = 256
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_IFREQ = "16sH22x"


def main(argv: list[str]) -> int:
    """Does not return when the command could be started."""
    if len(argv) < 4 or argv[2] != "--" or not argv[1].isdigit():
        return _fail("usage: bridge.py SOCKET PORT -- ARGV...", _SET_UP_FAILED)
    path, port, command = argv[0], int(argv[1]), argv[3:]
    try:
        raise_loopback()
        listener = socket.create_server(("127.0.0.1", port), backlog=_BACKLOG)
        port = listener.getsockname()[1]
        _start_relay(listener, path)
    except (OSError, OverflowError) as error:
        return _fail(f"the network cannot be set up: {error}", _SET_UP_FAILED)
    listener.close()
    return _become(command, environment(dict(os.environ), port))


def environment(env: dict[str, str], port: int) -> dict[str, str]:
    """``env`` with the proxy in it, and without the bare token."""
    url = f"http://{USER}:{env.pop(TOKEN, '')}@127.0.0.1:{port}"
    local = "localhost,127.0.0.1,::1"
    for name, value in (("HTTP_PROXY", url), ("HTTPS_PROXY", url), ("ALL_PROXY", url), ("NO_PROXY", local)):
        env[name] = env[name.lower()] = value
    return env


def raise_loopback() -> None:
    """Bring ``lo`` up unless it is. Raises OSError when it is down and may not be raised."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack(_IFREQ, b"lo", 0)
        flags = struct.unpack(_IFREQ, fcntl.ioctl(any_socket, _SIOCGIFFLAGS, request))[1]
        if not flags & _IFF_UP:
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack(_IFREQ, b"lo", flags | _IFF_UP))


def _become(command: list[str], env: dict[str, str]) -> int:
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these, and a program inherits it
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, env)
    except FileNotFoundError:
        return _fail(f"{command[0]}: not found", _NOT_FOUND)
    except (OSError, ValueError) as error:
        return _fail(f"{command[0]}: {getattr(error, 'strerror', None) or error}", _NOT_EXECUTABLE)


def _fail(message: str, code: int) -> int:
    os.write(2, f"bridge: {message}\n".encode(errors="backslashreplace"))
    return code


def _start_relay(listener: socket.socket, path: str) -> None:
    """Start the relay as nobody's child. It holds nothing of ours but the listener and a view of our end."""
    try:
        command = os.pidfd_open(os.getpid())
    except OSError:  # an old kernel: the namespace's end is the relay's end too
        command = -1
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        if command >= 0:
            os.close(command)
        return
    code = 1
    try:
        if os.fork() == 0:
            _leave_alone({listener.fileno(), command})
            Relay(listener, path, command).run()
        code = 0
    finally:
        os._exit(code)


def _leave_alone(kept: set[int]) -> None:
    """Close what the command's output and input are, and end with the command, not with a polite signal to all."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    start = 3
    for fd in sorted(kept - {-1}):
        os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")


class Side:
    """One end of a pair. pending: what is still to be written to it. ended: nothing more can be read from it.

    deaf: nothing more can be written to it, so what comes for it is dropped.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self.sock = sock
        self.other = self
        self.pending = b""
        self.ended = False
        self.deaf = False

    def wants(self) -> int:
        """The selector's events to wait for."""
        read = selectors.EVENT_READ if not self.ended and not self.other.pending else 0
        return read | (selectors.EVENT_WRITE if self.pending else 0)

    def read(self) -> None:
        """Move what has come to the other side."""
        try:
            data = self.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = not data
        self.other.write(data)

    def write(self, data: bytes) -> None:
        """Write ``data`` and what is pending, as far as it goes; then the end, when the other side has ended."""
        data = self.pending + data
        try:
            self.pending = b"" if self.deaf or not data else data[self.sock.send(data) :]
            if self.other.ended and not self.pending and not self.deaf:
                self.deaf = True
                self.sock.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            self.pending = data
        except OSError:
            self.pending, self.deaf = b"", True


class Relay:
    """Joins each connection to the listener with a new one to the unix socket, until ``command`` (a pidfd) ends."""

    def __init__(self, listener: socket.socket, path: str, command: int) -> None:
        listener.setblocking(False)
        self._listener = listener
        self._path = path
        self._command = command
        self._pairs = 0
        self._listening = False
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Returns when the command has ended."""
        if self._command >= 0:
            self._selector.register(self._command, selectors.EVENT_READ)
        while True:
            self._listen(self._pairs < _MAX_PAIRS)
            for key, events in self._selector.select():
                if key.fd == self._command:
                    return
                if key.data is None:
                    self._accept()
                elif key.data.sock.fileno() >= 0:
                    self._serve(key.data, events)

    def _listen(self, wanted: bool) -> None:
        if wanted != self._listening:
            self._listening = wanted
            if wanted:
                self._selector.register(self._listener, selectors.EVENT_READ)
            else:
                self._selector.unregister(self._listener)

    def _accept(self) -> None:
        try:
            client = Side(self._listener.accept()[0])
        except OSError:
            return
        try:
            proxy = Side(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            proxy.sock.connect(self._path)
        except OSError:
            client.sock.close()  # the proxy is gone or busy: to the client, a proxy that does not answer
            return
        client.other, proxy.other = proxy, client
        self._pairs += 1
        for side in (client, proxy):
            self._selector.register(side.sock, selectors.EVENT_READ, side)

    def _serve(self, side: Side, events: int) -> None:
        if events & selectors.EVENT_WRITE:
            side.write(b"")
        if events & selectors.EVENT_READ:
            side.read()
        if side.ended and side.other.ended and not side.pending and not side.other.pending:
            self._pairs -= 1
            for each in (side, side.other):
                self._watch(each, 0)
                each.sock.close()
        else:
            self._watch(side, side.wants())
            self._watch(side.other, side.other.wants())

    def _watch(self, side: Side, events: int) -> None:
        watched = side.sock in self._selector.get_map()
        if watched and events:
            self._selector.modify(side.sock, events, side)
        elif watched:
            self._selector.unregister(side.sock)
        elif events:
            self._selector.register(side.sock, events, side)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
