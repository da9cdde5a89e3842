"""Everything that is known of a run before it is started: sentences, figures, and what to do about problems."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groupwise.app.core import format
from groupwise.app.core.field_labels import own_label
from groupwise.app.pages.new.preflight import advice, counts, disk, memory, memory_fixes, queue, timing
from groupwise.app.pages.new.preflight.settings import PROMPT_TOKENS
from groupwise.app.pages.new.preflight.timing import Pace
from groupwise.app.pages.new.preflight.waiting import DISK, MEMORY, STEPS, TIME, awaited_by_memory, awaited_settings
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Problem

ORDER = {BLOCKING: 0, WARNING: 1, ADVICE: 2}
FIGURES = (MEMORY, TIME, DISK)
ASSUMED = f"Assumes {PROMPT_TOKENS}-token prompts, as those of the data are not counted."


@dataclass(frozen=True)
class Report:
    """`sentences`: what will happen, in plain words. `figures`: {label, value, detail}. `problems`: gravest first.
    `estimate`: of memory, for whoever wants its terms. `awaited`: the settings that estimates wait for, by path.
    `assumed`: the one of the sentences that says what figures assume where the prompts are not counted; "" where none
    does."""

    sentences: list[str]
    figures: list[dict[str, Any]]
    problems: list[Problem]
    estimate: memory.Estimate | None = None
    awaited: tuple[str, ...] = ()
    assumed: str = ""


def report(
    spec: RunSpec,
    offer: Offer,
    facts: ModelFacts | None,
    rows: int | None = None,
    prompt_tokens: int | None = None,
    *,
    told: bool = True,
    blamed: Collection[str] = (),
    unread: Mapping[str, str] | None = None,
    sums: bool = False,
    point: str = "",
    tags: Collection[str] = (),
    columns: Collection[str] | None = None,
) -> Report:
    """What a spec will do and need; without `told` its problems alone. `blamed`: the fields whose problem is said
    there, and not here again. `unread`: the settings that are given and cannot be read, and where they
    stand. `facts`: None while the model's files are not here. `rows`: how many rows the data has, as the preview
    counted them. `prompt_tokens`: the longest prompt, as the data checks counted it. `sums`: whether every prompt is
    one that the starter knows. `point`: an answer with a decimal point, where the prompts have a comma. `tags`: those
    in the prompts. `columns`: those of the data."""
    readable = _readable(prompt_tokens, facts)
    typed = unread or {}
    awaited = awaited_settings(spec, offer, typed)
    estimate = None if MEMORY in awaited else memory.estimate(spec, offer, facts, readable)
    written = None if DISK in awaited else disk.disk(spec, offer, facts, rows, disk.free_space())
    said: list[str] = []
    assumed = ""
    shown: list[dict[str, Any]] = []
    if told:
        pace, steps = (None, None) if TIME in awaited else _pace(spec, offer, facts, rows, readable)
        awaited = awaited_by_memory(blamed) | awaited
        in_sight = None if MEMORY in awaited else estimate
        refused, kept_by = awaited.get(STEPS, ""), awaited.get(MEMORY, "")
        told_there = {*blamed, *typed}
        said = _say_refused("Steps cannot be counted", refused, told_there)
        said += [] if refused else counts.sentences(spec, offer, rows)
        said += _say_refused("Memory cannot be estimated", kept_by, told_there)
        said += [] if kept_by or estimate else [_say_no_memory(facts)]
        assumed = "" if prompt_tokens or not (in_sight or (pace and not pace.run)) else ASSUMED
        said += [assumed] if assumed else []
        said += [begins] if (begins := _begin_sentence(spec)) else []
        said += [waits] if (waits := queue.wait_sentence()) else []
        shown = _figures(in_sight, written, pace, steps, assumed=bool(assumed))
        shown += [_show_waiting(label, awaited[label], typed) for label in FIGURES if label in awaited and facts]
        shown.sort(key=lambda one: FIGURES.index(one["label"]))
    sums = sums or _is_data_refused(blamed)  # of data that nobody has read nothing is advised
    problems = [
        *memory_fixes.memory_problems(spec, offer, facts, estimate),
        *disk.disk_problems(spec, offer, written),
        *advice.advise(spec, offer, facts, rows, prompt_tokens, sums=sums, point=point, tags=tags, columns=columns),
    ]
    return Report(said, shown, sorted(problems, key=lambda problem: ORDER[problem.level]), estimate,
                  tuple(awaited.values()), assumed)  # fmt: skip


def _is_data_refused(blamed: Collection[str]) -> bool:
    return "data" in blamed or "data.source" in blamed


def _readable(prompt_tokens: int | None, facts: ModelFacts | None) -> int | None:
    """No longer than the model can read: rows that are, are a problem of the data, which one row of millions of letters
    would hide behind a memory that no machine has."""
    room = facts.max_position if facts else None
    return min(prompt_tokens, room) if prompt_tokens and room else prompt_tokens


def _begin_sentence(spec: RunSpec) -> str:
    """What is not taken over where a run begins from what an earlier one saved; "" for any other model."""
    if not Path(spec.model.id).is_relative_to(paths.runs_folder()):
        return ""
    anew = "Begins from an earlier run’s weights alone: the optimizer and the learning rate schedule start over"
    kept = any(stage.training.get("beta", 1) != 0 for stage in spec.by_stage())
    return f"{anew}, and KL is measured from these weights." if kept else f"{anew}."


def _pace(
    spec: RunSpec, offer: Offer, facts: ModelFacts | None, rows: int | None, prompt_tokens: int | None
) -> tuple[Pace | None, int | None]:
    """Seconds a step, over all stages, and how many steps there are in all (None: not known)."""
    stages = spec.by_stage()
    paces = [timing.pace(stage, offer, facts, prompt_tokens) for stage in stages]
    found = [counts.counts(stage, offer, rows) for stage in stages]
    known = counts.totals(found)
    whole = [pace for pace in paces if pace]
    if not whole or len(whole) < len(stages):
        return None, None
    if not known:
        return whole[0], None
    taken = [pace.times(one.steps) for pace, one in zip(whole, found, strict=True) if one and one.steps]
    low, high = sum(pace.low for pace in taken) / known[0], sum(pace.high for pace in taken) / known[0]
    name = whole[0].run if all(pace.run for pace in whole) else None
    rough = next((pace.rough for pace in whole if pace.rough), "") if name else ""
    return Pace(low, high, name, rough), known[0]


def _show_waiting(label: str, awaited: str, typed: Mapping[str, str]) -> dict[str, Any]:
    """Of an estimate that is not made, and why: what it waits for by the name that is `typed`, as in its problem."""
    place = typed.get(awaited, awaited)
    name = own_label(awaited) if place == awaited else place.rpartition(".")[2]
    return {"label": label, "value": "—", "detail": f"waits until “{name}” is fixed"}


def _say_refused(kept: str, path: str, blamed: Collection[str]) -> list[str]:
    """What a refused setting keeps from being known; nothing where its field says what is wrong with it."""
    said_there = any(field == path or field.endswith(f".{path}") for field in blamed)
    return [f"{kept}: “{own_label(path)}” is not a usable number."] if path and not said_there else []


def _say_no_memory(facts: ModelFacts | None) -> str:
    missing = "the model’s files are not here yet" if facts is None else "the model’s files do not say its sizes"
    return f"Memory cannot be estimated: {missing}."


def _figures(
    estimate: memory.Estimate | None, written: disk.Disk | None, pace: Pace | None, steps: int | None, *, assumed: bool
) -> list[dict[str, Any]]:
    """Memory, time and disk, each with where it comes from; `level` where it is worth a colour, `assumes` where it is
    worked out by a length of the prompts that nobody has counted (`assumed`)."""
    shown: list[dict[str, Any]] = []
    if estimate:
        of = f"of {format.size(estimate.available)}, " if estimate.available else ""
        largest = f"{of}mostly {estimate.largest.name} ({format.size(estimate.largest.bytes)}), {estimate.moment}"
        shown.append({"label": MEMORY, "value": format.size(estimate.total), "detail": largest})
        shown[-1] |= {"level": estimate.level or "", "assumes": assumed}
    if pace:
        each = f"{pace.words} a step, {pace.source}"
        whole = pace.times(steps).words if steps else f"{pace.words} a step"
        shown.append({"label": TIME, "value": whole, "detail": each if steps else pace.source})
        shown[-1]["hint"] = "" if pace.run else timing.SIMILAR
        shown[-1]["assumes"] = assumed and not pace.run
        shown[-1]["run"] = pace.run or ""  # in the detail: the page cuts it where it has no room
    if written:
        free = f" of {format.size(written.free)} free" if written.free is not None else ""
        kept = format.plural(written.kept, "checkpoint") if written.kept else "no checkpoints"
        detail = f"{free.strip()}; {kept} and the trained model".strip("; ")
        shown.append({"label": DISK, "value": format.size(written.total), "detail": detail})
    return shown
