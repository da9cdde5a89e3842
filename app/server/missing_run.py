"""Middleware that gives the page of a run that is not there its status: Gradio answers 200 whatever the query says."""

from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from groupwise.app.ui.live import run_by_id
from groupwise.storage.registry import registry

PATH = "/run"


class MissingRun:
    """Answers 404, with the page that says so, where the address of a run's page names none that is there."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].rstrip("/") != PATH:
            await self.app(scope, receive, send)
            return
        missing = await run_in_threadpool(is_missing, scope.get("query_string", b""))

        async def send_with_status(message: Message) -> None:
            if missing and message["type"] == "http.response.start" and message["status"] == 200:
                message["status"] = 404
            await send(message)

        await self.app(scope, receive, send_with_status)


def is_missing(query: bytes) -> bool:
    """Whether no run has the id that a query gives; not where that cannot be found out: the page says why."""
    ids = parse_qs(query.decode("latin-1"), keep_blank_values=True).get("id", [""])
    try:
        return run_by_id(ids[0]) is None
    except (OSError, registry.RegistryError):
        return False
