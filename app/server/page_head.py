"""What stands in the head of each page as it is served, and the route that serves our own JavaScript.

Gradio's own `head` comes late, when its scripts already run. Modules that stand here are fetched while Gradio's are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from groupwise.app.server import static_scripts
from groupwise.app.ui import modules

FIRST = ("ui/theme.js", "ui/part.js")  # of every page
FOR_EVER = "private, max-age=31536000, immutable"  # an address is of one text


def head(request: Request, parts: Mapping[str, Sequence[str]]) -> Markup:
    """The page's settings, its theme, and what it will import. `parts`: of each page's path, the modules it begins
    with."""
    found = {"libraries": static_scripts.addresses(), "guarded": bool(request.scope.get("guarded"))}
    settings = json.dumps(found).replace("<", "\\u003c")
    wanted = modules.with_imports([*FIRST, *parts.get(f"/{request.url.path.strip('/')}", ())])
    lines = [
        f'<script type="application/json" id="groupwise-settings">{settings}</script>',
        *(f'<link rel="modulepreload" href="{modules.address(name)}">' for name in wanted),
        f'<script type="module" src="{modules.address("ui/theme.js")}"></script>',
    ]
    return Markup("\n".join(lines))


async def module(request: Request) -> Response:
    """One of our modules; 404 for any other path, and for another version's."""
    asked = request.path_params
    text = modules.sources().get(asked["name"]) if asked["digest"] == modules.digest() else None
    if text is None:
        return PlainTextResponse("There is no such module. Load the page again.\n", status_code=404)
    return Response(text, media_type="text/javascript", headers={"Cache-Control": FOR_EVER})
