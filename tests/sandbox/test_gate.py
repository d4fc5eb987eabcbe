"""Who decides: rules, harmlessness, the session, a person; and what a decision is bound to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from sandbox.approval import Answer, ApprovalRequest, Choice
from sandbox.backends import pick_backend
from sandbox.operations import ReadFile, RunCommand, Status, WriteFile
from sandbox.policies import named_policy
from sandbox.policy import Network
from sandbox.risk import Risk
from sandbox.rulebook import RuleBook
from tests.sandbox.broker_kit import Person, Rig, no, say

pytestmark = pytest.mark.usefixtures("walls")

LOW, MEDIUM, HIGH = "ls -la", "touch made", "rm -rf made"


@pytest.mark.parametrize("mode", ["ask", "deny", "rules", "sandboxed"])
async def test_what_only_reads_runs_unasked_in_every_mode(rig: Rig, mode: str) -> None:
    person = Person(no)
    async with rig.broker(person, mode) as broker:
        assert (await broker.run(RunCommand(LOW))).status is Status.OK
    assert person.asked == []


@pytest.mark.parametrize(
    ("mode", "command", "runs"),
    [
        ("deny", MEDIUM, False),
        ("rules", MEDIUM, False),
        ("sandboxed", MEDIUM, True),
        ("rules", HIGH, False),
    ],
)
async def test_without_asking(rig: Rig, mode: str, command: str, runs: bool) -> None:
    person = Person()
    async with rig.broker(person, mode) as broker:
        done = await broker.run(RunCommand(command))
    assert (done.status is Status.OK) == runs
    assert person.asked == []
    if not runs:
        assert done.status is Status.DENIED and done.error and done.suggestion


async def test_what_the_sandbox_does_not_hold_is_asked_about_where_somebody_can_be_asked(rig: Rig) -> None:
    person = Person(no)
    async with rig.broker(person, "sandboxed") as broker:
        assert (await broker.run(RunCommand(MEDIUM))).status is Status.OK
        assert (await broker.run(RunCommand(HIGH))).status is Status.DENIED
    assert [request.subject for request in person.asked] == [HIGH]
    async with rig.broker(None, "sandboxed") as broker:
        denied = await broker.run(RunCommand(HIGH))
    assert denied.status is Status.DENIED and "nobody is asked" in denied.error


async def test_sandboxed_does_not_let_through_what_the_policy_does_not_hold(rig: Rig) -> None:
    policy = replace(named_policy("workspace", rig.workspace), network=Network.FULL)
    async with rig.broker(None, "sandboxed", policy=policy) as broker:
        assert (await broker.run(RunCommand(MEDIUM))).status is Status.DENIED


async def test_a_person_sees_everything_and_says_yes(rig: Rig) -> None:
    person = Person()
    async with rig.broker(person) as broker:
        done = await broker.run(RunCommand("touch 'a b'", env={"DEBUG": "secret-value"}))
        again = await broker.run(RunCommand("touch 'a b'", env={"DEBUG": "secret-value"}))
    assert done.status is again.status is Status.OK
    asked = person.asked[0]
    assert len(person.asked) == 2
    assert (asked.kind, asked.subject, asked.assessment.risk) == ("command", "touch 'a b'", Risk.MEDIUM)
    assert asked.executable.endswith("/touch") and len(asked.sha256) == 64
    assert asked.env_names == ("DEBUG",) and "secret-value" not in repr(asked)
    assert "secret-value" not in rig.audit.joinpath("audit.jsonl").read_text()


async def test_no_with_a_reason_reaches_the_model(rig: Rig) -> None:
    async with rig.broker(Person(say(Choice.DENY, reason="not on a Friday"))) as broker:
        done = await broker.run(RunCommand(MEDIUM))
    assert done.status is Status.DENIED and done.feedback == "not on a Friday" and "person" in done.error
    assert not (rig.workspace / "made").exists()


async def test_no_answer_in_time_means_no(rig: Rig) -> None:
    cancelled = asyncio.Event()

    class Silent:
        async def ask(self, request: ApprovalRequest) -> Answer:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()
            raise AssertionError

    async with rig.broker(Silent(), approval_timeout=0.05) as broker:  # type: ignore[arg-type]
        done = await broker.run(RunCommand(MEDIUM))
    assert done.status is Status.DENIED and "0.05 s" in done.error and cancelled.is_set()
    assert rig.records("denied")[0]["by"] == "timeout"


async def test_an_answer_for_something_else_means_no(rig: Rig) -> None:
    person = Person(lambda request: Answer(Choice.ONCE, "0" * 64))
    async with rig.broker(person) as broker:
        assert (await broker.run(RunCommand(MEDIUM))).status is Status.DENIED


async def test_the_digest_is_bound_to_all_of_it(rig: Rig) -> None:
    (rig.workspace / "sub").mkdir()
    person = Person(no)
    async with rig.broker(person) as broker:
        for op in (
            RunCommand("touch a"),
            RunCommand("touch b"),
            RunCommand("touch a", cwd="sub"),
            RunCommand("touch a", env={"A": "1"}),
            RunCommand("touch a", env={"A": "2"}),
            WriteFile("a", b"1"),
            WriteFile("a", b"2"),
            WriteFile("b", b"1"),
        ):
            await broker.run(op)
        (rig.workspace / "a").write_text("now it is there")
        await broker.run(WriteFile("a", b"1"))
        await broker.run(RunCommand("touch a"))
    digests = [request.digest for request in person.asked]
    assert len(set(digests)) == 9 and digests[0] == digests[-1]


async def test_a_session_grant_covers_the_kind_not_the_string(rig: Rig) -> None:
    person = Person(say(Choice.SESSION))
    async with rig.broker(person) as broker:
        for command in ("touch a", "touch b", "touch c d"):
            assert (await broker.run(RunCommand(command))).status is Status.OK
        assert len(person.asked) == 1
        await broker.run(RunCommand("touch a; rm -rf a"))
        await broker.run(RunCommand("touch a > b"))
        await broker.run(RunCommand("touch a", env={"X": "1"}))
        assert len(person.asked) == 4
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("touch a"))
    assert len(person.asked) == 5
    assert RuleBook(rig.rules).list() == ()


async def test_a_session_grant_for_a_compound_line_is_for_that_line(rig: Rig) -> None:
    person = Person(say(Choice.SESSION))
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("touch a && touch b"))
        await broker.run(RunCommand("touch a && touch b"))
        assert len(person.asked) == 1 and person.asked[0].rule == ""
        await broker.run(RunCommand("touch b"))
    assert len(person.asked) == 2


async def test_a_session_grant_does_not_grow_to_high_risk(rig: Rig) -> None:
    person = Person(say(Choice.SESSION))
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("git commit --allow-empty -m x"))
        medium = person.asked[0]
        assert medium.assessment.risk is Risk.MEDIUM
        await broker.run(RunCommand("git push origin main"))
    assert len(person.asked) == 2


async def test_always_is_stored_and_holds_in_the_next_session(rig: Rig) -> None:
    person = Person(say(Choice.RULE))
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("touch a"))
    async with rig.broker(None, "rules") as broker:
        assert (await broker.run(RunCommand("touch z"))).status is Status.OK
        assert (await broker.run(RunCommand("touch z; touch y > x"))).status is Status.DENIED
    async with rig.broker(None, "deny") as broker:
        assert (await broker.run(RunCommand("touch z"))).status is Status.DENIED
    stored = RuleBook(rig.rules).list()
    assert [(s.rule.text, s.request) for s in stored] == [("allow shell touch *", "touch a")]
    assert rig.records("command")[-1]["rule"] == "allow shell touch *"


async def test_a_person_may_change_the_rule_before_it_is_stored(rig: Rig) -> None:
    async with rig.broker(Person(say(Choice.RULE, rule="allow shell touch a"))) as broker:
        assert (await broker.run(RunCommand("touch a"))).status is Status.OK
    async with rig.broker(None, "rules") as broker:
        assert (await broker.run(RunCommand("touch a"))).status is Status.OK
        assert (await broker.run(RunCommand("touch b"))).status is Status.DENIED


async def test_a_rule_that_cannot_be_read_runs_nothing(rig: Rig) -> None:
    async with rig.broker(Person(say(Choice.RULE, rule="allow everything please"))) as broker:
        done = await broker.run(RunCommand("touch a"))
    assert done.status is Status.DENIED and not (rig.workspace / "a").exists() and not rig.rules.exists()


async def test_high_risk_is_admitted_only_by_the_rule_confirmed_for_it(rig: Rig) -> None:
    rig.rules.parent.mkdir()
    rig.rules.write_text("[[rule]]\ntext = 'allow shell rm *'\n")
    (rig.workspace / "made").mkdir()
    person = Person(say(Choice.RULE))
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("rm -rf made"))
    assert person.asked[0].assessment.risk is Risk.HIGH and person.asked[0].rule == "allow shell rm -rf made"
    async with rig.broker(None, "rules") as broker:
        assert (await broker.run(RunCommand("rm -rf made"))).status is Status.OK
        assert (await broker.run(RunCommand("rm -rf other"))).status is Status.DENIED


async def test_a_deny_rule_is_stronger_than_everything(rig: Rig) -> None:
    rig.rules.parent.mkdir()
    rig.rules.write_text("[[rule]]\ntext = 'deny shell ls *'\n[[rule]]\ntext = 'allow shell ls *'\n")
    person = Person()
    async with rig.broker(person) as broker:
        done = await broker.run(RunCommand("cat x; ls"))
    assert done.status is Status.DENIED and "deny shell ls *" in done.error and person.asked == []


async def test_rules_that_cannot_be_read_ask_and_say_so(rig: Rig) -> None:
    rig.rules.parent.mkdir()
    rig.rules.write_text("[[rule]]\ntext = 'allow shell touch *'\n[[rule]]\ntext = 'nonsense'\n")
    person = Person()
    async with rig.broker(person) as broker:
        await broker.run(RunCommand("touch a"))
        broker.set_mode("rules")
        denied = await broker.run(RunCommand("touch a"))
    assert "rules.toml" in " ".join(person.asked[0].assessment.reasons)
    assert denied.status is Status.DENIED and "rules.toml" in denied.error


async def test_an_edited_command_runs_instead_with_a_digest_of_its_own(rig: Rig) -> None:
    person = Person(say(Choice.EDIT, command="echo edited > made"))
    async with rig.broker(person) as broker:
        done = await broker.run(RunCommand("rm -rf /"))
    assert done.status is Status.OK and done.command == "echo edited > made"
    assert (rig.workspace / "made").read_text() == "edited\n"
    decisions = rig.records("decision")
    assert [record["subject"] for record in decisions] == ["rm -rf /", "echo edited > made"]
    assert {record["choice"] for record in decisions} == {"edit"}
    assert decisions[0]["digest"] != decisions[1]["digest"] == rig.records("command")[0]["digest"]


async def test_the_mode_can_change_while_it_runs(rig: Rig) -> None:
    person = Person()
    async with rig.broker(person, "deny") as broker:
        assert (await broker.run(RunCommand(MEDIUM))).status is Status.DENIED
        broker.set_mode("sandboxed")
        assert (await broker.run(RunCommand(MEDIUM))).status is Status.OK
        broker.set_mode("ask")
        await broker.run(RunCommand(MEDIUM))
        with pytest.raises(ValueError, match="anything"):
            broker.set_mode("anything")
    assert len(person.asked) == 1


async def test_writes_are_asked_about_with_their_diff(rig: Rig) -> None:
    person = Person(say(Choice.SESSION))
    async with rig.broker(person) as broker:
        await broker.run(WriteFile("src/a.py", b"x", diff="+x"))
        await broker.run(WriteFile("src/b.py", b"x"))
        assert len(person.asked) == 1
        await broker.run(WriteFile("README.md", b"x"))
        await broker.run(WriteFile("NOTES.md", b"x"))
    assert len(person.asked) == 3
    asked = person.asked[0]
    assert (asked.kind, asked.subject, asked.diff, asked.rule) == ("write", "src/a.py", "+x", "allow write src/**")
    async with rig.broker(None, "sandboxed") as broker:
        assert (await broker.run(WriteFile("c", b"x"))).status is Status.OK
    async with rig.broker(None, "rules") as broker:
        assert (await broker.run(WriteFile("d", b"x"))).status is Status.DENIED


async def test_a_file_that_changes_while_the_person_thinks_is_not_overwritten(rig: Rig) -> None:
    target = rig.workspace / "a"
    target.write_text("as shown")

    def meanwhile(request: ApprovalRequest) -> Answer:
        target.write_text("changed meanwhile")
        return Answer(Choice.ONCE, request.digest)

    async with rig.broker(Person(meanwhile)) as broker:
        done = await broker.run(WriteFile("a", b"new"))
    assert done.status is Status.ERROR and "changed" in done.error
    assert target.read_text() == "changed meanwhile"


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "PATH", "GIT_PAGER", "BASH_ENV", "PYTHONPATH", "https_proxy", "A B", ""]
)
async def test_variables_that_change_what_runs_are_refused(rig: Rig, name: str) -> None:
    person = Person()
    async with rig.broker(person) as broker:
        done = await broker.run(RunCommand("ls", env={name: "x"}))
    assert done.status is Status.DENIED and person.asked == []
    assert rig.records("blocked")


@pytest.mark.parametrize("command", ["", "  ", "echo a\0b", "echo " + "x" * 200_000])
async def test_commands_nobody_can_run(rig: Rig, command: str) -> None:
    async with rig.broker(Person()) as broker:
        done = await broker.run(RunCommand(command))
    assert done.status is Status.DENIED and done.error and done.suggestion


async def test_a_changed_program_asks_again(rig: Rig) -> None:
    tools = rig.base / "tools"
    tools.mkdir()
    tool = tools / "mytool"
    tool.write_text("#!/bin/sh\necho one\n")
    tool.chmod(0o755)
    person = Person(say(Choice.SESSION))
    policy = replace(named_policy("workspace", rig.workspace), readable=(tools,))
    command = RunCommand(f"{tool} x")
    async with rig.broker(person, policy=policy) as broker:
        await broker.run(command)
        await broker.run(command)
        assert len(person.asked) == 1
        tool.write_text("#!/bin/sh\necho two\n")
        assert (await broker.run(command)).data == b"two\n"
        assert len(person.asked) == 2
        assert "changed" in " ".join(person.asked[1].assessment.reasons)
        await broker.run(command)
        assert len(person.asked) == 2
    async with rig.broker(None, "sandboxed", policy=policy) as broker:
        assert (await broker.run(command)).status is Status.OK
        tool.write_text("#!/bin/sh\necho three\n")
        assert (await broker.run(command)).status is Status.DENIED


async def test_without_walls_every_command_is_asked_about(rig: Rig) -> None:
    rig.rules.parent.mkdir()
    rig.rules.write_text("[[rule]]\ntext = 'allow shell ls *'\n")
    (rig.workspace / "a").write_text("text")
    person = Person(say(Choice.SESSION))
    async with rig.broker(person, backend="bare") as broker:
        assert not broker.capabilities.contained and broker.capabilities.why
        for _ in range(2):
            assert (await broker.run(RunCommand("ls"))).status is Status.OK
        assert (await broker.run(ReadFile("a"))).data == b"text"
    assert [request.assessment.contained for request in person.asked] == [False, False]
    for mode in ("rules", "sandboxed", "deny"):
        async with rig.broker(None, mode, backend="bare") as broker:
            denied = await broker.run(RunCommand("ls"))
            assert denied.status is Status.DENIED and "no sandbox" in denied.error


async def test_without_walls_reading_elsewhere_is_asked_about(rig: Rig) -> None:
    secret = rig.base / "secret"
    secret.write_text("secret")
    person = Person(no)
    async with rig.broker(person, backend="bare") as broker:
        assert (await broker.run(ReadFile("../secret"))).status is Status.DENIED
        assert (await broker.run(ReadFile(str(secret)))).status is Status.DENIED
    assert [request.kind for request in person.asked] == ["read", "read"]


def test_backends_by_name() -> None:
    assert pick_backend("bare").capabilities().contained is False
    assert pick_backend() is not None
    with pytest.raises(ValueError, match="nosuch"):
        pick_backend("nosuch")


async def test_what_only_reads_is_told_from_what_may_change_something(rig: Rig) -> None:
    async with rig.broker(None, "ask") as broker:
        assert broker.only_reads(RunCommand("cat x | wc -l")) and broker.only_reads(ReadFile("x"))
        for op in (RunCommand("touch x"), RunCommand("python run.py"), RunCommand("cat 'x"), WriteFile("x", b"")):
            assert not broker.only_reads(op)
