"""Reads the doctor's evidence from a run's record: curves from what is pre-computed, and the first and last groups.

What an older or half-copied file lacks is left out; the rules that need it then say nothing.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from groupwise.storage.analysis.compare import noise
from groupwise.storage.analysis.doctor import each_step, held_out_shift, known_by_code, last_weights
from groupwise.storage.analysis.doctor.curve import Curve
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.held_out_shift import Shift
from groupwise.storage.analysis.doctor.sample_reader import (
    GROUPS,
    ORDERS,
    are_chats,
    evaluated_ids,
    finite,
    group_ids,
    read_columns,
    read_functions,
    read_if_there,
    read_samples,
    rows_of,
    with_scored,
)
from groupwise.storage.checks.starter_use import is_beyond_starter, is_from_starter, is_known_sum, say_other_writing
from groupwise.storage.checks.tag_room import tag_room
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library import right
from groupwise.storage.library.models import learning_rates, model_files
from groupwise.storage.record import group_metrics, lineage, recent, record_check
from groupwise.storage.record.lineage import Part
from groupwise.storage.record.recent import Course
from groupwise.storage.record.rollup import SIZES
from groupwise.storage.spec.spec import KlSpec, RewardSpec, RunSpec
from groupwise.storage.spec.words.problem import Problem

# The metrics that the rules look at, besides rewards/NAME/….
METRICS = (
    "reward", "reward_std", "frac_reward_zero_std", "eval_reward", "kl", "beta", "entropy", "loss", "grad_norm",
    "learning_rate", "clip_ratio/region_mean", "completions/mean_length", "completions/clipped_ratio",
    "completions/mean_terminated_length", "step_time", "groups/tied", "groups/all_low", "groups/all_high",
    "groups/tied_other", "groups/spread", "groups/best", "groups/worst", "groups/solved",
    "groups/any_solved", "groups/alike", "groups/repetition", "time/generation", "time/rewards", "time/update",
    "system/memory_share", "eval_groups/solved",
)  # fmt: skip
OF_FUNCTION = re.compile(r"(rewards/[^/]+/[^/]+|eval_rewards/[^/]+/mean)$")
WHOLE_COLUMN = re.compile(r"\{([^{}]+)\}")  # a prompt template that is one column
FINITE = ("loss", "grad_norm", "reward", "kl")  # those that must be numbers
SCORED = "AND NOT EXISTS (SELECT 1 FROM grp WHERE mode = 'train' AND grp.step = metric.step AND low IS NULL)"
FEW_PROMPTS, LAST_GROUPS = 7, 1000  # different ones, in so many groups
RECENT_STEPS = 100  # in which a value that is no number is looked for
RAW_STEPS = 600  # up to here every value is read

ByPrompt = dict[str, tuple[float, ...]]  # a held-out curve → how far each prompt has moved
Ends = tuple[recent.Logs, recent.Logs]  # the first and the last logged steps
NO_ENDS: Ends = ((), ())
Bucket = tuple[int, int, float, float, float]  # step, how many values, their total, least and greatest


@dataclass(frozen=True)
class Surroundings:
    """What is published of this home: TRL's defaults, the devices, the optional packages."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    gpus: Sequence[Mapping[str, Any]] = ()
    extras: Mapping[str, str] = field(default_factory=dict)


def gather(path: Path, spec: RunSpec | None, around: Surroundings | None = None, until: int | None = None) -> Evidence:
    """The evidence of a record, or (`until`) what it was after so many steps. `spec`: None where it cannot be read.
    Raises sqlite3.Error where the file cannot."""
    around = around or Surroundings()
    with record_check.read_record(path) as run:
        rewards = RunFolder(path.parent).rewards
        found = _gather_evidence(run, spec, around, 2**62 if until is None else until)
        found = replace(found, functions=known_by_code.with_known(found.functions, rewards, are_chats(run)))
        target = group_metrics.target(found.rewards)
        if target is not None and read_if_there(lambda: [right.says_nothing(run, target, rewards)]) == [True]:
            curves = {name: curve for name, curve in found.curves.items() if not name.endswith("solved")}
            return replace(found, nothing_right=True, curves=curves)
    if target is None:
        return found
    return replace(found, gives_one=right.gives_one(target, rewards), compares=right.compares(target, rewards))


