"""``python -m tests.benchmarks [NAME…] [--json]``: run the benchmarks, each a module ``bench_*.py`` in this folder.

Such a module has ``NAME``, ``TARGET`` (in words) and ``run() -> dict[str, float | str]``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType


def main(argv: list[str] | None = None) -> int:
    """Exit code 0 when all ran, 1 when one failed to, 2 for a name that is none."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks", description="Run the benchmarks, or those named."
    )
    parser.add_argument("name", nargs="*", metavar="NAME")
    parser.add_argument("--json", action="store_true", help="print one JSON object a benchmark")
    args = parser.parse_args(argv)
    found = dict(_load(path.stem) for path in sorted(Path(__file__).parent.glob("bench_*.py")))
    unknown = [name for name in args.name if name not in found]
    if unknown:
        parser.error(f"there is no benchmark {', '.join(unknown)}; there are {', '.join(found)}")
    failed = False
    for name in args.name or found:
        failed |= not _run(name, found[name], as_json=args.json)
    return 1 if failed else 0


def _load(module: str) -> tuple[str, ModuleType | Exception]:
    """A benchmark by its name; one that cannot be imported goes by its file's name and keeps no other away."""
    try:
        loaded = importlib.import_module(f"tests.benchmarks.{module}")
        return loaded.NAME, loaded
    except Exception as error:
        return module.removeprefix("bench_"), error


def _run(name: str, module: ModuleType | Exception, *, as_json: bool) -> bool:
    """Run one and print what it found; False when it could not run."""
    target, found = getattr(module, "TARGET", ""), _found(module)
    if as_json:
        print(json.dumps({"name": name, "target": target, **found}), flush=True)
        return "error" not in found
    print(f"{name}  (target: {target})")
    width = max(len(key) for key in found)
    for key, value in found.items():
        print(f"  {key:<{width}}  {value if isinstance(value, str) else f'{value:,.3f}'}", flush=True)
    return "error" not in found


def _found(module: ModuleType | Exception) -> dict[str, float | str]:
    if isinstance(module, Exception):
        return {"error": f"{type(module).__name__}: {module}"}
    try:
        return dict(module.run())
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    sys.exit(main())
