"""The Rewards page's one live part: library, editor, builder, workbench and re-scoring of reward functions.

The page holds the text that is typed; every function here is handed it and says what it means. Nothing typed is run
here: what tries it is the worker, in its sandbox.
"""

from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.pages.new import view
from groupwise.app.pages.new.question_status import cancel_all, cancel_question, read_answer
from groupwise.app.pages.rewards import asking, led_here, library_view, sources
from groupwise.app.ui.live import Payload, Unanswerable, answer, live, text
from groupwise.storage.library import presets
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import builder, library, pasted, rename, strip_script, templates
from groupwise.storage.registry.messages.functions import MOST_CODE

LONGEST = 100_000  # characters of what is taken as a function's name
MOST_NAMES = 64  # functions of a text that are renamed in at once


def code_of(payload: Payload, key: str = "text") -> str:
    """The code of a payload. Raises Unanswerable where it is none, or too long."""
    sent = payload.get(key)
    if not isinstance(sent, str) or len(sent) > MOST_CODE:
        raise Unanswerable(f"A reward function is a text of at most {MOST_CODE // 1024} KB.")
    return sent


def name_of(payload: Payload) -> str:
    """The name of a function in a payload, whole: what is wrong with a long one is said of all of it. What is beyond
    any name is cut."""
    return text(payload, "name", LONGEST)


@answer
def open_rewards(payload: Payload) -> dict[str, Any]:
    """All that the page chooses from: the library, templates, the builder's blocks, data, and whether code can run."""
    offer = Offer.read_published()
    return {
        "library": library_view.list_functions(offer),
        "complete": bool(offer.rewards),
        "templates": templates.templates(),
        "kinds": view.json_value(builder.KINDS),
        "sources": sources.list_sources(),
        "trl": library_view.TRL_NAMES,
        "sandbox": offer.sandbox,
        "most_code": MOST_CODE,
    }


@answer
def list_data(payload: Payload) -> dict[str, Any]:
    """The data that can be chosen, as it is now: runs begin, end and grow older while a page is open."""
    return sources.list_sources()


@answer
def show_function(payload: Payload) -> dict[str, Any]:
    """One function of the library: code, versions, users."""
    return library_view.describe_function(name_of(payload), text(payload, "version", 64), Offer.read_published())


@answer
def analyse_code(payload: Payload) -> dict[str, Any]:
    """What can be said of a text as it is typed: its functions, and problems with their lines."""
    columns = payload.get("columns")
    known = {name for name in columns if isinstance(name, str)} if isinstance(columns, list) else None
    return library_view.analyse_text(code_of(payload), name_of(payload), known)


@answer
def save_function(payload: Payload) -> dict[str, Any]:
    """Keep the text as the newest version of a function; the library then. `onto`: the newest version that the page
    knows of, "" for none: where the library has another, nothing is saved and that one is told, as `newer`."""
    name, network, onto = name_of(payload), payload.get("network") is True, payload.get("onto")
    try:
        kept = library.save_reward(
            name, code_of(payload), network=network, onto=onto if isinstance(onto, str) else None
        )
        found: dict[str, Any] = {"name": kept.name, "hash": kept.hash}
    except library.NewerVersion as error:
        found = {"newer": {"hash": error.newest.hash, "at": error.newest.at, "code": error.newest.code}}
    return {**found, "library": library_view.list_functions(Offer.read_published())}


@answer
def rename_function(payload: Payload) -> dict[str, Any]:
    """Give one of one's own, with all its versions, the name `new`: {name, hash: of its newest then, text: the one that
    is typed and not saved, under that name; presets: those that have the function by its old name; library}."""
    old, new = name_of(payload), text(payload, "new", LONGEST)
    typed = code_of(payload) if payload.get("text") else ""
    renamed = library_view.text_under_name(typed, old, new)
    kept = library.rename_reward(old, new)
    named = presets.presets_with_reward(old)
    found = library_view.list_functions(Offer.read_published())
    return {"name": kept.name, "hash": kept.hash, "text": renamed, "presets": named, "library": found}


