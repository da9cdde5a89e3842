"""The New run page's one live part: the form, the YAML and the script of a spec, and what is known about it.

The page holds nothing but the spec's text; every function here is handed that text and answers what it means.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.core import data_files
from groupwise.app.pages.new import (
    choices,
    edits,
    form,
    imports,
    launch,
    presets,
    question_status,
    reward_choices,
    view,
    worker_requests,
    yaml_edit,
)
from groupwise.app.ui.live import Payload, Unanswerable, answer, live, text, whole
from groupwise.storage.home import db, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import questions, registry
from groupwise.storage.spec.problem import SpecError
from groupwise.storage.spec.yaml_text import MAX_BYTES


def spec_text(payload: Payload) -> str:
    """The spec's text of a payload. Raises Unanswerable where it is none, or too long for one."""
    sent = payload.get("text")
    if not isinstance(sent, str) or len(sent) > MAX_BYTES:
        raise Unanswerable(f"A spec is a text of at most {MAX_BYTES // 1024} KB.")
    return sent


@answer
def opened(payload: Payload) -> dict[str, Any]:
    """What the address asks for (a run's settings, a preset, or the quickstart; with a reward function added, and
    settings changed), and the form to show it in."""
    try:
        offer, listed, sentence = Offer.published(), presets.listed(), ""
    except (sqlite3.Error, registry.RegistryError) as error:
        offer, listed, sentence = Offer(), presets.listed(own=False), _unreadable(error)
    asked_for = text(payload, "from"), text(payload, "preset"), text(payload, "reward", 100), payload.get("set")
    begun, origin = presets.begin(*asked_for, offer)
    shown = {**described(offer), "presets": listed}
    about = {"text": begun, "origin": origin, "form": shown, "view": view.of(begun, offer)}
    return {**about, "sentence": sentence} if sentence else about


def _unreadable(error: Exception) -> str:
    """A damaged, locked or missing registry, in a sentence."""
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return f"The registry is damaged ({error}). `groupwise repair` makes a new one from the run folders."
    return f"The registry could not be read just now ({error}). Trying again."


def described(offer: Offer) -> dict[str, Any]:
    """All that can be chosen from. `complete`: whether the worker has said what is installed."""
    return {
        "complete": offer.training is not None,
        "fields": form.describe(offer),
        "usual_lora": form.field_labels.USUAL_LORA,
        "rewards": reward_choices.functions(offer),
        "reward_fields": form.reward_fields(),
        "gym": form.gym(offer),
        "operators": form.OPERATORS,
        "models": choices.models(),
        "tasks": choices.tasks(offer),
        "files": choices.files(),
        "upload_limit": data_files.MAX_FILE,
        "upload_limit_words": choices.LIMIT,
        "upload_advice": choices.ADVICE,
    }


@answer
def edited(payload: Payload) -> dict[str, Any]:
    """The text with the page's edits made, and what it means then; of that, nothing that is `hidden` on the page."""
    sent, listed = spec_text(payload), payload.get("hidden")
    hidden = [part for part in listed if isinstance(part, str)] if isinstance(listed, list) else []
    with db.kept_open():
        offer = Offer.published()
        types = form.types(offer) | form.reward_types(yaml_edit.load(sent), offer)
        made = edits.read(payload.get("edits"), types)
        return view.of(edits.apply(sent, made), offer, payload.get("known"), hidden)


@answer
def ask_worker(payload: Payload) -> dict[str, Any]:
    """Ask the worker; the question's number."""
    kind, topic = text(payload, "kind"), text(payload, "topic", 40)
    row, every = whole(payload, "row"), payload.get("all") is True
    try:
        return {"question": worker_requests.ask(kind, spec_text(payload), topic=topic, row=row, every=every)}
    except worker_requests.CannotAsk as refusal:
        raise Unanswerable(str(refusal)) from refusal


@answer
def answered(payload: Payload) -> dict[str, Any]:
    """What the worker said to a question, or how far it is."""
    return question_status.answered(whole(payload, "question"))


@answer
def try_step(payload: Payload) -> dict[str, Any]:
    """Ask for one step to be tried; the question's number."""
    try:
        return {"question": worker_requests.ask_to_try(spec_text(payload))}
    except worker_requests.CannotAsk as refusal:
        raise Unanswerable(str(refusal)) from refusal


@answer
def cancelled(payload: Payload) -> dict[str, Any]:
    """Stop trying."""
    questions.cancel(whole(payload, "question"))
    return {"cancelled": True}


@answer
def launched(payload: Payload) -> dict[str, Any]:
    """Queue the run, if nothing is wrong with it and TRL took its settings (`built`: the question that says so)."""
    sent = spec_text(payload)
    spec = launch.read_form(sent).spec
    # The quickstart as it ships is known to be taken (a test builds it): nobody waits for that on a fresh start.
    if spec is not None and sent != presets.quickstart():
        said = worker_requests.built(spec, whole(payload, "built"))
        if said is None:
            return {"unasked": True}
        if said:
            raise Unanswerable(f"TRL does not take these settings: {said[0].message}")
    try:
        return {"url": f"/run?id={launch.start(sent, payload.get('known'))}"}
    except SpecError as error:
        raise Unanswerable("There is something to mend before this can be launched.") from error
    except OSError as error:
        raise Unanswerable(f"Nothing was launched: the home could not be written ({error.strerror}).") from error


@answer
def uploaded(payload: Payload) -> dict[str, Any]:
    """Keep a file that arrived; its name in the home, and all files there are."""
    try:
        name = choices.keep(_arrived(payload))
    except ValueError as error:
        raise Unanswerable(str(error)) from error
    except OSError as error:
        raise Unanswerable(f"The file could not be kept: {error.strerror or error}.") from error
    return {"name": name, "source": f"file:{name}", "files": choices.files()}


def _arrived(payload: Payload) -> str | None:
    """The path of an upload; None for anything that is not one, whatever the page says."""
    sent = payload.get("path")
    if not isinstance(sent, str) or "\0" in sent or Path(sent).is_symlink():
        return None
    path = Path(sent).resolve()
    return str(path) if paths.uploads_folder().resolve() in path.parents else None


@answer
def imported(payload: Payload) -> dict[str, Any]:
    """A spec's text from a file: YAML as it is, a TRL script by its settings; and notes on what was left behind."""
    brought, notes = imports.spec_from(text(payload, "name"), spec_text(payload))
    return {"text": brought, "notes": notes}


@answer
def preset(payload: Payload) -> dict[str, Any]:
    """A preset's text."""
    return {"text": presets.text_of(text(payload, "name"))}


@answer
def save_preset(payload: Payload) -> dict[str, Any]:
    """Save the text as a preset of one's own. `taken`: there is one of this name, which saving again replaces."""
    name, words = text(payload, "name", 100), text(payload, "sentence", 300)
    return presets.keep(name, words, spec_text(payload), replace=payload.get("replace") is True)


@answer
def forgotten(payload: Payload) -> dict[str, Any]:
    """Delete a preset of one's own."""
    return presets.forget(text(payload, "name", 100))


def new_run() -> gr.HTML:
    """The page's body."""
    functions = (
        opened,
        edited,
        ask_worker,
        answered,
        try_step,
        cancelled,
        launched,
        uploaded,
        imported,
        preset,
        save_preset,
        forgotten,
    )
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    return live("pages/new/new_run", *functions, template=template)
