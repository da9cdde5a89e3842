"""How long completions are: cut off at the limit, growing without getting better. Each rule is pure."""

from groupwise.storage.analysis.doctor import answers, changes, grounds, hardly_fits
from groupwise.storage.analysis.doctor.curve import mean
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import (
    CALM,
    COMMON,
    CORPUS,
    DAPO,
    DR_GRPO,
    MEASURED,
    PROBLEM,
    SUSPICION,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
)
from groupwise.storage.analysis.doctor.words import (
    first_steps,
    last_steps,
    percent,
    short_number,
    steps_between,
    write_figure,
)
from groupwise.storage.spec.words.number_words import count_words

POINTS, TREND = 5, 20  # logged steps
CUT, MOSTLY_CUT = 0.3, 0.6  # shares of completions
CUT_UNPAID = 0.15  # a share that is enough where some function has given nothing, or next to nothing
GONE = 0.05  # a share of completions that says no more of the limit
MORE_CUT, UP = 0.2, 0.05  # shares of completions; of the rewards' scale
FEW = 16  # completions
HALF = 0.5  # of the completions, and of the limit
ENOUGH = 64  # completions
OF_LENGTH = {"length", "soft_overlong_punishment"}  # functions that ship and look at nothing but the length
PENALTIES = {"repetition_penalty", "soft_overlong_punishment"}  # that ship, and only take away
MASK = Change("Mask truncated completions", {"training.mask_truncated_completions": True})
APART = 0.7  # of neighbouring lengths, those that earn differently
TIMES, LONG = 2.0, 64  # as long as at the start; tokens below which length is no matter


def truncation(e: Evidence) -> Verdict | None:
    """Completions end at the limit of tokens, not where the model ends them."""
    cut = e.curve("completions/clipped_ratio")
    if len(cut) < POINTS or runs_on(e):
        return None
    unpaid = _unpaid(e) if cut.opening >= CUT_UNPAID else []
    from_start = bool(unpaid) and cut.opening > cut.now  # then that is what is told, and what is opened
    if from_start and cut.now < (CUT if _is_known_not_to_fit(e, unpaid[0]) else GONE):
        return _was_cut(e, unpaid[0])
    share = cut.opening if from_start else cut.now
    if not unpaid and (not cut.at_least(CUT) or answers.starter_has_no_answer(e)):
        return None
    longest = e.number("max_completion_length")
    of = f" of {short_number(longest)} tokens" if longest else ""
    when, steps = (first_steps(cut), cut.opening_points[1]) if from_start else (last_steps(cut), cut.course.ended)
    never = f" {hardly_fits.say_given(e, unpaid[0])}: {_say_what_fits(e, unpaid[0])}." if unpaid else ""
    words = (
        f"{percent(share)} of the completions of {when} were cut off at the limit{of}: what they would have answered "
        f"is not there, so they are scored on incomplete text.{never}"
    )
    about = grounds.last_of(e, lambda one: one.cut or bool(unpaid))
    return Verdict(
        "truncated", PROBLEM if unpaid or cut.at_least(MOSTLY_CUT) else WARNING, "Completions are cut off", words,
        f"Shown from {percent(CUT)} on, as a problem from {percent(MOSTLY_CUT)}, or from {percent(CUT_UNPAID)} at the "
        f"start where a function has given nothing, or at most {percent(hardly_fits.HARDLY)} of its range, and what it "
        "needs may not fit.",
        f"{DAPO} on overlong completions; the shares are {COMMON}",
        (chart("completions/clipped_ratio", "The chart of cut-off completions"),
         completions("The cut-off completions", truncated="yes", steps=steps_between(steps))),
        changes.longer(e) if unpaid else (*changes.longer(e), MASK),
        Grounds(Place.WRITING, _is_cut_from_start(e, share), 1.0 if unpaid else share, about),
    )  # fmt: skip


def _is_cut_from_start(e: Evidence, share: float) -> bool:
    """Whether so many were cut off before anything was learned; not where it is most of them now, at a learning rate
    far too high, and was far fewer: a ruined model does not end its answers."""
    first = e.curve("completions/clipped_ratio").first
    return first >= CUT_UNPAID and not (changes.rate_far_off(e) is not None and first < HALF * share)


