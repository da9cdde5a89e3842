"""Middleware that every request passes: the headers of every reply, where a request may come from, how large it is."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.formparsers import MultiPartException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import uploads

# 'unsafe-inline' and 'unsafe-eval' are what Gradio's own pages need; nothing may come from, or go to, elsewhere.
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; media-src 'self' blob:; "
    "worker-src 'self' blob:; frame-src 'none'; object-src 'none'; base-uri 'self'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MEGABYTE = 1024 * 1024
MAX_FILE = 100 * MEGABYTE  # one uploaded file
MAX_UPLOAD = 128 * MEGABYTE  # one upload, of however many files
MAX_REQUEST = 4 * MEGABYTE  # any other request
UPLOAD_PATH = "/gradio_api/upload"
READING = {"GET", "HEAD"}


class ReplyHeaders:
    """Puts the security headers on every reply, and takes off any that would open it to another origin."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in [name for name in headers if name.lower().startswith("access-control-")]:
                    del headers[name]
                headers.update(HEADERS)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class OriginGuard:
    """Refuses whatever could change something and was sent by another site's page (403).

    Browsers say where a request comes from; a program that says nothing is no browser, and cannot be tricked by a page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changing = scope["type"] == "websocket" or (scope["type"] == "http" and scope["method"] not in READING)
        if changing and not is_own_page(Headers(scope=scope)):
            await refuse(scope, receive, send, 403, "This request came from another site.")
            return
        await self.app(scope, receive, send)


def is_own_page(headers: Headers) -> bool:
    """Whether the request's own account of where it comes from names this very host and port, or nothing at all."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    return all(_names_host(origin, headers.get("host", "")) for origin in headers.getlist("origin"))


def _names_host(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin)
        default = {"http": 80, "https": 443}[parts.scheme]
        here = urlsplit(f"//{host}")
        return (parts.hostname, parts.port or default) == (here.hostname, here.port or default)
    except (KeyError, ValueError):
        return False  # "null", or no web address


class _TooLarge(MultiPartException):
    """The body went on past its limit. A MultiPartException, since on those Gradio removes the files it had begun."""


class RequestSize:
    """Refuses bodies over the limit (413), by what they announce and, where they announce nothing, as they arrive."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        uploading = scope["path"].rstrip("/") == UPLOAD_PATH
        if uploading and uploads.is_full():
            await refuse(scope, receive, send, 413, "Too much was uploaded today: the folder for uploads is full.")
            return
        limit = MAX_UPLOAD if uploading else MAX_REQUEST
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 18 or int(announced) > limit:
            await _refuse_size(scope, receive, send, limit)
        else:
            await _Counted(self.app, limit).run(scope, receive, send)


class _Counted:
    """One request whose body is counted as the app reads it."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit
        self.read, self.over, self.replied = 0, False, False

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted_receive() -> Message:
            message = await receive()
            self.read += len(message.get("body", b""))
            self.over = self.over or self.read > self.limit
            if self.over:
                raise _TooLarge("too large")
            return message

        async def own_send(message: Message) -> None:
            # What the app makes of the interruption (a 400, a 500) is not what a person should read.
            if not self.over or self.replied:
                self.replied = True
                await send(message)

        try:
            await self.app(scope, counted_receive, own_send)
        except Exception:
            if not self.over:
                raise
        if self.over and not self.replied:
            await _refuse_size(scope, receive, send, self.limit)


async def _refuse_size(scope: Scope, receive: Receive, send: Send, limit: int) -> None:
    await refuse(scope, receive, send, 413, f"At most {limit // MEGABYTE} MB at once.")


async def refuse(
    scope: Scope, receive: Receive, send: Send, status: int, sentence: str, headers: dict[str, Any] | None = None
) -> None:
    """Answer with a status and a sentence; a websocket is closed before it opens."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    await PlainTextResponse(f"{sentence}\n", status_code=status, headers=headers)(scope, receive, send)
