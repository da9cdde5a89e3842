"""How long a step and a whole run take: a rough range at first, then from what a similar run of this home took."""

from __future__ import annotations

import itertools
import math
import sqlite3
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from groupwise.app.core import format
from groupwise.app.core.until_written import until_written
from groupwise.app.pages.new.preflight import counts
from groupwise.app.pages.new.preflight.counts import Counts
from groupwise.app.pages.new.preflight.memory_parts import BYTES
from groupwise.app.pages.new.preflight.settings import PROMPT_TOKENS, Settings
from groupwise.app.pages.new.preflight.shape import Shape, shape_of
from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.record import metrics, run_files, states
from groupwise.storage.registry import registry
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import join_words

# By a word in the device's name, the more special first: 16-bit dense FLOP/s (as trl.trainer.utils lists them, after
# TorchTitan; consumer cards by NVIDIA's architecture papers) and bytes/s of its memory (NVIDIA's data sheets).
DEVICES = (
    ("B300", 2.25e15, 8.0e12), ("B200", 2.25e15, 8.0e12), ("H200", 989e12, 4.8e12), ("H100 NVL", 835e12, 3.9e12),
    ("H100 PCIe", 756e12, 2.0e12), ("H100", 989e12, 3.35e12), ("H20", 148e12, 4.0e12), ("A100", 312e12, 2.0e12),
    ("A6000", 155e12, 0.77e12), ("A10", 125e12, 0.6e12), ("L40", 362e12, 0.86e12), ("L4", 121e12, 0.3e12),
    ("V100", 125e12, 0.9e12), ("T4", 65e12, 0.32e12), ("5090", 210e12, 1.8e12), ("4090", 165e12, 1.0e12),
    ("3090", 71e12, 0.94e12),
)  # fmt: skip
OTHER_GPU = (100e12, 0.6e12)
CORE = (60e9, 8e9)  # one core: 16 to 32 float32 operations a cycle; its share of the memory's speed
BUSY = (0.1, 0.5)  # the share of the peak that training reaches: badly, well
LAUNCH = (0.0003, 0.001)  # seconds that transformers' generate spends on each layer for each token, whatever the size
VLLM = 5  # so much faster does vLLM generate (common practice: 3 to 10)
LOOK = 40  # runs with this model that are looked into, newest first: what each took is read once
ENOUGH = 3  # steps after which a run's pace says something
FAR = 8  # times the work of a step, or a part of it so small: from there on another run says nothing
NEAR = 4  # times the tokens a step may have: up to there, the same data and rewards say more
CUT = 0.9  # of the longest completion: where the mean is above, most are cut off there, and would go on


SIMILAR = (
    "Similar is a run with the same model, dtype and quantization, LoRA or not, the same processes, and vLLM or not, "
    "which generates as often (num_iterations, steps_per_generation), and whose steps have up to "
    f"{FAR} times as many completions and tokens. Names, seeds, learning rates, beta, steps, logging, evaluation and "
    "saving may differ."
)


@dataclass(frozen=True)
class Pace:
    """Seconds a step, between `low` and `high`; `run` is the name of the run it is known from, else it is a guess.
    `rough`: in which ways that run was another, in a few words; "" where it was like this one. `trains`: it still
    does."""

    low: float
    high: float
    run: str | None = None
    rough: str = ""
    trains: bool = False

    def times(self, steps: float) -> Pace:
        """The seconds of so many steps."""
        return replace(self, low=self.low * steps, high=self.high * steps)

    @property
    def source(self) -> str:
        """What it is known from, in words."""
        if self.run is None:
            return "a rough guess until a similar run has finished"
        if self.rough:
            return f"from “{self.run}”, which {'has' if self.trains else 'had'} {self.rough}"
        return f"as a step of “{self.run}” {'takes' if self.trains else 'took'}"

    @property
    def words(self) -> str:
        """As a person reads it: about 5 min where a similar run of this home says so, roughly 5 min where another
        does, else 5 min to 20 min."""
        if self.run is not None:
            middle = format.duration((self.low + self.high) / 2, roughly=True)
            return f"{'roughly' if self.rough else 'about'} {middle}"
        return f"{format.duration(self.low, roughly=True)} to {format.duration(self.high, roughly=True)}"


