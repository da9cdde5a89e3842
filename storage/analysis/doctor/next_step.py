"""What to do after a run that ended well. Pure."""

from dataclasses import dataclass, replace

from groupwise.storage.analysis.doctor import changes, rates, rise
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
    if e.high is not None and e.low is not None and reward.late >= e.low + rates.NEAR_TOP * e.scale:
        return Next(HARDER, f", as there is little left to gain on these{_say_few_held_out(e)}")
    if rose and rise.right_stayed(e):
        return _for_right_answers(e)
    if rose and reward.late - reward.before > reward.error:
        return Next(LONGER, ", as the reward was still rising", trained=True)
    groups = step_groups(reward.steps[-1], "worst")
    return Next(Link("read its groups", groups.tab, groups.params), " to see what still goes wrong")


def _say_few_held_out(e: Evidence) -> str:
    """That few prompts are held out to say how it does on others; “” where they are enough, or none are known."""
    n = e.held_out_prompts
    return f"; {count_words(n, 'held-out prompt')} {are_words(n)} few to judge by" if 0 < n < FEW_HELD_OUT else ""


def _for_right_answers(e: Evidence) -> Next:
    """Where form alone was learned: more weight on what says what is right, while it has no more than the others."""
    others = max(e.weight(name) for name in e.functions if name != e.target)
    if e.weight(e.target) <= others and e.place(e.target) and not e.weights_move:
        heavier = changes.weigh_double(e, e.target)
        label = f"{heavier.label[:1].lower()}{heavier.label[1:]}"
        return Next(replace(heavier, label=label), ", as right answers hardly moved")
    groups = step_groups(e.reward.steps[-1], "worst")
    return Next(Link("read its groups", groups.tab, groups.params), " to see why right answers hardly moved")
