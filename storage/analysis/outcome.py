"""What a run came to, for lists of many runs: the doctor's verdict on its end, how long it trained, its metrics' last
means and the settings that it was given. Worked out once and kept in registry.db: what has ended does not change."""

import functools
import hashlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from groupwise.storage.analysis.compare import fields, finals, noise
from groupwise.storage.analysis.doctor import evidence_reader
from groupwise.storage.analysis.doctor.evidence_reader import Surroundings
from groupwise.storage.analysis.doctor.examine import Report, examine
from groupwise.storage.analysis.doctor.fewer_right import FEWER
from groupwise.storage.analysis.doctor.verdict import CALM, NEUTRAL, PROBLEM, WARNING, Verdict
from groupwise.storage.home import db, files, paths
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.home.value_types import value_if_fitting
from groupwise.storage.library import right
from groupwise.storage.library.rewards import form_alone
from groupwise.storage.record import group_metrics, lineage, recent, record_check, run_files, states, totals
from groupwise.storage.registry import outcomes, registry
from groupwise.storage.registry.messages.facts import Catalogue, Hardware, Shipped
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.spec import RunSpec

GONE, DAMAGED = "Folder is missing", "Record is damaged"
FALL = "learning_rate_high"  # the verdict that says so itself
SPEED = {"memory", "slow"}  # verdicts that say nothing of what was learned
JUDGED = {states.FINISHED, states.STOPPED}  # the others say themselves that they did not end well
LONGEST = 200  # characters of a setting
MOST_SETTINGS = 500  # of one run
SECONDS = 10.0  # of reading one record
AT_ONCE = 16  # outcomes that are kept in one transaction
REST = 0.5  # seconds, at most, between two runs that are looked at beside a training
log = logging.getLogger("groupwise")


@dataclass(frozen=True)
class Outcome:
    """`verdict` stands beside the state, “” where nothing is to be said, coloured by its `level`; `seconds` of
    training; `metrics`: what each is at the end (storage.record.recent); `settings` that the spec gives, by dotted
    name; `resumed_at`: the step after which its last attempt went on, 0 where it began at the start. None and nothing
    of what is not known."""

    verdict: str = ""
    seconds: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    level: str = ""
    resumed_at: int = 0


_KEPT = TypeAdapter(Outcome)


def outcomes_kept(runs: Sequence[Run], place: Path | None = None) -> dict[str, Outcome]:
    """What is kept of these runs, by run, as far as it is still true. `place`: where their folders lie, if not among
    the runs."""
    kept = outcomes.kept_outcomes([run.id for run in runs])
    found = {}
    for run in runs:
        mark, told = kept.get(run.id, ("", ""))
        outcome = value_if_fitting(_KEPT, json.loads(told)) if mark == mark_of(run, place) else None
        if outcome is not None:
            found[run.id] = outcome
    return found


def work_out(runs: Sequence[Run], *, keep: bool = True) -> Iterator[tuple[str, Outcome]]:
    """What each of these ended runs came to, as it is found. `keep`: also for whoever asks later."""
    around, found = published_surroundings(), []
    for run in runs:
        mark = mark_of(run)  # before it is read: its record may be written to meanwhile
        outcome = _read_safely(run, around)
        found.append((run.id, mark, json.dumps(asdict(outcome))))
        yield run.id, outcome
        if keep and len(found) == AT_ONCE:
            outcomes.keep_outcomes(found)
            found = []
    if keep and found:
        outcomes.keep_outcomes(found)


def _read_safely(run: Run, around: Surroundings) -> Outcome:
    try:
        return read_outcome(run, around)
    except Exception:  # whatever is wrong with one run's folder, the others are looked at
        log.exception("the outcome of %s could not be computed", run.id)
        return Outcome()


