"""The New run page's one live part: the form, the YAML and the script of a spec, and what is known about it.

The page holds nothing but the spec's text; every function here is handed that text and answers what it means.
"""

import sqlite3
from dataclasses import asdict
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.core import data_files, field_labels, setting_words
from groupwise.app.pages.new import (
    advised,
    choices,
    edits,
    form,
    found_reading,
    imports,
    launch,
    past_reading,
    presets,
    reward_choices,
    view,
    worker_requests,
    yaml_edit,
)
from groupwise.app.pages.new.question_status import cancel_all, cancel_question, read_answer
from groupwise.app.ui.live import Payload, Unanswerable, answer, live, text, texts, whole_number
from groupwise.storage.home import db, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.presets import LONGEST_NAME
from groupwise.storage.registry import registry
from groupwise.storage.spec.rows import file_format
from groupwise.storage.spec.rows.text_kinds import TEXT_WORDS
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml.too_large import too_large_problem
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES, is_too_large


def spec_text(payload: Payload) -> str:
    """The spec's text of a payload. Raises Unanswerable where it is none, or too long for one."""
    sent = _any_text(payload)
    if len(sent) > MAX_BYTES:
        raise Unanswerable(too_large_problem(sent, MAX_BYTES).message)
    return sent


def _any_text(payload: Payload) -> str:
    """The text of a payload, however long. Raises Unanswerable where it is none."""
    sent = payload.get("text")
    if not isinstance(sent, str):
        raise Unanswerable(f"A spec is a text of at most {MAX_BYTES // 1024} KB.")
    return sent


@answer
def open_new_run(payload: Payload) -> dict[str, Any]:
    """What the address asks for (a run's settings, from one of its stages on, a preset, or the quickstart; with a
    reward function added or removed, other data, and settings changed), and the form to show it in. `before`: what each
    field showed of its own data, where it has other data now."""
    try:
        offer, listed, sentence = Offer.read_published(), presets.list_presets(), ""
    except (sqlite3.Error, registry.RegistryError) as error:
        offer, listed, sentence = Offer(), presets.list_presets(own=False), _unreadable(error)
    asked_for = text(payload, "from"), text(payload, "preset"), text(payload, "reward", 100), payload.get("set")
    stage = int(number) if (number := text(payload, "stage", 4)).isdecimal() else 0
    fixed, without = text(payload, "fixed", 100), text(payload, "without", 100)
    begun = presets.begin(
        *asked_for, offer, as_is=bool(text(payload, "keep")), stage=stage, fixed=fixed, without=without,
        data=payload.get("data"),
    )  # fmt: skip
    shown = {**form_choices(offer), "presets": listed}
    seen = view.describe_text(begun.text, offer)
    arrival = begun.arrival(seen.get("shown", {}))
    at = text(payload, "at", 100)
    if arrival and (advice := advised.advice_followed(asked_for[0], text(payload, "verdict", 40), at)):
        arrival["advised"] = {**advice, "field": at, "shown": seen.get("shown", {}).get(at, "")}
    about = {"text": begun.text, "origin": begun.origin, "arrival": arrival, "missing": begun.missing}
    about |= {"form": shown, "view": seen}
    about["before"] = view.fields(yaml_edit.load(begun.other_data) or {}) if begun.other_data else None
    return {**about, "sentence": sentence} if sentence else about


def _unreadable(error: sqlite3.Error | registry.RegistryError) -> str:
    """A damaged, locked or missing registry, in a sentence."""
    if isinstance(error, registry.RegistryError):
        return str(error)
    return f"The registry could not be read just now ({error}). Trying again."


def form_choices(offer: Offer) -> dict[str, Any]:
    """All that the form offers to choose from. `complete`: whether the worker has said what is installed."""
    return {
        "complete": offer.training is not None,
        "fields": form.describe(offer),
        "removed": form.removed_settings(offer),
        "usual_lora": field_labels.USUAL_LORA,
        "rewards": reward_choices.reward_functions(offer),
        "reward_fields": form.reward_fields(),
        "gym": form.gym(offer),
        "operators": form.OPERATORS,
        "models": choices.models(),
        "tasks": choices.tasks(offer),
        "files": past_reading.describe_files(),
        "past_settings": list(past_reading.PATHS),
        "file_suffixes": list(file_format.DATA_SUFFIXES),
        "file_words": setting_words.FILE_WORDS,
        "spec_limit": MAX_BYTES,
        "preset_name_limit": LONGEST_NAME,
        "upload_limit": data_files.MAX_FILE,
        "upload_limit_words": choices.LIMIT,
        "upload_advice": choices.upload_advice(),
        "data_comments": presets.data_comments(),
    }


@answer
def add_reward(payload: Payload) -> dict[str, Any]:
    """The text with a reward function among its rewards, and what to say of it (see `presets.add_to_draft`)."""
    return presets.add_to_draft(spec_text(payload), text(payload, "reward", 100), Offer.read_published())


@answer
def edit_settings(payload: Payload) -> dict[str, Any]:
    """The text with the page's edits made, and what it means then; of that, nothing that is `hidden` on the page. A
    text that is too large is one that cannot be read, and edited no more than any such."""
    given = _any_text(payload)
    with db.kept_open():
        offer = Offer.read_published()
        if is_too_large(given):
            return view.describe_text(given, offer)
        sent = edits.cut_out(given, payload.get("edits"))
        types = form.types(offer) | form.reward_types(yaml_edit.load(sent), offer)
        made = edits.read_edits(edits.without_overtaken(sent, payload.get("edits")), types)
        return view.describe_text(edits.apply(sent, made), offer, payload.get("known"), texts(payload, "hidden"))


