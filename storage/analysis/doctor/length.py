"""How long completions are: cut off at the limit, growing without getting better. Each rule is pure."""

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    DAPO,
    DR_GRPO,
    MEASURED,
    PROBLEM,
    SUSPICION,
    WARNING,
    Change,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import percent, short_number

POINTS, TREND = 10, 20  # logged steps
CUT, MOSTLY_CUT = 0.3, 0.6  # shares of completions
TIMES, LONG = 2.0, 64  # as long as at the start; tokens below which length is no matter


def truncation(e: Evidence) -> Verdict | None:
    """Completions end at the limit of tokens, not where the model ends them."""
    cut = e.curve("completions/clipped_ratio")
    if len(cut) < POINTS or cut.now < CUT:
        return None
    longest = e.number("max_completion_length")
    of = f" of {short_number(longest)} tokens" if longest else ""
    words = (
        f"{percent(cut.now)} of the last completions were cut off at the limit{of}: what they would have answered is "
        "not scored, and they are punished or praised for what they did not say."
    )
    first, last = cut.when_now()
    return Verdict(
        "truncated", PROBLEM if cut.now >= MOSTLY_CUT else WARNING, "Completions are cut off", words,
        f"Said from {percent(CUT)} on, as a problem from {percent(MOSTLY_CUT)}.",
        f"{DAPO} on overlong completions; the shares are {COMMON}",
        (chart("completions/clipped_ratio", "The chart of cut-off completions"),
         completions("The cut-off completions", truncated="yes", steps=f"{first}..{last}")),
        (*changes.longer(e), Change("Learn nothing from those that are cut off",
                                    {"training.mask_truncated_completions": True})),
    )  # fmt: skip


def exploding(e: Evidence) -> Verdict | None:
    """Twice as long as at the start. While the reward rises it may be thinking; else it is not."""
    length = e.curve("completions/mean_length")
    if len(length) < TREND or length.now < LONG or length.now < TIMES * length.start or length.direction(0) < 1:
        return None
    up = e.reward.direction(0.05 * e.scale) > 0
    said = (
        f"Completions are {short_number(length.now)} tokens long on average, {short_number(length.start)} at the start"
    )
    first, last = length.when_now()
    words = (
        f"{said}. The reward rose too, so this may be thinking; read some of them to see."
        if up
        else f"{said}, and the reward did not rise with it."
    )
    fixes = [Change("Loss dr_grpo, which does not favour long wrong answers", {"training.loss_type": "dr_grpo"})]
    if e.training.get("loss_type") == "dr_grpo":
        limit = int(changes.longest(e))
        fixes = [
            changes.add_reward(e, "soft_overlong_punishment", max_completion_len=limit, soft_punish_cache=limit // 5)
        ]
    return Verdict(
        "length", SUSPICION if up else WARNING, "Completions are growing long", words,
        f"Said when they are {TIMES:.0f} times as long as at the start, and longer than {LONG} tokens.",
        f"{DR_GRPO} on the bias towards length; {MEASURED}",
        (chart("completions/mean_length", "The chart of length"),
         completions("The longest completions", steps=f"{first}..{last}", sort="-length")),
        tuple(fixes),
    )  # fmt: skip


RULES = (truncation, exploding)