def work_out_some() -> bool:
    """Work out and keep what some ended runs came to of which it is not known, the newest first, with a rest after each
    as long as it took; whether there may be more."""
    ended = registry.list_runs(only=states.ENDED)
    marks = {run_id: mark for run_id, (mark, _) in outcomes.kept_outcomes([run.id for run in ended]).items()}
    unknown = [run for run in ended if marks.get(run.id) != mark_of(run)]
    begun = time.monotonic()
    for _ in work_out(unknown[:AT_ONCE]):
        time.sleep(min(REST, time.monotonic() - begun))
        begun = time.monotonic()
    return len(unknown) > AT_ONCE


def mark_of(run: Run, place: Path | None = None) -> str:
    """What an outcome hangs on: the run's end, its record's file, and the rules by which it was judged."""
    folder = f"{place or paths.runs_folder()}/{run.id}"
    return f"{run.attempt} {run.state} {run.state_at} {_folder_mark(folder)} {rules_digest()}"


def _folder_mark(folder: str) -> str:
    """Changes with the files of a run's record and settings, which may be copied or damaged after the run's end."""
    return " ".join(_file_mark(f"{folder}/{name}") for name in ("run.db", "spec.yaml"))


def _file_mark(path: str) -> str:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return "-"
    return f"{found.st_size}-{found.st_mtime_ns}"


@functools.cache
def rules_digest() -> str:
    """16 hexadecimal digits that change with the doctor's rules, the figures they are told by, or this file."""
    read = hashlib.sha256()
    figures = (finals, noise, recent, totals, group_metrics, right, form_alone)
    for path in (
        Path(__file__),
        *(Path(str(figure.__file__)) for figure in figures),
        *sorted(Path(evidence_reader.__file__).parent.glob("*.py")),
    ):
        read.update(path.read_bytes())
    return read.hexdigest()[:16]


def read_outcome(run: Run, around: Surroundings) -> Outcome:
    """What a run came to so far. What of its folder cannot be read is left out; that its record is damaged is said, or
    that all of it is gone."""
    if run.state in states.ENDED and not files.is_folder(run.folder.path):
        return Outcome(GONE, level=PROBLEM)
    spec = run_files.spec_of(run.folder)
    settings = given_settings(spec) if spec else {}
    try:
        record_check.refuse_lost(run.folder, run.state, run.step)
        return _unless_spec_damaged(run, spec, _with_record(run, spec, settings, around))
    except record_check.LostRecord as lost:
        return Outcome(lost.how, settings=settings, level=PROBLEM)
    except sqlite3.DatabaseError as error:
        damaged = db.is_damage(error) or isinstance(error, record_check.OddRecord)
    except Exception:
        if record_check.of_file(run.folder.db, odd=True) is None:
            raise
        damaged = True
    if damaged:
        return Outcome(DAMAGED, settings=settings, level=PROBLEM)
    return _unless_spec_damaged(run, spec, Outcome(settings=settings))


def _unless_spec_damaged(run: Run, spec: RunSpec | None, came_to: Outcome) -> Outcome:
    """The same, with what is wrong with the settings of a run that is over in place of its verdict: they are half of
    what is known of it."""
    told = "its spec.yaml " in run.sentence  # which stands beside the state already
    if spec is not None or told or run.state not in states.ENDED:
        return came_to
    fault = run_files.spec_fault(run.folder).partition(" (")[0].removeprefix("its ")
    return replace(came_to, verdict=fault, level=WARNING) if fault else came_to


def _with_record(run: Run, spec: RunSpec | None, settings: dict[str, Any], around: Surroundings) -> Outcome:
    with record_check.read_record(run.folder.db, seconds=SECONDS) as record:
        seconds, means = finals.seconds_trained(record), finals.last_means(record)
        begun = lineage.begun_at(record)
        if spec and not _tells_right(run, record, spec):  # then nothing is solved
            means = {name: mean for name, mean in means.items() if not name.endswith("solved")}
    verdict, level = "", ""
    if run.state in JUDGED:
        evidence = evidence_reader.gather(run.folder.db, spec, around)
        verdict, level = verdict_on(examine(replace(evidence, ended=True)))
    resumed_at = begun[max(begun)] if begun and max(begun) > 1 else 0
    return Outcome(verdict, seconds, means, settings, level, resumed_at)


