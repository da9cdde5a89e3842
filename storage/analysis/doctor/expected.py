"""What worries newcomers and is as it should be. Each rule is pure."""

from groupwise.storage.analysis.doctor.evidence import Evidence, Unsolved
from groupwise.storage.analysis.doctor.verdict import CALM, COMMON, TRL, Link, Verdict, chart
from groupwise.storage.analysis.doctor.words import percent, write_figure
from groupwise.storage.spec.words.number_words import count_words

POINTS = 5  # logged steps
NEAR_ZERO = 0.02
UNSOLVED, FEWEST = 0.2, 3  # a share of the prompts; prompts
LONG = 20  # steps of few prompts


def loss_near_zero(e: Evidence) -> Verdict | None:
    """Say that a loss near 0 is normal, where it is."""
    loss, gradient = e.curve("loss"), e.curve("grad_norm")
    if len(loss) < POINTS or abs(loss.now) > NEAR_ZERO:
        return None
    if (len(gradient) and gradient.high == 0) or (len(e.tied_share) and e.tied_share.low == 1):
        return None  # there was never a gradient: nothing was learned, which is not normal
    words = (
        f"The loss is {write_figure(loss.now)}, and that is normal in GRPO: advantages of a group sum to 0, so the "
        "loss says nothing about learning. The reward does."
    )
    return Verdict(
        "loss_near_zero", CALM, "Loss near zero is normal", words, f"Shown while it is within {NEAR_ZERO} of 0.",
        f"{COMMON}; {TRL}", (chart("loss"), chart("reward")),
    )  # fmt: skip


def no_kl(e: Evidence) -> Verdict | None:
    """Say that there is no KL because beta is 0, where it is."""
    if not e.settings_known or e.training.get("beta") not in (0, 0.0) or len(e.curve("kl")) or len(e.reward) < POINTS:
        return None
    words = (
        "beta is 0, so there is no reference model, and TRL logs no KL. Nothing limits the model's drift, by choice."
    )
    return Verdict("no_kl", CALM, "No KL is logged", words, "Shown where beta is 0, which is TRL's default.", TRL)


def prompts_never_solved(e: Evidence) -> Verdict | None:
    """Say how many prompts were never solved, where they are a good part of all: their mean hides in the reward."""
    told = e.unsolved
    if told is None or told.never < max(FEWEST, UNSOLVED * told.prompts) or not e.right_is_told or e.scale_is_other:
        return None
    words = (
        f"“{told.by}” scored none of their completions right. Are they too hard, or is their answer written so that "
        "none can match it?"
    )
    return Verdict(
        "unsolved_prompts", CALM, _say_never(told), words,
        f"Shown of a run that is over, from {percent(UNSOLVED)} of the prompts on, and {FEWEST} or more.", COMMON,
        (Link("The hardest prompts", "statistics"),),
    )  # fmt: skip


def _say_never(told: Unsolved) -> str:
    """Of the prompts that came often alone: there may be many more that came once."""
    often = f"{count_words(told.prompts, 'prompt')} that came {told.groups} times or more"
    if told.never == told.prompts:
        return f"None of the {often} was ever solved"
    return f"{told.never:,} of the {often} were never solved"


def few_prompts(e: Evidence) -> Verdict | None:
    """Say that only a few different prompts are trained on, where that goes on for long."""
    if not e.few_prompts or e.step - e.since < LONG:
        return None
    elsewhere = "held-out prompts show more" if len(e.curve("eval_reward")) else "held-out prompts would show more"
    words = (
        f"All groups {'came' if e.ended else 'come'} from {count_words(e.few_prompts, 'prompt')}. A model can memorise "
        f"so few, and their reward says little about other prompts: {elsewhere}."
    )
    return Verdict(
        "few_prompts", CALM, f"It {'trained' if e.ended else 'trains'} on only {count_words(e.few_prompts, 'prompt')}",
        words, f"Shown of fewer than 8 different prompts, from {LONG} steps on.", COMMON,
        (Link("Its prompts", "statistics"),),
    )  # fmt: skip


RULES = (few_prompts, prompts_never_solved, loss_near_zero, no_kl)
