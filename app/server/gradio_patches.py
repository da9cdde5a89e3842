"""What stands before everything else in a page: Gradio's own `head` comes when its scripts run already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradio.routes import templates
from jinja2 import FunctionLoader

# Gradio's loading screen counts its seconds frame by frame, and is not told to stop when it goes: a page would make
# sixty frames a second for as long as it is open. Once the page stands, the counting gets no next frame.
SCRIPT = """<script>
{
  const frame = window.requestAnimationFrame;
  const counts = (then) => document.querySelector(".gw") && String(then).includes("performance.now()");
  window.requestAnimationFrame = (then) => (counts(then) ? 0 : frame.call(window, then));
}
</script>"""

Source = tuple[str, str | None, Callable[[], bool] | None]


def write_page_patch(head: Callable[[Any], str]) -> None:
    """Put the script at the beginning of the page that Gradio serves, and what `head` makes of a request for one."""
    env = templates.env
    loader = env.loader
    assert loader is not None
    env.globals["groupwise_head"] = head

    def source(name: str) -> Source:
        text, path, fresh = loader.get_source(env, name)
        return (
            text
            if SCRIPT in text
            else text.replace("<head>", f"<head>\n{SCRIPT}\n{{{{ groupwise_head(request) }}}}", 1),
            path,
            fresh,
        )

    env.loader = FunctionLoader(source)