def _gather_evidence(run: Database, spec: RunSpec | None, around: Surroundings, until: int) -> Evidence:
    since, number = _stage(run)
    stages = spec.by_stage() if spec else []
    stage = stages[min(max(0, number - 1), len(stages) - 1)] if stages else None
    there = read_if_there(lambda: lineage.stretches(run))
    parts = [(attempt, max(first, since + 1), min(last, until)) for attempt, first, last in there]
    parts = [part for part in parts if part[1] <= part[2]]
    keys = dict(rows_of(run, "SELECT name, id FROM metric_key"))
    wanted = [name for name in keys if name in METRICS or OF_FUNCTION.match(name)]
    if stage and group_metrics.target(stage.rewards) is None:  # an older version took form for what is right
        wanted = [name for name in wanted if not name.endswith("solved")]
    logs = _logs_at_ends(run, parts)
    curves = _curves(run, {keys[name]: name for name in wanted if not _is_held_out(name)}, parts, logs)
    before = [(attempt, 0 if first == 1 else first, last) for attempt, first, last in parts]  # the first step as well
    curves |= _curves(run, {keys[name]: name for name in wanted if _is_held_out(name)}, before)
    ends = [group_ids(run, order, since, until) for order in ORDERS]
    functions = rows_of(run, "SELECT id, name, weight FROM reward_function ORDER BY id")
    names, logged = {id: name for id, name, _ in functions}, curves.get("reward", Curve())
    curves = each_step.with_each_step(run, curves, names, since, until, recent.interval_of(logs[1]))
    first, last = (read_samples(run, ids[:GROUPS], names, order) for ids, order in zip(ends, ORDERS, strict=True))
    rewards = [sample.reward for sample in (*first, *last) if sample.reward is not None]
    rewards += [c.high for c in (curves.get("groups/best"),) if c] + [c.low for c in (curves.get("groups/worst"),) if c]
    total = rows_of(
        run, "SELECT json_extract(data, '$.total') FROM event WHERE kind IN ('begin', 'stage') ORDER BY id DESC LIMIT 1"
    )
    facts = model_files.facts_at_hand(spec.model) if spec else None
    shift = _held_out_shift(run, curves, stage.rewards if stage else ())
    # Before the first step of all, what they did to the answers that were evaluated then.
    told = read_functions(run, functions, first, last, ends[1] or evaluated_ids(run, min(since, until)))
    return Evidence(
        training={**around.defaults, **(stage.training if stage else {})},
        rewards=stage.rewards if stage else (), lora=bool(spec and spec.lora is not None),
        parameters=learning_rates.parameters_of(spec.model, facts) if spec else None, curves=curves,
        functions=with_scored(run, told, curves.get("reward", Curve()).course), first=first, last=last,
        logged=len(logged), chart_begins=(logged.steps[0], logged.first) if len(logged) else None,
        low=min(rewards, default=None), high=max(rewards, default=None), not_finite=_not_finite(run, keys, parts),
        gpus=around.gpus, extras=around.extras, step=parts[-1][2] if parts else 0, total=_newest_step(total),
        since=since, staged=bool(spec and spec.stages), settings_known=spec is not None, places=places(spec, number),
        tags=tag_room(stage.rewards, by_letter=is_from_starter(spec.model.id, facts)) if spec and stage else None,
        beyond_starter=bool(spec and is_beyond_starter(spec, facts)) and not _asks_known_sums([*first, *last]),
        other_writing=_other_writing(run, spec, [*first, *last]) if spec and spec.model.id == "starter" else None,
        kl=spec.kl if spec else KlSpec(),
        room=facts.max_position if facts else None, held_out_before=_held_out_before(run, keys, min(since, until)),
        few_prompts=_few_prompts(run, since, until), held_out_prompts=_held_out_prompts(run, until),
        held_out_error=shift.error,
        held_out_changes=_held_out_changes(run, curves, group_metrics.target(stage.rewards) if stage else None)
        | ({} if shift.changes is None else {"eval_reward": shift.changes}),
    )  # fmt: skip


