"""The dashboard as a web server: Gradio's pages mounted behind our own doors (hosts, origins, sizes, login)."""

from __future__ import annotations

import errno
import logging
import os
import re
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from groupwise.app.core import data_files
from groupwise.app.core.command_errors import DONE, FAILED, WRONG_INPUT, CommandError, open_home
from groupwise.app.core.terminal import print_outcome
from groupwise.app.core.worker_process import Watch
from groupwise.app.server import connections, exports, gradio_import, guard, login, uploads
from groupwise.app.server.proxy import ForwardedHeaders, Proxies
from groupwise.app.ui import modules
from groupwise.storage.home import locks, paths
from groupwise.storage.registry import judge_ports, registry
from groupwise.storage.registry.messages.facts import TrustRewardCode, WarmStart

if TYPE_CHECKING:
    from fastapi import FastAPI

DEFAULT_PORT = 7860
LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"]
HOST_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\]")
NO_TELEMETRY = {"tracing": False, "metrics": False, "logs": False}  # FastAPI else looks for it at each request
CLEAN_EVERY = 3600  # seconds between two looks of Gradio's at what was uploaded
NEVER = 1e7  # seconds (four months): as good as never, and within what an event loop can wait


@dataclass(frozen=True)
class Settings:
    """How to serve. `port` None: 7860, or a free one. `open_browser` None: where there is a person and a display.

    `token_is_new`: made here, so it has to be printed. One that was given is known, and a log is no place for it.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    token: str | None = None
    allow_hosts: list[str] = field(default_factory=list)
    open_browser: bool | None = None
    token_is_new: bool = False
    proxies: list[str] = field(default_factory=list)  # addresses of those whose word on a request's origin counts
    trusted: bool = False  # --trust-reward-code: nothing a page can say, only whoever starts the dashboard
    warm_start: bool = True  # --no-warm-start: no spare training process waits for the next run

    @property
    def beyond_this_machine(self) -> bool:
        """Whether others reach it, by themselves or through a proxy."""
        return not is_loopback(self.host) or bool(self.proxies)

    @property
    def hosts(self) -> list[str]:
        """The names a request may call this server by, without port."""
        return [*LOOPBACK_NAMES, *self.allow_hosts]


def is_loopback(host: str) -> bool:
    """Tell whether an address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def refuse_unsafe(settings: Settings) -> None:
    """Raise CommandError for settings that would leave the dashboard open, with what to do instead."""
    for name in settings.allow_hosts:
        if not HOST_NAME.fullmatch(name):
            raise CommandError(
                f"--allow-host takes one exact name or address, without port or “*”, not “{name}”.", WRONG_INPUT
            )
    try:
        Proxies.parse(settings.proxies)
    except ValueError as error:
        raise CommandError(
            f"--proxy takes the exact address of a proxy, or its network (10.0.0.0/24): {error}.", WRONG_INPUT
        ) from error
    if settings.token is not None and len(settings.token) < login.MIN_TOKEN:
        raise CommandError(
            f"The token has {len(settings.token)} characters and needs {login.MIN_TOKEN}. `--token auto` makes one.",
            WRONG_INPUT,
        )
    if settings.beyond_this_machine and (settings.token is None or not settings.allow_hosts):
        opening = "A proxy" if is_loopback(settings.host) else f"Listening on {settings.host}"
        raise CommandError(
            f"{opening} lets other machines in, so it needs a token and the name they call this "
            "machine by: add --token auto (or set GROUPWISE_TOKEN) and --allow-host NAME. From your own machine, an "
            f"SSH tunnel needs neither: ssh -L {DEFAULT_PORT}:localhost:{DEFAULT_PORT} THIS-MACHINE.",
            WRONG_INPUT,
        )