@answer
def delete_function(payload: Payload) -> dict[str, Any]:
    """Delete one of one's own; the library then. Runs keep the copy they ran with."""
    library.delete_reward(name_of(payload))
    return {"library": library_view.list_functions(Offer.read_published())}


@answer
def restore_function(payload: Payload) -> dict[str, Any]:
    """Put a deleted one back, with the version `hash` as its newest; the library then."""
    library.restore_reward(name_of(payload), text(payload, "hash", 64))
    return {"library": library_view.list_functions(Offer.read_published())}


@answer
def compare_texts(payload: Payload) -> dict[str, Any]:
    """What changed from one text to another."""
    return {"lines": library_view.difference(code_of(payload, "old"), code_of(payload, "new"))}


@answer
def clean_paste(payload: Payload) -> dict[str, Any]:
    """What was pasted, or is in a file, as Python, with what can be said of it."""
    return library_view.clean_text(code_of(payload))


@answer
def strip_code(payload: Payload) -> dict[str, Any]:
    """What was pasted, as Python, with all that its reward functions do not need turned into comments; `stand_ins` and
    `commented` as in `clean_paste`."""
    code = code_of(payload)
    clean = pasted.clean_paste(code)
    alone = strip_script.keep_only(clean)
    commented = library_view.count_comments_made(code, clean, alone)
    return {"text": alone, "stand_ins": strip_script.stand_ins(clean, alone), "commented": commented}


@answer
def rename_column(payload: Payload) -> dict[str, Any]:
    """The text with an argument of some functions (`names`) named as the data names the column."""
    old, new, code = text(payload, "old", 200), text(payload, "new", 200), code_of(payload)
    sent = payload.get("names")
    for name in sent[:MOST_NAMES] if isinstance(sent, list) else []:
        code = rename.rename_argument(code, str(name), old, new)
    return {"text": code}


@answer
def build_function(payload: Payload) -> dict[str, Any]:
    """The Python that the builder's blocks mean, or what is wrong with them."""
    sentence, mapped = text(payload, "sentence", 300), text(payload, "mapped", 300)
    return library_view.build_code(name_of(payload), payload.get("blocks"), sentence, mapped)


@answer
def run_rewards(payload: Payload) -> dict[str, Any]:
    """The functions that some settings (a run's, a preset's) have, and how each is set; the column of the data that
    they map as its answer, the decimal mark that it was written with, where only its numbers are kept; where the rows
    are from; and a fix that gives a draft the same data."""
    spec = sources.source_spec(text(payload, "data", 300_000))
    said = [
        {"name": one.name, "weight": one.weight, "timeout": one.timeout, "parameters": one.parameters}
        for one in spec.rewards
    ]
    mapped, decimal = spec.data.answer_column or "", spec.data.answer_numbers
    return {"rewards": view.json_value(said), "answer": mapped, "decimal": decimal if mapped else None,
            "source": spec.data.source, "taking": view.json_value(sources.taking_data(spec.data))}  # fmt: skip


@answer
def map_data(payload: Payload) -> dict[str, Any]:
    """A draft's text with its data mapped by these settings; those that are None are taken out."""
    settings = payload.get("settings")
    return {"text": sources.mapped_text(text(payload, "text", 300_000), settings if isinstance(settings, dict) else {})}


@answer
def ask_worker(payload: Payload) -> dict[str, Any]:
    """Ask the worker; the question's number."""
    return {"question": asking.ask_workbench(text(payload, "kind"), payload)}


def rewards_page() -> gr.HTML:
    """The Rewards page's live part."""
    functions = (
        open_rewards,
        list_data,
        show_function,
        analyse_code,
        save_function,
        rename_function,
        delete_function,
        restore_function,
        compare_texts,
        clean_paste,
        strip_code,
        rename_column,
        build_function,
        run_rewards,
        map_data,
        led_here.verdict_of_run,
        led_here.corrected_run,
        led_here.failure_in_run,
        ask_worker,
        read_answer,
        cancel_question,
        cancel_all,
    )
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return live("pages/rewards/rewards_page", *functions, template=template, late=True)
