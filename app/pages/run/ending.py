"""How a run that did not end as planned is told: its reason in one sentence, and the one button that can help."""

import contextlib
import re
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from groupwise.app.core import format
from groupwise.app.core.end_reason import TOLD, headline_and_rest
from groupwise.app.pages.run import fixed_function
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.doctor.evidence_reader import places
from groupwise.storage.home import disk, files
from groupwise.storage.library.models import learning_rates, model_files
from groupwise.storage.library.rewards import library, signature
from groupwise.storage.record import checkpoint_files, endings, groups, run_files, states
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.spec.spec import RewardSpec, RunSpec, placed_rewards

# What a sentence says of the cause, where no exit record does.
GUESSES = (
    ("out of memory", run_files.MEMORY), ("disk is full", run_files.DISK), ("disk was full", run_files.DISK),
    ("of disk is free", run_files.DISK), ("its spec.yaml ", run_files.SPEC), (" its folder ", run_files.FOLDER),
    ("is not a folder, or", run_files.FOLDER), ("Could not be started", run_files.SETTINGS),
)  # fmt: skip
# The same settings and code would fail again.
FOR_GOOD = (run_files.REWARD, run_files.SETTINGS, run_files.DATA, run_files.WEIGHTS)
# Whoever reads of it may have put it right: free space, a restored file, a connection.
RIGHT_NOW = (run_files.DISK, run_files.SPEC, run_files.FOLDER, run_files.MODEL)
# The field at which New run opens what is to be corrected.
AT = {run_files.DATA: "data.source", run_files.MODEL: "model.id", run_files.SETTINGS: ""}
# What the button says where a person has to choose, by that field.
CHOOSE = {"model.id": "Choose another model", "data.source": "Choose other data", "rewards": "Change its rewards"}
CORRECTED = "Its settings open in New run, to be corrected."
BRIEF = 400  # characters shown of what is known of an end
HEADLINE = 160  # … and of its headline
LOWER = 0.2  # of a learning rate that ruined the weights
SHORTEST = 64  # tokens of a completion that may be halved
LORA = {"lora.r": 16, "lora.lora_alpha": 32, "lora.target_modules": "all-linear"}  # common practice


@dataclass(frozen=True)
class Help:
    """A button: `go` to an address, or something to `do`; what it changes, or what to do before, in words; and what
    else there is to do (`second`)."""

    label: str
    go: str = ""
    do: str = ""
    note: str = ""
    second: "Help | None" = None

    def as_dict(self) -> dict[str, Any]:
        """As the page draws it."""
        second = self.second.as_dict() if self.second else None
        return {"label": self.label, "go": self.go, "do": self.do, "note": visible_text(self.note), "second": second}


def describe_end(run: registry.Run) -> dict[str, Any] | None:
    """What the head says of a run that failed, was killed or interrupted: `headline`, the `rest` of what is known (in
    `whole` where that is long, as `said` has a long headline), the traceback's end (`trace`), and what `helps`. None
    for any other."""
    if run.state not in TOLD or not run.folder.path.is_dir():
        return None
    found = run_files.exit_record(run.folder, run.attempt) if run.state == states.FAILED else None
    headline, rest = headline_and_rest((found or {}).get("reason") or without_resume(run.sentence))
    whole = " ".join(filter(None, (rest, say_damaged_point(run))))
    brief = " ".join(filter(None, (format.shorten(rest, BRIEF), say_damaged_point(run))))
    helped = help_with(run, found or {})
    short = format.shorten(headline, HEADLINE)
    return {
        "headline": visible_text(short), "said": visible_text(headline) if short != headline else "",
        "rest": visible_text(brief),
        "whole": visible_text(whole) if brief != whole else "",
        "trace": visible_text((found or {}).get("traceback") or ""), "helps": helped.as_dict() if helped else None,
    }  # fmt: skip


def help_with(run: registry.Run, found: dict[str, Any]) -> Help | None:
    """What can help a run that ended this way; None where nothing is known to."""
    cause = _cause(run, found)
    if run_files.spec_fault(run.folder):
        return _help_without_spec(run)
    if run.state != states.FAILED or cause in (run_files.DISK, run_files.SPEC, run_files.FOLDER):
        return _help_resuming(run, full=cause == run_files.DISK)
    if cause == run_files.MEMORY:
        return _help_memory(run)
    if cause == run_files.WEIGHTS:
        return _help_weights(run)
    if cause == run_files.REWARD and found.get("function"):
        return _help_reward(run, found)
    if cause in AT:
        return _help_correcting(run, AT[cause], CORRECTED)
    return Help("Read the log", f"/run?{urlencode({'id': run.id, 'tab': 'log'})}", note="Its last lines say more.")


def _cause(run: registry.Run, found: dict[str, Any]) -> str:
    return found.get("cause") or next((cause for words, cause in GUESSES if words in run.sentence), "")


def can_resume(run: registry.Run) -> bool:
    """Whether to go on can help: from a checkpoint, or where the run did not fail by itself; and its settings can be
    read."""
    if run_files.spec_fault(run.folder):
        return False
    if run.state != states.FAILED:
        return True
    cause = _cause(run, run_files.exit_record(run.folder, run.attempt) or {})
    if cause in FOR_GOOD:
        return False
    return cause in RIGHT_NOW or checkpoint_files.latest_sealed(run.folder.checkpoints) is not None


