"""The brake on guessing: wrong tokens are slowed, and nobody is locked out.

A token that Groupwise made has 192 random bits: at any rate of guessing it is not found, so a right one needs no brake
at all. The brake is there for a token that someone chose, which may be a phrase. It holds whoever guesses (an address;
of IPv6 a /64, as one customer has all of it) to one try in two seconds after the first ten: 43,000 a day, where
dictionaries of phrases begin at many millions.

Others behind the same address are slowed, not shut out: a try waits for its turn, and only when five wait already is it
refused, for some seconds and not a minute. A browser that has logged in before is known by the cookie it got then, and
waits for nobody; a session never meets the brake. While wrong tokens come from everywhere, each address has one try
instead of ten before it waits, and an address that guessed nothing has that one at once.
"""

import time
from collections.abc import Callable

FREE = 10  # tries before a guesser has to wait
EACH = 2.0  # seconds that a wrong token costs
LONGEST_WAIT = 10.0  # seconds: more than this, and a try is refused instead
STORM = 100  # wrong tokens of all together, of which one is forgotten each STORM_EACH seconds, until it is a storm
STORM_EACH = 0.2
FORGET_AT = 1000  # guessers


class Brake:
    """Counts wrong tokens, as the time until which each guesser has used up its tries."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._all_until = 0.0

    def take(self, guesser: str) -> float | None:
        """Take a turn: the seconds to wait for it, or None where too many wait already."""
        now = self._clock()
        until = max(self._until.get(guesser, 0.0), now) + EACH
        wait = until - now - EACH * (1 if self._is_storm(now) else FREE)
        if wait > LONGEST_WAIT:
            return None
        self._forget_idle(now)
        self._until[guesser] = until
        return max(0.0, wait)

    def was_right(self, guesser: str) -> None:
        """The turn was no guess: give it back."""
        self._until[guesser] = self._until.get(guesser, 0.0) - EACH

    def was_wrong(self) -> None:
        """The turn was a wrong guess: whoever guesses next waits longer."""
        self._all_until = max(self._all_until, self._clock()) + STORM_EACH

    def _is_storm(self, now: float) -> bool:
        return self._all_until - now > STORM * STORM_EACH

    def _forget_idle(self, now: float) -> None:
        if len(self._until) >= FORGET_AT:
            self._until = {guesser: until for guesser, until in self._until.items() if until > now}
