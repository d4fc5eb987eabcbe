"""More attempts at one request, by stamina: backoff with jitter, or as long as the provider asks, within a budget."""

from __future__ import annotations

import asyncio
import inspect
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable

from engine.models.base import Model, ModelError, Part, Restart
from engine.prompt.request import ModelRequest

ATTEMPTS = 6
BUDGET = 300.0
_JITTER = 0.5

OnRetry = Callable[[int, float, ModelError], Awaitable[None] | None]

# Stamina logs each retry as a warning; without a handler Python would print it across the screen.
logging.getLogger("stamina").addHandler(logging.NullHandler())


async def stream_with_retry(
    model: Model,
    request: ModelRequest,
    *,
    on_retry: OnRetry | None = None,
    attempts: int = ATTEMPTS,
    budget: float = BUDGET,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncGenerator[Part, None]:
    """The parts of ``model.stream(request)``, with another attempt after each retryable `ModelError`.

    A new attempt begins with `Restart` when the failed one had already yielded parts: those are void. Before waiting,
    ``on_retry(number of the failed attempt, seconds to wait, error)`` is called. What the provider asks for
    (``retry_after``) wins over the backoff. Raises the last error once ``attempts`` are used up, or when waiting would
    exceed ``budget`` seconds in all. ``sleep`` waits; tests pass one that does not.
    """
    import stamina

    again = False
    waited = 0.0

    def go_on(_error: Exception) -> float | bool:
        return 0.0 if again else False

    # Stamina counts attempts and computes the backoff; the waiting is done here, where it is announced first.
    async for attempt in stamina.retry_context(
        on=go_on, attempts=attempts, timeout=None, wait_initial=0.5, wait_max=30.0
    ):
        yielded = False
        parts = model.stream(request)
        try:
            async for part in parts:
                yielded = True
                yield part
            return
        except ModelError as error:
            failure = error
        finally:
            if isinstance(parts, AsyncGenerator):
                await parts.aclose()
        wait = _seconds(failure, attempt.next_wait)
        again = failure.retryable and attempt.num < attempts and waited + wait <= budget
        if again:
            waited += wait
            if on_retry is not None and inspect.isawaitable(announced := on_retry(attempt.num, wait, failure)):
                await announced
            await sleep(wait)
            if yielded:
                yield Restart()
        with attempt:
            raise failure


def _seconds(failure: ModelError, backoff: float) -> float:
    """How long to wait. Jitter keeps clients that failed together from coming back together."""
    return backoff + random.uniform(0.0, _JITTER * backoff) if failure.retry_after is None else failure.retry_after