def say_instead_of_resume(run: registry.Run) -> str:
    """Of a run that ended and of which no resume is offered: what is still as it was when it failed, and what is
    offered instead, in a sentence; "" of any other."""
    if run.state not in states.RESUMABLE or can_resume(run):
        return ""
    found = run_files.exit_record(run.folder, run.attempt) or {}
    by_reward = _cause(run, found) == run_files.REWARD
    kept = "reward code is as it was" if by_reward else "settings and code are as they were"
    fault = run_files.spec_fault(run.folder)
    why = f"{fault[:1].upper()}{fault[1:]}" if fault else f"The run's {kept} when it failed"
    helped = help_with(run, found)
    return f"{why}; instead of a resume, its page offers “{helped.label}”." if helped else f"{why}."


def without_resume(sentence: str) -> str:
    """A sentence on a run's end without what the button beside it says."""
    return endings.RESUMES.sub("", sentence)


def say_damaged_point(run: registry.Run) -> str:
    """Why a resume does not go on from the newest checkpoint; "" where it does, or there is none."""
    found = [one for one in checkpoint_files.points(run.folder.checkpoints) if one.name != checkpoint_files.MODEL]
    wrong = checkpoint_files.problem(found[0], deep=False) if found else None
    step = format.count(checkpoint_files.step_of(found[0])) if wrong else ""
    return f"The checkpoint of step {step} cannot be resumed from: it {wrong}." if wrong else ""


def resume_label(run: registry.Run) -> str:
    """What the button says: from which step a resume goes on, or that it starts again."""
    newest = checkpoint_files.latest_sealed(run.folder.checkpoints)
    return f"Resume from step {format.count(checkpoint_files.step_of(newest))}" if newest else "Start again"


def _help_resuming(run: registry.Run, *, full: bool) -> Help:
    free = disk.free_bytes(run.folder.path) if full else None
    note = f"Free some space first: {format.size(free)} are free in {run.folder.path}." if free is not None else ""
    return Help(resume_label(run), do="resume", note=note)


def can_be_copied(run: registry.Run) -> bool:
    """Whether a new run can take its settings from this one's folder."""
    return not run_files.spec_fault(run.folder) or files.is_file(run.folder.script)


def note_on_spec(run: registry.Run) -> str:
    """What is wrong with the spec.yaml of a run that is over, and what to do, where its end does not say it already."""
    if run.state not in states.ENDED or "its spec.yaml " in run.sentence:
        return ""
    fault = run_files.spec_fault(run.folder)
    restored = run_files.how_to_restore(run.folder, resume=run.state in states.RESUMABLE)
    return f"{fault[:1].upper()}{fault[1:]}. {restored}" if fault else ""


def _help_without_spec(run: registry.Run) -> Help:
    if not files.is_file(run.folder.script):
        return Help("New run", "/new", note="Its folder has no train.py either, from which to take the settings.")
    return Help("New run from its train.py", _new_run(run, {}, ""), note="The same settings, under another name.")


def _help_reward(run: registry.Run, found: dict[str, Any]) -> Help:
    name, line = found["function"], found["line"]
    place = f" at line {line}" if line else ""
    newest = next((one for one in library.newest_rewards() if one.name == name), None)
    without = _help_without_reward(run, name)
    if newest is None:  # one that ships, or was deleted since
        return replace(_help_correcting(run, "rewards", f"“{name}” failed{place}."), second=without)
    asked, opens = {"name": name, "run": run.id, "fix": 1}, f"Open {format.shorten(name, 40)}"
    if library.hash_in_run(run.id, name) not in ("", newest.hash):
        return Help(
            "New run with the fix", fixed_function.new_run_with_fix(run, name, newest.hash),
            note=f"“{name}” was changed since the version that failed here.",
            second=Help(opens, f"/rewards?{urlencode(asked)}"),
        )  # fmt: skip
    at = {"line": line} if line else {}
    open_it = Help(
        f"{opens}{place}", f"/rewards?{urlencode(asked | at)}",
        note="Fix and save it there, then start a new run like this one with one click.", second=without,
    )  # fmt: skip
    other = _help_parameter(run, name, found.get("reason") or "")
    return replace(other, second=replace(open_it, second=None)) if other else open_it


def _help_parameter(run: registry.Run, name: str, reason: str) -> Help | None:
    """New run with the default of the parameter that a function's failure names, or open at it where it has none; None
    where it names none that the run sets."""
    said = reason.partition(f"“{name}”")[2]  # the function may be called as its parameter is
    spec = run_files.spec_of(run.folder)
    for place, reward in placed_rewards(spec) if spec else ():
        for parameter, value in reward.parameters.items() if reward.name == name else ():
            if not re.search(rf"\b{re.escape(parameter)}\b", said):
                continue
            field, given = f"{place}.parameters.{parameter}", format.shorten(str(value), 40)
            was = f"“{name}” failed with {parameter} {given}."
            default = _default_of(name, reward.version, parameter)
            if default in (None, ""):
                return Help(f"Change {parameter} of {format.shorten(name, 40)}", _new_run(run, {}, field), note=was)
            label = f"New run with the default {parameter} ({default})"
            return Help(label, _new_run(run, {field: default}, field), note=was)
    return None


