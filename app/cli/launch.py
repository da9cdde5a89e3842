"""`groupwise launch`: a YAML file becomes a queued run, or a list of what is wrong with it and nothing else."""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from groupwise.app.cli.runs import follow, until_claimed
from groupwise.app.core import worker_process
from groupwise.app.core.command_errors import DONE, WRONG_INPUT, CommandError, open_home
from groupwise.app.core.data_files import copy_into_home
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import worker_requests
from groupwise.app.pages.new.launch import estimates
from groupwise.storage.checks.check import check_spec
from groupwise.storage.checks.model import model_folder
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue, Shipped
from groupwise.storage.spec.problem import BLOCKING, Problem, SpecError
from groupwise.storage.spec.spec import RunSpec, line_numbers, parse_spec, to_yaml
from groupwise.storage.spec.yaml_text import MAX_BYTES

PATIENCE = 60.0  # seconds for a worker's first word; importing TRL on a cold disk takes most of it


def launch(spec_path: str, *, name: str | None, wait: bool) -> int:
    """Check, queue and (with `wait`) follow the run. Prints its id on stdout and all else on stderr."""
    path = Path(spec_path)
    text = _read_spec_file(path)
    try:
        spec = _set_name(parse_spec(text), name)
        open_home()
        worker_process.hold_app_lock()
        run_id = _create_run(spec, text, path.absolute().parent)
    except SpecError as error:
        return _print_problems(spec_path, error.problems)
    print(run_id, flush=True)
    until_claimed(run_id)
    return follow(run_id) if wait else DONE


def _set_name(spec: RunSpec, name: str | None) -> RunSpec:
    if name is None:
        return spec
    try:
        return RunSpec.model_validate({**spec.model_dump(), "name": name})
    except ValueError as error:
        raise CommandError("--name takes 1 to 80 characters.", WRONG_INPUT) from error


def _read_spec_file(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CommandError(f"{path} is larger than {MAX_BYTES // 1024} KB: that is no spec.", WRONG_INPUT)
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not text in UTF-8.", WRONG_INPUT) from error
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.", WRONG_INPUT) from error


def _create_run(spec: RunSpec, text: str, beside: Path) -> str:
    """The new run's id. Raises SpecError, with nothing made, where it cannot run."""
    lines = line_numbers(text)
    offer = published_offer()
    spec.model.id = _absolute_model_id(spec.model.id, beside)
    source = _outside_file(spec.data.source, beside)
    if source is not None and not source.is_file():
        missing = Problem("data.source", f"there is no file {source}.", lines.get("data.source"))
        raise SpecError([missing, *(p for p in check_spec(spec, offer, lines) if p.field != "data.source")])
    copied, is_new = copy_into_home(source) if source else (None, False)
    if copied is not None:
        spec.data.source = f"file:{copied.name}"
    problems = _check_without_worker(spec, offer, lines) or _check_with_worker(spec, lines)
    if problems:
        if copied is not None and is_new:
            copied.unlink()
        raise SpecError([_add_hint(problem, spec, beside) for problem in problems])
    kept = text if spec == parse_spec(text) else to_yaml(spec)
    return registry.create_run(kept, name=spec.name, model=spec.model.id, data=spec.data.source)


def _check_without_worker(spec: RunSpec, offer: Offer, lines: dict[str, int]) -> list[Problem]:
    """What blocks without a question to the worker: the settings, and memory and disk."""
    estimated = estimates(spec, offer).problems
    more = [replace(one, line=lines.get(one.field)) for one in estimated if one.level == BLOCKING]
    return [*check_spec(spec, offer, lines), *more]


def _check_with_worker(spec: RunSpec, lines: dict[str, int]) -> list[Problem]:
    """What TRL's own configs do not take, and what is wrong with the data, with the line of each."""
    try:
        found = worker_requests.confirm(spec, PATIENCE)
    except Unanswerable as error:
        raise CommandError(str(error)) from error
    return [replace(problem, line=lines.get(problem.field)) for problem in found]


def _print_problems(spec_path: str, problems: list[Problem]) -> int:
    """One line each, as compilers write them, so that an editor can jump there."""
    for problem in problems:
        place = f"{spec_path}:{problem.line}" if problem.line else spec_path
        print(": ".join(part for part in (place, problem.field, problem.message) if part), file=sys.stderr)
    return WRONG_INPUT


def _add_hint(problem: Problem, spec: RunSpec, beside: Path) -> Problem:
    """A file that is not in the home but lies beside the spec is what a newcomer means."""
    kind, _, name = spec.data.source.partition(":")
    if problem.field == "data.source" and kind == "file" and "/" not in name and (beside / name).is_file():
        return Problem(
            problem.field, f"{problem.message} Or write file:./{name} for the one beside the spec.", problem.line
        )
    return problem


def published_offer() -> Offer:
    """What the worker offers; where none ever said, one is started and waited for."""
    deadline = time.monotonic() + PATIENCE
    if not _is_published():
        print("Waiting for the worker to say what the installed TRL offers…", file=sys.stderr, flush=True)
    while not _is_published():
        worker_process.ensure_worker()
        if time.monotonic() > deadline:
            raise CommandError(f"The worker said nothing in {PATIENCE:.0f} s. {paths.worker_log()} may say why.")
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
    return Path(os.path.normpath(beside / Path(name).expanduser()))
