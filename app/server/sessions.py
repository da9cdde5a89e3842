"""Who is logged in: signed sessions, of which only those are stored that were ended before their time."""

import contextlib
import hashlib
import hmac
import os
import re
import secrets
import time
from pathlib import Path

from starlette.requests import HTTPConnection

from groupwise.storage.home import files

SESSION_SECONDS = 14 * 24 * 3600
LINE = re.compile(r"([0-9a-f]{32}) ([0-9]{1,12})")


class LoggedOut:
    """The sessions that were logged out, in a file of the home until they would have ended by themselves: a restart, or
    another dashboard of this home, forgets none. Each is a line: its id and when it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: files.Stamp | None = None
        self._ends: dict[str, int] = {}
        self._read_new_lines()
        self._drop_ended()

    def __contains__(self, session: str) -> bool:
        with contextlib.suppress(OSError):  # at start it could be read: what is known from then on stays known
            self._read_new_lines()
        return session in self._ends

    def add(self, session: str, ends: int) -> None:
        """Note a session as logged out. Raises OSError where it could not be written down: then it holds for as long as
        this process lives."""
        self._ends[session] = ends
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            # In one write, so that two dashboards which add at once don't mix their lines.
            os.write(descriptor, f"{session} {ends}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _read_new_lines(self) -> None:
        """Add what was written since the last look. Raises OSError."""
        stamp = files.stamp(self._path)
        if stamp is not None and stamp == self._stamp:
            return
        try:
            lines = self._path.read_text(encoding="ascii", errors="replace").splitlines()
        except FileNotFoundError:
            lines = []
        self._ends |= {found[1]: int(found[2]) for found in map(LINE.fullmatch, lines) if found}
        self._stamp = stamp

    def _drop_ended(self) -> None:
        """Leave out those that have ended by now."""
        left = {session: ends for session, ends in self._ends.items() if ends > time.time()}
        if len(left) < len(self._ends):
            files.write_whole(self._path, "".join(f"{session} {ends}\n" for session, ends in left.items()))
            self._ends = left


class Sessions:
    """Makes sessions and knows them again. Signed with the token, they outlive a restart and end with another token."""

    def __init__(self, token: str, cookie: str, logged_out: Path) -> None:
        """`cookie` is the cookie's name: of its own for each port, since browsers share cookies between ports."""
        self.cookie = cookie
        self._key = hashlib.sha256(b"groupwise session\0" + token.encode()).digest()
        self._logged_out = LoggedOut(logged_out)

    def new(self) -> str:
        """What the cookie of a new session holds."""
        claim = f"{int(time.time()) + SESSION_SECONDS}.{secrets.token_hex(16)}"
        return f"{claim}.{self._sign(claim)}"

    def is_logged_in(self, connection: HTTPConnection) -> bool:
        """Whether this request belongs to a living session."""
        found = self._claim(connection)
        return found is not None and found[1] > time.time() and found[0] not in self._logged_out

    def browser(self, connection: HTTPConnection) -> str | None:
        """A name for the browser this comes from, if it ever logged in with this token: an ended session still says
        that much, so its cookie is left where it is."""
        found = self._claim(connection)
        return found and found[0]

    def end(self, connection: HTTPConnection) -> None:
        """Log this request's session out, everywhere. Raises OSError where that could not be written down."""
        found = self._claim(connection)
        if found is not None and found[0] not in self._logged_out:
            self._logged_out.add(*found)

    def _claim(self, connection: HTTPConnection) -> tuple[str, int] | None:
        """The session's id and when it ends, of a cookie that was signed here."""
        claim, _, signature = connection.cookies.get(self.cookie, "").rpartition(".")
        # Compared as bytes: a cookie may hold any character, and text with an accent would raise.
        if not hmac.compare_digest(signature.encode(), self._sign(claim).encode()):
            return None
        ends, _, session = claim.partition(".")
        return session, int(ends)

    def _sign(self, claim: str) -> str:
        return hmac.new(self._key, claim.encode(), hashlib.sha256).hexdigest()
