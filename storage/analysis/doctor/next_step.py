"""What to do after a run that ended, and in which nothing was found to be wrong. Pure."""

from dataclasses import dataclass, replace

from groupwise.storage.analysis.doctor import changes, fewer_right, rates, rise
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import Change, Link, step_groups
from groupwise.storage.spec.words.number_words import are_words, count_words

HARDER = Change("harder prompts", field="data.source")
LONGER = Change("more steps", field="training.max_steps")
FEW_HELD_OUT = 16  # prompts, which the presets hold out at least: of fewer, a single one is 7 % of the result or more


@dataclass(frozen=True)
class Next:
    """`to` leads there, and its label says what; `why`, in words that follow it at once. `trained`: from the model that
    the run has trained, where there is one."""

    to: Change | Link
    why: str
    trained: bool = False


def after_good_end(e: Evidence, *, rose: bool) -> Next:
    """`rose`: whether its reward did, beyond noise."""
    reward = e.reward
    if rates.is_near_top(e):
        if rise.hardly_counts_right(e) and (changed := _weigh_right_answers(e)):
            return Next(changed, ", as many answers are wrong and that hardly counts")
        return Next(HARDER, f", as there is little left to gain on these{_say_few_held_out(e)}")
    if rose and rise.right_stayed(e):
        return _for_right_answers(e)
    if rose and reward.late - reward.before > reward.error:
        return Next(LONGER, f", as the reward was still rising{rise.say_best_held_out(e)}", trained=True)
    return _read_groups(e, " to see what still goes wrong")


def _read_groups(e: Evidence, why: str) -> Next:
    groups = step_groups(e.reward.steps[-1], "worst")
    return Next(Link("read its groups", groups.tab, groups.params), why)


def _say_few_held_out(e: Evidence) -> str:
    """That few prompts are held out to say how it does on others; “” where they are enough, or none are known."""
    n = e.held_out_prompts
    return f"; {count_words(n, 'held-out prompt')} {are_words(n)} few to judge by" if 0 < n < FEW_HELD_OUT else ""


def after_loss(e: Evidence) -> Next | None:
    """Where the reward rose and answers are right less often, or held-out reward fell."""
    if changed := _weigh_right_answers(e) if fewer_right.is_less_right(e) else None:
        return Next(changed, ", as right answers became fewer")
    if rise.held_out_fell(e):
        return Next(
            Link("look for the checkpoint with the best held-out reward", "checkpoints"), " to go on from there"
        )
    if rise.comes_to_hardly_right(e):
        return _read_groups(e, " to see why hardly any answers are right")
    return None


def _weigh_right_answers(e: Evidence) -> Change | None:
    """More weight on what says what is right, while it has no more than the others; None where that cannot be set."""
    others = max((e.weight(name) for name in e.functions if name != e.target), default=0.0)
    if not e.place(e.target) or e.weights_move or not 0 < e.weight(e.target) <= others:
        return None
    heavier = changes.weigh_double(e, e.target, others)
    return replace(heavier, label=f"{heavier.label[:1].lower()}{heavier.label[1:]}")


def _for_right_answers(e: Evidence) -> Next:
    """Where form alone was learned."""
    if changed := _weigh_right_answers(e):
        return Next(changed, ", as right answers hardly moved")
    return _read_groups(e, " to see why right answers hardly moved")