def _tells_right(run: Run, record: Database, spec: RunSpec) -> bool:
    """Whether a function of a stage says what is right, as far as its scores bear it out."""
    told = [group_metrics.target(stage.rewards) for stage in spec.by_stage()]
    rewards = run.folder.rewards
    return any(target is not None and not right.scores_otherwise(record, target, rewards) for target in told)


def verdict_on(report: Report) -> tuple[str, str]:
    """The words that stand beside the state of a run that ended so, everywhere, written as a sentence begins, and how
    grave that is, both as on its Overview: its first verdict on what was learned, with that its reward fell, or that
    answers were right less often, where it is so, or that alone, and why where that is known; where there is none, what
    speaks against a reward that rose; where nothing is wrong, that right answers hardly moved, as no alarm. No words of
    a run that learned nothing, which is not shown as a good one."""
    told = [one for one in report.verdicts if one.level in (PROBLEM, WARNING) and one.key not in SPEED]
    if report.kind == "down":
        return _say_fall(report, told[0] if told else None), report.level
    if told:
        is_worse = report.against == FEWER  # what else speaks against it, its cause says by itself
        return _say_with_cause(told[0], FEWER) if is_worse else told[0].title, told[0].level
    if report.against:
        return report.against, WARNING
    if report.level == NEUTRAL:
        return "", NEUTRAL
    return (report.aside, CALM) if report.aside else ("", "")


def _say_fall(report: Report, first: Verdict | None) -> str:
    return report.fell if first is None or first.key == FALL else _say_with_cause(first, report.fell)


def _say_with_cause(cause: Verdict, came: str) -> str:
    """What came of a run, after what is wrong with it: “The learning rate is too high: fewer right answers”."""
    return f"{cause.title}{':' if cause.key == FALL else ', and'} {came[0].lower()}{came[1:]}"


def verdict_so_far(run: Run, around: Surroundings) -> tuple[str, str]:
    """The words that stand beside the state of a run that trains, and how grave that is: of what its Overview says by
    now, in the words of an end, what is wrong. Raises sqlite3.DatabaseError."""
    evidence = evidence_reader.gather(run.folder.db, run_files.spec_of(run.folder), around)
    return verdict_meanwhile(examine(evidence))


def verdict_meanwhile(report: Report) -> tuple[str, str]:
    """The words that stand beside the state of a run that trains and of which this is the report: what is wrong."""
    words, level = verdict_on(report)
    return (words, level) if level in (PROBLEM, WARNING) else ("", "")


def is_of_files(words: str) -> bool:
    """Whether words beside a state are of the run's files, which are lost or damaged, and no verdict on its end."""
    return words in (GONE, DAMAGED) or words.startswith(("run.db ", "spec.yaml "))


def given_settings(spec: RunSpec) -> dict[str, Any]:
    """The settings that a spec gives, by dotted name: numbers and truth values as they are, all else as words."""
    given = {name: one["value"] for name, one in fields.of_whole_run(spec).items() if one["set"]}
    return {name: _plain(value) for name, value in list(given.items())[:MOST_SETTINGS]}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)) and abs(value) < 1e300:
        return value
    return fields.words(value)[:LONGEST]


def default_settings(defaults: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a setting is where no spec gives it: ours, and GRPOConfig's as published."""
    spec = RunSpec.model_validate({"name": "x", "rewards": [{"name": "x"}]})
    flat = fields.flat(spec, defaults)
    return {name: _plain(one["value"]) for name, one in flat.items() if not name.startswith("rewards.")}


def published_surroundings() -> Surroundings:
    """What the worker published, as the doctor takes it into account."""
    catalogue, shipped = registry.read_fact(Catalogue), registry.read_fact(Shipped)
    hardware = registry.read_fact(Hardware)
    gpus = [gpu.as_dict() for gpu in hardware.gpus] if hardware else []
    return Surroundings(catalogue.defaults() if catalogue else {}, gpus, shipped.extras if shipped else {})