def _asks_known_sums(samples: Sequence[Sample]) -> bool:
    """Whether what is asked is what the starter knows, whatever the data is called."""
    return bool(samples) and all(is_known_sum(sample.prompt) for sample in samples)


def _other_writing(run: Database, spec: RunSpec, samples: Sequence[Sample]) -> Problem | None:
    """What New run says of the data where all prompts that were read are sums in another writing than the starter
    knows."""
    asked = {sample.grp: sample.prompt for sample in samples}
    rows = read_columns(run, list(asked))
    whole = WHOLE_COLUMN.fullmatch(spec.data.prompt_template)
    name = spec.data.prompt_column or (whole[1] if whole else "")  # rewards do not get a column called “prompt”
    own = [{name: question} if name else {} for question in asked.values()]
    given = [columns | rows.get(grp, {}) for grp, columns in zip(asked, own, strict=True)]
    return say_other_writing(spec.data, list(asked.values()), given, in_part=spec.data.columns is not None)


def _is_held_out(name: str) -> bool:
    return name.startswith("eval_")


def _held_out_before(run: Database, keys: dict[str, int], step: int) -> float | None:
    """The held-out reward that was measured last at this step, after which the stage began."""
    sql = "SELECT value FROM metric WHERE key = ? AND step = ? ORDER BY attempt DESC LIMIT 1"
    rows = rows_of(run, sql, [keys.get("eval_reward"), step])
    return finite(rows[0][0]) if rows else None


def _held_out_prompts(run: Database, until: int) -> int:
    """How many prompts the last evaluation up to this step had; 0 where that is not recorded."""
    last = "SELECT max(step) FROM grp WHERE mode = 'eval' AND step <= ?"
    rows = rows_of(run, f"SELECT count(DISTINCT prompt) FROM grp WHERE mode = 'eval' AND step = ({last})", [until])
    return rows[0][0] if rows else 0


def _few_prompts(run: Database, since: int, until: int) -> int:
    """How many different prompts the last groups of training have; 0 where they have more than a few."""
    last = "SELECT prompt FROM grp WHERE mode = 'train' AND step > ? AND step <= ? ORDER BY step DESC LIMIT ?"
    rows = rows_of(run, f"SELECT DISTINCT prompt FROM ({last}) LIMIT ?", [since, until, LAST_GROUPS, FEW_PROMPTS + 1])
    return len(rows) if len(rows) <= FEW_PROMPTS else 0


def _held_out_shift(run: Database, curves: Mapping[str, Curve], rewards: Sequence[RewardSpec]) -> Shift:
    """What each prompt did between the first and the last evaluation, at the last weights where these moved."""
    told, moved = curves.get("eval_reward"), last_weights.moved_of(rewards, curves)
    if told is None or len(told) < 2:
        return Shift()
    weights = {one.name: one.weight for one in rewards} | {name: curve.now for name, curve in moved.items()}
    ends = told.steps[0], told.steps[-1]
    found = read_if_there(lambda: [held_out_shift.read_shift(run, *ends, weights if moved else None)])
    return found[0] if found else Shift()


def _held_out_changes(run: Database, curves: Mapping[str, Curve], target: group_metrics.Target | None) -> ByPrompt:
    """How far each prompt's mean has moved between the first and the last evaluation, by the held-out curve of a
    function, or of what is right."""
    told = curves.get("eval_reward")
    if told is None or len(told) < 2:
        return {}
    first, last = (_held_out_of(run, step, target) for step in (told.steps[0], told.steps[-1]))
    found = {name: held_out_shift.changes_by_prompt(then, last.get(name, {})) for name, then in first.items()}
    return {name: changes for name, changes in found.items() if changes is not None}


