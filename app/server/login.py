"""The login that guards a dashboard beyond this machine: a token, a session for who has it, a brake on guessing."""

import asyncio
import hmac
import html
import secrets
from urllib.parse import parse_qs, quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from groupwise.app.server.brake import LONGEST_WAIT, Brake
from groupwise.app.server.connections import network_of
from groupwise.app.server.guard import refuse
from groupwise.app.server.sessions import Sessions
from groupwise.storage.home import paths

OPEN_PATHS = {"/login", "/healthz"}  # all that is answered without a session
COOKIE_SECONDS = 365 * 24 * 3600  # longer than a session: it then says that this browser once had the token
MIN_TOKEN = 16  # characters, of a token that someone chose
MAX_FORM = 8 * 1024


def new_token() -> str:
    """192 random bits, as text that fits a link."""
    return secrets.token_urlsafe(24)


class Gate:
    """Knows the token, who has shown it, and who has been guessing."""

    def __init__(self, token: str, cookie: str, *, made: bool = False) -> None:
        """`made`: by `new_token`, so that no rate of guessing finds it."""
        self._token, self._made = token.encode(), made
        self.sessions = Sessions(token, cookie, paths.logged_out())
        self.brake = Brake()

    def accepts(self, token: str) -> bool:
        """Compare a token with the right one, in a time that tells nothing of it."""
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    async def admits(self, token: str, connection: HTTPConnection) -> bool | None:
        """Whether this is the token, after the wait that its sender has deserved (see app.server.brake); None where it
        was not looked at, since too many of theirs wait already."""
        if self._made and self.accepts(token):
            return True
        guesser = self.sessions.browser(connection) or network_of(connection.client.host if connection.client else "")
        wait = self.brake.take(guesser)
        if wait is None:
            return None
        await asyncio.sleep(wait)
        if self.accepts(token):
            self.brake.was_right(guesser)
            return True
        self.brake.was_wrong()
        return False


class LoginGuard:
    """Lets nothing through without a session but the login page and the health check."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if self.gate.sessions.is_logged_in(connection):
            scope["guarded"] = True  # its page offers to log out
            await self.app(scope, receive, send)
        elif scope.get("method") == "GET" and "text/html" in connection.headers.get("accept", ""):  # a page
            await _to_login(connection)(scope, receive, send)
        else:
            await refuse(scope, receive, send, 401, "Log in first: open /login in a browser.")


def _to_login(connection: HTTPConnection) -> Response:
    place = connection.url.path + (f"?{connection.url.query}" if connection.url.query else "")
    return RedirectResponse(f"/login?next={quote(place, safe='')}", status_code=303)


def own_place(place: str) -> str:
    """A path of this site, whatever was asked for: never a way to another one."""
    if not place.startswith("/") or place.startswith("//") or "\\" in place or not place.isprintable():
        return "/"
    return place


async def show(request: Request) -> Response:
    """Serve the login page."""
    return _page(own_place(request.query_params.get("next", "/")))


async def enter(request: Request, gate: Gate) -> Response:
    """The form came back: a session for the right token; after wrong ones each further try has to wait."""
    form = await _form(request)
    place = own_place(form.get("next", "/"))
    admitted = await gate.admits(form.get("token", "").strip(), request)
    if admitted is None:
        return _page(place, "Too many wrong tokens came from your network. Try again in a few seconds.", 429)
    if not admitted:
        return _page(place, "That is not the token of this dashboard.", 403)
    reply = RedirectResponse(place, status_code=303)
    reply.set_cookie(
        gate.sessions.cookie, gate.sessions.new(), max_age=COOKIE_SECONDS, path="/",
        httponly=True, samesite="strict", secure=request.url.scheme == "https",
    )  # fmt: skip
    return reply


async def leave(request: Request, gate: Gate) -> Response:
    """Log out: this session counts no more, wherever its cookie is."""
    try:
        await run_in_threadpool(gate.sessions.end, request)
    except OSError as error:
        note = f"You are logged out, but that could not be saved ({error.strerror}): once Groupwise is started "
        return _page("/", f"{note}again, this session is valid. Free space in its home, and log out again.", 507)
    return RedirectResponse("/login", status_code=303)


async def _form(request: Request) -> dict[str, str]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_FORM:
            return {}
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


def _page(place: str, problem: str = "", status: int = 200) -> Response:
    note = f'<p role="alert">{html.escape(problem)}</p>' if problem else ""
    text = PAGE.replace("{note}", note).replace("{next}", html.escape(place, quote=True))
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": str(int(LONGEST_WAIT))} if status == 429 else {})
    return HTMLResponse(text, status_code=status, headers=headers)


# The link that was printed carries the token behind “#”, which browsers send to no server and write in no log.
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · Groupwise</title>
<style>
:root{--bg:#fafaf9;--panel:#fff;--line:#d0d0cd;--ink:#18181b;--ink-2:#52525b;--accent:#1d4ed8;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--bg:#0f0f10;--panel:#161618;--line:#3b3b41;--ink:#f4f4f5;--ink-2:#b4b4bb;
--accent:#7aa2ff;--bad:#f87171}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--bg);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
form{width:min(360px,calc(100vw - 32px));display:grid;gap:12px}
h1{font-size:17px;margin:0}p{margin:0;color:var(--ink-2)}p[role=alert]{color:var(--bad)}
label{display:grid;gap:4px;font-weight:600}
input,button{font:inherit;padding:8px 12px;border-radius:6px;border:1px solid var(--line)}
input{background:var(--panel);color:var(--ink);font-family:ui-monospace,Menlo,monospace}
button{background:var(--ink);border-color:var(--ink);color:var(--bg);font-weight:600;cursor:pointer}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
</style></head><body>
<form method="post" action="/login"><h1>Groupwise</h1>{note}
<label>Token <input name="token" type="password" autocomplete="current-password" required autofocus></label>
<input name="next" type="hidden" value="{next}"><button>Log in</button>
<p>The token was given where Groupwise was started, or printed there, in a link.</p></form>
<script>
if (location.hash.length > 1) {
  document.forms[0].token.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  document.forms[0].submit();
}
</script></body></html>
"""
