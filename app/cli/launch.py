"""`groupwise launch`: a YAML file becomes a queued run, or a list of what is wrong with it and nothing else."""

import contextlib
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from groupwise.app.cli.check_file import SOON, print_problems, problems_of_file
from groupwise.app.cli.runs import follow, until_claimed
from groupwise.app.core import worker_process
from groupwise.app.core.command_errors import DONE, WRONG_INPUT, CommandError, open_home
from groupwise.app.core.data_files import copy_into_home
from groupwise.app.core.terminal import print_outcome
from groupwise.app.pages.new import edits
from groupwise.app.pages.new.found_reading import write_found_reading
from groupwise.app.pages.new.launch import Reading, problems_of_text, read_form, say_all_at_once
from groupwise.app.pages.new.once_readable import text_once_read
from groupwise.app.pages.new.said_later import AfterCuts
from groupwise.storage.checks.model import model_folder
from groupwise.storage.checks.script_reader.recipe import is_recipe
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue, Shipped
from groupwise.storage.spec.rows.as_written import say_as_written
from groupwise.storage.spec.rows.file_format import missing_file_words
from groupwise.storage.spec.rows.number_text import ask_for_thousands
from groupwise.storage.spec.rows.other_kinds import CODE, kind_by_name
from groupwise.storage.spec.rows.text_kinds import is_binary
from groupwise.storage.spec.spec import RunSpec, parse_spec, to_yaml
from groupwise.storage.spec.words.problem import (
    ADVICE,
    BLOCKING,
    WARNING,
    Problem,
    SpecError,
    is_of_unset,
    what_blocks_first,
)
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES, read_yaml

CHECKING = "Checking the settings, the data and the model…"
KEPT_BY_WARNINGS = "Nothing was started: --strict does not launch with warnings."
GIVE_YAML = (
    "Give the YAML file of a run: New run saves one (YAML, “Export”), and in the folder of each run is its spec.yaml."
)
STANDARD_INPUT = Path("-")
PATIENCE = 60.0  # seconds for a worker's first word; importing TRL on a cold disk takes most of it


def launch(spec_path: str, *, name: str | None, wait: bool, strict: bool = False) -> int:
    """Check, queue and (with `wait`) follow the run. Prints its id on stdout and all else on stderr; with `strict` a
    warning keeps it from being launched, too."""
    path = Path(spec_path)
    called = _name_in_messages(path)
    text = _read_spec_file(path)
    _refuse_foreign(path, text)
    try:
        reading = _parse_whole(text, path.absolute().parent)
        if name is not None:  # then nothing hangs on what the file calls it
            reading = replace(reading, problems=[one for one in reading.problems if one.field != "name"])
        assert reading.sound is not None  # else it was refused
        spec = _set_name(reading.sound, name)
        open_home()
        worker_process.hold_app_lock()
        run_id, known = _create_run(spec, reading, text, path.absolute().parent, strict=strict)
    except SpecError as error:
        print_problems(called, error.problems)
        if all(problem.level != BLOCKING for problem in error.problems):
            print(KEPT_BY_WARNINGS, file=sys.stderr)
        return WRONG_INPUT
    print_problems(called, known)
    print_outcome(run_id, f"The run was started: {run_id}.")
    until_claimed(run_id)
    return follow(run_id) if wait else DONE


def _parse_whole(text: str, beside: Path) -> Reading:
    """What a text means, with a spec at least of what is right in it. Raises SpecError for a text that means none, with
    all that is wrong with it; but for the model and the data where they are named as seen from the file, in `beside`.
    """
    reading = read_form(text)
    if reading.sound is not None:
        return reading
    after = text_once_read(text)
    once = read_form(after.text) if after is not None else reading
    said = _said_by_worker(once, after) if after is not None else []  # first: what it has published is told from
    seen = _seen_from_file(once.raw if isinstance(once.raw, dict) else {}, beside)
    found = [one for one in problems_of_text(text) if one.field not in seen]
    known, of_seen = {one.field for one in found}, {path.split(".")[0] for path in seen}
    news = [one for one in said if one.field not in known and one.field.split(".")[0] not in of_seen]
    lines = after.lines_as_written(once.lines) if after is not None else once.lines
    missing = _missing_file(edits.value_at(once.raw, "data.source"), beside, lines) if "data.source" in seen else None
    raise SpecError(what_blocks_first([*found, *filter(None, [missing]), *news] or reading.problems))


