"""Presets: whole specs that a run can begin from. Those that ship are files; a person's own are rows of registry.db.

A shipped file begins with comments: its title, then its sentence; after a bare `#`, what else is good to know.
"""

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupwise.storage.home import redaction
from groupwise.storage.home.value_types import When, field_types, salvage, text_type
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES

LONGEST_NAME = 80
LONGEST_SENTENCE = 300
TOKENS = {"hub_token", "push_to_hub_token"}  # secrets, which belong in no file and no row


class PresetError(Exception):
    """A preset cannot be opened, saved or deleted; the message says why."""


class PresetExists(PresetError):
    """There is one of this name already: saving over it has to be asked for."""


@dataclass(frozen=True)
class Preset:
    """One preset. `name` is what it is asked for by (a shipped one's file name, without its ending), `title` what
    people read, `text` the spec as YAML."""

    name: str
    title: str
    sentence: str
    text: str
    own: bool


def shipped_presets(folder: Path) -> list[Preset]:
    """The presets that ship, from the app's folder of YAML files: the quickstart first, then by title."""
    found = [_from_file(path) for path in folder.glob("*.yaml")]
    return sorted(found, key=lambda preset: (preset.name != "quickstart", preset.title.casefold()))


def own_presets() -> list[Preset]:
    """A person's own, the newest first."""
    with registry.read_registry() as db:
        rows = db.execute("SELECT name, sentence, spec FROM preset ORDER BY at DESC, name").fetchall()
    return [Preset(name, name, sentence, text, True) for name, sentence, text in rows]


def presets_with_reward(name: str) -> list[str]:
    """The names of those of a person's own presets that take the newest version of a reward function."""
    return [preset.name for preset in own_presets() if name in _newest_named(preset.text)]


def _newest_named(text: str) -> set[str]:
    """The reward functions of a spec, in any stage, of which it names no version; none of what is no spec any more."""
    with contextlib.suppress(SpecError):
        found = spec.parse_spec(text)
        return {one.name for part in (found, *found.by_stage()) for one in part.rewards if one.version is None}
    return set()


def all_presets(folder: Path) -> list[Preset]:
    """A person's own presets, then those that ship in `folder`."""
    return [*own_presets(), *shipped_presets(folder)]


def get_preset(name: str, folder: Path) -> Preset:
    """The preset of this name. Raises PresetError where there is none."""
    for preset in all_presets(folder):
        if preset.name == name:
            return preset
    raise PresetError(f"There is no preset “{name[:LONGEST_NAME]}”.")


def save_preset(name: str, sentence: str, text: str, folder: Path, *, replace: bool = False) -> Preset:
    """Keep a spec as one's own preset, exactly as it is written.

    Raises PresetExists where there is one of that name and `replace` was not said, PresetError for a name or sentence
    that cannot be, and SpecError (its problems name fields and lines) for a text that is no spec.
    """
    name, sentence = _checked_name(name, folder), _checked_sentence(sentence)
    _refuse_secrets(spec.parse_spec(text), text)
    with registry.write_registry() as db:
        before = db.execute("SELECT name FROM preset").fetchall()
        same = [known for (known,) in before if known.casefold() == name.casefold()]
        if same and not replace:
            raise PresetExists(f"You already have a preset “{same[0]}”. Replace it, or choose another name.")
        for known in same:
            db.execute("DELETE FROM preset WHERE name = ?", [known])
        db.execute("INSERT INTO preset (name, sentence, spec, at) VALUES (?, ?, ?, ?)",
                   [name, sentence, text, time.time()])  # fmt: skip
    return Preset(name, name, sentence, text, True)


def delete_preset(name: str) -> None:
    """Delete one's own preset. Raises PresetError where there is none of this name."""
    with registry.write_registry() as db:
        gone = db.execute("DELETE FROM preset WHERE name = ?", [name]).rowcount
    if not gone:
        raise PresetError(f"You have no preset “{name[:LONGEST_NAME]}”.")


def rows_to_keep() -> list[dict[str, Any]]:
    """A person's own presets as a backup has them."""
    with registry.read_registry() as db:
        return [dict(row) for row in db.query("SELECT name, sentence, spec, at FROM preset ORDER BY name")]


# A preset as a backup has it, of which anyone may have written every word.
_KEPT = field_types(
    {"name": text_type(LONGEST_NAME, 1), "sentence": text_type(LONGEST_SENTENCE), "spec": text_type(MAX_BYTES),
     "at": When}
)  # fmt: skip


def adopt_rows(given: Any) -> int:
    """Take in the presets of a backup, where there is none of their name; how many."""
    found = [salvage(_KEPT, row)[0] for row in (given if isinstance(given, list) else [])]
    sound = [row for row in found if row.keys() == _KEPT.keys() and (row["name"] + row["sentence"]).isprintable()]
    with registry.write_registry() as db:
        for row in sound:
            db.execute(
                "INSERT INTO preset (name, sentence, spec, at) VALUES (:name, :sentence, :spec, :at) "
                "ON CONFLICT DO NOTHING", row
            )  # fmt: skip
    return len(sound)


def _from_file(path: Path) -> Preset:
    text = path.read_text(encoding="utf-8")
    said: list[str] = []
    for line in text.splitlines():
        if not line.startswith("# "):
            break
        said.append(line[2:].strip())
    title, *sentence = said or [path.stem]
    return Preset(path.stem, title, " ".join(sentence), text, False)


def _checked_name(name: str, folder: Path) -> str:
    name = name.strip()
    if not name:
        raise PresetError("Give the preset a name.")
    if len(name) > LONGEST_NAME:
        raise PresetError(f"The name has {len(name):,} characters; {LONGEST_NAME} is the most.")
    if not name.isprintable():
        raise PresetError("The name has invisible characters. Write it on one line, in plain text.")
    taken = {word.casefold() for preset in shipped_presets(folder) for word in (preset.name, preset.title)}
    if name.casefold() in taken:
        raise PresetError(f"“{name}” is a preset that ships with Groupwise. Choose another name.")
    return name


def _checked_sentence(sentence: str) -> str:
    sentence = " ".join(sentence.split())
    if len(sentence) > LONGEST_SENTENCE:
        raise PresetError(f"The sentence has {len(sentence):,} characters; {LONGEST_SENTENCE} is the most.")
    if not sentence.isprintable():
        raise PresetError("The sentence has invisible characters.")
    return sentence


def _refuse_secrets(run_spec: spec.RunSpec, text: str) -> None:
    given = [run_spec.training, *(stage.training for stage in run_spec.stages)]
    if any(TOKENS & settings.keys() for settings in given):
        raise PresetError("A token is a secret: take it out of training, and put it in the environment (HF_TOKEN).")
    if redaction.holds(text):
        raise PresetError("The preset holds a secret: take it out. Secrets belong in the environment.")