def create_app(settings: Settings) -> FastAPI:
    """The whole application. Sets this process's GRADIO_ environment, so gradio must not be imported before."""
    _own_gradio_environment()
    gradio_import.import_gradio()
    import gradio as gr
    from fastapi import FastAPI
    from starlette.middleware.cors import CORSMiddleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from groupwise.app.server import calls, missing_run, page_shell, unknown_page
    from groupwise.app.ui import topbar

    blocks = page_shell.build()
    blocks.delete_cache = (CLEAN_EVERY, uploads.KEEP_SECONDS)
    quiet: dict[str, Any] = {"docs_url": None, "redoc_url": None, "openapi_url": None, "telemetry": NO_TELEMETRY}
    api = FastAPI(**quiet)
    _add_own_routes(api, settings)
    for path in calls.PATHS:
        api.add_route(path, partial(calls.call, table=calls.function_table(blocks)), methods=["POST"])
    # Each add_middleware wraps those before it: the last added is the first that a request meets. CORSMiddleware
    # is here because Gradio then leaves off its own, which would reflect any origin.
    api.add_middleware(CORSMiddleware, allow_origins=[])
    api.add_middleware(missing_run.MissingRun)
    unknown = partial(unknown_page.unknown_page, pages=topbar.PAGES)
    api.add_middleware(guard.OpenPaths, pages=[f"/{page[0]}" for page in blocks.pages], unknown=unknown)
    if settings.token is not None:
        api.add_middleware(login.LoginGuard, gate=api.state.gate)
    api.add_middleware(guard.RequestSize)
    api.add_middleware(guard.OriginGuard)
    api.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.hosts, www_redirect=False)
    api.add_middleware(ForwardedHeaders, proxies=Proxies.parse(settings.proxies))
    api.add_middleware(guard.HeadSize)
    api.add_middleware(guard.ReplyHeaders)

    # Said of every app with several pages, whether or not it asked for SSR.
    warnings.filterwarnings("ignore", message="SSR mode is not supported")
    mounted = gr.mount_gradio_app(
        api, blocks, path="/",
        footer_links=[], run_history=False, show_error=False, enable_monitoring=False, mcp_server=False,
        ssr_mode=False, pwa=False, allowed_paths=[], max_file_size=data_files.MAX_FILE,
        app_kwargs=quiet, **page_shell.mount_options(),
    )  # fmt: skip
    # Gradio looks a thousand times a second for events in a queue that no page of ours can fill (see guard), and a
    # hundred times a second for news of them: 2 % of a processor for as long as a dashboard is open.
    blocks._queue.sleep_when_free = blocks._queue.progress_update_sleep_when_free = NEVER
    return mounted


def _own_gradio_environment() -> None:
    """Drop every GRADIO_ variable (several would widen access) and set the two that only a variable can set."""
    for name in [name for name in os.environ if name.startswith("GRADIO_")]:
        del os.environ[name]
    os.environ |= {"GRADIO_TEMP_DIR": str(uploads.prepare()), "GRADIO_ANALYTICS_ENABLED": "False"}


def _add_own_routes(api: FastAPI, settings: Settings) -> None:
    from starlette.responses import PlainTextResponse, RedirectResponse, Response

    from groupwise.app.server import downloads, news, page_head

    async def healthz(_: Any) -> Response:
        return PlainTextResponse("ok\n")

    async def nothing_to_do(_: Any) -> Response:
        return RedirectResponse("/", status_code=303)

    api.add_route("/healthz", healthz)
    api.add_route("/runs", nothing_to_do)  # what people type for the first page
    api.add_route(f"{modules.PREFIX}{{digest}}/{{name:path}}", page_head.module)
    api.add_route("/export", exports.export_completions, methods=["GET"])
    api.add_route("/download", downloads.download_folder, methods=["GET"])
    api.add_route("/log", downloads.download_log, methods=["GET"])
    api.add_route("/file", downloads.download_file, methods=["GET"])
    api.add_route("/news", partial(news.tell, waiting=news.Waiting()), methods=["GET"])
    if settings.token is None:
        for path in ("/login", "/logout"):
            api.add_route(path, nothing_to_do, methods=["GET", "POST"])
        return
    cookie = f"groupwise_session_{settings.port or DEFAULT_PORT}"
    api.state.gate = login.Gate(settings.token, cookie, made=settings.token_is_new)
    api.add_route("/login", login.show)
    api.add_route("/login", partial(login.enter, gate=api.state.gate), methods=["POST"])
    api.add_route("/logout", nothing_to_do)  # a link, or an image, logs nobody out
    api.add_route("/logout", partial(login.leave, gate=api.state.gate), methods=["POST"])


def ports_for_judges(settings: Settings) -> list[int]:
    """The ports of this machine that the environment opens to reward functions. Raises CommandError for what is none,
    and for the dashboard's own: who reaches it could start runs."""
    try:
        ports = judge_ports.ports_from_environment()
    except ValueError as error:
        raise CommandError(str(error), WRONG_INPUT) from error
    if settings.port in ports:
        raise CommandError(
            f"{judge_ports.VARIABLE} opens port {settings.port} to reward functions, so the dashboard cannot use it. "
            "Choose another with --port, or remove it from the variable.",
            WRONG_INPUT,
        )
    return ports


