"""The login that guards a dashboard beyond this machine: a token, a signed session cookie, a brake on guessing."""

from __future__ import annotations

import hashlib
import hmac
import html
import secrets
import time
from collections import defaultdict
from urllib.parse import parse_qs, quote

from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.guard import refuse

OPEN_PATHS = {"/login", "/healthz"}  # all that is answered without a session
SESSION_SECONDS = 14 * 24 * 3600
TRIES, PER_SECONDS = 5, 60.0  # wrong tokens of one client before it has to wait
MIN_TOKEN = 16  # characters, of a token that someone chose
MAX_FORM = 8 * 1024


def new_token() -> str:
    """192 random bits, as text that fits a link."""
    return secrets.token_urlsafe(24)


class Gate:
    """Knows the token, and who has shown it."""

    def __init__(self, token: str, cookie: str) -> None:
        """`cookie` is the cookie's name: of its own for each port, since browsers share cookies between ports."""
        self._token = token.encode()
        self.cookie = cookie
        # Sessions are signed, not stored: they outlive a restart with the same token, and end with another.
        self._key = hashlib.sha256(b"groupwise session\0" + self._token).digest()
        self._wrong: dict[str, list[float]] = defaultdict(list)

    def accepts(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def new_session(self) -> str:
        claim = f"{int(time.time()) + SESSION_SECONDS}.{secrets.token_hex(16)}"
        return f"{claim}.{self._sign(claim)}"

    def knows(self, connection: HTTPConnection) -> bool:
        claim, _, signature = connection.cookies.get(self.cookie, "").rpartition(".")
        # Compared as bytes: a cookie may hold any character, and text with an accent would raise.
        if not hmac.compare_digest(signature.encode(), self._sign(claim).encode()):
            return False
        return int(claim.partition(".")[0]) > time.time()

    def must_wait(self, client: str) -> bool:
        return len(self._recent(client)) >= TRIES

    def note_wrong(self, client: str) -> None:
        self._wrong = defaultdict(list, {name: self._recent(name) for name in self._wrong if self._recent(name)})
        self._wrong[client].append(time.monotonic())

    def _recent(self, client: str) -> list[float]:
        return [at for at in self._wrong.get(client, []) if time.monotonic() - at < PER_SECONDS]

    def _sign(self, claim: str) -> str:
        return hmac.new(self._key, claim.encode(), hashlib.sha256).hexdigest()


class LoginGuard:
    """Lets nothing through without a session but the login page and the health check."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app, self.gate = app, gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN_PATHS:
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        if self.gate.knows(connection):
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and scope["method"] == "GET" and _is_page(connection):
            await _to_login(connection)(scope, receive, send)
        else:
            await refuse(scope, receive, send, 401, "Log in first: open /login in a browser.")


def _is_page(connection: HTTPConnection) -> bool:
    return "text/html" in connection.headers.get("accept", "")


def _to_login(connection: HTTPConnection) -> Response:
    place = connection.url.path + (f"?{connection.url.query}" if connection.url.query else "")
    return RedirectResponse(f"/login?next={quote(place, safe='')}", status_code=303)


def own_place(place: str) -> str:
    """A path of this site, whatever was asked for: never a way to another one."""
    if not place.startswith("/") or place.startswith("//") or "\\" in place or not place.isprintable():
        return "/"
    return place


async def show(request: Request) -> Response:
    return _page(own_place(request.query_params.get("next", "/")))


async def enter(request: Request, gate: Gate) -> Response:
    """The form came back: a session for the right token, and a wait after too many wrong ones."""
    form = await _form(request)
    place = own_place(form.get("next", "/"))
    client = request.client.host if request.client else ""
    if gate.must_wait(client):
        return _page(place, "Too many wrong tokens. Wait a minute, then try again.", 429)
    if not gate.accepts(form.get("token", "").strip()):
        gate.note_wrong(client)
        return _page(place, "That is not the token. It was printed where Groupwise was started.", 403)
    reply = RedirectResponse(place, status_code=303)
    reply.set_cookie(
        gate.cookie, gate.new_session(), max_age=SESSION_SECONDS, path="/",
        httponly=True, samesite="strict", secure=request.url.scheme == "https",
    )  # fmt: skip
    return reply


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
    headers = {"Cache-Control": "no-store"} | ({"Retry-After": "60"} if status == 429 else {})
    return HTMLResponse(text, status_code=status, headers=headers)


# The link that was printed carries the token behind “#”, which browsers send to no server and write in no log.
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in · Groupwise</title>
<style>
:root{--bg:#fafaf9;--panel:#fff;--line:#d0d0cd;--ink:#18181b;--ink-2:#52525b;--accent:#1d4ed8;--on:#fff;--bad:#b91c1c}
@media (prefers-color-scheme:dark){:root{--bg:#0f0f10;--panel:#161618;--line:#3b3b41;--ink:#f4f4f5;--ink-2:#b4b4bb;
--accent:#7aa2ff;--on:#0f0f10;--bad:#f87171}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--bg);color:var(--ink);
font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
form{width:min(360px,calc(100vw - 32px));display:grid;gap:12px}
h1{font-size:17px;margin:0}p{margin:0;color:var(--ink-2)}p[role=alert]{color:var(--bad)}
label{display:grid;gap:4px;font-weight:600}
input,button{font:inherit;padding:8px 12px;border-radius:6px;border:1px solid var(--line)}
input{background:var(--panel);color:var(--ink);font-family:ui-monospace,Menlo,monospace}
button{background:var(--accent);border-color:var(--accent);color:var(--on);font-weight:600;cursor:pointer}
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