def _held_out_of(run: Database, step: int, target: group_metrics.Target | None) -> dict[str, dict[int, float]]:
    """Held-out curve → prompt → its mean in the evaluation of a step, the last one there."""
    name, least = target or ("", group_metrics.SOLVED)
    found: dict[str, dict[int, float]] = defaultdict(dict)
    attempt = "SELECT max(attempt) FROM grp WHERE mode = 'eval' AND step = ?"
    evaluated = f"g.mode = 'eval' AND g.step = ? AND g.attempt = ({attempt})"
    scores = (
        "SELECT g.prompt, f.name, avg(s.value), avg(s.value IS NOT NULL AND s.value >= ?) FROM grp g "
        f"JOIN score s ON s.grp = g.id JOIN reward_function f ON f.id = s.function WHERE {evaluated} "
        "GROUP BY g.prompt, f.name LIMIT ?"
    )
    for prompt, function, mean, right_share in rows_of(run, scores, [least, step, step, noise.MOST]):
        if finite(mean) is not None:
            found[f"eval_rewards/{function}/mean"][prompt] = mean
        if function == name:
            found["eval_groups/solved"][prompt] = right_share
    return found


def places(spec: RunSpec | None, number: int) -> dict[str, str]:
    """Where the stage of this number (from 1) says what it has of its own; its rewards are all its own, or none."""
    if spec is None or not 0 < number <= len(spec.stages):
        return {}
    stage, where = spec.stages[number - 1], f"stages.{number - 1}"
    own = {f"training.{name}": f"{where}.training.{name}" for name in stage.training}
    return own | ({"rewards": f"{where}.rewards"} if stage.rewards else {})


def _stage(run: Database) -> tuple[int, int]:
    """(the step after which the stage that trains now began, its number); (0, 0) in a run without stages."""
    found = read_if_there(lambda: [recent.stage_began(run)])
    return found[0] if found else (0, 0)


def _newest_step(rows: list[Any]) -> int:
    return rows[0][0] if rows and isinstance(rows[0][0], int) else 0


def _logs_at_ends(run: Database, parts: list[Part]) -> Ends:
    """The first and the last logged steps, of a run of which every value is read all of them."""
    if _size(parts) == 1:
        return (next(iter(read_if_there(lambda: [recent.last_logs(run, parts, RAW_STEPS)])), ()),) * 2
    return next(iter(read_if_there(lambda: [(recent.first_logs(run, parts), recent.last_logs(run, parts))])), NO_ENDS)


def _size(parts: list[Part]) -> int:
    """Steps a point; 1: every value."""
    steps = sum(last - first + 1 for _, first, last in parts)
    return 1 if steps <= RAW_STEPS else next((n for n in SIZES if steps / n <= RAW_STEPS), SIZES[-1])


def _curves(run: Database, keys: dict[int, str], parts: list[Part], logs: Ends = NO_ENDS) -> dict[str, Curve]:
    """`logs`: the first and the last logged steps; none where each value counts for itself: of those that are few all
    are read, however many steps there are."""
    sizes = {key: 1 if logs == NO_ENDS and _has_few(run, key) else _size(parts) for key in keys}
    return {name: curve for key, name in keys.items() if len(curve := _curve(run, key, parts, sizes[key], logs))}


def _has_few(run: Database, key: int) -> bool:
    """Whether a metric has so few values that all can be read: of evaluations, say."""
    few = f"SELECT count(*) FROM (SELECT 1 FROM metric WHERE key = ? LIMIT {RAW_STEPS + 1})"
    return all(count <= RAW_STEPS for (count,) in rows_of(run, few, [key]))


