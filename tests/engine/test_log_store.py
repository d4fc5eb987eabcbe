from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine import events as ev
from engine.log import LogError, LogStore, NoSuchSession, SessionBusy, ids, lease
from engine.queries import ListSessions
from tests.engine.log_kit import in_child, result, said, sql, started, store_at, write


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    return store_at(tmp_path)


def titles(store: LogStore, text: str = "", folder: str = "") -> list[str]:
    return [row.title for row in store.list(ListSessions(text=text, folder=folder))]


# --- writing and reading ---------------------------------------------------------------------------------------------


def test_append_returns_the_event_with_its_place(store: LogStore) -> None:
    before = datetime.now(UTC)
    with store.create() as writer:
        first, second = writer.append(started()), writer.append(said("hello"))
    assert (first.session, first.seq, second.seq) == (writer.session, 1, 2)
    assert before <= first.at <= datetime.now(UTC)
    assert store.load(writer.session).events == (first, second)


def test_open_goes_on_where_it_stopped(store: LogStore) -> None:
    writer = write(store, started(), said("hello"))
    with store.open(writer.session) as again:
        assert again.append(said("more")).seq == 3
    assert [event.seq for event in store.load(writer.session).events] == [1, 2, 3]


def test_a_closed_writer_refuses_to_append(store: LogStore) -> None:
    writer = write(store, started())
    writer.close()
    with pytest.raises(RuntimeError, match="closed"):
        writer.append(said("late"))


def test_a_session_without_events_leaves_nothing(store: LogStore) -> None:
    writer = store.create()
    writer.close()
    assert store.list() == ()
    assert not store.home.session_dir(writer.session).exists()
    assert sql(store, "SELECT * FROM numbers") == []


@pytest.mark.parametrize("name", ["nope", "../../etc", "", "a/b", ".hidden", "x" * 100])
def test_a_session_that_is_not_there_is_said_to_be_missing(store: LogStore, name: str) -> None:
    write(store, started())
    for ask in (store.load, store.open, store.fork, store.remove, store.verify):
        with pytest.raises(NoSuchSession, match="There is no session"):
            ask(name)
    assert not (store.home.data / "sessions" / "nope").exists()


def test_what_json_cannot_hold_is_made_storable(store: LogStore) -> None:
    deep: dict[str, object] = {}
    for _ in range(400):
        deep = {"in": deep}
    call = ev.ToolCall(id="c", name="t", input={"half": "\ud83d", "bytes": b"\xff", "set": {1}, "deep": deep})
    with store.create() as writer:
        kept = writer.append(ev.AssistantMessage(turn=1, model="m", blocks=(call,)))
        odd = writer.append(ev.AssistantMessage(turn=2, model="m", cost=float("inf")))
    assert writer.unsaved == 0
    assert store.load(writer.session).events == (kept, odd)
    assert kept.calls[0].input["half"] == "�"