def _seen_from_file(raw: dict[str, Any], beside: Path) -> set[str]:
    """The settings that name a folder or a file as seen from the spec's, of which the page would say there is none."""
    model, source = (edits.value_at(raw, path) for path in ("model.id", "data.source"))
    found = set()
    if isinstance(model, str) and model_folder(model) is not None:
        found.add("model.id")
    if isinstance(source, str) and (_outside_file(source, beside) or ":" not in source):
        found.add("data.source")
    return found


def _said_by_worker(reading: Reading, after: AfterCuts) -> list[Problem]:
    """What blocks or warns by the worker of a text that means no spec only for its slips, as those are put right
    (`after`, which `reading` is of); nothing of defaults, which problems_of_text says where it is sure of them."""
    if reading.sound is None:
        return []
    lines, out = after.lines_as_written(reading.lines), reading.left_out
    try:
        open_home()
        worker_process.hold_app_lock()
        offer = published_offer()
        print(CHECKING, file=sys.stderr, flush=True)
        found = problems_of_file(reading.sound, offer, lines, SOON, reading.problems, out)
    except CommandError:  # the slips are told all the same
        return []
    return [one for one in found if one.level != ADVICE and not is_of_unset(one)]


def _set_name(spec: RunSpec, name: str | None) -> RunSpec:
    if name is None:
        return spec
    try:
        return RunSpec.model_validate({**spec.model_dump(exclude_unset=True), "name": name})
    except ValueError as error:
        raise CommandError("--name takes 1 to 80 characters.", WRONG_INPUT) from error


def _name_in_messages(path: Path) -> str:
    return "standard input" if path == STANDARD_INPUT else str(path)


def _open_spec_file(path: Path) -> BinaryIO:
    """Standard input for “-”, as commands have it; a file of that name is given with its folder's whole path."""
    return open(0, "rb", closefd=False) if path == STANDARD_INPUT else path.open("rb")


def _read_spec_file(path: Path) -> str:
    called = _name_in_messages(path)
    try:
        with _open_spec_file(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) <= MAX_BYTES:
            return content.decode("utf-8")
        why = _other_kind(path, content) or f"is larger than {MAX_BYTES // 1024} KB: too large for a spec"
    except UnicodeDecodeError:
        why = _other_kind(path, content) or "is not text in UTF-8: save it as UTF-8"
    except FileNotFoundError:
        why = "is not there"
    except IsADirectoryError:
        inside = path / paths.RunFolder(path).spec.name
        if inside.is_file():
            raise CommandError(f"{path} is a folder. Give the file in it: {inside}", WRONG_INPUT) from None
        why = "is a folder"
    except OSError as error:
        raise CommandError(f"{called} cannot be read: {error.strerror}.", WRONG_INPUT) from error
    raise CommandError(f"{called} {why}. {GIVE_YAML}", WRONG_INPUT)


def _other_kind(path: Path, content: bytes) -> str:
    """What a file is that no YAML can be, by its name or else its bytes; "" where it may be text. Code is told of by
    itself."""
    kind = kind_by_name(path.name)
    if kind and kind != CODE:
        return f"is {kind}, not a run in YAML"
    return "is binary, not a run in YAML" if is_binary(content) else ""


def _refuse_foreign(path: Path, text: str) -> None:
    """Say what to do with a script, a notebook or a recipe, which are imported on a page: some of it has to be looked
    at first."""
    kind = {".py": "a Python script", ".ipynb": "a notebook"}.get(path.suffix.lower())
    if kind is None:
        try:
            kind = "a recipe of TRL or open-r1" if is_recipe(read_yaml(text)[0]) else None
        except SpecError:
            return  # said of it as a spec
    if kind is not None:
        advice = "Import it under New run (groupwise serve), check what was imported, and export the YAML there."
        raise CommandError(f"{_name_in_messages(path)} is {kind}, not a run in YAML. {advice}", WRONG_INPUT)


def _create_run(spec: RunSpec, reading: Reading, text: str, beside: Path, *, strict: bool) -> tuple[str, list[Problem]]:
    """The new run's id, and what should be known of it all the same. `reading`: of the text.
    Raises SpecError, with nothing made, where it cannot run, or with `strict` where there is a warning."""
    lines, form, out, raw = reading.lines, reading.problems, reading.left_out, reading.raw
    offer = published_offer()
    print(CHECKING, file=sys.stderr, flush=True)  # the libraries take up to 20 s to be imported
    spec.model.id = _absolute_model_id(spec.model.id, beside)
    written = spec.data.source
    source = _outside_file(written, beside)
    if missing := _missing_file(written, beside, lines):
        others = problems_of_file(spec, offer, lines, PATIENCE, [*form, missing], out)
        others = say_all_at_once(others, raw, lines, offer)
        raise SpecError([one for one in others if one == missing or one.field not in ("data", "data.source")])
    copied, is_new = copy_into_home(source) if source else (None, False)
    if copied is not None:
        spec.data.source = f"file:{copied.name}"
    try:
        of_file = problems_of_file(spec, offer, lines, PATIENCE, form, out)
        of_file = say_all_at_once(of_file, _as_seen_from_home(raw, spec), lines, offer)
        found = say_as_written(ask_for_thousands(of_file, text), text)
        if any(problem.level == BLOCKING or (strict and problem.level == WARNING) for problem in found):
            raise SpecError([_add_hint(problem, written, beside) for problem in found])
    except (SpecError, CommandError):
        if copied is not None and is_new:
            copied.unlink()
        raise
    kept = write_found_reading(text if _means(text, spec) else to_yaml(spec), spec)
    code = library.own_code(spec)
    return registry.create_run(kept, name=spec.name, model=spec.model.id, data=spec.data.source, code=code), found