def _curve(run: Database, key: int, parts: list[Part], size: int, logs: Ends) -> Curve:
    """The buckets of so many steps that are whole, and what is not in one yet as a point of its own; size 1: every
    value. Before them the first step by itself, which is of before anything was learned."""
    found: list[Bucket] = []
    if size > 1 and parts:
        attempt, first, _ = parts[0]
        found = _raw(run, key, attempt, first, first)
    for attempt, first, last in parts:
        begin = first
        tail: list[Bucket] = []
        for smaller in [one for one in reversed(SIZES) if one <= size]:
            buckets = _buckets(run, key, attempt, begin, last, smaller)
            begin = buckets[-1][0] // smaller * smaller + smaller if buckets else begin
            (found if smaller == size else tail).extend(buckets)
        raw = _raw(run, key, attempt, begin, last)
        if size == 1:
            found += raw
        elif tail or raw:
            found.append(_merge_buckets(tail + raw))
    steps, means = [b[0] for b in found], [b[2] / b[1] for b in found]
    if size == 1:
        course = recent.course_of(list(zip(steps, means, strict=True)), logs[1])
    else:
        course = _course(run, key, parts, found, logs)
    return Curve.of(steps, means, [(b[3], b[4]) for b in found], course)


def _course(run: Database, key: int, parts: list[Part], found: list[Bucket], logs: Ends) -> Course:
    """The figures of a curve whose points are of many steps: its ends as they were logged, and these points."""
    first = read_if_there(lambda: recent.first_points(run, key, parts, logs[0]))
    last = read_if_there(lambda: recent.recent_points(run, key, parts, logs[1]))
    per = recent.values_a_log([step for step, _ in last], recent.interval_of(logs[1]))
    means = [b[2] / b[1] for b in found if b[1] >= per * recent.RECENT]
    return recent.course_of_ends(first, last, means, *logs)


def _buckets(run: Database, key: int, attempt: int, first: int, last: int, size: int) -> list[Bucket]:
    rows = rows_of(
        run,
        "SELECT bucket, n, total, low, high FROM rollup WHERE size = ? AND key = ? AND attempt = ? "
        "AND bucket BETWEEN ? AND ? ORDER BY bucket",
        [size, key, attempt, first // size, (last + 1) // size - 1],
    )
    return [(bucket * size + size // 2, *rest) for bucket, *rest in rows]


def _raw(run: Database, key: int, attempt: int, first: int, last: int) -> list[Bucket]:
    rows = rows_of(
        run,
        "SELECT step, value FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
        "AND value IS NOT NULL ORDER BY step LIMIT 4096",
        [key, attempt, first, last],
    )
    return [(step, 1, value, value, value) for step, value in rows if math.isfinite(value)]


def _merge_buckets(buckets: list[Bucket]) -> Bucket:
    _, counts, totals, lows, highs = zip(*buckets, strict=True)
    return buckets[-1][0], sum(counts), math.fsum(totals), min(lows), max(highs)


def _not_finite(run: Database, keys: dict[str, int], parts: list[tuple[int, int, int]]) -> dict[str, int]:
    """The last step at which a metric that must be a number was none, of the last steps. NaN is stored as NULL; so is
    the reward of a step in which no function scored anything, which is another matter."""
    if not parts:
        return {}
    attempt, first, last = parts[-1]
    found = {}
    for name in FINITE:
        rows = rows_of(
            run,
            "SELECT max(step) FROM metric WHERE key = ? AND attempt = ? AND step BETWEEN ? AND ? "
            f"AND (value IS NULL OR abs(value) > 1e300) {SCORED if name == 'reward' else ''}",
            [keys.get(name), attempt, max(first, last - RECENT_STEPS), last],
        )
        if rows and rows[0][0] is not None:
            found[name] = rows[0][0]
    return found


def newest_batch(path: Path) -> int:
    """The number of the last batch that was recorded: while it is the same, so is the evidence."""
    with record_check.read_record(path) as run:
        rows = rows_of(run, "SELECT max(seq) FROM acknowledged")
    return rows[0][0] or 0 if rows else 0
