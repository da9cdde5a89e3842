"""Runs that nobody trained, for tests and measurements: their records are written by the recorder's own RunWriter."""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from groupwise.storage.home import db, files, paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library import repair, right
from groupwise.storage.record import group_metrics, metrics, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec

MakeMetrics = Callable[[int], dict[str, float | None]]
MakeGroup = Callable[[int, int], Group]
WORDS = ("think", "so", "the", "sum", "is", "carry", "one", "then", "add", "both", "digits", "check", "again")


def made_run(
    name: str, steps: int = 60, *, groups: int = 4, size: int = 8, functions: Sequence[str] = ("format", "correctness"),
    metrics: MakeMetrics | None = None, make_group: MakeGroup | None = None, state: str = states.FINISHED,
    training: dict[str, Any] | None = None, spec_yaml: str | None = None, prompts: int = 16, eval_every: int = 0,
    resumed_at: int | None = None, seed: int = 0, every: int = 1,
) -> str:  # fmt: skip
    """The id of a run in this home of `steps` steps with `groups` groups each (none: 0), that looks like one that
    learns. `metrics(step)` and `make_group(step, n)` say otherwise; a completion has one score for each of
    `functions`. `resumed_at`: a second attempt begins after this step, where the first had gone on for ten steps.
    `every`: TRL's metrics come at each so many steps, and at the last one of a run that was stopped."""
    text = spec_yaml or spec_of(name, functions, steps, training)
    run_id = _folder(name, text, steps, state)
    folder = paths.run_folder(run_id)
    rng = random.Random(f"{name} {seed}")
    logged = metrics or (lambda step: curves(step, steps, rng))
    make = make_group or (lambda step, n: learning_group(step, n, steps, size, functions, prompts, rng))
    parts = [(1, 1, steps)] if resumed_at is None else [(1, 1, min(steps, resumed_at + 10)), (2, resumed_at + 1, steps)]
    stop = steps if state == states.STOPPED else 0
    for attempt, first, last in parts:
        _write(folder, text, attempt, first, last, steps, logged, make, groups, functions, eval_every, every, stop)
    _settle(folder)
    return run_id


def stopped_before_it_started(name: str, spec_yaml: str) -> str:
    """The id of a run of this spec, under this name, that never began: also where a worker starts what is queued."""
    named = spec.to_yaml(spec.parse_spec(spec_yaml).model_copy(update={"name": name}))
    return made_run(name, 0, groups=0, spec_yaml=named, state=states.STOPPED)


def running(run_id: str) -> str:
    """The run, which trains by now, as far as the registry knows: no worker may be there that would look."""
    for state in (states.QUEUED, states.STARTING, states.RUNNING):
        registry.set_state(run_id, state, "Trains for a measurement.")
    return run_id


def spec_of(name: str, functions: Sequence[str], steps: int, training: dict[str, Any] | None = None) -> str:
    """A spec of the starter model with these functions, the last of which weighs twice."""
    rewards = [{"name": one, "weight": 2.0 if one == functions[-1] else 1.0} for one in functions]
    settings = {"num_generations": 8, "learning_rate": 1e-4, "beta": 0.02, "max_steps": steps, **(training or {})}
    return json.dumps({"name": name, "rewards": rewards, "training": settings})


def curves(step: int, steps: int, rng: random.Random) -> dict[str, float | None]:
    """TRL's metrics of a run that learns."""
    share = step / max(1, steps)
    reward = 0.9 + 0.9 * (1 - math.exp(-3 * share)) + rng.gauss(0, 0.08)
    length = 24 + 4 * share + rng.gauss(0, 1)
    return {
        "loss": 0.02 * share * rng.random(), "grad_norm": 0.4 + rng.random() * 0.2, "learning_rate": 1e-4 * (1 - share),
        "num_tokens": float(step * 64 * 40), "epoch": share, "step_time": 0.5 + rng.random() * 0.05, "reward": reward,
        "reward_std": 0.5, "frac_reward_zero_std": 0.2, "kl": 0.02 + 0.08 * share + rng.random() * 0.01,
        "entropy": 0.7 - 0.3 * share, "clip_ratio/low_mean": 0.0, "clip_ratio/high_mean": 0.01,
        "clip_ratio/region_mean": 0.01, "rewards/format/mean": min(1.0, reward / 2), "rewards/format/std": 0.3,
        "rewards/correctness/mean": min(1.0, reward / 2.2), "rewards/correctness/std": 0.4,
        "completions/mean_length": length, "completions/mean_terminated_length": length - 1,
        "completions/clipped_ratio": 0.02, "time/elapsed": step * 0.52, "system/memory_share": 0.4,
    }  # fmt: skip


