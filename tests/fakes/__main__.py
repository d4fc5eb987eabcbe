"""``python -m tests.fakes --format anthropic --script FILE``: prints the base URL, serves until it is stopped."""

from __future__ import annotations

import argparse
import signal
import threading
from pathlib import Path

from tests.fakes.server import StrictServer
from tests.fakes.turns import read_script


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes", description=__doc__)
    parser.add_argument("--format", choices=("anthropic", "openai", "openai-chat"), required=True)
    parser.add_argument("--script", type=Path, required=True, help="JSON file of turns")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--log", type=Path, help="append every request as a JSON line")
    parser.add_argument("--api-key", help="accept this key only")
    parser.add_argument("--by-history", action="store_true", help="choose the step by the answers a request holds")
    options = parser.parse_args()
    server = StrictServer(
        options.format,
        read_script(options.script),
        by_history=options.by_history,
        api_key=options.api_key,
        log=options.log,
        port=options.port,
    )
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with server:
        print(server.base_url, flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
