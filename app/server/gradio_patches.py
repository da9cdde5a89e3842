"""What stands before everything else in a page: Gradio's own `head` comes when its scripts run already."""

import re
from collections.abc import Callable
from typing import Any

from gradio.routes import templates
from jinja2 import FunctionLoader

# Gradio's loading screen counts its seconds frame by frame, and is not told to stop when it goes: a page would make
# sixty frames a second for as long as it is open. Once the page stands, the counting gets no next frame; it is known by
# its arithmetic, milliseconds by a thousand: others that look at the clock in a frame have theirs.
SCRIPT = r"""<script>
{
  const frame = window.requestAnimationFrame;
  const counts = (then) => document.querySelector(".gw") && /performance\.now\(\).*\/1e3/.test(then);
  window.requestAnimationFrame = (then) => (counts(then) ? 0 : frame.call(window, then));
}
</script>"""

# What Gradio links to and answers with 404, unless a page is to be installed as an app.
MANIFEST = re.compile(r'<link rel="manifest"[^>]*>\s*')

Source = tuple[str, str | None, Callable[[], bool] | None]


def write_page_patch(first: Callable[[Any], str], last: Callable[[Any], str]) -> None:
    """Put the script at the beginning of the head of the page that Gradio serves, then what `first` makes of a request
    for one; and what `last` makes of it at the end of the head."""
    env = templates.env
    loader = env.loader
    assert loader is not None
    env.globals |= {"groupwise_first": first, "groupwise_last": last}

    def source(name: str) -> Source:
        text, path, fresh = loader.get_source(env, name)
        if SCRIPT not in text:
            text = text.replace("<head>", f"<head>\n{SCRIPT}\n{{{{ groupwise_first(request) }}}}", 1)
            text = text.replace("</head>", "{{ groupwise_last(request) }}\n</head>", 1)
            text = MANIFEST.sub("", text)
        return text, path, fresh

    env.loader = FunctionLoader(source)