def learning_group(
    step: int, n: int, steps: int, size: int, functions: Sequence[str], prompts: int, rng: random.Random
) -> Group:
    """A group of an arithmetic prompt, whose completions are the more often right the later it is."""
    number = (step * 4 + n) % prompts
    a, b = number * 3 % 50, number * 7 % 50
    skill = 0.3 + 0.5 * step / max(1, steps)
    completions = []
    for _ in range(size):
        right, formed = rng.random() < skill, rng.random() < skill + 0.2
        answer = a + b if right else a + b + rng.randint(1, 9)
        thought = " ".join(rng.choices(WORDS, k=rng.randint(3, 9)))
        text = f"<think>{thought}: {a}+{b}={answer}</think><answer>{answer}</answer>" if formed else f"{answer}"
        scores: list[tuple[float | None, str]] = [(float(formed), "ok") for _ in functions]
        scores[-1] = (float(right), "ok")
        reward = sum(value or 0.0 for value, _ in scores) + float(right)
        completions.append(Completion(text, len(text) // 3 + 1, False, reward, 0.0, scores))
    _advantages(completions)
    return Group("train", step, [{"role": "user", "content": f"{a}+{b}?"}], {"answer": str(a + b)}, completions)


def _advantages(completions: list[Completion]) -> None:
    rewards = [c.reward or 0.0 for c in completions]
    mean = sum(rewards) / len(rewards)
    std = math.sqrt(sum((reward - mean) ** 2 for reward in rewards) / max(1, len(rewards) - 1))
    for completion, reward in zip(completions, rewards, strict=True):
        completion.advantage = (reward - mean) / (std + 1e-4)


def _folder(name: str, text: str, steps: int, state: str) -> str:
    run_spec = spec.parse_spec(text)
    run_id = paths.new_run_id(name)
    draft = paths.home() / f"draft-{run_id}"
    draft.mkdir(parents=True)
    files.write_whole(draft / "spec.yaml", text)
    about = {"name": run_spec.name, "model": run_spec.model.id, "data": run_spec.data.source, "created": time.time()}
    sentence = f"Trained for all {steps} steps." if state == states.FINISHED else "It ended."
    files.write_json(
        draft / "state.json", {**about, "state": state, "sentence": sentence, "step": steps, "total": steps}
    )
    draft.rename(paths.run_folder(run_id).path)
    return run_id


def _write(
    folder: RunFolder, text: str, attempt: int, first: int, last: int, total: int, logged: MakeMetrics, make: MakeGroup,
    groups: int, functions: Sequence[str], eval_every: int, every: int, stop: int,
) -> None:  # fmt: skip
    """One attempt, in one transaction: made runs need not be safe from a crash."""
    weights = {one: 2.0 if one == functions[-1] else 1.0 for one in functions}
    name, threshold = group_metrics.target(spec.parse_spec(text).rewards) or ("", 1.0)
    solver = list(functions).index(name) if name in functions else None
    tells_right = right.tells_right((name, threshold), folder.rewards)
    writer = RunWriter(folder.db, attempt, weights)
    seen = writer.reward_range()
    with writer._db.atomic():
        writer.commit(first - 1, events=[Event("begin", f"Training begins: {total} steps.", {"total": total})])
        for step in range(first, last + 1):
            made = [make(step, n) for n in range(groups)]
            if eval_every and step % eval_every == 0:
                held_out = [make(step, n) for n in range(groups)]
                for group in held_out:
                    group.mode = "eval"
                made += held_out
            rewards = [c.reward for group in made for c in group.completions if c.reward is not None]
            seen = group_metrics.widen_range(seen, made)
            values: dict[str, float | None] = dict(logged(step)) if step % every == 0 or step == stop else {}
            for mode, prefix in (("train", ""), ("eval", "eval_")):
                of_mode = [group for group in made if group.mode == mode]
                if of_mode:
                    found = group_metrics.metrics_of_groups(
                        of_mode, seen, solver, threshold, tells_right=tells_right,
                        by_answer=name in group_metrics.OF_ANSWERS,
                    )  # fmt: skip
                    values |= {f"{prefix}{key}": value for key, value in found.items()}
            if eval_every and step % eval_every == 0 and rewards:
                values["eval_reward"] = sum(rewards) / len(rewards)
            writer.commit(step, metrics=values, groups=made)
    writer.close()


def _settle(folder: RunFolder) -> None:
    """Into the registry, with what its record says."""
    progress = metrics.progress(folder.db)
    kept = files.read_json(folder.state) or {}
    reader = db.open_reader(folder.db)
    try:
        attempt = reader.execute("SELECT max(attempt) FROM acknowledged").fetchone()[0] or 1
    finally:
        reader.close()
    facts = {"reward": progress["reward"], "spark": progress["spark"], "attempt": attempt}
    files.write_json(folder.state, {**kept, **facts})
    repair.adopt_folders()