def _default_of(name: str, version: str | None, parameter: str) -> Any:
    """The default of a parameter of one's own function; None where it has none."""
    with contextlib.suppress(library.LibraryError):
        for function in signature.analyse(library.get_reward(name, version).code, name).functions:
            return next((one["default"] for one in function.parameters if one["name"] == parameter), None)
    return None


def _help_without_reward(run: registry.Run, name: str) -> Help | None:
    """New run without a function, where others are left to train on in every stage."""
    spec = run_files.spec_of(run.folder)
    stages = [part.rewards for part in spec.by_stage()] if spec else []
    is_used = any(one.name == name for rewards in stages for one in rewards)
    if not is_used or not all(any(one.name != name and _can_count(one) for one in rewards) for rewards in stages):
        return None
    asked = {"from": run.id, "without": name}
    return Help(f"New run without {format.shorten(name, 40)}", f"/new?{urlencode(asked)}")


def _can_count(reward: RewardSpec) -> bool:
    weights = [point.weight for point in reward.schedule] or [reward.weight]
    return any(weights)


def _help_memory(run: registry.Run) -> Help:
    spec = run_files.spec_of(run.folder)
    catalogue = registry.read_fact(Catalogue)
    changed, note = smaller(spec, catalogue.defaults() if catalogue else {}) if spec else ({}, "")
    return _help_correcting(run, "", note, changed)


def _help_weights(run: registry.Run) -> Help:
    spec, catalogue = run_files.spec_of(run.folder), registry.read_fact(Catalogue)
    stage = groups.newest_stage(run.folder.db) if spec and spec.stages else 0
    changed, note = gentler(spec, catalogue.defaults() if catalogue else {}, stage) if spec else ({}, "")
    return _help_correcting(run, "", note, changed)


def _help_correcting(run: registry.Run, field: str, note: str, changed: dict[str, Any] | None = None) -> Help:
    """New run with this run's settings: with those `changed` that ended it, or open at the field that a person changes,
    and then nothing is corrected yet."""
    if changed:
        return Help("Open a corrected run", _new_run(run, changed, next(iter(changed))), note=note)
    return Help(CHOOSE.get(field, "Change its settings"), _new_run(run, {}, field), note=note)


def gentler(spec: RunSpec, defaults: dict[str, Any], stage: int = 0) -> tuple[dict[str, Any], str]:
    """A learning rate that is usual, in the stage of this number (from 1) where that has its own; where it was one,
    bf16, whose numbers reach as far as those of 32 bits: by field, and in words."""
    now = defaults | spec.by_stage()[max(0, stage - 1)].training
    usual = learning_rates.usual_rates(
        spec.lora is not None, learning_rates.parameters_of(spec.model, model_files.facts_at_hand(spec.model))
    )
    rate = float(now.get("learning_rate") or learning_rates.DEFAULT)
    if now.get("fp16") is True and not usual.is_high(rate):
        return {"training.fp16": False, "training.bf16": True}, "bf16, not fp16: its range is larger."
    lower = usual.lower(rate, LOWER)
    if lower is None:
        return {}, ""
    place = places(spec, stage).get("training.learning_rate", "training.learning_rate")
    return {place: lower}, f"Learning rate {lower:g}, not {rate:g}: {usual.words}."


def smaller(spec: RunSpec, defaults: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The mildest change that takes less memory, by field, and in words: half the batch, accumulated twice as often,
    leaves the update what it is; else shorter completions; else an adapter in place of the whole model."""
    now = defaults | spec.training
    batch, times = now.get("per_device_train_batch_size"), now.get("gradient_accumulation_steps")
    if isinstance(batch, int) and isinstance(times, int) and batch > 1 and batch % 2 == 0:
        changed = {"per_device_train_batch_size": batch // 2, "gradient_accumulation_steps": times * 2}
        if isinstance(given := spec.training.get("steps_per_generation"), int):
            changed["steps_per_generation"] = given * 2
        half = format.plural(batch // 2, "completion")
        words = f"{half} per device and accumulation {times * 2}, not {batch} and {times}: the same "
        return {f"training.{name}": value for name, value in changed.items()}, f"{words}update in less memory."
    longest = now.get("max_completion_length")
    if isinstance(longest, int) and longest >= 2 * SHORTEST:
        words = f"Max completion length {longest // 2:,} tokens, not {longest:,}."
        return {"training.max_completion_length": longest // 2}, words
    return ({}, "") if spec.lora else (dict(LORA), "With LoRA: an adapter is trained, not the whole model.")


def _new_run(run: registry.Run, settings: dict[str, Any], at: str) -> str:
    """The address of New run with this run's settings, these among them, open at a field."""
    sets = [("set", f"{field}={value}") for field, value in settings.items()]
    return f"/new?{urlencode([('from', run.id), *sets, *([('at', at)] if at else [])])}"