def _was_cut(e: Evidence, name: str) -> Verdict:
    """What is said where hardly any is cut off any more, and a function has never given anything: what the limit taught
    the model, where what that function wants does not fit; else, without alarm, that it was so."""
    cut, limit = e.curve("completions/clipped_ratio"), short_number(changes.longest(e))
    said = (
        f"{percent(cut.opening)} of the completions of {first_steps(cut)} were cut off at the limit of {limit} tokens, "
        f"{percent(cut.now)} {e.at_now}"
    )
    links = (
        chart("completions/clipped_ratio", "The chart of cut-off completions"),
        completions("The cut-off completions", truncated="yes", steps=steps_between(cut.opening_points[1])),
    )
    threshold = (
        f"Shown from {percent(CUT_UNPAID)} at the start on where a function has given nothing, or at most "
        f"{percent(hardly_fits.HARDLY)} of its range."
    )
    if not _is_known_not_to_fit(e, name):
        words = f"{said}: that went away by itself. “{name}” has scored 0 every time; perhaps no full answer fits."
        return Verdict(
            "truncated", CALM, "Completions were cut off at the start", words, threshold, COMMON, links,
            changes.longer(e),
        )  # fmt: skip
    never_fits = changes.leaves_no_room(e, name)
    taught = (
        "Completions that began with them were cut off and earned nothing, so only answers without them earn anything."
        if never_fits
        else f"What is cut off hardly ever earns anything, so answers without what “{name}” rewards earn more."
    )
    words = f"{said}. {hardly_fits.say_given(e, name)}: {_say_what_fits(e, name)}. {taught}"
    room = "no" if never_fits else "hardly any"
    return Verdict(
        "truncated", PROBLEM, f"The limit leaves {room} room for {name}", words, threshold, COMMON, links,
        changes.longer(e), Grounds(Place.WRITING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def runs_on(e: Evidence) -> Verdict | None:
    """Completions came to run to the limit as that is what earns: cut off, they earn as much as those that end."""
    cut, earned = e.curve("completions/clipped_ratio"), _earned_by_cut(e)
    if len(cut) < POINTS or earned is None or not cut.at_least(CUT) or cut.start >= CUT or cut.rise < MORE_CUT:
        return None
    if e.weights_move or e.reward.direction(UP * e.scale) < 1 or earned[0] < earned[1]:
        return None
    name, limit = _pays_for_cut(e), int(changes.longest(e))
    words = (
        f"{percent(cut.now)} of the completions of {last_steps(cut)} were cut off at the limit of {limit:,} tokens, "
        f"{percent(cut.start)} at the start, and the reward rose with it: of the last that were read, those that were "
        f"cut off earned {write_figure(earned[0])} on average, the others {write_figure(earned[1])}. So the model "
        "learns to run on, and a higher limit allows more of it."
    )
    penalty = "soft_overlong_punishment"
    end = changes.add_reward(e, penalty, max_completion_len=limit, soft_punish_cache=max(1, limit // 5))
    return Verdict(
        "runs_on", PROBLEM if cut.at_least(MOSTLY_CUT) else WARNING,
        f"Running on to the limit {'was' if e.ended else 'is'} rewarded", words,
        f"Shown from {percent(CUT)} on, up by {percent(MORE_CUT)} or more, while the reward rises and completions that "
        "are cut off earn no less than the others.", COMMON,
        (chart("completions/clipped_ratio", "The chart of cut-off completions"),
         completions("The best of them", truncated="yes", steps=steps_between(cut.course.ended), sort="-reward")),
        (*((Change(f"Change {name}", edit_reward=name),) if name else ()),
         *((end,) if penalty not in e.functions else ()), MASK),
        Grounds(Place.SCORING, True, cut.now, grounds.last_of(e, lambda one: one.cut)),
    )  # fmt: skip


def _earned_by_cut(e: Evidence) -> tuple[float, float] | None:
    """What the last completions that are cut off earn on average, and what the others do; where there are too few
    others by now, those of the first groups, too. None where too few were read."""
    for samples in (e.last, [one for group in e.groups for one in group]):
        parts = [[one.reward for one in samples if one.reward is not None and one.cut == cut] for cut in (True, False)]
        if min(map(len, parts)) >= FEW:
            return mean(parts[0]), mean(parts[1])
    return None


def _pays_for_cut(e: Evidence) -> str:
    """The function that counts and prefers what is cut off most; “” where none does."""
    more = {}
    for name, told in e.functions.items():
        parts = [grounds.scores_of([one for one in e.last if one.cut == cut], name) for cut in (True, False)]
        if told.weight and all(parts):
            more[name] = told.weight * (mean(parts[0]) - mean(parts[1]))
    return max(more, key=lambda name: more[name], default="")


def _say_what_fits(e: Evidence, name: str) -> str:
    if e.tags and changes.leaves_no_room(e, name):
        return f"the tags that it needs take at least {count_words(e.tags.least, 'token')}"
    return hardly_fits.say_seen(e, name) or "perhaps no full answer fits"


def _is_known_not_to_fit(e: Evidence, name: str) -> bool:
    """Whether what a function wants does not fit, or hardly: by what its tags take, or as the completions show."""
    return changes.leaves_no_room(e, name) or hardly_fits.is_seen(e, name)


def _unpaid(e: Evidence) -> list[str]:
    """The functions that have a weight and have given 0 to every completion, or next to nothing, for which the limit
    may leave no room."""
    return [name for name, told in e.functions.items() if told.weight and told.calls >= ENOUGH and _lacks_room(e, name)]


def _lacks_room(e: Evidence, name: str) -> bool:
    """Whether a function gives so little as what it wants may not fit."""
    if hardly_fits.gives_nothing(e, name):
        return _may_lack_room(e, name) or hardly_fits.is_seen(e, name)
    return hardly_fits.gives_hardly_anything(e, name) and hardly_fits.is_seen(e, name)


def _may_lack_room(e: Evidence, name: str) -> bool:
    """Whether what a function wants may not fit: completions that end by themselves, and are none of it, say so."""
    if name == "format" and e.tags:
        return changes.lacks_room_for_tags(e)
    return changes.longest(e) < changes.SHORTEST and not _end_early(e)


def _end_early(e: Evidence) -> bool:
    """Whether most completions end by themselves, and far before the limit: there was room, for whatever they say."""
    cut, ended = e.curve("completions/clipped_ratio"), e.curve("completions/mean_terminated_length")
    return len(ended) > 0 and cut.opening < HALF and ended.start <= changes.longest(e) * HALF


def length_alone(e: Evidence) -> Verdict | None:
    """What a completion earns follows from its length, whatever it says."""
    words = _named_for_length(e) or _length_decides(e)
    if not words:
        return None
    fix = () if any(r.name == "correctness" for r in e.rewards) else (changes.add_reward(e, "correctness"),)
    return Verdict(
        "length_alone", WARNING, "Only length is rewarded", words,
        f"Shown where no function that counts reads the text; otherwise when all completions of one length earn the "
        f"same, in every group, and {percent(APART)} of neighbouring lengths earn differently.", CORPUS,
        (chart("completions/mean_length", "The chart of length"), completions("The best completions", sort="-reward")),
        (*fix, Change("A reward for the content", field="rewards")),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True), moves=True),
    )  # fmt: skip


def penalty_alone(e: Evidence) -> Verdict | None:
    """Nothing is trained but a penalty on repetition: whoever says least keeps clear of it."""
    counting = [name for reward in e.rewards if e.weight(name := reward.name)]
    if not e.groups or "repetition_penalty" not in counting or not set(counting) <= PENALTIES:
        return None
    if all(name in e.functions and e.functions[name].constant is not None for name in counting):
        return None  # that is what is wrong then
    length = e.curve("completions/mean_length")
    shorter = (
        f" Completions {e.verbs} {write_figure(length.now)} tokens long on average {e.at_now}, "
        f"{write_figure(length.start)} at the start."
        if len(length) >= POINTS and length.now < length.start
        else ""
    )
    named = " and ".join(f"“{name}”" for name in counting)
    words = (
        f"{named} {'is the only function' if len(counting) == 1 else 'are the only functions'} that "
        f"{'counts' if len(counting) == 1 else 'count'}: it penalises repetition, and nothing rewards the content, so "
        f"short answers earn the most.{shorter}"
    )
    return Verdict(
        "penalty_alone", WARNING, "Only repetition is penalised", words,
        "Shown where no function counts but a penalty on repetition, or on length beside it.", COMMON,
        (chart("completions/mean_length", "The chart of length"), completions("The best completions", sort="-reward")),
        (changes.add_reward(e, "correctness"), Change("A reward for the content", field="rewards")),
        Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True), moves=True),
    )  # fmt: skip


