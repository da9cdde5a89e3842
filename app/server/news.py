"""A page that watches a run is told when something was written of it, and need not ask again and again.

A question is held without a thread: the event loop looks at the run's record (see app.core.run_stamp). A browser opens
six connections to a server, for all its tabs together, so only some of them may wait here; the others go on asking.
"""

import asyncio
from collections import Counter
from time import monotonic

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from groupwise.app.core.run_stamp import mark_of_run
from groupwise.app.server import guard
from groupwise.app.server.connections import network_of

EACH = 0.03  # seconds between two looks at the record
LONGEST = 5.0  # seconds that a question is held
MOST, MOST_OF_ONE = 64, 2  # questions held at a time: of all, and of one address


class Waiting:
    """Who waits for news, by address."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()

    def enter(self, who: str) -> bool:
        """Count one more; False where too many wait already."""
        if self._of[who] >= MOST_OF_ONE or self._of.total() >= MOST:
            return False
        self._of[who] += 1
        return True

    def leave(self, who: str) -> None:
        """Count one less."""
        self._of[who] -= 1
        self._of += Counter()  # those with none are forgotten


async def tell(request: Request, waiting: Waiting) -> Response:
    """GET /news?run=RUN&seen=MARK: nothing (204) as soon as something was recorded of the run since MARK was made, or
    after some seconds; 429 where too many wait."""
    if not guard.is_own_page(request.headers):
        return PlainTextResponse("This request came from another site.\n", status_code=403)
    who = network_of(request.client.host if request.client else "")
    if not waiting.enter(who):
        return PlainTextResponse("Too many open requests for news just now.\n", status_code=429)
    try:
        await _news(request.query_params.get("run", ""), request.query_params.get("seen", ""))
    finally:
        waiting.leave(who)
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


async def _news(run_id: str, seen: str) -> None:
    """Wait until there is news. Where a mark could not be made, something was just being written: that is news too."""
    end = monotonic() + LONGEST
    while monotonic() < end:
        await asyncio.sleep(EACH)
        if not seen or mark_of_run(run_id) != seen:
            return
