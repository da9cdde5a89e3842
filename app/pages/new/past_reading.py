"""How a data file was read and mapped by the newest run that used it: so it is read when it is chosen again, unless a
person set it otherwise since (ui/file_readings.js)."""

import functools
import sqlite3
from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.new import choices, yaml_edit
from groupwise.storage.home import paths
from groupwise.storage.record import run_files, states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.completions import SAMPLING
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.rows.file_format import FILE_SETTINGS
from groupwise.storage.spec.spec import DataSpec

MAPPING = ("prompt_template", "prompt_column", "answer_column", "answer_pattern", "answer_numbers", "columns")
PATHS = tuple(f"data.{name}" for name in (*FILE_SETTINGS, *MAPPING))
USUAL = {f"data.{name}": field.default for name, field in DataSpec.model_fields.items()}


def has_begun(run: Run) -> bool:
    """Whether a run made a step or still may."""
    return run.step > 0 or run.state not in states.ENDED


def describe_files(runs: list[Run] | None = None) -> list[dict[str, Any]]:
    """The home's data files as choices; `past` where a run used it: {run: its name, at: when it was launched, settings:
    those of how it was read and mapped that are not as usual, by dotted path, data: those of all of its data, which
    rows it used, too, sampling: how it wrote completions, by name}. `runs`: all there are, the newest first, where they
    are known."""
    try:
        found = registry.list_runs(curves=False) if runs is None else runs
    except sqlite3.Error:  # said elsewhere; a file can be chosen all the same
        found = []
    newest = {run.data: run for run in reversed(found) if has_begun(run)}
    files = choices.home_data_files()
    return [{**one, "past": _past_of(newest.get(one["value"]), one["value"])} for one in files]


def reading_in(raw: dict[str, Any]) -> dict[str, Any]:
    """How a spec's plain values read and map its data, as far as that is not as usual, by dotted path."""
    said = {path: yaml_edit.get_setting(raw, tuple(path.split("."))) for path in PATHS}
    return {path: value for path, value in said.items() if value not in (yaml_edit.ABSENT, USUAL[path])}


def _past_of(run: Run | None, source: str) -> dict[str, Any] | None:
    try:
        read = _read_run(run.folder, run.folder.spec.stat().st_mtime_ns, source) if run is not None else None
    except OSError:
        return None
    if run is None or read is None:
        return None
    data, sampling = read
    settings = {path: value for path, value in data.items() if path in PATHS}
    named = {"run": format.shorten(run.name, 60), "at": run.created}
    return {**named, "settings": settings, "data": data, "sampling": sampling}


@functools.lru_cache(maxsize=256)
def _read_run(folder: paths.RunFolder, written: int, source: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """What it set of its data, and of sampling. `written`: when its spec was, so that one that was put right is read
    anew."""
    spec = run_files.spec_of(folder)
    if spec is None or spec.data.source != source:
        return None
    unusual = spec.data.model_dump(exclude_defaults=True, exclude={"source"})
    training = spec.by_stage()[0].training
    sampling = {name: training[name] for name in SAMPLING if training.get(name) is not None}
    return {f"data.{name}": value for name, value in unusual.items()}, sampling
