"""What a run will write: checkpoints, the trained model and its record, against the disk there is."""

import math
import shutil
from dataclasses import dataclass

from groupwise.app.core import format
from groupwise.app.pages.new.preflight import counts
from groupwise.app.pages.new.preflight.counts import Counts
from groupwise.app.pages.new.preflight.memory_parts import Parts
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.app.pages.new.preflight.shape import shape_of
from groupwise.storage.home import paths
from groupwise.storage.home.disk import TO_BEGIN
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.model_facts import ModelFacts
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import BLOCKING, WARNING, Fix, Problem

SMALL_FILES = 12 * 10**6  # tokenizer, config, trainer state, scheduler, random state (tokenizer.json: 7 to 11 MB)
MOST = 0.7  # of what is free: above, it is worth saying
COMPLETION = 400  # bytes of one completion in run.db besides its text: its row, its scores (storage.record.record)
LETTERS = 4  # bytes of text a token has, about


@dataclass(frozen=True)
class Disk:
    """Bytes: one checkpoint, how many are there at most at once, the final model, the record; what is free."""

    checkpoint: int
    kept: int
    final: int
    record: int
    free: int | None

    @property
    def total(self) -> int:
        """Bytes of all checkpoints, the trained model and the record."""
        return self.checkpoint * self.kept + self.final + self.record

    @property
    def sentence(self) -> str:
        """3 checkpoints of 6.2 GB and the trained model: 20 GB of the 120 GB that are free."""
        of = f" of the {format.size(self.free)} that are free" if self.free is not None else ""
        kept = f"{format.plural(self.kept, 'checkpoint')} of {format.size(self.checkpoint)} and the trained model"
        saved = kept if self.kept else "No checkpoints, the trained model"
        record = f", with a record of about {format.size(self.record)}" if self.record > 10**8 else ""
        return f"{saved}{record}: {format.size(self.total)}{of}."


def free_space() -> int | None:
    """Bytes that are free where the runs are kept; None where that cannot be asked."""
    place = paths.runs_folder()
    try:
        return shutil.disk_usage(next(path for path in (place, *place.parents) if path.exists())).free
    except OSError:
        return None


def disk(
    spec: RunSpec, offer: Offer, facts: ModelFacts | None, rows: int | None = None, free: int | None = None
) -> Disk | None:
    """Estimate the bytes on disk of all stages together; None while the model's sizes are not known. `free`: see
    `free_space`."""
    stages = [_stage(stage, offer, facts, rows) for stage in spec.by_stage()]
    if any(one is None for one in stages):
        return None
    known = [one for one in stages if one]
    return Disk(
        max(one.checkpoint for one in known), sum(one.kept for one in known), sum(one.final for one in known),
        sum(one.record for one in known), free,
    )  # fmt: skip


def _stage(spec: RunSpec, offer: Offer, facts: ModelFacts | None, rows: int | None) -> Disk | None:
    """Transformers saves the weights (of LoRA, only the adapters) in their dtype, and, unless save_only_model, the
    optimiser's state beside them. A quantised model's own weights are not saved."""
    shape = shape_of(facts) if facts else None
    if shape is None:
        return None
    settings = Settings(spec, offer)
    if counts.refused_setting(settings) or settings.misreads_share("save_steps"):
        return None
    parts = Parts(settings, shape)
    model = round(parts.weights() if spec.lora is None else parts.adapters()) + SMALL_FILES
    state = 0 if settings.on("save_only_model") else round(parts.optimiser())
    found = counts.counts(spec, offer, rows)
    record = 0
    if found and found.completions:
        record = found.completions * (COMPLETION + LETTERS * (found.longest or 0))
    return Disk(model + state, checkpoints_at_once(settings, found), model, record, None)


def checkpoints_at_once(settings: Settings, found: Counts | None) -> int:
    """How many checkpoints there are at once, at most. The recorder removes the oldest after the new one is whole, so
    for a moment there is one more than save_total_limit. The last step is always saved, too."""
    strategy = settings.get("save_strategy")
    if strategy == "no":
        return 0
    limit = settings.count("save_total_limit")
    made = _checkpoints_in_all(settings, found)
    if limit is None:
        return made if made is not None else 1
    return limit + 1 if made is None else min(made, limit + 1)


def _checkpoints_in_all(settings: Settings, found: Counts | None) -> int | None:
    """How many are saved in all; None where the number of steps is not known."""
    if found is None or not found.steps:
        return None
    if settings.get("save_strategy") == "epoch":
        return math.ceil(found.steps / found.epoch_steps) if found.epoch_steps else None
    every = settings.number("save_steps") or 500
    every = max(1, math.ceil(every * found.steps)) if every < 1 else every
    return max(1, math.ceil(found.steps / every))


def disk_problems(spec: RunSpec, offer: Offer, found: Disk | None) -> list[Problem]:
    """BLOCKING when it cannot fit, WARNING when it takes most, with the ways to save less."""
    if found is None or found.free is None:
        return []
    room = max(0, found.free - TO_BEGIN)
    if found.total <= MOST * room:
        return []
    needs = f"{found.sentence[:1].lower()}{found.sentence[1:-1]}"
    fits = found.total <= room
    message = f"the disk will nearly be full: {needs}." if fits else f"the disk is too small: {needs}."
    smallest = found.checkpoint * min(found.kept, 1) + found.final
    if not fits and smallest > room:
        message += " Not even one checkpoint and the model have room: free some space, or train with LoRA."
    level = WARNING if fits else BLOCKING
    return [Problem("training.save_total_limit", message, level=level, fixes=tuple(_fixes(spec, offer, found, room)))]


def _fixes(spec: RunSpec, offer: Offer, found: Disk, room: int) -> list[Fix]:
    settings, stages = Settings(spec, offer), max(1, len(spec.stages))
    fixes = []
    # While a new checkpoint is written there is one more than the limit.
    keep = next((limit for limit in (2, 1) if found.kept > (limit + 1) * stages), None)
    if keep:
        saved = format.size(found.checkpoint * (found.kept - (keep + 1) * stages))
        label = f"Keep only the newest {'two' if keep == 2 else 'checkpoint'}: saves {saved}"
        fixes.append(Fix(label, {"training.save_total_limit": keep}))
    if not settings.on("save_only_model") and found.kept and found.checkpoint * found.kept + found.final > room:
        label = "Save no checkpoints, only the trained model (nothing to resume from)"
        fixes.append(Fix(label, {"training.save_strategy": "no"}))
    return fixes