def _means(text: str, spec: RunSpec) -> bool:
    """Whether a text says just this; not where its paths are seen from elsewhere, or the run got another name."""
    try:
        return parse_spec(text) == spec
    except SpecError:  # its own name is none
        return False


def _as_seen_from_home(raw: dict[str, Any], spec: RunSpec) -> dict[str, Any]:
    """The settings with the model and the data of `spec`, which are named in the text as seen from its file."""
    model, data = raw.get("model"), raw.get("data")
    named = {"model": {**model, "id": spec.model.id}} if isinstance(model, dict) and "id" in model else {}
    named |= {"data": {**data, "source": spec.data.source}} if isinstance(data, dict) and "source" in data else {}
    return {**raw, **named}


def _missing_file(written: str, beside: Path, lines: dict[str, int]) -> Problem | None:
    """That the file is not there which a source names as seen from the spec's; None of any other source."""
    source = _outside_file(written, beside)
    if source is None or source.is_file():
        return None
    message = missing_file_words(source.name, source.parent, upload=False) + _at_home(source)
    return Problem("data.source", message, lines.get("data.source"))


def _at_home(source: Path) -> str:
    """How to name the file of the same name that is in the home, which is meant where there is none beside the spec."""
    with contextlib.suppress(ValueError):  # no file there can be called so
        if (there := paths.data_file(source.name)).is_file():
            return f" Or write file:{source.name} for the one in {there.parent}."
    return ""


def _add_hint(problem: Problem, source: str, beside: Path) -> Problem:
    """A file that is not in the home but lies beside the spec, or where its path says, is what a newcomer means.
    `source`: as it is written."""
    if problem.field == "data.source" and ":" not in source and (meant := _file_of_path(source, beside)):
        return replace(problem, message=f"{problem.message.partition(' Did you mean')[0]} Did you mean “{meant}”?")
    kind, _, name = source.partition(":")
    is_elsewhere = kind == "file" and bool(name) and "/" not in name and not (paths.data_folder() / name).is_file()
    if problem.field == "data.source" and is_elsewhere and (beside / name).is_file():
        return replace(problem, message=f"{problem.message} Or write file:./{name} for the one beside the spec.")
    return problem


def _file_of_path(path: str, beside: Path) -> str:
    """How to name the file that a bare path leads to, seen from the spec's folder; "" where there is none."""
    with contextlib.suppress(OSError, ValueError):
        if (beside / path).is_file():
            return f"file:{path}" if Path(path).is_absolute() or path.startswith(("./", "../")) else f"file:./{path}"
    return ""


def published_offer() -> Offer:
    """What the worker offers; where none ever said, one is started and waited for."""
    deadline = time.monotonic() + PATIENCE
    if not _is_published():
        print("Reading the settings of the installed TRL…", file=sys.stderr, flush=True)
    while not _is_published():
        worker_process.ensure_worker()
        if time.monotonic() > deadline:
            raise CommandError(f"The worker did not answer in {PATIENCE:.0f} s. {paths.worker_log()} may say why.")
        time.sleep(0.1)
    return Offer.read_published()


def _is_published() -> bool:
    return registry.read_fact(Catalogue) is not None and registry.read_fact(Shipped) is not None


def _absolute_model_id(model_id: str, beside: Path) -> str:
    """A folder named relative to the spec, absolute: the worker stands elsewhere."""
    folder = model_folder(model_id)
    return model_id if folder is None else os.path.normpath(beside / folder)


def _outside_file(source: str, beside: Path) -> Path | None:
    """The file that `file:` with a path in it means, from the spec's folder; None for all other sources."""
    kind, _, name = source.partition(":")
    if kind != "file" or not ("/" in name or name.startswith("~")):
        return None
    return Path(os.path.normpath(beside / paths.expand_home(name)))
