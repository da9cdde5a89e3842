"""What a run's folder says of the run: state.json and exit.json, of which anyone may have written every word."""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from groupwise.storage.home import files
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.home.value_types import (
    Finite,
    Form,
    Positive,
    Text,
    When,
    Whole,
    field_types,
    salvage,
    text_type,
    value_if_fitting,
)
from groupwise.storage.record import states
from groupwise.storage.spec.shapes import shape_fault
from groupwise.storage.spec.spec import RunSpec, parse_spec
from groupwise.storage.spec.words.problem import SpecError
from groupwise.storage.spec.yaml.yaml_text import MAX_BYTES, read_yaml

LONGEST_SENTENCE = 4000  # characters
LONGEST_NAME, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS = 200, 2000, 40, 20  # characters that a person may write; tags
LONGEST_TRACE = 8000  # characters of a traceback, its end
Name = text_type(500)
Tag = Annotated[Text, Field(min_length=1, max_length=LONGEST_TAG)]
# The columns of the registry's row that a folder keeps (registry.Run), and what each can be.
_COLUMNS = field_types(
    {
        "name": text_type(500, least=1),
        "model": Name,
        "data": Name,
        "created": When,
        "state": Literal[tuple(states.LABELS)],
        "sentence": Annotated[text_type(LONGEST_SENTENCE), Field(pattern=r"\S")],
        "state_at": When,
        "attempt": Positive,
        "step": Whole,
        "total": Whole,
        "reward": Finite,
        "spark": Annotated[list[Finite], Field(max_length=1000)],
        "seen_at": When,
        "boot": text_type(64),
        "pid": Positive,
        "started": Whole,
        "tag": text_type(200),
        "note": text_type(LONGEST_NOTE),
        "tags": Annotated[list[Tag], Field(max_length=MOST_TAGS)],
        "ended_state": Literal[tuple(sorted(states.RESUMABLE))],
        "ended_sentence": Annotated[text_type(LONGEST_SENTENCE), Field(pattern=r"\S")],
        "ended_at": When,
    }
)


def kept_state(folder: RunFolder) -> tuple[dict[str, Any], str]:
    """The columns of the run's row that its state.json gives, and a sentence on what of it could not be read; ({}, "")
    where there is none."""
    if not files.exists(folder.state):
        return {}, ""
    kept = files.read_json(folder.state)
    if not isinstance(kept, dict):
        return {}, "Its state.json could not be read."
    found, odd = salvage(_COLUMNS, kept)
    return found, f"Its state.json has no valid value for {', '.join(odd)}." if odd else ""


def fitting_columns(told: dict[str, Any]) -> dict[str, Any]:
    """Those of these columns of a run's row that are what they can be: its other files, too, may be anyone's."""
    return salvage(_COLUMNS, told)[0]


LIBRARIES = ("python", "torch", "trl", "transformers", "peft", "accelerate")  # whose versions a run records

# Why a training process ended of itself, as far as that decides what helps.
MEMORY, DISK, REWARD, SETTINGS, DATA, OTHER = "memory", "disk", "reward", "settings", "data", "other"
WEIGHTS = "weights"  # of the model, whose output is inf or nan
MODEL = "model"  # which could not be fetched
# … and why it could not even be started: its settings cannot be read, or its folder cannot be used.
SPEC, FOLDER = "spec", "folder"


class Exit(Form):
    """How a training process says that it ended: see worker.training.train. `function` and `line`: the reward function
    that failed, and where."""

    attempt: Positive
    outcome: Literal["finished", "stopped", "failed"]
    step: Whole
    planned: Whole
    reason: Text = ""
    cause: Literal["", "memory", "disk", "reward", "settings", "data", "weights", "model", "other"] = ""
    function: Text = ""
    line: Whole = 0
    traceback: Text = ""


_EXIT = TypeAdapter(Exit)


def exit_record(folder: RunFolder, attempt: int | None) -> dict[str, Any] | None:
    """The exit record of this attempt, or (None) of the last that wrote one; None where there is none that can be
    read."""
    found = value_if_fitting(_EXIT, files.read_json(folder.exit))
    if found is None or attempt not in (None, found.attempt):
        return None
    kept = {"reason": found.reason[:LONGEST_SENTENCE], "traceback": found.traceback[-LONGEST_TRACE:]}
    kept["function"] = found.function[:LONGEST_NAME]
    return found.model_dump() | kept


