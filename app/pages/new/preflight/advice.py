"""What a colleague who has trained with GRPO would say of a spec, with one click for each. Pure.

Thresholds are of three kinds, each said at its rule: what the libraries do (read in trl 1.16 and transformers 5.23),
what a model's own config says, and “common practice”, what practitioners' guides agree on.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.new.preflight.counts import Counts, counts
from groupwise.app.pages.new.preflight.odd_numbers import odd_numbers
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.checks.answer_unread import check_answer_read
from groupwise.storage.checks.batch import FEW, MANY, group_for
from groupwise.storage.checks.format_untold import untold_format
from groupwise.storage.checks.held_out import HOLDOUT, fewer_held_out
from groupwise.storage.checks.stages import at_own_setting
from groupwise.storage.checks.starter_use import STARTER_KNOWS, is_beyond_starter, is_from_starter
from groupwise.storage.checks.tag_room import tag_room
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models.hub_models import SUGGESTED
from groupwise.storage.library.models.learning_rates import LEAST, parameters_of, usual_rates
from groupwise.storage.library.models.model_facts import LEARNED_POSITIONS, ModelFacts
from groupwise.storage.spec.answer_numbers import COMPARE_NUMBERS
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import are_words
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem

LARGEST = 1024  # completions in a group: published runs with large ones (BroRL, arXiv:2510.01180) take hundreds
LONG_RUN = 5000  # steps: more than guides' runs have by far
POINTS = 20  # a curve of fewer says little
WORTH_RESUMING = 100  # steps
# Before NVIDIA's Ampere there was no bfloat16.
WITHOUT_BF16 = ("V100", "T4", "P100", "P40", "GTX", "RTX 20", "Quadro RTX", "TITAN")


def advise(
    spec: RunSpec, offer: Offer, facts: ModelFacts | None, rows: int | None = None, prompt_tokens: int | None = None,
    *, sums: bool = False, point: str = "", tags: Collection[str] = (), columns: Collection[str] | None = None,
) -> list[Problem]:  # fmt: skip
    """What is to be said, each thing once, though several stages may have it. prompt_tokens: the longest that was
    counted; None while nobody has. sums: whether every prompt is one of those that the starter knows. point: an answer
    with a decimal point, where the prompts have a comma. tags: those in the prompts. columns:
    those of the data, where they are known."""
    starter = () if sums else _starter(spec, facts)
    found: dict[tuple[str, str], Problem] = {(one.field, one.message): one for one in starter}
    for number, stage in enumerate(spec.by_stage()):
        settings, numbers = Settings(stage, offer), counts(stage, offer, rows)
        rules = (
            *_group(numbers), *_rate(settings, facts), *_positions(settings, facts, prompt_tokens),
            *_tags(settings, facts), *_sampling(settings), *_precision(settings), *_devices(settings), *_rewards(stage),
            *_commas(stage, point), *untold_format(stage, facts, tags),
            *check_answer_read(stage, offer, columns, staged=bool(spec.stages)),
            *_steps(settings, numbers), *odd_numbers(settings, numbers), *_saving(settings, numbers),
            *_watching(settings, numbers),
        )  # fmt: skip
        for problem in (at_own_setting(rule, spec, number) for rule in rules):
            found.setdefault((problem.field, problem.message), problem)
    return list(found.values())


def _starter(spec: RunSpec, facts: ModelFacts | None) -> Iterator[Problem]:
    if is_beyond_starter(spec, facts):
        which = "the starter is" if spec.model.id == "starter" else "this model comes from the starter, which is"
        message = (
            f"{which} there to try things out: {STARTER_KNOWS}. For those, choose another model, such as "
            f"{SUGGESTED.id}: {SUGGESTED.download:g} GB, downloaded once from the Hugging Face Hub; {SUGGESTED.needs}."
        )
        fix = Fix(f"Use {SUGGESTED.id}", {"model.id": SUGGESTED.id}, ("model.revision",))
        yield Problem("model.id", message, level=ADVICE, fixes=(fix,))


def _training(name: str, message: str, level: str, *fixes: Fix) -> Problem:
    return Problem(f"training.{name}", message, level=level, fixes=fixes)


def _set_training(label: str, **training: Any) -> Fix:
    return Fix(label, {f"training.{name}": value for name, value in training.items()})


def _group(found: Counts | None) -> Iterator[Problem]:
    """Common practice: 2 or 3 are too few; 4 to 8 for simple tasks, 8 to 16 for reasoning."""
    if found is None:
        return
    better = next((size for size in (8, 16, 4, 6, 12) if found.generation % size == 0), None)
    fixes = (_set_training(f"Use groups of {better}", num_generations=better),) if better else ()
    if found.group < FEW:
        message = f"groups of {found.group} are too few to compare: most will be all right or all wrong. 8 is usual."
        yield _training("num_generations", message, ADVICE, *fixes)
    elif found.group > LARGEST:
        size, step = format.count(found.group), format.plural(found.step, "completion")
        message = (
            f"groups of {size} are far larger than runs with GRPO have: every prompt is answered {size} times, and a "
            f"step takes {step}. 4 to 16 are usual."
        )
        yield _training("num_generations", message, WARNING, *fixes)
    elif found.group > MANY:
        message = f"groups of {found.group} cost in proportion; common practice is 4 to 16."
        yield _training("num_generations", message, ADVICE, *fixes)


def _rate(settings: Settings, facts: ModelFacts | None) -> Iterator[Problem]:
    """What is usual, and where it is from: storage/library/models/learning_rates.py, by which the doctor goes, too."""
    rate, spec = settings.number("learning_rate"), settings.spec
    if rate is None:
        return
    rates = usual_rates(spec.lora is not None, parameters_of(spec.model, facts))
    if rate == 0:
        level, message = WARNING, "at 0 nothing is learned."
    elif rates.is_far_off(rate):
        level, message = WARNING, f"{rate:g} is far too high {rates.how}: a few steps ruin the model."
    elif rates.is_high(rate):
        level, message = WARNING, f"{rate:g} is high {rates.how}, and training may collapse."
    elif "learning_rate" not in spec.training and rates.is_far_below(rate):
        level, message = ADVICE, f"TRL's default, {rate:g}, is far too low {rates.how}: it will hardly move."
    elif rate < LEAST:
        level, message = ADVICE, f"{rate:g} is lower than anyone trains with: the model will hardly move."
    else:
        return
    fix = _set_training(f"Set to {rates.usual:g}", learning_rate=rates.usual)
    yield _training("learning_rate", f"{message} {rates.usual:g} is usual here.", level, fix)


def _positions(settings: Settings, facts: ModelFacts | None, prompt_tokens: int | None) -> Iterator[Problem]:
    """A model with learned positions has none beyond max_position and fails; others go on, and badly. Completions that
    leave a prompt no room at all are refused elsewhere (storage/checks/length.py)."""
    longest, room = settings.count("max_completion_length"), facts.max_position if facts else None
    if not facts or not longest or not room or longest >= room or longest + (prompt_tokens or 1) <= room:
        return
    if prompt_tokens and prompt_tokens >= room and facts.model_type not in LEARNED_POSITIONS:
        return  # the rows are too long by themselves, which the check of the data says
    fits = room - (prompt_tokens or room // 4)
    fixes = (_set_training(f"At most {format.plural(fits, 'token')}", max_completion_length=fits),) if fits > 0 else ()
    prompt = f"{format.plural(prompt_tokens, 'token')} of prompt and" if prompt_tokens else "a prompt and"
    asked = f"{prompt} {format.count(longest)} of completion"
    message = f"{asked} are more than the {format.count(room)} positions of this model."
    level = BLOCKING if facts.model_type in LEARNED_POSITIONS else WARNING
    yield _training("max_completion_length", message, level, *fixes)


def _tags(settings: Settings, facts: ModelFacts | None) -> Iterator[Problem]:
    """Completions that are too short for the tags that “format” wants (storage/checks/tag_room.py)."""
    by_letter = is_from_starter(settings.spec.model.id, facts)
    longest, room = settings.count("max_completion_length"), tag_room(settings.spec.rewards, by_letter=by_letter)
    if room is None or longest is None or longest >= room.least:
        return
    message = (
        f"{format.plural(longest, 'token')} cannot hold the tags that “format” scores, which take at "
        f"least {room.least}: no completion will earn from it."
    )
    fix = _set_training(f"Use {room.usual}", max_completion_length=room.usual)
    yield _training("max_completion_length", message, WARNING, fix)


def _sampling(settings: Settings) -> Iterator[Problem]:
    """transformers refuses to sample at 0, or at a whole number that is not written as 2.0 (TemperatureLogitsWarper);
    near 0 the completions of a group are alike."""
    given = settings.number("temperature")
    if given is None:
        return
    if type(settings.get("temperature")) is int and given > 1:
        message = f"transformers needs a decimal number here: {given:.1f} instead of {given:.0f}."
        yield _training("temperature", message, BLOCKING, _set_training(f"Write {given:.1f}", temperature=given))
    if given <= 0:
        message = "should be above 0: completions of a group must differ to be compared."
        yield _training("temperature", message, BLOCKING, _set_training("Use 1.0", temperature=1.0))
    elif given < 0.4:
        message = f"at {given:g} the completions of a group will be nearly alike, with little learning signal."
        yield _training("temperature", message, WARNING, _set_training("Use 1.0", temperature=1.0))


def _precision(settings: Settings) -> Iterator[Problem]:
    if not settings.on("fp16") or not settings.gpus:
        return
    if any(word in gpu["name"] for gpu in settings.gpus for word in WITHOUT_BF16):
        return
    message = "bfloat16 has float32's range and needs no loss scaling; this device can do it."
    yield _training("fp16", message, ADVICE, _set_training("Use bf16", fp16=False, bf16=True))


def _devices(settings: Settings) -> Iterator[Problem]:
    """Each process takes a device of its own."""
    there, wanted = len(settings.gpus), settings.spec.launch.processes
    if there and wanted > there:
        message = f"{wanted} processes need as many GPUs; there {'is' if there == 1 else 'are'} {there}."
        fix = Fix(f"Use {format.plural(there, 'process', 'processes')}", {"launch.processes": there})
        yield Problem("launch.processes", message, level=BLOCKING, fixes=(fix,))


def _rewards(spec: RunSpec) -> Iterator[Problem]:
    if all(reward.weight == 0 and not reward.schedule for reward in spec.rewards):
        message = "every reward has weight 0: there is no learning signal."
        fix = Fix("Give the first one weight 1", {"rewards.0.weight": 1.0})
        yield Problem("rewards", message, level=WARNING, fixes=(fix,))


def _commas(spec: RunSpec, point: str) -> Iterator[Problem]:
    """A model answers 0,75 where it is asked with commas."""
    if not point or spec.data.answer_numbers == "comma":
        return
    comma = point.replace(".", ",")
    message = f"the prompts write numbers with a decimal comma, and the answers are such as {point}: a completion that "
    for number, reward in enumerate(spec.rewards):
        if reward.name in COMPARE_NUMBERS and "decimal" not in reward.parameters:
            place = f"rewards.{number}.parameters.decimal"
            fix = Fix(f"Read {comma} as {point}", {place: "comma"})
            yield Problem(place, f"{message}says {comma} is scored wrong.", level=WARNING, fixes=(fix,))


def _steps(settings: Settings, found: Counts | None) -> Iterator[Problem]:
    if found is None:
        return
    grouped = _in_groups(found)
    if grouped.rows is not None and grouped.prompts and grouped.rows < grouped.prompts:
        # The worker refuses it (worker.training.train.make_trainer): TRL would train on nothing, and say it is done.
        yield from _too_few_rows(settings, grouped, grouped.rows, grouped.prompts)
    if settings.count("max_steps") is None and found.steps and found.steps > LONG_RUN:
        epochs = f"{settings.number('num_train_epochs') or 0:g}"
        message = (
            f"is not set, and {epochs} passes over {format.plural(found.rows or 0, 'row')} are "
            f"{format.count(found.steps)} steps. Most runs need no more than a thousand."
        )
        yield _training("max_steps", message, ADVICE, _set_training("Stop after 1,000 steps", max_steps=1000))


def _in_groups(found: Counts) -> Counts:
    """The counts as they are once groups of one, which the checks refuse, are what the button there makes of them: a
    fix of this and that one would undo each other."""
    if found.group > 1:
        return found
    group = group_for(found.generation)
    return replace(found, group=group, prompts=None if found.generation % group else found.generation // group)


def _too_few_rows(settings: Settings, found: Counts, rows: int, prompts: int) -> Iterator[Problem]:
    """Said where the cause is: at what is held out, if there would be enough rows without. Where all are, that is said
    already (storage/checks/held_out.py)."""
    held_out, takes = found.held_out or 0, f"each generation takes {format.plural(prompts, 'prompt')}"
    fewer = _fewer_prompts(settings, found)
    if rows + held_out < prompts and (rows or not held_out):
        message = f"{takes}, but there {are_words(rows)} {format.plural(rows, 'row')} to train on."
        yield _training("per_device_train_batch_size", message, BLOCKING, *fewer)
    elif rows:
        held = f"{format.plural(held_out, 'row')} {are_words(held_out)} held out"
        message = f"{held}, which leaves {format.count(rows)} to train on, but {takes}."
        fix = fewer_held_out(rows + held_out)
        enough = rows + held_out - fix.settings[HOLDOUT] >= prompts
        yield Problem(HOLDOUT, message, level=BLOCKING, fixes=((fix, *fewer) if enough else fewer))


def _fewer_prompts(settings: Settings, found: Counts) -> tuple[Fix, ...]:
    """One device batch of as many whole groups as there are rows for, if that is any."""
    groups = (found.rows or 0) // found.processes
    if not groups:
        return ()
    size = groups * found.group
    changed = {"training.per_device_train_batch_size": size, "training.gradient_accumulation_steps": 1}
    given = [name for name in ("steps_per_generation", "generation_batch_size") if settings.get(name)]
    prompts, completions = format.plural(groups * found.processes, "prompt"), format.plural(size, "completion")
    label = f"Take {prompts} at a time: {completions} per device, accumulation 1"
    label += f", without {' and '.join(given)}" if given else ""
    return (Fix(label, changed, tuple(f"training.{name}" for name in given)),)


def _saving(settings: Settings, found: Counts | None) -> Iterator[Problem]:
    steps = found.steps if found else None
    if not steps or steps < WORTH_RESUMING:
        return
    every = settings.number("save_steps") or 0
    typed = settings.spec.training.get("save_steps") is not None and 1 <= every <= steps
    often = int(every) if typed else max(1, min(100, steps // 5))
    changed = {"save_strategy": "steps"} if typed else {"save_strategy": "steps", "save_steps": often}
    fix = _set_training("Save every step" if often == 1 else f"Save every {often} steps", **changed)
    if settings.get("save_strategy") == "no":
        yield _training("save_strategy", "no checkpoints: if it is interrupted, all is lost.", ADVICE, fix)
    elif settings.get("save_strategy") == "steps" and every > steps:
        message = f"the first checkpoint is at the end: this run has {format.plural(steps, 'step')}."
        yield _training("save_steps", message, ADVICE, fix)


def _watching(settings: Settings, found: Counts | None) -> Iterator[Problem]:
    """What the charts will show of it."""
    steps, every = found.steps if found else None, settings.number("logging_steps")
    if every and steps and every > 1 and steps / every < POINTS and settings.get("logging_strategy") != "no":
        points = max(1, int(steps // every))
        few = f"only {format.plural(points, 'point')} on each chart"
        message = f"{few}: the run has {format.plural(steps, 'step')} and logs every {every:g} steps."
        yield _training("logging_steps", message, ADVICE, _set_training("Log every step", logging_steps=1))
    elif every and every > 10:
        message = f"one point on the charts for {every:g} steps: problems show late."
        yield _training("logging_steps", message, ADVICE, _set_training("Log every step", logging_steps=1))
    chosen = "loss_type" in settings.spec.training or settings.spec.kl.target is not None  # then that is said there
    if settings.get("beta") == 0 and not chosen:
        # Who chose a method decided this, too. Common practice; TRL computes no KL then and needs no reference model.
        message = "at 0 nothing keeps the model near where it began, and there is no KL chart. It also saves memory."
        yield _training("beta", message, ADVICE, _set_training("Use 0.02", beta=0.02))
    if settings.evaluates and not settings.on("eval_on_start"):
        message = "There is no evaluation before the first step, so nothing to compare held-out figures with."
        fix = _set_training("Evaluate before the first step", eval_on_start=True)
        yield _training("eval_on_start", message, ADVICE, fix)
    if found and settings.spec.data.holdout and not settings.evaluates:
        batch = (settings.count("per_device_eval_batch_size") or 0) * found.processes
        whole = {} if batch and batch % found.eval_group == 0 else {"per_device_eval_batch_size": found.eval_group}
        with_what = f", per_device_eval_batch_size {found.eval_group}" if whole else ""
        given = settings.spec.training
        often = settings.count("eval_steps") if given.get("eval_steps") else None
        usual = {"eval_on_start": True, "eval_steps": often or 50}
        changed = {**whole, **{name: value for name, value in usual.items() if name not in given}}
        first = "at the start and " if changed.get("eval_on_start") else ""
        fix = _set_training(
            f"Evaluate {first}every {'step' if often == 1 else f'{often or 50} steps'}{with_what}",
            eval_strategy="steps",
            **changed,
        )
        message = "rows are held out, but nothing evaluates on them."
        yield _training("eval_strategy", message, ADVICE, fix)