def pace(spec: RunSpec, offer: Offer, facts: ModelFacts | None, prompt_tokens: int | None = None) -> Pace | None:
    """Seconds a step of a spec without stages, from the likest run of this home, else worked out; None where neither
    can be."""
    found = counts.counts(spec, offer)
    if found is None or not found.longest:
        return None
    known = from_runs(spec, offer, found)
    if known:
        return known
    shape = shape_of(facts) if facts else None
    return guess(Settings(spec, offer), found, shape, prompt_tokens or PROMPT_TOKENS) if shape else None


def guess(settings: Settings, found: Counts, shape: Shape, prompt_tokens: int) -> Pace:
    """Estimate the seconds a step from a device's peaks. Generating a token reads all weights once and does 2 FLOP for
    each and completion; a trained token costs 6 for each weight, 8 with checkpointing (Kaplan et al. 2020; Korthikanti
    et al. 2022), 2 fewer where LoRA trains little of it; each pass for log-probabilities 2. Fast: completions half as
    long as they may be, the device well used. Slow: the longest, badly used. Rewards are not counted."""
    flops, bandwidth = device_speed(settings)
    every = found.processes if settings.gpus else 1
    passes = 6 + 2 * settings.checkpointing - 2 * (settings.spec.lora is not None)
    passes += 2 * bool(settings.get("beta")) + 2 * settings.on("use_vllm")
    read = shape.parameters * BYTES.get(shape.dtype, 4) / bandwidth
    ends = []
    for longest, busy, launch in (
        ((found.longest or 0) / 2, BUSY[1], LAUNCH[0]), (found.longest or 0, BUSY[0], LAUNCH[1])
    ):  # fmt: skip
        share = _generated_a_step(found)
        work = 2 * shape.parameters * found.generation / every / (flops * busy)
        token = max(read, work) + launch * shape.layers
        generating = longest * token * share / (VLLM if settings.on("use_vllm") else 1)
        tokens = found.step / every * (prompt_tokens + longest)
        ends.append(generating + passes * shape.parameters * tokens / (flops * busy))
    return Pace(ends[0], ends[1])


def device_speed(settings: Settings) -> tuple[float, float]:
    """The device's highest speed: (FLOP/s, bytes/s)."""
    if settings.gpus:
        name = settings.gpus[0]["name"]
        return next(((flops, moved) for word, flops, moved in DEVICES if word.lower() in name.lower()), OTHER_GPU)
    cores = settings.offer.hardware.get("cores") or 1
    return CORE[0] * cores, CORE[1] * min(cores, 8)


def from_runs(spec: RunSpec, offer: Offer, found: Counts) -> Pace | None:
    """The pace of the newest runs with this model that trained in the same way, scaled to so many completions, so
    long; of those, one whose steps may have about as many tokens, on the same data, with the same reward functions, and
    of these the nearest in completions and their longest; of equals the newest."""
    best: tuple[tuple[bool, bool, bool, bool, float, bool], Pace] | None = None
    kind, functions = _kind(spec, offer), _functions(spec)
    for run in _newest_runs(spec.model.id):
        theirs = _step_time(run.folder.path, run.attempt, run.step)
        if theirs is None:
            continue
        like = counts.counts(theirs.spec, offer)
        if like is None or not like.longest or _kind(theirs.spec, offer) != kind:
            continue
        if not math.isclose(_generated_a_step(like), _generated_a_step(found)):
            continue
        scale = found.step / like.step * _longer(theirs.length, like.longest, found.longest or 0)
        far = _times_apart(scale)
        apart = _times_apart(found.step / like.step) * _times_apart((found.longest or 0) / like.longest)
        rank = (
            apart > NEAR, theirs.spec.data.source != spec.data.source, _functions(theirs.spec) != functions,
            has_kl(theirs.spec, offer) != has_kl(spec, offer), apart, like.group != found.group,
        )  # fmt: skip
        if far <= FAR and (best is None or rank < best[0]):
            each = theirs.seconds * scale
            rough = _differences(spec, theirs.spec, found, like, offer)
            best = rank, Pace(each, each, run.name, rough, run.state in states.LIVE)
    return best[1] if best else None