@answer
def ask_worker(payload: Payload) -> dict[str, Any]:
    """Ask the worker; the question's number, and what is `left_out` of what is asked about (`read_answer` needs it)."""
    kind, topic = text(payload, "kind"), text(payload, "topic", 40)
    row = None if payload.get("row") is None else whole_number(payload, "row")
    every = payload.get("all") is True
    asked, out = worker_requests.ask_about_text(kind, spec_text(payload), topic=topic, row=row, every=every)
    return {"question": asked, **({"left_out": view.json_value(asdict(out))} if not out.is_all_as_written() else {})}


@answer
def try_step(payload: Payload) -> dict[str, Any]:
    """Ask for one step to be tried; the question's number."""
    return {"question": worker_requests.ask_to_try(spec_text(payload))}


@answer
def launch_run(payload: Payload) -> dict[str, Any]:
    """Queue the run, if nothing is wrong with it and TRL took its settings (`built`: the question that says so)."""
    sent = spec_text(payload)
    spec = launch.read_form(sent).spec
    # The quickstart as it ships is known to be taken (a test builds it): nobody waits for that on a fresh start.
    if spec is not None and sent != presets.quickstart_text():
        said = worker_requests.trl_problems(spec, whole_number(payload, "built"))
        if said is None:
            return {"unasked": True}
        if found_reading.is_unread(spec, payload.get("known")):
            return {"unread": True}
        if said:
            raise Unanswerable(f"TRL does not take these settings: {said[0].message}")
    try:
        return {"url": f"/run?id={launch.queue_run(sent, payload.get('known'))}"}
    except SpecError as error:
        raise Unanswerable("Fix the problems above before launching.") from error
    except OSError as error:
        raise Unanswerable(f"Nothing was launched: the home could not be written ({error.strerror}).") from error


@answer
def keep_data_file(payload: Payload) -> dict[str, Any]:
    """Keep a file that arrived; its name in the home, a sentence that says it, and all files there are. Where it is
    another kind of text than its name says, why it was not kept, and as what it can be (`read_as`), in words too."""
    asked = text(payload, "read_as")
    kind = next((one for one in TEXT_WORDS if one == asked), None)
    try:
        name, words = choices.keep_upload(_upload_path(payload), text(payload, "name", 300), kind)
    except choices.OtherText as other:
        return {"sentence": str(other), "read_as": other.kind, "offer": f"Read it as {TEXT_WORDS[other.kind]}"}
    except ValueError as error:
        raise Unanswerable(str(error)) from error
    except OSError as error:
        raise Unanswerable(f"The file could not be kept: {error.strerror or error}.") from error
    wanted = choices.earlier_of_its_name(text(payload, "name", 300), name)
    earlier = f"file:{wanted}" if wanted and paths.data_file(wanted).is_file() else ""
    there = {"name": name, "source": f"file:{name}", "earlier": earlier}
    return {**there, "words": words, "files": past_reading.describe_files()}


def _upload_path(payload: Payload) -> str | None:
    """The path of an upload; None for anything that is not one, whatever the page says."""
    sent = payload.get("path")
    if not isinstance(sent, str) or "\0" in sent or Path(sent).is_symlink():
        return None
    path = Path(sent).resolve()
    return str(path) if paths.uploads_folder().resolve() in path.parents else None


@answer
def read_import(payload: Payload) -> dict[str, Any]:
    """What a file or a paste comes to (a spec, a recipe, a TRL script or a notebook), before anything is taken."""
    offer = Offer.read_published()
    return imports.describe_brought(_brought(payload, offer), offer)


@answer
def take_import(payload: Payload) -> dict[str, Any]:
    """The spec's text of what is brought, and notes; the `functions` that are named are saved in the library."""
    offer = Offer.read_published()
    taken = imports.take_brought(_brought(payload, offer), texts(payload, "functions"), offer)
    saved = {"rewards": reward_choices.reward_functions(Offer.read_published())} if taken["saved"] else {}
    return taken | saved


def _brought(payload: Payload, offer: Offer) -> imports.Brought:
    """`dataset`: which of those that a script joins is taken, from 1; 0 for none."""
    return imports.read_brought(text(payload, "name"), _brought_text(payload), offer, whole_number(payload, "dataset"))


def _brought_text(payload: Payload) -> str:
    """What is brought. Raises Unanswerable where it is no text, or too long."""
    sent = payload.get("text")
    if not isinstance(sent, str) or len(sent) > MAX_BYTES:
        raise Unanswerable(f"What is imported is a text of at most {MAX_BYTES // 1024} KB.")
    return sent


@answer
def preset_settings(payload: Payload) -> dict[str, Any]:
    """The YAML text of a preset."""
    return {"text": presets.preset_text(text(payload, "name"))}


@answer
def save_preset(payload: Payload) -> dict[str, Any]:
    """Save the text as a preset of one's own. `taken`: there is one of this name, which saving again replaces."""
    name, words = text(payload, "name", MAX_BYTES), text(payload, "sentence", MAX_BYTES)  # too long is said, not cut
    return presets.store_preset(name, words, spec_text(payload), replace=payload.get("replace") is True)


@answer
def delete_preset(payload: Payload) -> dict[str, Any]:
    """Delete a preset of one's own."""
    return presets.remove_preset(text(payload, "name", 100))


def new_run() -> gr.HTML:
    """The New run page's live part."""
    functions = (
        open_new_run,
        add_reward,
        edit_settings,
        ask_worker,
        read_answer,
        try_step,
        cancel_question,
        cancel_all,
        launch_run,
        keep_data_file,
        read_import,
        take_import,
        preset_settings,
        save_preset,
        delete_preset,
    )
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return live("pages/new/new_run", *functions, template=template, late=True)
