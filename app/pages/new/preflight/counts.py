"""The arithmetic of groups, batches, steps and completions, in numbers and in sentences. Pure."""

import math
from dataclasses import dataclass

from groupwise.app.core import format
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import are_words

# What is counted with: whole numbers where a spec has them.
WHOLE = (
    "num_generations", "per_device_train_batch_size", "gradient_accumulation_steps", "num_iterations",
    "generation_batch_size", "steps_per_generation", "max_steps",
)  # fmt: skip


@dataclass(frozen=True)
class Counts:
    """What one stage does. `rows`: those it trains on, None where only reading the data tells. `step` completions
    train one update, `generation` are generated at a time (both over all processes), for `prompts` prompts (None
    where groups do not divide them). `steps`, `epoch_steps` and `completions` are None where they depend on `rows`
    and those are not known."""

    group: int
    device_batch: int
    processes: int
    accumulation: int
    per_generation: int
    iterations: int
    step: int
    generation: int
    prompts: int | None
    rows: int | None
    epoch_steps: int | None
    steps: int | None
    completions: int | None
    longest: int | None
    evaluations: int
    held_out: int | None
    eval_group: int


def counts(spec: RunSpec, offer: Offer, rows: int | None = None) -> Counts | None:
    """The numbers of a spec without stages; None while a setting they need is missing or wrong.

    rows: as the preview or the data checks counted them, before `limit` and `holdout`.
    A generation makes per-device batch × processes × steps_per_generation completions (GRPOConfig.__post_init__).
    """
    settings = Settings(spec, offer)
    group, device = settings.count("num_generations"), settings.count("per_device_train_batch_size")
    if not group or not device or refused_setting(settings):
        return None
    processes, accumulation = spec.launch.processes, settings.count("gradient_accumulation_steps") or 1
    iterations = settings.count("num_iterations") or 1
    generation = settings.count("generation_batch_size")
    per_generation = settings.count("steps_per_generation") or (
        max(1, generation // (device * processes)) if generation else accumulation
    )
    generation = generation or device * processes * per_generation
    prompts = generation // group if generation % group == 0 else None
    held_out, trained = split_rows(spec, rows)
    # TRL's RepeatSampler drops what does not fill a generation, and repeats each generation num_iterations times;
    # transformers counts the last, incomplete update of an epoch (Trainer.set_initial_training_values).
    epoch = None
    if trained is not None and prompts:
        batches = trained // prompts * generation * iterations // (device * processes)
        epoch = max(1, math.ceil(batches / accumulation)) if batches else 0
    steps = settings.count("max_steps")
    if steps is None and epoch:
        steps = math.ceil((settings.number("num_train_epochs") or 0) * epoch)
    step = device * processes * accumulation
    # The last generation is made whole, too.
    made = math.ceil(steps * step / (generation * iterations)) * generation if steps else None
    return Counts(
        group, device, processes, accumulation, per_generation, iterations, step, generation, prompts, trained, epoch,
        steps, made, settings.count("max_completion_length"), _evaluations(settings, steps, epoch), held_out,
        settings.count("num_generations_eval") or group,
    )  # fmt: skip


def refused_setting(settings: Settings) -> str:
    """The first setting that is needed here and says what it cannot be; "" where there is none."""
    found = next((name for name in WHOLE if settings.misreads(name)), "")
    by_epochs = not found and settings.count("max_steps") is None
    return "num_train_epochs" if by_epochs and settings.misreads_share("num_train_epochs") else found


def split_rows(spec: RunSpec, rows: int | None) -> tuple[int | None, int | None]:
    """(held out, trained on) of so many rows of data, as the worker cuts them: first to `limit`, then `holdout`."""
    limit, held = spec.data.limit, spec.data.holdout
    # A task of ours makes as many rows as it is asked for; how many any other source has, only reading it tells.
    made = spec.data.source.startswith("task:") and not spec.data.filter
    known = rows if rows is not None else limit if made else None
    if known is not None and limit is not None:
        known = min(known, limit)
    share = isinstance(held, float)
    held_out = int(held) if not share else int(held * known) if known is not None else None
    return held_out, None if known is None or held_out is None else max(0, known - held_out)


def _evaluations(settings: Settings, steps: int | None, epoch: int | None) -> int:
    """How often the held-out prompts are answered; 0 where that is not known or never. transformers evaluates after
    the last step, too (DefaultFlowCallback), and at the end of an epoch that the steps cut off."""
    if not settings.evaluates or not steps:
        return 0
    strategy, delay = settings.get("eval_strategy"), settings.number("eval_delay") or 0
    if strategy == "no":
        return int(settings.on("eval_on_start"))
    if strategy == "epoch":
        every = epoch or 0
    else:
        given = settings.number("eval_steps") or settings.number("logging_steps") or 0
        every = math.ceil(given * steps) if 0 < given < 1 else int(given)  # a share of the run
        delay = delay / every if every > 0 else 0
    if every <= 0:
        return 0
    before_last = (steps - 1) // every - max(0, math.ceil(delay) - 1)
    return int(settings.on("eval_on_start")) + max(0, before_last) + int(delay <= steps / every)


def sentences(spec: RunSpec, offer: Offer, rows: int | None = None) -> list[str]:
    """What the run will do, in plain words; stages one after the other, and their sum."""
    stages = [(stage, counts(stage, offer, rows)) for stage in spec.by_stage()]
    if setting_not_counted(spec, offer):
        return []
    if not spec.stages:
        return _sentences(Settings(spec, offer), stages[0][1]) if stages[0][1] else []
    said = []
    for number, ((stage, found), named) in enumerate(zip(stages, spec.stages, strict=True), 1):
        title = f"Stage {number}" + (f" ({named.name})" if named.name else "")
        said += [f"{title}: {line}" for line in (_sentences(Settings(stage, offer), found)[:2] if found else [])]
    total = totals([found for _, found in stages])
    if total:
        said.append(f"In all {format.plural(total[0], 'step')} and {format.plural(total[1], 'completion')}.")
    return said


def setting_not_counted(spec: RunSpec, offer: Offer) -> str:
    """The setting that steps are counted with and that is refused; "" where none is."""
    return next((name for stage in spec.by_stage() if (name := refused_setting(Settings(stage, offer)))), "")


def totals(stages: list[Counts | None]) -> tuple[int, int] | None:
    """(steps, completions) of all stages; None where one of them is not known."""
    steps = [found.steps if found else None for found in stages]
    made = [found.completions if found else None for found in stages]
    if any(not one for one in (*steps, *made)):
        return None
    return sum(one for one in steps if one), sum(one for one in made if one)


def _sentences(settings: Settings, found: Counts) -> list[str]:
    lines = [batch(found)]
    if found.accumulation > 1 or found.processes > 1:
        lines.append(fit(found))
    lines += [line for line in (length(settings, found), evaluation(found)) if line]
    if settings.get("beta") == 0:
        lines.append("No KL: nothing keeps the model near where it began, and no reference model takes memory.")
    return lines


def batch(found: Counts) -> str:
    """8 prompts × 8 completions = 64 completions a step; one update a step."""
    if not found.prompts:
        return f"{format.plural(found.generation, 'completion')} {are_words(found.generation)} generated at a time."
    made = format.plural(found.generation, "completion")
    line = f"{format.plural(found.prompts, 'prompt')} × {format.plural(found.group, 'completion')} = {made}"
    uses = found.generation * found.iterations
    if uses == found.step:
        return f"{line} a step; one update a step."
    if uses % found.step == 0:
        again = f", each used {found.iterations} times" if found.iterations > 1 else ""
        return f"{line} at a time, for {uses // found.step} updates of {format.count(found.step)}{again}."
    return f"{line} at a time; {format.count(found.step)} of them an update."


def fit(found: Counts) -> str:
    """An update of 64 = 4 on each device × 2 processes × 8 accumulated."""
    parts = [f"{format.count(found.device_batch)} on each device"]
    parts += [f"{found.processes} processes"] if found.processes > 1 else []
    parts += [f"{format.count(found.accumulation)} accumulated"] if found.accumulation > 1 else []
    return f"An update of {format.plural(found.step, 'completion')} = {' × '.join(parts)}."


def length(settings: Settings, found: Counts) -> str:
    """60 steps: 3,840 completions in all, each at most 48 tokens. 35.6 epochs of 108 prompts (1.69 steps each)."""
    if not found.steps or found.completions is None:
        epochs = settings.number("num_train_epochs")
        return (
            f"{_epochs(epochs)} over the data; the number of steps is known once its rows are counted."
            if epochs and not settings.count("max_steps") else ""
        )  # fmt: skip
    most = f", each at most {format.plural(found.longest, 'token')}" if found.longest else ""
    line = f"{format.plural(found.steps, 'step')}: {format.plural(found.completions, 'completion')} in all{most}."
    if not found.rows or not found.prompts:
        return line
    epochs = found.completions / found.group / found.rows
    line += f" {format.number(epochs)} {'epoch' if epochs == 1 else 'epochs'} of {format.plural(found.rows, 'prompt')}"
    if not found.epoch_steps:
        return f"{line}."
    each = found.steps / epochs  # not `epoch_steps`, which are whole: of TRL's epochs the rows left over are no part
    said = format.count(round(each)) if math.isclose(each, round(each)) else format.number(each)
    return f"{line} ({said} {'step' if said == '1' else 'steps'} each)."


def _epochs(epochs: float) -> str:
    return "1 epoch" if epochs == 1 else f"{epochs:g} epochs"


def evaluation(found: Counts) -> str:
    """How often the run evaluates, and on how many completions; empty where it does not, has no rows, or they are not
    counted yet: how many are held out may be of the data before."""
    if not found.evaluations or not found.held_out or not found.rows:
        return ""
    prompts = format.plural(found.held_out, "held-out prompt")
    when = format.plural(found.evaluations, "evaluation")
    each = " of" if found.evaluations == 1 else ", each of"
    return f"{when}{each} {prompts} × {format.plural(found.eval_group, 'completion')}."
