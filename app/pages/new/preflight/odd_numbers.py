"""Numbers that TRL takes and nobody means: a warm-up longer than the run, weights that are pulled to 0. Pure."""

from collections.abc import Iterator

from groupwise.app.core import format
from groupwise.app.pages.new.preflight.counts import Counts
from groupwise.app.pages.new.preflight.settings import Settings
from groupwise.storage.library.models.warm_up import short_warm_up, warm_up_steps
from groupwise.storage.spec.words.problem import ADVICE, WARNING, Fix, Problem

# Setting → the most that makes sense, what more of it does, what is usual in words, and the value that one click sets.
MOST = {
    "weight_decay": (1, "every step pulls all weights far towards 0", "0 to 0.1 is usual", 0.0),
    "temperature": (2, "completions are hardly more than random tokens", "1 is usual", 1.0),
    "epsilon": (0.99, "nothing keeps a token from losing all its probability in one step", "0.2 is usual", 0.2),
    "repetition_penalty": (2, "a model cannot write a word twice, not even where it must", "1 is usual", 1.0),
    "num_iterations": (64, "each generation is trained on until it is far off-policy", "1 to 4 are usual", 1),
}  # fmt: skip


def odd_numbers(settings: Settings, found: Counts | None) -> Iterator[Problem]:
    """What is far beyond what makes sense, and a warm-up that never ends."""
    for name, (most, why, usual, put) in MOST.items():
        given = settings.number(name)
        if given is not None and given > most:
            yield _problem(name, f"at {given:g} {why}. {usual[:1].upper()}{usual[1:]}.", WARNING, put)
    if settings.number("max_grad_norm") == 0:
        message = "at 0 gradients are not clipped: one odd step can ruin the model. 1 is usual."
        yield _problem("max_grad_norm", message, ADVICE, 1.0)
    yield from _warm_up(settings, found.steps if found else settings.count("max_steps"))


def _warm_up(settings: Settings, steps: int | None) -> Iterator[Problem]:
    """The learning rate rises with every step of the warm-up, and is what was set when that is over."""
    warm = warm_up_steps(settings.number("warmup_steps"), settings.get("lr_scheduler_type"), steps)
    if not steps or not warm or warm < steps:
        return
    message = (
        f"the learning rate never reaches its set value: {format.plural(warm, 'step')} of warm-up, and there "
        f"{'is' if steps == 1 else 'are'} {format.plural(steps, 'step')} in all."
    )
    yield _problem("warmup_steps", message, WARNING, *dict.fromkeys((short_warm_up(steps), 0)))


def _problem(name: str, message: str, level: str, *values: float) -> Problem:
    path = f"training.{name}"
    return Problem(path, message, level=level, fixes=tuple(Fix(f"Use {value:g}", {path: value}) for value in values))
