"""Middleware that every request passes: the headers of every reply, where a request may come from, how large it is."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.formparsers import MultiPartException
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groupwise.app.core.data_files import MEGABYTE
from groupwise.app.server import uploads
from groupwise.app.ui import modules

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
    # Not "no-referrer": browsers then send "Origin: null" with a form, and our own login came from "another site".
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MAX_UPLOAD = 128 * MEGABYTE  # one upload, of however many files
MAX_REQUEST = 4 * MEGABYTE  # any other request
UPLOAD_PATH = "/gradio_api/upload"
MAX_HEAD = 32 * 1024  # bytes of a request's address and headers together
MAX_HEADERS = 100
OWN_PATHS = {
    "/login",
    "/logout",
    "/healthz",
    "/runs",
    "/export",
    "/download",
    "/log",
    "/file",
    "/news",
    "/config",
    "/theme.css",
    "/favicon.ico",
    "/robots.txt",
    UPLOAD_PATH,
    "/gradio_api/component_server",
    "/gradio_api/component_server/",
    "/gradio_api/startup-events",
}
# Gradio's scripts and styles, the libraries', our own, and the connection that some pages of Gradio's hold open.
OPEN_BELOW = ("/assets/", "/static/", "/svelte/", modules.PREFIX, "/gradio_api/file=", "/gradio_api/heartbeat/")
READING = {"GET", "HEAD"}
FULL = "Too much was uploaded today: the folder for uploads is full."


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


class HeadSize:
    """Refuses requests with more, or longer, headers than any browser sends (431)."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = scope["headers"]
            size = sum(len(name) + len(value) for name, value in headers) + len(scope.get("raw_path") or b"")
            if len(headers) > MAX_HEADERS or size + len(scope["query_string"]) > MAX_HEAD:
                await refuse(scope, receive, send, 431, "The headers of this request are too large.")
                return
        await self.app(scope, receive, send)


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


class _BodyCutShort(MultiPartException):
    """The body went on past its limit, or is cut off. A MultiPartException, since on those Gradio removes the files it
    had begun."""


class OpenPaths:
    """Answers 404 for all that Gradio would answer and no page of ours asks for: its queue, its calls by name, streams,
    proxy. They keep something for each name that a request gives itself, and take what is no call for a fault.

    A browser that asks for a page gets one: `unknown(path)` makes it. Gradio would take two names in the address of “/”
    for its own and fail at most of their values: it does not get them."""

    def __init__(self, app: ASGIApp, pages: Sequence[str], unknown: Callable[[str], str]) -> None:
        self.app, self.pages, self.unknown = app, {*pages, *OWN_PATHS, *(f"{page}/" for page in pages)}, unknown

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if path == "/":
            scope = {**scope, "query_string": _without_gradios(scope.get("query_string", b""))}
        if scope["type"] == "lifespan" or path in self.pages or (path.startswith(OPEN_BELOW) and _is_file_path(path)):
            await self.app(scope, receive, send)
        elif scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", ""):
            await HTMLResponse(self.unknown(path), status_code=404)(scope, receive, send)
        else:
            await refuse(scope, receive, send, 404, "There is nothing here.")


def _without_gradios(query: bytes) -> bytes:
    """The query without what Gradio's route of “/” reads."""
    names = (b"page", b"deep_link")
    return b"&".join(part for part in query.split(b"&") if unquote_to_bytes(part.partition(b"=")[0]) not in names)


def _is_file_path(path: str) -> bool:
    """Whether a file system would take the path for one: Gradio does not ask, and fails."""
    return "\0" not in path and all(len(part.encode("utf-8", "replace")) < 256 for part in path.split("/"))


class RequestSize:
    """Refuses bodies over the limit (413), by what they announce and, where they announce nothing, as they arrive;
    uploads also for want of room, which they are given before they are read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.room = app, uploads.Room()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        uploading = scope["path"].rstrip("/") == UPLOAD_PATH and scope["method"] == "POST"
        limit = MAX_UPLOAD if uploading else MAX_REQUEST
        announced = Headers(scope=scope).get("content-length", "0")
        if not announced.isdecimal() or len(announced) > 18 or int(announced) > limit:
            await refuse(scope, receive, send, 413, _at_most(limit))
        elif uploading:
            await self._upload(scope, receive, send, int(announced))
        else:
            await _CountedRequest(self.app, limit).run(scope, receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send, announced: int) -> None:
        upload = self.room.begin(announced)
        if upload is None:
            await refuse(scope, receive, send, 413, FULL)
            return
        counted = _CountedRequest(self.app, MAX_UPLOAD, upload)
        try:
            await counted.run(scope, receive, send)
        finally:
            upload.end(stored=counted.status == 200)


class _CountedRequest:
    """One request whose body is counted as the app reads it."""

    def __init__(self, app: ASGIApp, limit: int, upload: uploads.Upload | None = None) -> None:
        self.app, self.limit, self.upload = app, limit, upload
        self.read, self.whole, self.problem = 0, False, ""
        self.status = 0  # of the reply, once it began

    async def run(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and answer 413 where its body went on past the limit, or had no room."""

        async def counted_receive() -> Message:
            message = await receive()
            self._count(message)
            if self.problem:
                raise _BodyCutShort(self.problem)
            return message

        async def own_send(message: Message) -> None:
            # What the app makes of the interruption (a 400, a 500) is not what a person should read.
            if not self.problem or self.status:
                self.status = message.get("status", self.status)
                await send(message)

        try:
            await self.app(scope, counted_receive, own_send)
        except Exception:
            if not self.problem:
                raise
        if self.problem and not self.status:
            await refuse(scope, receive, send, 413, self.problem)

    def _count(self, message: Message) -> None:
        size = len(message.get("body", b""))
        self.read += size
        self.whole = self.whole or (message["type"] == "http.request" and not message.get("more_body", False))
        if self.read > self.limit:
            self.problem = _at_most(self.limit)
        elif self.upload and not self.upload.take(size):
            self.problem = FULL
        elif message["type"] == "http.disconnect" and not self.whole:
            self.problem = "The connection ended before the whole body came."


def _at_most(limit: int) -> str:
    return f"At most {limit // MEGABYTE} MB at once."


async def refuse(
    scope: Scope, receive: Receive, send: Send, status: int, sentence: str, headers: dict[str, Any] | None = None
) -> None:
    """Answer with a status and a sentence; a websocket is closed before it opens."""
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": sentence})
        return
    await PlainTextResponse(f"{sentence}\n", status_code=status, headers=headers)(scope, receive, send)
