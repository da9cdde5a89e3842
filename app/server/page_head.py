"""What stands in the head of each page as it is served, and the route that serves our own JavaScript.

Gradio's own `head` comes late, when its scripts already run. Modules that stand here are fetched while Gradio's are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from groupwise.app.server import static_scripts
from groupwise.app.ui import live, modules

EARLY, MOUNT = "ui/early_clicks.js", "ui/mount.js"  # in the page itself
THEME, PART = "ui/theme.js", "ui/part.js"
FOR_EVER = "private, max-age=31536000, immutable"  # an address is of one text


def first(request: Request, looks: Mapping[str, Callable[[str], dict[str, Any]]]) -> Markup:
    """What a page knows before anything else runs: its settings, what runs its parts, and its theme. `looks`: by path,
    what a page that is of one run would ask for first."""
    look = looks.get(f"/{request.url.path.strip('/')}")
    found = {
        "libraries": static_scripts.addresses(),
        "guarded": bool(request.scope.get("guarded")),
        "mount": modules.address(PART),
        "first": look(request.query_params.get("id", "")) if look else {},
    }
    settings = bytes(live.reply(found).body).decode().replace("<", "\\u003c")
    inlined = "\n".join(modules.sources()[name].decode() for name in (EARLY, MOUNT))
    return Markup(
        f'<script type="application/json" id="groupwise-settings">{settings}</script>\n'
        f"<script>\n{inlined}</script>\n"
        f'<script type="module" src="{modules.address(THEME)}"></script>'
    )


def last(request: Request, parts: Mapping[str, Sequence[str]]) -> Markup:
    """What the page will import, to be fetched while nothing of Gradio's waits. `parts`: of each page's path, the
    modules it begins with."""
    wanted = modules.with_imports([THEME, *parts.get(f"/{request.url.path.strip('/')}", ()), PART])
    link = '<link rel="modulepreload" fetchpriority="low" href="{}">'
    return Markup("\n".join(link.format(modules.address(name)) for name in wanted))


async def module(request: Request) -> Response:
    """One of our modules; 404 for any other path, and for another version's."""
    asked = request.path_params
    text = modules.sources().get(asked["name"]) if asked["digest"] == modules.digest() else None
    if text is None:
        return PlainTextResponse("There is no such module. Load the page again.\n", status_code=404)
    return Response(text, media_type="text/javascript", headers={"Cache-Control": FOR_EVER})