def open_socket(settings: Settings, without: Collection[int] = ()) -> socket.socket:
    """A bound socket on the port asked for, or (where none was) on the first free one from 7860 on that is none of
    `without`."""
    free = [port for port in range(DEFAULT_PORT, DEFAULT_PORT + 20 + len(without)) if port not in without]
    for port in [settings.port] if settings.port is not None else [*free, 0]:
        try:
            return _bind(settings.host, port)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and settings.port is None:
                continue
            advice = " Choose another with --port." if error.errno in (errno.EADDRINUSE, errno.EACCES) else ""
            reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be used: {error.strerror}"
            raise CommandError(f"Port {port} of {settings.host} {reason}.{advice}") from error
    raise AssertionError("port 0 is always free")


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)  # at once: two servers that start together must not both think they have the port
    except OSError:
        listener.close()
        raise
    return listener


def serve(settings: Settings) -> int:
    """Serve until Ctrl-C; the exit code. Runs and their worker go on afterwards."""
    refuse_unsafe(settings)
    for_judges = ports_for_judges(settings)
    open_home()
    listener = open_socket(settings, for_judges)
    port = listener.getsockname()[1]
    locks.hold(paths.dashboards_lock(), shared=True, at=port)
    if settings.port is None and port != DEFAULT_PORT:
        _tell(f"Port {DEFAULT_PORT} is taken; using {port}.")
    settings = replace(settings, port=port)
    registry.publish_fact(TrustRewardCode(trusted=settings.trusted))
    registry.publish_fact(WarmStart(wanted=settings.warm_start))
    judge_ports.publish_ports(for_judges)
    if settings.trusted:
        _tell("Reward functions of people's own run WITHOUT a sandbox (--trust-reward-code).")
    watch = Watch()
    served = _serve_until_stopped(create_app(settings), settings, listener, lambda: _announce(settings, watch))
    watch.stop()
    if not served:
        return FAILED
    _tell("The dashboard has stopped. Runs go on; `groupwise` shows them again.")
    return DONE


def _tell(text: str) -> None:
    """On standard error where nothing else can be written: that is no reason to stop serving."""
    print_outcome(text, text)


def _announce(settings: Settings, watch: Watch) -> None:
    """The server accepts: say where, and only now start the worker, which would compete with the first page."""
    name = settings.host if is_loopback(settings.host) else settings.allow_hosts[0]
    url = f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{settings.port}"
    how = f"\nThrough the proxy it is {settings.allow_hosts[0]}." if settings.proxies else ""
    how += "\nLog in with your token." if settings.token is not None and not settings.token_is_new else ""
    if settings.token_is_new:
        url += f"/login#{settings.token}"
    _tell(f"Groupwise is at {url}{how}\nCtrl-C stops the dashboard; runs go on.")
    watch.start()
    if settings.open_browser or (settings.open_browser is None and _someone_is_there()):
        threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()


def _someone_is_there() -> bool:
    display = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.stdout.isatty() and bool(display)


def _serve_until_stopped(
    app: FastAPI, settings: Settings, listener: socket.socket, accepting: Callable[[], None]
) -> bool:
    """Serve until a signal says stop; whether serving ever began."""
    import uvicorn

    crowd = connections.Crowd(connections.most_connections(), Proxies.parse(settings.proxies))

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Begin to accept, and say so."""
            await super().startup(sockets)
            if self.started:
                accepting()

        async def on_tick(self, counter: int) -> bool:
            """End the connections that kept us waiting too long."""
            if counter % 10 == 0:  # about once a second
                crowd.sweep()
            return await super().on_tick(counter)

        def handle_exit(self, sig: int, frame: Any) -> None:
            """End at once when a signal says so."""
            # Open pages hold connections that never end by themselves: cut off, at once, and that is no error.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            self.should_exit = self.force_exit = True

    config = uvicorn.Config(
        app,
        http=connections.protocol(crowd),
        h11_max_incomplete_event_size=guard.MAX_HEAD,
        backlog=connections.BACKLOG,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        log_level="error",
        use_colors=False,
        access_log=False,
        server_header=False,
    )
    server = Server(config)
    server.run([listener])
    return server.started