def test_the_clock_may_jump_back(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([datetime(2030, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return next(times)

    monkeypatch.setattr("engine.log.writer.datetime", Clock)
    old = write(store, said("one"), said("two"))
    new = write(store, said("three"))
    assert [event.text for event in store.load(old.session).events] == ["one", "two"]
    assert [row.id for row in store.list()] == [new.session, old.session]


def test_an_over_large_field_lives_in_an_artifact(store: LogStore) -> None:
    text = "lots of words\n" * 10_000
    event = result(text, items=({"$artifact": "mine", "$$artifact": text},))
    writer = write(store, started(), event)
    body = sql(store, "SELECT body FROM events WHERE seq=2")[0][0]
    assert len(body) < 2_000
    loaded = store.load(writer.session)
    assert loaded.events[1].text == text
    assert loaded.events[1].items == event.items
    assert loaded.skipped == ()


def test_many_middling_fields_do_not_bloat_the_row_either(store: LogStore) -> None:
    event = result("", items=tuple({"line": f"{number} " + "x" * 1_000} for number in range(3_000)))
    writer = write(store, event)
    assert len(sql(store, "SELECT body FROM events")[0][0]) < 2_000
    assert store.load(writer.session).events[0].items == event.items


# --- ids and lease ---------------------------------------------------------------------------------------------------


def test_ids_are_sorted_and_safe_and_never_the_same(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 10, 22, 33, tzinfo=UTC)
    made = [ids.new_id(now + timedelta(milliseconds=n * 50)) for n in range(40)]
    assert made[0].startswith("20261130-102233-")
    assert made == sorted(made)
    claimed = {ids.claim(tmp_path) for _ in range(200)}
    assert len(claimed) == 200
    assert all(ids.is_safe(session) for session in claimed)


def test_a_session_has_one_writer(store: LogStore) -> None:
    writer = write(store, started(), close=False)
    with pytest.raises(SessionBusy, match="open in another window") as busy:
        store.open(writer.session)
    assert "fork" in busy.value.suggestion
    with pytest.raises(SessionBusy):
        store.remove(writer.session)
    writer.close()
    store.open(writer.session).close()


def test_looking_at_the_list_does_not_take_a_lease_away(store: LogStore, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = write(store, started())
    looks = iter([True, True, False])
    real = lease._locked
    monkeypatch.setattr(lease, "_locked", lambda *given: False if next(looks, False) else real(*given))
    store.open(writer.session).close()


# --- list, search, newest --------------------------------------------------------------------------------------------


def test_the_list_sums_a_session_up_and_follows_it(store: LogStore) -> None:
    writer = write(store, started(cwd="/a", model="m1"), said("Fix it\nplease"), ev.RunStarted(), close=False)
    row = store.list()[0]
    assert (row.title, row.folder, row.model, row.state) == ("Fix it", "/a", "m1", "running")
    assert (row.events, row.turns, row.open_elsewhere) == (3, 0, False)
    call = ev.ToolCall(id="c1", name="fs_read")
    writer.append(ev.TurnStarted(turn=1, model="m1"))
    writer.append(ev.AssistantMessage(turn=1, model="m1", blocks=(call,), cost=0.25))
    writer.append(ev.SettingChanged(name="title", value="A better name"))
    writer.append(ev.RunFinished(reason="limit"))
    row = store.list()[0]
    assert (row.title, row.turns, row.calls, row.cost, row.state, row.events) == (
        "A better name",
        1,
        1,
        0.25,
        "limit",
        7,
    )
    sql(store, "DELETE FROM sessions")
    assert store.list()[0] == row
    writer.close()


def test_closing_a_long_session_leaves_the_summing_up_for_later(
    store: LogStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.log.store._QUICK", 3)
    write(store, started(), said("short"))
    write(store, started(), *[said(f"long {number}") for number in range(9)])
    assert sql(store, "SELECT title FROM sessions") == [("short",)]
    assert [(row.title, row.events) for row in store.list()] == [("long 0", 10), ("short", 2)]


def test_a_run_whose_process_is_gone_is_not_running(store: LogStore) -> None:
    write(store, started(), said("x"), ev.RunStarted())
    assert store.list()[0].state == "interrupted"


def test_newest_is_what_was_gone_on_with_last_in_that_folder(store: LogStore) -> None:
    assert store.newest("/a") is None
    first = write(store, started(cwd="/a"), said("one"))
    write(store, started(cwd="/b"), said("two"))
    second = write(store, started(cwd="/a"), said("three"))
    assert store.newest("/a") == second.session
    with store.open(first.session) as writer:
        writer.append(said("again"))
    assert store.newest("/a") == first.session
    assert titles(store, folder="/b") == ["two"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("parser", ["Fix the parser"]),
        ("PARS", ["Fix the parser"]),
        ("engine/log.py", ["Fix the parser"]),
        ("parser failed", ["Fix the parser"]),
        ('"the parser"', ["Fix the parser"]),
        ("世界", ["你好，世界"]),
        ("好，世界", ["你好，世界"]),
        ("世", ["你好，世界"]),
        ("after", ["Fix the parser"]),
        ("renamed", ["Fix the parser"]),
        ("100%", ["你好，世界"]),
        ("0_0", []),
        ("nowhere", []),
        ('"', ["Fix the parser", "你好，世界"]),
        ("NEAR(", []),
        ("NOT parser OR", []),
        ('fix "par', ["Fix the parser"]),
        ("parser AND * ^ { : -", []),
        ("a'); DROP TABLE texts; --", []),
        ("\0 \ud800", []),
    ],
)
def test_search_takes_any_text(store: LogStore, text: str, found: list[str]) -> None:
    write(store, started(), said("你好，世界"), result("100% done, 030"))
    write(
        store,
        started(),
        said("Fix the parser"),
        ev.AssistantMessage(turn=1, model="m", blocks=(ev.TextBlock(text="I look at engine/log.py"),)),
        result("NUL before\0after it: 1 failed"),
        ev.SettingChanged(name="title", value="Fix the parser"),
        ev.ToolStarted(call_id="c", turn=1, name="shell_run", title="pytest -k renamed"),
    )
    assert titles(store, text) == found


def test_search_finds_what_was_appended_since_and_shows_where(store: LogStore) -> None:
    writer = write(store, started(), said("one thing"), close=False)
    assert titles(store, "banana") == []
    writer.append(result("x" * 50_000 + " yellow banana " + "y" * 50))
    row = store.list(ListSessions(text="banana yellow"))[0]
    assert "yellow banana" in row.snippet
    assert len(row.snippet) < 100
    writer.close()


def test_idle_moments_bring_the_index_up_to_date_bit_by_bit(store: LogStore) -> None:
    writer = write(store, *[said(f"word{number}") for number in range(30)], close=False)
    assert store.catch_up(limit=10) is False
    assert sql(store, "SELECT count(*) FROM texts") == [(10,)]
    while not store.catch_up(limit=10):
        pass
    assert sql(store, "SELECT count(*) FROM texts") == [(30,)]
    assert titles(store, "word29") == ["word0"]
    writer.close()
    assert sql(store, "SELECT count(*) FROM texts") == [(30,)]


def test_find_takes_the_beginning_or_the_end_of_an_id(store: LogStore) -> None:
    with pytest.raises(NoSuchSession, match="no stored sessions"):
        store.find("x")
    one, two = (write(store, started()).session for _ in range(2))
    assert store.find(one) == one
    assert store.find(two[-4:]) == two
    with pytest.raises(NoSuchSession, match="could be any of 2"):
        store.find(one[:4])


# --- fork and remove -------------------------------------------------------------------------------------------------


def test_a_fork_copies_a_prefix_and_leaves_the_parent_alone(store: LogStore) -> None:
    parent = write(store, started(), said("one"), result("big " * 30_000), said("two"))
    before = sql(store, "SELECT * FROM events WHERE session=?", parent.session)
    child = store.fork(parent.session, 3)
    events = store.load(child).events
    assert [event.session for event in events] == [child] * 3
    assert (events[0].parent, events[0].parent_seq) == (parent.session, 3)
    assert events[2].text == "big " * 30_000
    with store.open(child) as writer:
        assert writer.append(said("other")).seq == 4
    assert sql(store, "SELECT * FROM events WHERE session=?", parent.session) == before
    assert store.load(parent.session).events[0].parent == ""
    assert store.list()[0].title == "one"


def test_a_fork_of_nothing_is_refused(store: LogStore) -> None:
    parent = write(store, started())
    for upto in (0, -1, 2):
        with pytest.raises(LogError, match="has no event"):
            store.fork(parent.session, upto)


def test_remove_keeps_the_artifacts_others_refer_to(store: LogStore) -> None:
    shared, own = "shared " * 20_000, "own " * 30_000
    whole = store.artifacts.put(b"the whole output")
    parent = write(store, started(), result(shared, artifact=whole))
    child = store.fork(parent.session)
    with store.open(child) as writer:
        writer.append(result(own))
    store.remove(child)
    assert [row.id for row in store.list()] == [parent.session]
    assert store.list(ListSessions(text="own")) == ()
    assert store.verify(parent.session).artifacts == 2
    assert store.load(parent.session).skipped == ()
    assert not store.home.session_dir(child).exists()
    store.remove(parent.session)
    assert [path for path in store.home.artifacts.rglob("*") if path.is_file()] == []
    assert sql(store, "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM texts)") == [(0,)]
    assert sql(store, "SELECT * FROM numbers") == []


# --- two processes ---------------------------------------------------------------------------------------------------


def _appends(send, root: Path, count: int) -> None:  # type: ignore[no-untyped-def]
    store = store_at(root)
    with store.create() as writer:
        for number in range(count):
            writer.append(said(f"word{number}"))
            if number % 50 == 0:
                store.list(ListSessions(text="word1"))
        send((writer.session, writer.unsaved))


def test_two_processes_write_read_and_search_at_once(store: LogStore, tmp_path: Path) -> None:
    from tests.engine.log_kit import FORK

    with FORK.Pool(3) as pool:
        done = pool.starmap(_in_pool, [(tmp_path, 300)] * 3, chunksize=1)
    assert len({session for session, _ in done}) == 3
    for session, unsaved in done:
        assert unsaved == 0
        loaded = store.load(session)
        assert [event.seq for event in loaded.events] == list(range(1, 301))
        assert loaded.skipped == ()
    assert len(store.list(ListSessions(text="word299"))) == 3
    assert sql(store, "SELECT count(*), count(DISTINCT session || seq) FROM texts") == [(900, 900)]


def _in_pool(root: Path, count: int) -> tuple[str, int]:
    got: list[tuple[str, int]] = []
    _appends(got.append, root, count)
    return got[0]


def _holds_and_dies(send, root: Path, session: str) -> None:  # type: ignore[no-untyped-def]
    import os
    import signal

    store_at(root).open(session)
    send([row.open_elsewhere for row in store_at(root).list()])
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_crash_of_the_holder_gives_the_lease_back(store: LogStore, tmp_path: Path) -> None:
    writer = write(store, started())
    got, code = in_child(_holds_and_dies, tmp_path, writer.session)
    assert (got, code) == ([[False]], -9)
    assert store.list()[0].open_elsewhere is False
    store.open(writer.session).close()


def _looks(send, root: Path, session: str) -> None:  # type: ignore[no-untyped-def]
    store = store_at(root)
    send([row.open_elsewhere for row in store.list()])
    try:
        store.open(session)
    except SessionBusy as busy:
        send(str(busy))


def test_another_process_sees_that_a_session_is_open(store: LogStore, tmp_path: Path) -> None:
    import os

    writer = write(store, started(), close=False)
    got, _ = in_child(_looks, tmp_path, writer.session)
    assert got[0] == [True]
    assert f"process {os.getpid()}" in got[1]
    writer.close()
