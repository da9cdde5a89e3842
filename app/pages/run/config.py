"""The Config of a run: what was asked, the same as a plain TRL script, and the reward code, each to be copied; and all
settings in effect, with the defaults that applied."""

import re
from pathlib import Path
from typing import Any

import gradio as gr

from groupwise.app.core.field_labels import compared_label
from groupwise.app.core.setting_words import compared_words
from groupwise.app.ui.live import Payload, Unanswerable, answer, live, run_of, say_missing_folder
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.compare import fields
from groupwise.storage.checks.check import OWNED
from groupwise.storage.home.files import is_file, is_folder, open_file
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import run_files
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.words.problem import SpecError

MOST_BYTES = 512 * 1024
MOST_FILES = 64  # reward functions
BINARY = re.compile("[\ufffd\u2400-\u2421]")  # what `visible_text` makes of a file that is no text
LIBRARIES = {"python": "Python", "trl": "TRL", "peft": "PEFT"}  # others are called by their names
FROM_SCRIPT = " Its train.py, below, has the same settings."
LONGEST = 2000  # characters of a setting
DECIDED = {*OWNED, "report_to", "disable_tqdm", "use_cpu"}  # what a run sets itself, whatever TRL's default is

TEMPLATE = """
<p class="s mut wait">Reading…</p><p class="s mut versions" hidden></p>
<details class="panel effective" hidden><summary><b>Settings in effect</b> <span class="s mut">also those that were not
set: with the defaults that applied</span></summary><p class="s mut told" role="status"></p><div class="row controls">
<input class="input" type="search" placeholder="search settings" aria-label="Search settings"><label class="s check">
<input type="checkbox" class="only"> only what was set</label></div><div class="scroll" tabindex="-1"><table></table>
</div></details><div class="files"></div>
"""


@answer
def config_files(payload: Payload) -> dict[str, Any]:
    """The run's text files: name, what it is, text; and whether a new run can `use` it. A spec.yaml that cannot be read
    is told of in a sentence, and shown where it is text."""
    run = run_of(payload)
    folder = run.folder
    if not folder.path.is_dir():
        raise Unanswerable(say_missing_folder(run))
    fault = run_files.spec_fault(folder)
    spec = item(folder.spec, "spec as submitted", use=True)
    if fault and spec:
        spec = None if BINARY.search(spec["text"]) else {**spec, "about": "damaged", "use": False}
    found = [
        spec,
        item(
            folder.script,
            "the same run as a plain TRL script; it runs here without Groupwise, and elsewhere says what it needs",
            use=bool(fault),
        ),
        item(folder.task, "the built-in task that makes the prompts"),
        *(item(path, "a reward function, exactly as it scored") for path in _functions(folder.rewards)),
    ]
    told = f"{fault[:1].upper()}{fault[1:]}.{FROM_SCRIPT if is_file(folder.script) else ''}"
    return {
        "files": [file for file in found if file], "versions": _versions_words(folder),
        **({"sentence": told} if fault else {}),
    }  # fmt: skip


@answer
def effective_settings(payload: Payload) -> dict[str, Any]:
    """Every setting of the run: label, dotted name, its value in words, and whether the spec says it or a default
    applied."""
    try:
        spec = specs.parse_spec(run_files.spec_text(run_of(payload).folder))
    except (OSError, UnicodeDecodeError, SpecError) as error:
        raise Unanswerable(
            "The settings (spec.yaml) of this run cannot be read, so what applied is not known."
        ) from error
    folder, offer = run_of(payload).folder, Offer.read_published()
    found = fields.flat(spec, {name: about["default"] for name, about in (offer.training or {}).items()})
    if spec.lora is not None:
        for name, about in (offer.lora or {}).items():
            found.setdefault(f"lora.{name}", {"value": about["default"], "set": False})
    return {
        "settings": [
            {"label": visible_text(compared_label(name)), "name": visible_text(name),
             "words": visible_text(compared_words(name, one["value"]))[:LONGEST], "set": one["set"]}
            for name, one in found.items() if one["set"] or name.removeprefix("training.") not in DECIDED
        ],
        "defaults": _whose_defaults(run_files.library_versions(folder).get("trl")),
    }  # fmt: skip


def _versions_words(folder: RunFolder) -> str:
    """The versions that a run trained with, in a sentence; "" before it trains."""
    known = run_files.library_versions(folder)
    if known:
        return f"Trained with {', '.join(f'{LIBRARIES.get(name, name)} {version}' for name, version in known.items())}."
    if not is_file(folder.db):
        return ""
    return "The versions of Python, torch and TRL that this run trained with were not recorded."


def _whose_defaults(trained: str | None) -> str:
    """Which TRL has the defaults that are shown. `trained`: the version that the run trained with; None: not known."""
    catalogue = registry.read_fact(Catalogue)
    if catalogue is None or catalogue.training is None:
        return "TRL's defaults are not known yet: the worker is starting."
    here = catalogue.versions.get("trl", "")
    if trained is None:
        return f"Defaults (faint) are those of the installed TRL{f' ({here})' if here else ''}."
    if trained == here:
        return f"Defaults (faint) are those of TRL {here}, which this run trained with."
    return f"Defaults (faint) are those of TRL {here}, which is installed now; this run trained with TRL {trained}."


def text_files(folder: RunFolder) -> dict[str, Path]:
    """The files of a run that the Config shows, by the name that it shows; none that is a link."""
    paths = [folder.spec, folder.script, folder.task, *_functions(folder.rewards)]
    return {file_name(path): path for path in paths if path.name != "__init__.py" and is_file(path)}


def file_name(path: Path) -> str:
    """How a file of a run is called: train.py, rewards/correctness.py."""
    return path.name if path.parent.name != "rewards" else f"rewards/{path.name}"


def _functions(rewards: Path) -> list[Path]:
    return sorted(rewards.glob("*.py"))[:MOST_FILES] if is_folder(rewards) else []


def item(path: Path, about: str, *, use: bool = False) -> dict[str, Any] | None:
    """One file; None where there is none, or where it is a link."""
    if path.name == "__init__.py" or not is_file(path):
        return None
    with open_file(path) as file:
        words = file.read(MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    return {"name": file_name(path), "about": about, "text": visible_text(words), "use": use}


def config() -> gr.HTML:
    """The Config part of a run's page."""
    return live(
        "pages/run/config", config_files, effective_settings, template=TEMPLATE, elem_id="part-config",
        elem_classes=["gw-part", "gw-part-config"],
    )  # fmt: skip
