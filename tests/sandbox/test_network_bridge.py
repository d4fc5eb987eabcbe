"""The end inside the sandbox: real curl through bridge and proxy, in an empty network namespace and without one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from sandbox.backends.bubblewrap import BubblewrapBackend, binary
from sandbox.network import Verdict, bridge
from tests.sandbox.network_kit import HOST, Site, certificate, server_tls, site

BRIDGE = bridge.__file__
PYTHON = os.path.realpath(sys.executable)


@pytest.fixture
def curl() -> str:
    """The program; skips by name where it is not there."""
    if (found := shutil.which("curl")) is None:
        pytest.skip("curl is not installed")
    return found


@pytest.fixture
def namespace() -> None:
    """A real network namespace; where the kernel refuses it says so by name."""
    found = BubblewrapBackend().capabilities()
    if not found.works:
        pytest.skip(f"bwrap cannot run here: {found.why}")


async def run(argv: Sequence[str], env: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr; ended when it takes too long."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        env={"PATH": os.environ["PATH"], **(env or {})},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), 20)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def bridged(at: Site, *argv: str) -> list[str]:
    return [PYTHON, "-I", "-S", BRIDGE, str(at.socket), "0", "--", *argv]


def walled(at: Site, *argv: str) -> list[str]:
    """In a bwrap with an empty network; the socket is bound in at another path, the token comes by the environment."""
    return [
        *(binary(), "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--clearenv"),
        *("--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/run", "--tmpfs", "/tmp"),
        *("--setenv", "PATH", "/usr/bin:/bin", "--setenv", bridge.TOKEN, at.token),
        *("--ro-bind", str(certificate()[0]), "/run/cert.pem", "--ro-bind", BRIDGE, "/run/bridge.py"),
        *("--bind", str(at.socket), "/run/proxy"),
        *("--", PYTHON, "-I", "-S", "/run/bridge.py", "/run/proxy", "18080", "--", *argv),
    ]


async def test_curl_in_each_of_the_three_ways(curl: str) -> None:
    """A plain request, CONNECT, and SOCKS5 with the name resolved by the proxy, all on the bridge's one port."""
    async with site() as at:
        for options in ("", '-p -x "$http_proxy"', '-x "socks5h://${http_proxy#http://}"'):
            script = f"{curl} -sS {options} http://{HOST}:{at.port}/x"
            code, out, err = await run(bridged(at, "sh", "-c", script), {bridge.TOKEN: at.token})
            assert (code, out) == (0, "hello"), err
        kinds = [event.kind for event in at.events if event.verdict is Verdict.ALLOWED]
        assert kinds == ["http", "connect", "socks5"] and at.names.asked == [HOST] * 3


async def test_curl_with_tls(curl: str) -> None:
    async with site(tls=server_tls()) as at:
        env = {bridge.TOKEN: at.token, "CURL_CA_BUNDLE": str(certificate()[0])}
        good = await run(bridged(at, curl, "-sS", f"https://{HOST}:{at.port}/x"), env)
        assert good[:2] == (0, "hello"), good
        fronted = f"{HOST}:{at.port}:a.allowed.test:{at.port}"
        bad = await run(bridged(at, curl, "-sS", "--connect-to", fronted, f"https://{HOST}:{at.port}/x"), env)
        assert bad[0] != 0 and "unrecognized name" in bad[2]
        off = await run(bridged(at, curl, "-sS", "-v", f"https://other.test:{at.port}/"), env)
        assert off[0] != 0 and "domain: other.test is not on the allow-list" in off[2]


async def test_in_an_empty_network_only_the_allowed_host_is_reached(curl: str, namespace: None) -> None:
    async with site(tls=server_tls()) as at:
        get = [curl, "-sS", "--max-time", "5", "--cacert", "/run/cert.pem"]
        good = await run(walled(at, *get, f"https://{HOST}:{at.port}/x"))
        assert good[:2] == (0, "hello"), good
        assert at.seen
        at.seen.clear()
        for url in (f"https://other.test:{at.port}/", f"https://127.0.0.1:{at.port}/", "http://169.254.169.254/"):
            code, out, _ = await run(walled(at, *get, "--noproxy", "", url))
            assert out == "" or "refused by the sandbox" in out
            assert code or out
        direct = ["--noproxy", "*", "--resolve", f"{HOST}:{at.port}:127.0.0.1", f"https://{HOST}:{at.port}/"]
        assert (await run(walled(at, *get, *direct)))[0] == 7
        assert (await run(walled(at, *get, "--noproxy", "*", "http://1.1.1.1/")))[0] == 7
        assert (await run(walled(at, *get, "--noproxy", "*", "http://example.com/")))[0] == 6
        assert at.seen == []


