"""How a data file was found to be read: for the script that is shown, and for the spec of a run that is launched."""

from typing import Any

from pydantic import ValidationError

from groupwise.app.pages.new import edits
from groupwise.app.pages.new.known import short_hash
from groupwise.storage.registry import questions
from groupwise.storage.registry.messages.preview import PreviewAnswer
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS, settings_of_source
from groupwise.storage.spec.spec import DataSpec, RunSpec

PATHS = {f"data.{name}": name for name in FILE_SETTINGS}
LOOKED_AT = 50  # answers of the worker among which one about this file is looked for


def write_found_reading(text: str, spec: RunSpec, known: Any = None) -> str:
    """A spec's text with how its file is read, as it was found; every other line as it is. So the run reads the file
    the same way for ever. `known`: what the page's preview has found out."""
    found = _found_settings(spec.data, known)
    return edits.apply(text, [edits.Edit(f"data.{name}", value) for name, value in found.items()])


def is_unread(spec: RunSpec, known: Any = None) -> bool:
    """Whether it is still to be found how the spec's file is read."""
    return bool(_left_open(spec.data)) and not _found_settings(spec.data, known)


def known_reading(spec: RunSpec, known: Any) -> RunSpec:
    """The spec with how its file is read as a page's preview found it (`known.reading`: key and settings), where that
    is about this file, read as this data says."""
    found = _found_by_page(spec.data, known)
    return spec.model_copy(update={"data": spec.data.model_copy(update=found)}) if found else spec


def reading_key(data: DataSpec) -> str:
    """What it depends on how a file is read, in a few characters: the file, and what is said of it."""
    return short_hash(_asked(data))


def _asked(data: DataSpec) -> dict[str, Any]:
    return {name: getattr(data, name) for name in ("source", *FILE_SETTINGS)}


def _left_open(data: DataSpec) -> list[str]:
    """The settings of how this file is read that the data leaves to be found."""
    return [each for each in settings_of_source(data.source) if getattr(data, each) is None]


def _found_settings(data: DataSpec, known: Any) -> dict[str, Any]:
    """What was found of that which is left open: by the worker, as long as its answer is kept; else as the page was
    told it."""
    return (_found_by_worker(data) or _found_by_page(data, known)) if _left_open(data) else {}


def _found_by_worker(data: DataSpec) -> dict[str, Any]:
    """The newest answer about this file. What is made of its rows changes nothing in how it is read."""
    asked = _asked(data)
    for question in questions.answered_questions(questions.PREVIEW, LOOKED_AT):
        about = question.payload["data"]
        answer = question.read_answer() if {name: about.get(name) for name in asked} == asked else None
        if isinstance(answer, PreviewAnswer) and answer.read_as is not None:
            return _fitting(data, answer.read_as.settings)
    return {}


def _found_by_page(data: DataSpec, known: Any) -> dict[str, Any]:
    sent = known.get("reading") if isinstance(known, dict) else None
    settings = sent.get("settings") if isinstance(sent, dict) else None
    if not isinstance(sent, dict) or not isinstance(settings, dict) or sent.get("key") != reading_key(data):
        return {}
    return _fitting(data, settings)


def _fitting(data: DataSpec, settings: dict[str, Any]) -> dict[str, Any]:
    """Those of the settings, by dotted path, that the data leaves open; none where one of them is no such value."""
    found = {name: settings[f"data.{name}"] for name in _left_open(data) if f"data.{name}" in settings}
    try:
        checked = DataSpec.model_validate({**data.model_dump(), **found})
    except ValidationError:
        return {}
    return {name: getattr(checked, name) for name in found}