def hand_on_exit(folder: RunFolder, attempt: int) -> None:
    """Let the exit record of the attempt before this one, which never began, stand for this one too: the run is as that
    one left it. Raises OSError."""
    told = files.read_json(folder.exit)
    if isinstance(told, dict) and exit_record(folder, attempt - 1) is not None:
        files.write_json(folder.exit, {**told, "attempt": attempt})


_VERSIONS = field_types({name: text_type(40, least=1) for name in LIBRARIES})


def library_versions(folder: RunFolder) -> dict[str, str]:
    """The versions of Python and the libraries that the run's newest attempt trained with, by name; {} where they are
    not known."""
    told = files.read_json(folder.versions)
    found = salvage(_VERSIONS, told)[0] if isinstance(told, dict) else {}
    return {name: found[name] for name in LIBRARIES if name in found}


class OddFolder(Exception):
    """A run's folder holds what is no file, or no folder, where one should be; the message says which."""


def refuse_odd(folder: RunFolder) -> None:
    """Raises OddFolder where something in a run's folder is a link, a pipe or the like: to write through it would reach
    elsewhere, or wait for ever."""
    plain = [folder.spec, folder.task, folder.script, folder.log, folder.exit, folder.state, folder.notes, folder.lock,
             folder.versions]  # fmt: skip
    record = [folder.path / f"{folder.db.name}{end}" for end in ("", "-wal", "-shm", "-journal")]
    for path in (*plain, *record, folder.path / "run.spill.jsonl"):
        if files.exists(path) and not files.is_file(path):
            raise OddFolder(f"{path.name} in its folder is not a file. Remove it, or put the file itself there.")
    for path in (folder.path, folder.rewards, folder.carried_source, folder.checkpoints, folder.final):
        if files.exists(path) and not files.is_folder(path):
            raise OddFolder(f"{path.name} is not a folder, or it is a link. Put the folder itself there.")
    if folder.rewards.is_dir():
        for path in folder.rewards.iterdir():
            if not files.is_file(path) and path.name != "__pycache__":
                raise OddFolder(f"rewards/{path.name} in its folder is not a file. Remove it.")


def spec_of(folder: RunFolder) -> RunSpec | None:
    """What was asked of the run; None where its spec.yaml is not there, or cannot be read."""
    try:
        return parse_spec(spec_text(folder))
    except (OSError, ValueError, SpecError):
        return None


def spec_fault(folder: RunFolder) -> str:
    """Why nothing can be read of a run's spec.yaml, as a sentence without its stop; "" where its settings can be read,
    though a check may refuse some."""
    try:
        settings, lines = read_yaml(spec_text(folder))
    except FileNotFoundError:
        return "its spec.yaml is missing"
    except SpecError as error:
        return f"its spec.yaml is damaged (line {error.problems[0].line or 1} is not YAML)"
    except UnicodeDecodeError:
        return "its spec.yaml is damaged (it is not text in UTF-8)"
    except (OSError, ValueError) as error:
        return f"its spec.yaml cannot be read ({getattr(error, 'strerror', None) or error})"
    if not isinstance(settings, dict):
        return "its spec.yaml is damaged (it holds no settings)"
    fault = shape_fault(settings, lines)
    return f"its spec.yaml is damaged ({fault})" if fault else ""


def how_to_restore(folder: RunFolder, *, resume: bool = True) -> str:
    """What to do where spec.yaml is missing or damaged. `resume`: of a run that may be resumed then."""
    again = "Or start a new run: its train.py has the same settings."
    words = f"Put the file as it was into {folder.path}{', then resume' if resume else ''}."
    return f"{words} {again}" if files.is_file(folder.script) else words


def spec_text(folder: RunFolder) -> str:
    """The run's spec.yaml. Raises OSError, and UnicodeDecodeError (a ValueError)."""
    return files.read_text(folder.spec, MAX_BYTES)


def script_text(folder: RunFolder) -> str:
    """The run as a plain script, which has every setting of its spec. Raises as `spec_text` does."""
    return files.read_text(folder.script, MAX_BYTES)
