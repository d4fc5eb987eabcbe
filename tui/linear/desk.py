"""A workbench without a screen: lines out, lines in. For screen readers, and for terminals that can do no more.

What is typed while the agent works steers it. A request is answered by one of a few exact words on a line of their
own, so that no sentence can ever approve anything.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

from engine.commands import AnswerQuestion, Compact, Decide, DecidePlan, Interrupt, OpenSession, SendMessage, TakeBack
from tui.asking import Asking, key_of
from tui.linear.words import Narrator, status
from tui.link import Link

if TYPE_CHECKING:
    from engine.commands import Command
    from engine.events import AnyEvent
    from engine.options import EngineOptions
    from tui.link import Factory

HEARD = 1.0
"""Seconds a request must have been out before a line answers it: a line being typed when it came is none."""
CHOICES = {"y": "once", "yes": "once", "s": "session", "n": "deny", "no": "deny"}
HELP = """\
Type a message and Enter. While the agent works it is read after the running tool.
/follow TEXT   send it when this run is done     /back    take the newest waiting message back
/stop          interrupt the agent (also Ctrl+C) /status  where things stand
/todo          read the todo list                /show N  read result N in full
/again         read what waits for you           /compact shorten the conversation
/quit          interrupt, save and leave (also Ctrl+D)"""


class Desk:
    """One session by lines. ``say`` puts out one line; it may be called from two threads."""

    def __init__(self, factory: Factory, options: EngineOptions, say: Callable[[str], None], ascii: bool) -> None:
        self._say = say
        self._arrived = threading.Event()
        self._over = threading.Event()
        self._narrator = Narrator(ascii)
        self._asking = Asking()
        self._asked_at: dict[str, float] = {}
        self._lock = threading.Lock()
        self.link = Link(factory, options, self._arrived.set)
        self._teller = threading.Thread(target=self._tell_all, name="linear", daemon=True)

    def start(self, opening: OpenSession) -> None:
        """Open the session and begin to tell."""
        self._teller.start()
        self.link.start(opening)

    def hear(self, line: str) -> bool:
        """Take one line of the person; False when it was the last."""
        words = line.strip()
        if words.startswith("/"):
            return self._do(*words[1:].partition(" ")[::2])
        with self._lock:
            request = self._asking.next()
        if request is not None and self._answered(request, words):
            return True
        if words:
            self._send(lambda session: SendMessage(session, line.rstrip("\n")))
        return True

    def interrupt(self) -> None:
        """Cut what runs; sent in any case, since something may have begun that is not known of yet."""
        self._send(Interrupt)
        if self.link.state and not self.link.state.running:
            self._say("Nothing runs. /quit leaves.")

    def close(self) -> None:
        """Interrupt, save, and say how to go on."""
        self.link.close()
        self._over.set()
        self._arrived.set()
        self._teller.join(2.0)
        for line in self.link.farewell().splitlines():
            self._say(line)

    # --- what the person says ----------------------------------------------------------------------------------------

    def _do(self, command: str, argument: str) -> bool:
        state = self.link.state
        match command:
            case "quit" | "exit":
                return False
            case "stop":
                self.interrupt()
            case "back":
                self._send(TakeBack)
            case "follow" if argument.strip():
                self._send(lambda session: SendMessage(session, argument, "follow_up"))
            case "compact":
                self._send(lambda session: Compact(session, argument))
            case "status":
                self._say(status(state))
            case "todo":
                self._lines(state.todo_text.splitlines() if state and state.todo_text else ["There is no todo list."])
            case "show":
                number = int(argument) if argument.strip().isdecimal() else len(self._narrator.results)
                self._lines(self._narrator.full(number))
            case "again":
                self._again()
            case "help":
                self._lines(HELP.splitlines())
            case _:
                self._say(f"There is no /{command}. /help lists what there is.")
        return True

    def _again(self) -> None:
        with self._lock:
            request = self._asking.next()
        self._lines(self._narrator.tell(request) if request else ["Nothing waits for you."])

    def _answered(self, request: Any, words: str) -> bool:
        """Whether the line was an answer to ``request``, or would have been and came too soon."""
        if request.type == "question_asked":
            if words:
                options = dict(enumerate(request.options, 1))
                text = options.get(int(words), words) if words.isdecimal() else words
                self._settle(request, AnswerQuestion(request.session, request.id, text))
            return bool(words)
        if request.type == "plan_proposed" and words.lower() == "s":
            return False
        choice, _, reason = words.partition(" ")
        if not (words.lower() in CHOICES or (choice.lower() == "d" and reason.strip())):
            return False
        if monotonic() - self._asked_at.get(request.id, 0.0) < HEARD:
            self._say("This was asked only just now, so that line did not count. /again reads it; then answer.")
            return True
        decided = CHOICES.get(words.lower(), "deny")
        self._settle(request, _decision(request, decided, reason.strip()))
        return True

    def _settle(self, request: Any, command: Command) -> None:
        with self._lock:
            self._asking.settle(key_of(request))
        self._send(lambda _session: command)
        self._offer()

    def _send(self, make: Callable[[str], Command]) -> None:
        self.link.send(make)

    # --- what the engine says ----------------------------------------------------------------------------------------

    def _tell_all(self) -> None:
        while not self._over.is_set():
            self._arrived.wait()
            self._arrived.clear()
            for event in self._batches():
                self._tell(event)

    def _batches(self) -> Iterator[AnyEvent]:
        more = True
        while more:
            batch, more = self.link.take()
            yield from (event for _, event in batch)

    def _tell(self, event: AnyEvent) -> None:
        if event.type == "session_opened":
            self._opened(event)
            return
        if event.type == "session_coming":
            self._tell_end(event)
        if event.type in ("session_coming", "past_read"):
            return
        with self._lock:
            before = self._asking.next()
            self._asking.feed((event,))
        if event.type not in ("approval_requested", "question_asked", "plan_proposed"):
            self._lines(self._narrator.tell(event))
        elif before is None:
            self._offer()
        else:
            self._say("One more request waits behind this one.")

    def _tell_end(self, event: Any) -> None:
        """A long session: nobody listens to all of it."""
        earlier = event.rows - len(event.events)
        self._say(f"Session {event.session} is being opened. Its end, after {earlier:,} events:")
        for past in event.events:
            self._lines(self._narrator.tell(past))

    def _opened(self, event: Any) -> None:
        with self._lock:
            self._asking.clear(event.session)
            self._asking.feed(event.events)
        self._say(f"Session {event.session} is open. /help says what can be typed.")
        for past in event.events:
            self._lines(self._narrator.tell(past))
        if event.skipped:
            self._say(f"Warning: {event.skipped} damaged entries were skipped.")
        self._offer()

    def _offer(self) -> None:
        """Read out the next request that waits, once."""
        with self._lock:
            request = self._asking.next()
            new = request is not None and request.id not in self._asked_at
            if request is not None and new:
                self._asked_at[request.id] = monotonic()
        if request is not None and new:
            self._lines(self._narrator.tell(request))

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self._say(line)


def _decision(request: Any, choice: str, reason: str) -> Command:
    """The answer to an approval or a plan."""
    if request.type == "plan_proposed":
        return DecidePlan(request.session, request.id, "reject" if choice == "deny" else "approve", reason=reason)
    return Decide(request.session, request.id, request.digest, choice, reason=reason)  # type: ignore[arg-type]


def open_desk(options: EngineOptions, factory: Factory, opening: OpenSession, ascii: bool = False) -> int:
    """Work in this terminal by lines until the person leaves; returns the exit code."""
    lock = threading.Lock()

    def say(line: str) -> None:
        with lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    desk = Desk(factory, options, say, ascii)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    desk.start(opening)
    try:
        while (line := _line(desk)) and desk.hear(line):
            pass
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        with contextlib.suppress(BrokenPipeError, OSError):
            desk.close()
    return 0


def _line(desk: Desk) -> str:
    """The next line typed; '' at the end of input. Ctrl+C interrupts the agent, and is no end."""
    while True:
        try:
            return sys.stdin.readline()
        except KeyboardInterrupt:
            desk.interrupt()


def _leave(_number: int, _frame: object) -> None:
    raise SystemExit(0)
