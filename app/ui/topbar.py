"""The bar on top of every page: where one is, what hardware there is, whether the worker is there."""

import gradio as gr

from groupwise.app.core import worker_process
from groupwise.app.ui.live import Payload, answer, live
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Hardware

TRUSTED = (
    "Your own reward functions run without a sandbox (--trust-reward-code): they can do all that you can on this "
    "machine. Start Groupwise without it to contain them."
)
PAGES = {"Runs": "/", "Compare": "/compare", "New run": "/new", "Rewards": "/rewards"}


@answer
def worker_status(payload: Payload) -> dict[str, object]:
    """The hardware sentence (null until the worker has looked), whether a worker holds this home, whether what it
    answers questions with is still loading, and whether people's own reward functions run without a sandbox."""
    hardware = registry.read_fact(Hardware)
    return {
        "hardware": hardware.sentence if hardware else None,
        "ready": worker_process.worker_lives(),
        "loading": worker_process.loads_libraries(),
        "trusted": registry.is_trusted(),
    }


def topbar(current: str) -> gr.HTML:
    """The bar; the page of this name, if it is one of PAGES, is marked as the current one."""
    links = "".join(
        f'<a href="{path}"{" aria-current=page" if name == current else ""}>{name}</a>' for name, path in PAGES.items()
    )
    template = (
        '<a class="skip" href="#">Skip to content</a>'
        f'<a class="brand" href="/">Groupwise</a><nav aria-label="Pages">{links}</nav><span class="grow"></span>'
        '<span class="hardware s mut"></span><span class="worker pill s" hidden><i></i><span></span></span>'
        '<form class="logout" method="post" action="/logout" hidden><button class="s">Log out</button></form>'
        f'<p class="trusted s" role="alert" hidden>{TRUSTED}</p>'
    )
    return live("ui/topbar", worker_status, template=template, elem_id="gw-topbar")