async def test_without_its_token_the_socket_is_worth_nothing(curl: str, namespace: None) -> None:
    async with site() as at:
        script = f"unset http_proxy; {curl} -sS -x http://127.0.0.1:18080 http://{HOST}:{at.port}/"
        _, out, _ = await run(walled(at, "sh", "-c", script))
        assert "the proxy wants the token" in out and at.seen == []
        at.token = "guess"
        _, out, _ = await run(walled(at, curl, "-sS", f"http://{HOST}:{at.port}/"))
        assert "the proxy wants the token" in out and at.seen == []


async def test_everything_ends_with_the_command(namespace: None) -> None:
    async with site() as at:
        mark = f"600.{os.getpid()}"
        code, out, _ = await run(walled(at, "sh", "-c", f"sleep {mark} & echo started; exit 7"))
        assert (code, out) == (7, "started\n")
        await gone(mark)


async def test_the_relay_ends_with_the_command_and_is_nobodys_child() -> None:
    async with site() as at:
        script = "import os, sys\ntry:\n os.wait()\nexcept ChildProcessError:\n sys.exit(3)"
        assert (await run(bridged(at, PYTHON, "-c", script)))[0] == 3
        await gone(str(at.socket))


async def gone(mark: str) -> None:
    """Wait until no process has ``mark`` in its command line: the relay has the command's."""
    async with asyncio.timeout(10):
        while any(mark.encode() in line for line in _command_lines()):
            await asyncio.sleep(0.01)


def _command_lines() -> Iterator[bytes]:
    for entry in Path("/proc").iterdir():
        try:
            yield (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue  # it has just ended


async def test_exit_codes_and_signals_are_the_commands_own() -> None:
    async with site() as at:
        assert (await run(bridged(at, "sh", "-c", "exit 42")))[0] == 42
        assert (await run(bridged(at, "sh", "-c", "kill -TERM $$")))[0] == -signal.SIGTERM
        code, _, err = await run(bridged(at, "/no/such/program"))
        assert (code, err) == (127, "bridge: /no/such/program: not found\n")
        code, _, err = await run(bridged(at, "/etc/passwd"))
        assert code == 126 and "Permission denied" in err
        code, _, err = await run([PYTHON, "-I", "-S", BRIDGE, str(at.socket), "0", "true"])
        assert code == 125 and "usage" in err
        ignored = "grep -E '^Sig(Ign|Blk)' /proc/self/status"
        assert (await run(bridged(at, "sh", "-c", ignored)))[1] == (await run(["sh", "-c", ignored]))[1]


async def test_what_the_command_finds_in_its_environment() -> None:
    async with site() as at:
        show = "import json, os; print(json.dumps([dict(os.environ), sorted(os.listdir('/proc/self/fd'))]))"
        _, out, _ = await run(bridged(at, PYTHON, "-I", "-c", show), {bridge.TOKEN: at.token, "KEPT": "yes"})
        env, descriptors = json.loads(out)
        assert bridge.TOKEN not in env and env["KEPT"] == "yes"
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            assert env[name].startswith(f"http://agent:{at.token}@127.0.0.1:")
        assert env["NO_PROXY"] == env["no_proxy"] == "localhost,127.0.0.1,::1"
        assert len(descriptors) == 4


async def test_loopback_is_raised_where_that_is_allowed() -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    fresh = ["unshare", "--user", "--map-root-user", "--net"]
    code, _, err = await run([*fresh, "true"])
    if code:
        pytest.skip(f"no network namespace can be made: {err.strip()}")
    script = (
        f"import sys, socket; sys.path.insert(0, {str(Path(BRIDGE).parent)!r}); import bridge; bridge.raise_loopback()"
    )
    listen = "; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print('up')"
    code, out, err = await run([*fresh, PYTHON, "-I", "-S", "-c", script + listen])
    assert (code, out) == (0, "up\n"), err


async def test_much_data_and_half_closed_connections_get_across(namespace: None) -> None:
    """A client that ends its side first still gets everything, and big bodies arrive whole both ways."""

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(3_000_000)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    script = f"""
import os, socket, base64, urllib.parse
proxy = urllib.parse.urlsplit(os.environ["http_proxy"])
login = base64.b64encode(f"agent:{{proxy.password}}".encode()).decode()
s = socket.create_connection(("127.0.0.1", proxy.port))
host = "{HOST}:PORT"
head = f"POST http://{{host}}/ HTTP/1.1\\r\\nHost: {{host}}\\r\\nContent-Length: 3000000\\r\\n"
body = bytes(range(250)) * 12000
s.sendall((head + f"Proxy-Authorization: Basic {{login}}\\r\\n\\r\\n").encode() + body)
s.shutdown(socket.SHUT_WR)
print(b"".join(iter(lambda: s.recv(65536), b"")).endswith(b"\\r\\n\\r\\n" + body))
"""
    async with site(count) as at:
        code, out, err = await run(walled(at, PYTHON, "-c", script.replace("PORT", str(at.port))))
        assert (code, out) == (0, "True\n"), err
