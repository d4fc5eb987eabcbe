"""Facts planted in a session, and what is left of them in the request after many compactions by a careless model.

What the ledger promises is exact, each time; without the ledger nearly all of it is lost, as the printed table shows.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import pytest

from engine import compaction
from engine import events as ev
from engine.compaction.summary import summary_message_text

CARELESS = "We worked on some files and ran a few commands. All is well."
WINDOW = 200_000


@dataclass
class Planted:
    """A session as the log holds it, and each planted fact by its kind, as it has to be read afterwards."""

    events: list[ev.Event] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)

    def add(self, *events: ev.Stored) -> None:
        for event in events:
            self.events.append(event.model_copy(update={"seq": len(self.events) + 1}))  # type: ignore[arg-type]

    def call(self, name: str, result: dict[str, object], **input: object) -> None:
        id = f"c{len(self.events)}"
        made = ev.ToolCall(id=id, name=name, input=dict(input))
        filler = "The code around it does what its name says. " * 40
        self.add(
            ev.AssistantMessage(turn=1, model="m", blocks=(ev.TextBlock(text="Next."), made), stop="tool_calls"),
            ev.ToolResult.model_validate(
                {"call_id": id, "turn": 1, "name": name, "status": "ok", "text": filler} | result
            ),
        )

    def compact(self, ledger: bool = True) -> str:
        """Compact as the engine does, with the careless note; the text with which the request then begins."""
        plan = compaction.plan_summary(self.events, WINDOW)
        assert plan is not None and plan.shrinks(CARELESS)
        made = ev.Compacted(
            number=1,
            kind="summary",
            reason="",
            keep_from=plan.keep_from,
            summary=CARELESS,
            ledger=plan.ledger_text if ledger else "",
        )
        self.add(made)
        return summary_message_text(made)


def plant(session: Planted, random: random.Random, count: int) -> None:
    """``count`` more facts, in turn of each kind."""
    kinds = (read_file, wrote_file, ran, failed_test, constrained, rejected, failed, signed, planned, fixed, looked_up)
    for n in range(count):
        kinds[n % len(kinds)](session, f"{random.choice('abcdefgh')}{len(session.facts)}", random)


def read_file(session: Planted, key: str, random: random.Random) -> None:
    """Paths that differ in one letter."""
    path = f"src/shop/{random.choice(('cart', 'card', 'cars'))}_{key}.py"
    session.call("fs_read", {"files_read": (path,)}, path=path)
    session.facts.append(("file read", f"- {path}\n"))


def wrote_file(session: Planted, key: str, random: random.Random) -> None:
    path = f"src/shop/{random.choice(('item', 'iten', 'ltem'))}_{key}.py"
    session.call("fs_write", {"files_written": (path,)}, path=path, content="x = 1\n" * 300)
    session.facts.append(("file written", f"- {path}\n"))


def ran(session: Planted, key: str, random: random.Random) -> None:
    code, command = random.choice((0, 0, 2, 3, 127)), f"make -C build/{key} all"
    session.call("shell_run", {"exit_code": code, "status": "error" if code else "ok"}, command=command)
    session.facts.append(("command", f"exit {code}: {command}"))


def failed_test(session: Planted, key: str, random: random.Random) -> None:
    line = f"FAILED tests/test_{key}.py::test_total_of_{key} - assert {random.randint(1, 99)} == 0"
    output = "." * 2000 + f"\n{line}\n1 failed\n"
    session.call(
        "shell_run", {"exit_code": 1, "status": "error", "text": output}, command=f"pytest tests/test_{key}.py"
    )
    session.facts.append(("failed test", line))


def constrained(session: Planted, key: str, random: random.Random) -> None:
    words = f"Never rename `load_{key}()`; its callers in {random.choice(('Oslo', 'Lima', 'Graz'))} depend on it!"
    session.add(ev.UserMessage(kind="steer", text=words))
    session.facts.append(("constraint", words))


def rejected(session: Planted, key: str, random: random.Random) -> None:
    subject, reason = f"git push origin plan-{key}", f"plan {key} is off the table"
    session.add(
        ev.ApprovalRequested(
            id=key, digest="", call_id=f"a{key}", tool="shell_run", kind="command", subject=subject, cwd="", policy="",
            risk="high",
        ),
        ev.ApprovalDecided(id=key, digest="", choice="deny", reason=reason),
    )  # fmt: skip
    session.facts.append(("rejected plan", f"denied: shell_run {subject} (“{reason}”)"))


def failed(session: Planted, key: str, random: random.Random) -> None:
    path, error = f"lib/gone_{key}.c", f"lib/gone_{key}.c does not exist"
    session.call("fs_read", {"status": "error", "error": error, "text": error}, path=path)
    session.facts.append(("failure", f"fs_read {path}: error, {error}"))


def signed(session: Planted, key: str, random: random.Random) -> None:
    """A signature as an edit left it."""
    path, now = "src/shop/sums.py", f"def total_{key}(items: list[int], tax: int = {random.randint(1, 99)}) -> int"
    diff = f"--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n-def total_{key}(items):\n+{now}:\n     pass\n"
    session.call("fs_edit", {"files_written": (path,), "diff": diff}, path=path)
    session.facts.append(("signature", f"- {path}: {now}\n"))


def planned(session: Planted, key: str, random: random.Random) -> None:
    """A plan the person did not want."""
    plan, reason = f"Rewrite module {key} in {random.randint(2, 9)} steps.", f"no rewrite of {key}"
    session.add(ev.PlanProposed(id=f"p{key}", text=plan), ev.PlanDecided(id=f"p{key}", choice="reject", reason=reason))
    session.facts.append(("rejected plan", f"- rejected plan (“{reason}”): {plan}\n"))


def fixed(session: Planted, key: str, random: random.Random) -> None:
    """A command that failed and passes since a file was changed."""
    path, command, error = f"src/fix_{key}.py", f"check {key}", f"ValueError: {random.randint(1, 99)} of {key}"
    session.call("shell_run", {"exit_code": 1, "status": "error", "text": error}, command=command)
    session.call("fs_write", {"files_written": (path,)}, path=path, content="x = 1\n")
    session.call("shell_run", {"exit_code": 0, "text": "ok"}, command=command)
    session.facts.append(("fix", f"- {command} failed with {error}; fixed after changing {path}\n"))


def looked_up(session: Planted, key: str, random: random.Random) -> None:
    url, day = f"https://docs.example/{key}", f"2026-11-{random.randint(10, 28)}"
    session.call("skill_run", {"external": ev.External(source="web", url=url, at=f"{day}T08:00:00")}, url=url)
    session.facts.append(("source", f"{url} ({day})"))


def planted(compactions: int, ledger: bool = True) -> tuple[Planted, str]:
    """A session of 200 facts with so many compactions spread over it, the last of them at its end."""
    session, seeded = Planted(), random.Random(compactions)
    session.add(ev.UserMessage(text="Make the shop add up. Keep `total()` public."))
    session.facts.append(("constraint", "Make the shop add up. Keep `total()` public."))
    begins = ""
    for _ in range(compactions):
        plant(session, seeded, -(-200 // compactions))
        session.add(ev.TodoChanged(text="", items=(ev.TodoItem(text=f"step after {len(session.facts)}"),)))
        # So much that the facts are in the part that goes.
        for n in range(24):
            session.call("fs_list", {"text": "entry\n" * 1000}, path=f"listing{n}")
        begins = session.compact(ledger)
    session.facts.append(("todo", f"- [pending] step after {len(session.facts)}\n"))
    return session, begins


def kept(session: Planted, text: str) -> dict[str, tuple[int, int]]:
    """By kind: how many facts are in ``text``, of how many."""
    found: dict[str, tuple[int, int]] = {}
    for kind, fact in session.facts:
        there, all = found.get(kind, (0, 0))
        found[kind] = there + (fact in text), all + 1
    return found


@pytest.mark.parametrize("compactions", [1, 3, 10])
def test_what_the_ledger_promises_is_exact_after_any_number_of_compactions(compactions: int) -> None:
    session, begins = planted(compactions)
    without = planted(compactions, ledger=False)
    with_ledger, alone = kept(session, begins), kept(*without)
    print(f"\n{compactions} compactions      with ledger   without")
    for kind, (there, all) in with_ledger.items():
        print(f"{kind:16} {there:4} of {all:3}   {alone[kind][0]:4} of {all:3}")
    assert {kind: all for kind, (_, all) in with_ledger.items()} == {k: there for k, (there, _) in with_ledger.items()}
    assert len(session.facts) >= 200 and "left out" not in begins
    assert sum(there for there, _ in alone.values()) < len(session.facts) // 10
    assert begins.count("step after") == 1, "only the list as it is now"


def test_a_tight_budget_drops_the_least_important_first_and_says_where_all_of_it_is() -> None:
    session, _ = planted(3)
    stored: list[bytes] = []
    plan = compaction.plan_summary(session.events, 20_000, lambda data: stored.append(data) or "d1gest")  # type: ignore[func-returns-value]
    assert plan is not None and plan.artifact == "d1gest"
    (whole,) = (data.decode() for data in stored)
    assert all(there == all for there, all in kept(session, whole).values())
    text = plan.ledger_text
    assert len(text) <= compaction.thresholds(20_000).ledger * 3.5 + 80
    assert "artifact:d1gest: read it with fs_read" in text
    left_out = {match[1]: int(match[2]) for match in re.finditer(r"## ([^\n]+)\n\((\d+) older left out\)", text)}
    assert left_out["Files read"] > 0
    now = kept(session, text)
    for kind in ("constraint", "todo"):
        assert now[kind][0] == now[kind][1], "what the person said and what is to be done stay to the last"
    assert now["file read"][0] + left_out["Files read"] >= now["file read"][1]
    newest = [fact for kind, fact in session.facts if kind == "file read"][-1]
    assert newest in text, "the newest of each list stays"
