"""What the workbench can take its rows from: the data of a preset or a run, by a word such as `preset:quickstart`."""

from typing import Any

from groupwise.app.core import format, run_query
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import edits, launch, past_reading, presets
from groupwise.app.pages.new.known import is_chosen
from groupwise.storage.home import paths
from groupwise.storage.record import run_files
from groupwise.storage.registry import registry
from groupwise.storage.spec.spec import DataSpec, RunSpec
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES

QUICKSTART = f"preset:{presets.QUICKSTART}"
NO_DATA = "New run’s draft has no data yet."  # by which the page (source.js) knows it
OF_ANY = {"shuffle", "limit", "holdout", "system_prompt", "examples"}  # settings of the data that fit any
RUNS = 100  # runs that are offered


def list_sources() -> dict[str, list[dict[str, Any]]]:
    """What settings can be taken from, {presets, files, runs}, the newest run first: each {value, label}; a run's
    `stored` says whether completions of it are kept, `stepped` whether it made a step, `begun` whether it did or still
    may, `data` where its rows are from. A file is read and mapped as the newest run of it did (`past`), else as its
    preview suggests."""
    listed = registry.list_runs()
    named = [{"value": f"preset:{one['name']}", "label": one["title"]} for one in presets.list_presets()]
    runs = [
        {
            "value": f"run:{run.id}",
            "id": run.id,
            "label": f"{format.shorten(run.name, 60)} · {run_query.state_and_age(run)}",
            "data": run.data,
            "stored": run.folder.db.is_file(),
            "begun": past_reading.has_begun(run),
            "stepped": run.step > 0,
        }
        for run in listed[:RUNS]
    ]
    return {"presets": named, "files": past_reading.describe_files(listed), "runs": runs}


def source_text(source: str) -> str:
    """The YAML that a source names, or that it is, after `text:`. Raises Unanswerable."""
    kind, _, name = (source or QUICKSTART).partition(":")
    if kind == "text" and len(name) <= MAX_BYTES:
        return name
    if kind == "preset":
        return presets.preset_text(name)
    if kind == "run":
        try:
            return run_files.spec_text(paths.run_folder(name))
        except (OSError, ValueError) as error:
            raise Unanswerable(f"There is no run “{format.shorten(name, 80)}” to take data from.") from error
    raise Unanswerable(f"There is no data “{format.shorten(source, 80)}”.")


def source_spec(source: str) -> RunSpec:
    """The spec that a source names, without what is wrong in it. Raises Unanswerable."""
    sound = launch.check_text(source_text(source)).sound
    if sound is None:
        raise Unanswerable("The settings of this data cannot be read. Choose another.")
    return sound


def spec_with_data(source: str) -> RunSpec:
    """The spec that a source names, where it says whose rows to take. Raises Unanswerable."""
    spec = source_spec(source)
    if not is_chosen(spec.data):
        raise Unanswerable(NO_DATA if source.startswith("text:") else "No data is chosen there. Choose another.")
    return spec


def taking_data(data: DataSpec) -> dict[str, Any]:
    """A fix that gives a draft this data, read and mapped as it is here; what fits any data stays as the draft has
    it."""
    settings = {name: value for name, value in data.model_dump(exclude_defaults=True).items() if name not in OF_ANY}
    settings["source"] = data.source
    gone = [name for name in DataSpec.model_fields if name not in settings and name not in OF_ANY]
    return {
        "settings": {f"data.{name}": value for name, value in settings.items()},
        "removed": [f"data.{name}" for name in gone],
    }


def mapped_text(draft: str, settings: dict[str, Any]) -> str:
    """The YAML of a draft with settings of its data, by dotted path, as a preview suggests them."""

    def edit(path: str, value: Any) -> dict[str, Any]:
        is_left_out = value is None and path != "data.answer_column"  # which says that there is none
        return {"path": path, "remove": True} if is_left_out else {"path": path, "value": value}

    sent = [edit(path, value) for path, value in settings.items() if path.startswith("data.")]
    return edits.apply(draft, edits.read_edits(sent, {}))
