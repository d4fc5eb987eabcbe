"""Ways past an allow-list of domains, tried by a command in the sandbox, each next to a bare run in which it works."""

from __future__ import annotations

import asyncio
import functools
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from sandbox.backends import pick_backend, way_out
from sandbox.broker import Broker
from sandbox.network.proxy import Proxy
from sandbox.operations import RunArgv
from sandbox.policies import named_policy
from sandbox.policy import Network
from sandbox.proof.stage import PYTHON, own_address
from tests.attacks.kit import WON
from tests.sandbox.broker_kit import Person, Rig, yes
from tests.sandbox.network_kit import HOST, Names, judge, server_tls

# A client: through the proxy where the environment names one, else straight to where the names really lead.
_CLIENT = """
import base64, os, socket, ssl, urllib.parse
where = {{"allowed.test": "127.0.0.1", "other.test": "127.0.0.1", "127.0.0.1": "127.0.0.1"}}
port, inner_port, tls_port, closed_port, own = {ports}
proxy = urllib.parse.urlsplit(os.environ.get("http_proxy", ""))
login = base64.b64encode(f"{{proxy.username}}:{{proxy.password}}".encode()).decode()
def dial(host, port):
    return socket.create_connection(("127.0.0.1", proxy.port) if proxy.port else (where.get(host, own), port), 5)
def ask(host, port, said="", token=login):
    with dial(host, port) as s:
        target = f"http://{{host}}:{{port}}/" if proxy.port else "/"
        head = f"GET {{target}} HTTP/1.1\\r\\nHost: {{said or host}}:{{port}}\\r\\nConnection: close\\r\\n"
        s.sendall((head + f"Proxy-Authorization: Basic {{token}}\\r\\n\\r\\n").encode())
        return b"".join(iter(lambda: s.recv(65536), b"")).rpartition(b"\\r\\n\\r\\n")[2]
def tunnel(host, port, name):
    s = dial(host, port)
    if proxy.port:
        s.sendall(f"CONNECT {{host}}:{{port}} HTTP/1.1\\r\\nHost: {{host}}:{{port}}\\r\\n".encode())
        s.sendall(f"Proxy-Authorization: Basic {{login}}\\r\\n\\r\\n".encode())
        assert b" 200 " in s.recv(4096)
    loose = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    loose.check_hostname, loose.verify_mode = False, ssl.CERT_NONE
    loose.wrap_socket(s, server_hostname=name).close()
{attack}
print("{won}"[:6] + "{won}"[6:])
"""


@dataclass(frozen=True)
class Attack:
    """``script`` raises when it is stopped. rule: of the proxy's refusal that is recorded; "" when none is asked."""

    name: str
    script: str
    rule: str = ""

    def __str__(self) -> str:
        return self.name


ATTACKS = (
    Attack(
        "connect without the proxy",
        "s = socket.create_connection(('127.0.0.1', port), 5)\n"
        "s.sendall(b'GET / HTTP/1.1\\r\\n\\r\\n')\nassert b'hello' in s.recv(4096)",
    ),
    Attack("another host", "assert ask('other.test', port) == b'hello'", "domain"),
    Attack("an address instead of a name", "assert ask('127.0.0.1', port) == b'hello'", "address"),
    Attack("a name that leads inside", "assert ask('inner.allowed.test', inner_port) == b'inner'", "address"),
    Attack(
        "a name that leads inside the second time",
        "ask('rebind.allowed.test', port) if proxy.port else None\n"
        "assert ask('rebind.allowed.test', inner_port) == b'inner'",
        "address",
    ),
    Attack("another host in the request", "assert ask('allowed.test', port, said='other.test') == b'hello'", "host"),
    Attack("another host in the TLS greeting", "tunnel('allowed.test', tls_port, 'other.test')", "sni"),
    Attack("another port", "assert ask('allowed.test', closed_port) == b'hello'", "port"),
    Attack("a token of its own", "assert ask('allowed.test', port, token='Z3Vlc3M6Z3Vlc3M=') == b'hello'", "token"),
)