def _named_for_length(e: Evidence) -> str:
    """What is to be said where all functions that count are built in and look at the length; “” where not."""
    counting = [name for reward in e.rewards if e.weight(name := reward.name)]
    if not e.groups or not counting or not set(counting) <= OF_LENGTH:
        return ""
    if all(name in e.functions and e.functions[name].constant is not None for name in counting):
        return ""  # that is what is wrong then
    named = " and ".join(f"“{name}”" for name in counting)
    only = "is the only function that counts" if len(counting) == 1 else "are the only functions that count"
    return f"{named} {only}: the reward depends on the length alone, not on the content."


def _length_decides(e: Evidence) -> str:
    """What is to be said where completions of one length earn the same, and others something else; “” where not."""
    link = grounds.length_link([one for group in e.groups for one in group], ENOUGH)
    if link is None or not link.same or link.apart < APART:
        return ""
    longer = {1: " Longer earns more.", -1: " Shorter earns more.", 0: ""}[link.longer]
    return (
        f"Completions of equal length always earned the same ({link.compared:,} that were read), and other lengths "
        f"something else: the reward depends on the length alone, not on the content.{longer}"
    )


def exploding(e: Evidence) -> Verdict | None:
    """Twice as long as at the start. While the reward rises it may be thinking; else it is not."""
    length = e.curve("completions/mean_length")
    if len(length) < TREND or not length.at_least(max(LONG, TIMES * length.start)) or length.direction(0) < 1:
        return None
    up = e.reward.direction(0.05 * e.scale) > 0
    said = (
        f"Completions {e.verbs} {write_figure(length.now)} tokens long on average {e.at_now}, "
        f"{write_figure(length.start)} at the start"
    )
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
    title = "Completions grew long" if e.ended else "Completions are growing long"
    return Verdict(
        "length", SUSPICION if up else WARNING, title, words,
        f"Shown when they are {TIMES:.0f} times as long as at the start, and longer than {LONG} tokens.",
        f"{DR_GRPO} on the bias towards length; {MEASURED}",
        (chart("completions/mean_length", "The chart of length"),
         completions("The longest completions", steps=steps_between(length.course.ended), sort="-length")),
        tuple(fixes), Grounds(Place.TREND, share=0.0 if up else 1.0),
    )  # fmt: skip


RULES = (truncation, runs_on, length_alone, penalty_alone, exploding)
