"""What stands at an address that the dashboard has nothing for: a page with the way to those that there are."""

import html
from collections.abc import Mapping

from groupwise.app.ui import sheets

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>No such page · Groupwise</title><style>{style}
body{{margin:0;font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}}
main{{max-width:520px;margin:14vh auto;padding:0 16px;overflow-wrap:anywhere}}
main .row{{margin-top:16px}}</style></head>
<body><script>
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.body.classList.toggle("dark", dark.matches);
dark.addEventListener("change", follow);
follow();
</script>
<div class="gw gw-topbar"><a class="brand" href="/">Groupwise</a><nav aria-label="Pages">{links}</nav></div>
<main class="gw"><h1>No such page</h1><p class="mut">There is nothing at <code class="mono">{path}</code>. The address
may be mistyped, or the page may have moved.</p><div class="row">{buttons}</div></main></body></html>
"""


def unknown_page(path: str, pages: Mapping[str, str]) -> str:
    """The page for an unknown path; `pages`: the address of each page that is linked, by its name."""
    link = '<a href="{}">{}</a>'.format
    return PAGE.format(
        style=sheets.style_text(pages=False),
        links="".join(link(html.escape(address), html.escape(name)) for name, address in pages.items()),
        buttons='<a class="btn pri" href="/">See all runs</a><a class="btn" href="/new">New run</a>',
        path=html.escape(path[:200]),
    )