@dataclass(frozen=True)
class Ports:
    hello: int
    inner: int
    tls: int
    closed: int
    own: str


@asynccontextmanager
async def servers() -> AsyncIterator[Ports]:
    """On the loopback, which the tests' proxy may dial, and on an own address, which it may not."""
    own = own_address()
    async with AsyncExitStack() as stack:

        async def serve(reply: bytes, host: str, tls: ssl.SSLContext | None = None) -> int:
            server = await asyncio.start_server(functools.partial(_reply, reply), host, 0, ssl=tls)
            stack.callback(server.close)
            return int(server.sockets[0].getsockname()[1])

        hello, closed = await serve(b"hello", "127.0.0.1"), await serve(b"hello", "127.0.0.1")
        inner = await serve(b"inner", own or "127.0.0.1")
        yield Ports(hello, inner, await serve(b"hello", "127.0.0.1", server_tls()), closed, own)


async def _reply(reply: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n" + reply)
        await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # a client that went away
    finally:
        writer.close()


def script(attack: str, ports: Ports) -> str:
    numbers = (ports.hello, ports.inner, ports.tls, ports.closed, ports.own)
    return _CLIENT.format(attack=attack, ports=numbers, won=WON.decode())


@asynccontextmanager
async def rigged(rig: Rig, ports: Ports, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Person, Broker]]:
    """A broker with an allow-list; the names lead where the tests' servers are."""
    found = pick_backend().capabilities()
    if not found.contained:
        pytest.skip(f"no sandbox works here: {found.why}")
    names = Names(inner_allowed_test=[[ports.own]], rebind_allowed_test=[["127.0.0.1"], [ports.own]])
    monkeypatch.setattr(way_out, "Proxy", functools.partial(Proxy, resolver=names, judge=judge))
    policy = replace(
        named_policy("workspace", rig.workspace),
        network=Network.ALLOW,
        domains=(HOST, "*.allowed.test"),
        ports=(ports.hello, ports.inner, ports.tls),
    )
    person = Person(yes)
    async with rig.broker(person, policy=policy) as broker:
        yield person, broker


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
async def test_works_bare_and_not_past_the_allow_list(
    attack: Attack, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers() as ports:
        if not ports.own and "inside" in attack.name:
            pytest.skip(f"{attack.name}: this machine has no address but its loopback")
        code = script(attack.script, ports)
        bare = await asyncio.create_subprocess_exec(
            sys.executable, "-I", "-S", "-c", code, env={}, stdout=-1, stderr=-1
        )
        said, trouble = await asyncio.wait_for(bare.communicate(), 20)
        assert WON in said, trouble.decode()
        async with rigged(rig, ports, monkeypatch) as (_, broker):
            done = await broker.run(RunArgv((PYTHON, "-I", "-S", "-c", code)))
        assert done.exit_code == 1 and WON not in done.data, done
    refused = [record["rule"] for record in rig.records("connection") if record["verdict"] == "refused"]
    assert refused == ([attack.rule] if attack.rule else [])


async def test_what_is_allowed_works_and_is_told_and_recorded(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    async with servers() as ports:
        code = script(
            "assert ask('allowed.test', port) == b'hello'\ntunnel('allowed.test', tls_port, 'allowed.test')", ports
        )
        async with rigged(rig, ports, monkeypatch) as (person, broker):
            done = await broker.run(RunArgv((PYTHON, "-I", "-S", "-c", code)))
        assert WON in done.data, done
        asked = person.asked[0].assessment
        assert f"may reach {HOST}:{ports.hello}" in asked.effects and not asked.contained
        told = [(record["verdict"], record["subject"]) for record in rig.records("connection")]
        assert ("allowed", f"{HOST}:{ports.hello}") in told and ("allowed", f"{HOST}:{ports.tls}") in told


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)