def _generated_a_step(found: Counts) -> float:
    """The share of a step's completions that are made for it: with more steps or iterations to a generation, fewer."""
    return found.step / max(1, found.generation * found.iterations)


def _times_apart(ratio: float) -> float:
    """How many times one is the other, whichever is the larger; without end where one is none."""
    return max(ratio, 1 / ratio) if ratio else math.inf


def _longer(mean: float | None, longest: int, allowed: int) -> float:
    """So many times as long will completions be where `allowed` tokens take the place of `longest`. Those that end
    before it (`mean`: their recorded length) end there all the same."""
    if not mean or (allowed > longest and mean > CUT * longest):
        return allowed / longest
    return min(mean, allowed) / mean


def _functions(spec: RunSpec) -> frozenset[str]:
    """What scores the completions, which may take longer than making them."""
    return frozenset(reward.name for reward in spec.rewards)


def has_kl(spec: RunSpec, offer: Offer) -> bool:
    """Whether a reference model reads all completions, too, whatever its weight is: a step takes a little longer."""
    return bool(Settings(spec, offer).get("beta"))


def _differences(spec: RunSpec, theirs: RunSpec, found: Counts, like: Counts, offer: Offer) -> str:
    said = ["other data"] if theirs.data.source != spec.data.source else []
    said += ["other reward functions"] if _functions(theirs) != _functions(spec) else []
    kl = has_kl(theirs, offer)
    said += ["a KL term" if kl else "no KL term"] if kl != has_kl(spec, offer) else []
    said += [f"{format.plural(like.step, 'completion')} a step"] if like.step != found.step else []
    said += [f"groups of {like.group}"] if like.group != found.group and like.step == found.step else []
    said += [f"at most {format.plural(like.longest or 0, 'token')} each"] if like.longest != found.longest else []
    return join_words(said)


def _newest_runs(model: str) -> tuple[Run, ...]:
    """The newest runs of a model that trained for some steps, be it from a checkpoint of it."""
    try:
        return _runs_of(model)
    except (OSError, sqlite3.Error):
        return ()


@until_written
def _runs_of(model: str) -> tuple[Run, ...]:
    runs = registry.list_runs(curves=False)
    began_with = {run.id: run.model for run in runs}
    wanted = _first_model(model, began_with)
    alike = (run for run in runs if run.step >= ENOUGH and _first_model(run.model, began_with) == wanted)
    return tuple(itertools.islice(alike, LOOK))


def _first_model(model: str, began_with: dict[str, str]) -> str:
    """The model that a checkpoint of this home's runs was trained from, through as many runs as there were: it is as
    large and as fast. `began_with`: the model of each run, by its id."""
    seen: set[str] = set()
    while run_id := _run_of(model):
        if run_id in seen or run_id not in began_with:
            break
        seen.add(run_id)
        model = began_with[run_id]
    return model


def _run_of(model: str) -> str:
    """The id of the run in whose folder a model lies; "" of any other model."""
    path, runs = Path(model), paths.runs_folder()
    return path.relative_to(runs).parts[0] if path.is_relative_to(runs) and path != runs else ""


def _kind(spec: RunSpec, offer: Offer) -> tuple[object, ...]:
    """What must be the same for one run to say something about another's pace."""
    settings = Settings(spec, offer)
    return (
        spec.lora is None, spec.launch.processes, spec.model.quantization, spec.model.dtype, settings.autocast,
        settings.on("use_vllm"), settings.on("use_cpu"),
    )  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """What a run without stages took: seconds a step, as its own page says them, and the tokens of a completion (None:
    not recorded)."""

    spec: RunSpec
    seconds: float
    length: float | None


@lru_cache(maxsize=256)
def _step_time(folder: Path, attempt: int, step: int) -> Taken | None:
    """What a run took; None where it does not say it. Read again only when it went on."""
    spec = run_files.spec_of(RunFolder(folder))
    try:
        each = metrics.step_seconds(folder / "run.db")
        length = metrics.value_now(folder / "run.db", "completions/mean_length")
    except sqlite3.Error:
        return None
    return Taken(spec, each, length) if spec and each and not spec.stages else None
