"""From evidence to what the doctor says: one headline, and the verdicts, the most important first, one to a cause."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from groupwise.storage.analysis.doctor import (
    alike,
    answers,
    data_gaps,
    empty,
    expected,
    form_alone,
    gradient,
    hacking,
    kl_target,
    last_weights,
    length,
    level_length,
    lost_right,
    next_step,
    rates,
    rewards,
    right_answers,
    rise,
    ruined,
    sampling,
    speed,
    stability,
)
from groupwise.storage.analysis.doctor.causes import one_to_a_cause
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.next_step import Next
from groupwise.storage.analysis.doctor.verdict import CALM, NEUTRAL, SUSPICION, WARNING, Change, Verdict
from groupwise.storage.analysis.doctor.words import percent_without, short_number, write_figure
from groupwise.storage.record.recent import Course, Steps
from groupwise.storage.spec.words.number_words import count_words

Rule = Callable[[Evidence], Verdict | None]
RULES: tuple[Rule, ...] = (
    *sampling.RULES, *level_length.RULES, *rewards.RULES, *answers.RULES, *rates.RULES, *lost_right.RULES,
    *ruined.RULES, *stability.RULES, *kl_target.RULES, *gradient.RULES, *alike.RULES, *length.RULES, *form_alone.RULES,
    *empty.RULES, *hacking.RULES, *right_answers.RULES, *speed.RULES, *data_gaps.RULES,
    *expected.RULES,
)  # fmt: skip
WAIT = 10  # logged steps before anything is said of how it goes
TWO_ENDS = 2  # … where the groups tell of all others
HALF = 0.5  # of the groups

OPENING = {"up": "Learning", "down": "Getting worse"}
OPENING_ENDED = {"up": "Learned", "down": "Got worse"}  # of a run that is over
RIGHT_STAYED = "Right answers hardly moved"  # beside a run's state


@dataclass(frozen=True)
class Report:
    """`kind` says how it stands: waiting, up, down, level. `level`: how grave that is, by which it is coloured wherever
    it stands. `verdicts` that are not calm come first; `calm` is apart. `steps`: how many logged steps the figures now
    and at its best are means of, `begin`: that at the start; 0: no such figure is said. `against`: what speaks against
    a reward that rose or stayed, in the few words that stand beside a run's state; `aside`: what else is to be known of
    it there, and is no alarm. `follows`: what to do next, of a run that ended well. `opening`: the first words of the
    headline, up to its colon, where the rest says what they rest on. `fell`: that the reward fell, as it stands beside
    a state, with its cause where that is as good as certain; “” where it did not. `until`: the last of the steps that
    the figures now are of; 0: none is said. `spans`: the steps that those at the start and those now are of, where a
    log is of several steps."""

    kind: str
    level: str
    headline: str
    verdicts: tuple[Verdict, ...]
    calm: tuple[Verdict, ...]
    steps: int
    begin: int = 0
    against: str = ""
    follows: Next | None = None
    aside: str = ""
    opening: str = ""
    fell: str = ""
    until: int = 0
    spans: tuple[Steps, Steps] | None = None


def examine(e: Evidence) -> Report:
    """What there is to say of this evidence."""
    found = [verdict for rule in RULES if (verdict := rule(e)) is not None]
    kept = [_in_their_stages(e, verdict) for verdict in one_to_a_cause(found)]
    grave = tuple(verdict for verdict in kept if verdict.level != CALM)
    kind = _direction(e)
    if kind == "up" and any(verdict.key in rates.OF_NO_RISE for verdict in grave):
        kind = "level"  # what a verdict calls as at the start, or noise, is no rise in the headline above it
    against = rise.speaks_against(e, rose=kind == "up") if kind in ("up", "level") else {}
    opening = "" if kind == "waiting" else f"{_opening(e, kind, grave, bool(against))}:"
    said = f"{opening} {_summarise_reward(e, kind, against)}.{_say_seldom(e)}" if opening else _say_too_short(e, grave)
    calm = tuple(verdict for verdict in kept if verdict.level == CALM)
    course = e.reward.course if kind != "waiting" else Course()
    level = _level(kind, grave, bool(against))
    level = NEUTRAL if level == CALM and _is_nothing_learned(e, kind) else level
    begin = 0 if rates.fall(e) else course.begin  # then it is told from its first step, or from its best
    is_over = e.ended and kind != "waiting" and not (grave or e.broke_off)
    follows = None
    if is_over:
        follows = next_step.after_loss(e) if against else next_step.after_good_end(e, rose=kind == "up")
    if follows and isinstance(follows.to, Change):
        follows = replace(follows, to=_move(e, follows.to))
    stayed = kind == "up" and not against and rise.right_stayed(e)
    aside = RIGHT_STAYED if stayed and rates.has_gone_on_long(e) else ""
    aside = aside or (rise.say_few_right(e) if kind == "up" and not against else "")
    against_it = next(iter(against), "")
    fell = "" if kind != "down" else rates.say_why_it_fell(e) if _is_of_steps(grave) else rates.say_fell(e)
    first, last = course.ended
    spans = (course.began, course.ended) if last - first >= course.count > 0 else None
    return Report(
        kind, level, said, grave, calm, course.count, begin, against_it, follows, aside, opening, fell, last, spans
    )  # fmt: skip


def _is_of_steps(grave: tuple[Verdict, ...]) -> bool:
    """Whether the first that is said is that steps are too large."""
    return bool(grave) and grave[0].key == "learning_rate_high"


def _level(kind: str, grave: tuple[Verdict, ...], against: bool) -> str:
    """That of the gravest verdict; a reward that fell, or that rose alone, is never calm."""
    least = WARNING if kind == "down" or against else "waiting" if kind == "waiting" else CALM
    found = grave[0].level if grave else least
    return WARNING if least == WARNING and found == SUSPICION else found


def _is_nothing_learned(e: Evidence, kind: str) -> bool:
    """Whether a run that is over came to nothing: not one function rose, and held-out reward neither."""
    return e.ended and kind == "level" and not (rise.held_out_rose(e) or rise.say_clear_rise(e))


def _say_too_short(e: Evidence, grave: tuple[Verdict, ...]) -> str:
    """The headline before there are steps enough, or of a run that ended before there were."""
    stage, gone = " of this stage" if e.since else "", _steps_gone(e)
    by_groups = e.is_told_by_groups and len(e.reward) >= WAIT
    steps, least = (e.logs, TWO_ENDS) if by_groups else (len(e.reward), WAIT)
    seldom = by_groups or steps > 0 and (gone if e.ended else e.reward.steps[-1] - e.since) > steps
    # by its groups, what it has are steps, at whichever of them it was logged
    of_groups = e.is_told_by_groups and not by_groups
    known = "known" if of_groups else "logged"
    done = f"{count_words(steps, 'step' if of_groups else 'logged step')}{stage}"
    done = f"{count_words(gone, 'step')}{stage}, its reward {known} at {steps:,} of them" if seldom else done
    needed = f"{least} {'logged ' if seldom else ''}steps"
    trends = "It ended before trends could be seen: they need " if e.ended else "Trends need "
    if grave and e.step - e.since >= WAIT and _has_no_score(e):
        yet = "" if e.ended else " yet"
        after = count_words(e.step - e.since, "step")
        return f"{_count(grave).capitalize()} after {after}{stage}. No step has a score{yet}, so there is no trend."
    if grave and not (e.ended or len(e.reward)):  # of what was evaluated before, or of groups without a reward
        steps = e.step - e.since
        when = f"after {count_words(steps, 'step')}{stage}" if steps > 0 else f"before the first step{stage}"
        return f"{_count(grave).capitalize()} {when}. Trends need {least}."
    if grave and len(e.reward):
        return f"{_count(grave).capitalize()} after {done}. {trends}{needed if seldom or e.ended else least}."
    if e.ended and not steps:
        return _say_nothing_logged(e, stage)
    if e.ended:
        if seldom:
            at = f"its reward was {known} at {steps:,} of {count_words(gone, 'step')}{stage}"
            return f"It ended, and {at}: too few for diagnostics, which need {least}.{_say_groups_looked_at(e)}"
        return f"It ended after {done}: too short for diagnostics, which need {least}."
    if why := _why_never(e):
        return f"Diagnostics{stage} need {why}."
    return f"Diagnostics{stage} need {needed} ({steps}/{least})."


def _has_no_score(e: Evidence) -> bool:
    """Whether no reward function has scored anything so far."""
    read = (*e.first, *e.last)
    return bool(read) and not len(e.reward) and all(score is None for one in read for score in one.scores.values())


def _steps_gone(e: Evidence) -> int:
    """How many steps of the stage are done, also where TRL logs the reward of few of them: where it generates."""
    return max(e.step, e.reward.steps[-1]) - e.since if len(e.reward) else 0


def _say_seldom(e: Evidence) -> str:
    """That more cannot be said of a reward that fell, as it was logged at so few steps; “” where it was at enough."""
    if len(e.reward) >= WAIT:
        return ""
    if e.is_told_by_groups:
        return f" Other trends need {WAIT} steps."
    was, of = "was" if e.ended else "is", f"{len(e.reward):,} of {count_words(_steps_gone(e), 'step')}"
    return f" Its reward {was} logged at {of}: other trends need {WAIT}."


def _say_groups_looked_at(e: Evidence) -> str:
    """That what goes by groups could be told, which are recorded at every step, however seldom TRL logs."""
    many = len(e.curve("groups/tied")) >= WAIT
    return " Its groups, recorded at every step, show no problem by themselves." if many else ""


def _say_nothing_logged(e: Evidence, stage: str) -> str:
    """Of a run that ended before a reward was logged: what there is, which may be held-out reward before training."""
    unsaid = "so whether it learned cannot be said"
    if e.step > e.since:
        return f"It ended, and no reward was logged{stage}, {unsaid}."
    if e.held_out_before is not None:
        before = write_figure(e.held_out_before)
        return f"It ended before its first step{stage}, {unsaid}. Held-out reward before training: {before}."
    return f"It ended, and nothing was logged{stage}, {unsaid}."


def _why_never(e: Evidence) -> str:
    """How many steps it takes, and why there will never be as many, in words; "" where there may be."""
    left, every = e.total - e.since, e.training.get("logging_steps", 1)
    if 0 < left < WAIT:
        return f"{WAIT} logged steps: too few will come, it has {left}"
    # Before the first log it is not known whether groups tell of the steps between: what is said holds either way.
    by_groups = e.is_told_by_groups or not e.logs
    least, more = (TWO_ENDS, int(bool(e.training.get("logging_first_step")))) if by_groups else (WAIT, 1)
    if left > 0 and isinstance(every, int) and every > 1 and left // every + more < least:
        return f"{least} logged steps: too few will come, as only one of {every} is logged (logging_steps)"
    return ""


def _in_their_stages(e: Evidence, verdict: Verdict) -> Verdict:
    """With its changes where they take effect: what a stage sets itself is changed in the stage."""
    return replace(verdict, changes=tuple(_move(e, change) for change in verdict.changes)) if e.places else verdict


def _move(e: Evidence, change: Change) -> Change:
    def place(path: str) -> str:
        part, _, rest = path.partition(".")
        return e.places.get(path) or (f"{e.places[part]}.{rest}" if part in e.places else path)

    field = place(change.field) if change.field else ""
    return replace(change, settings={place(path): value for path, value in change.settings.items()}, field=field)


def _opening(e: Evidence, kind: str, grave: tuple[Verdict, ...], against: bool) -> str:
    """The headline's first words: how it went, whatever the verdicts below say, and what there is of these."""
    if e.weights_lost:
        return "Its weights were ruined"
    went = _say_course(e, kind, against)
    if grave:
        return f"{went}, with {_count(grave)}" if kind == "up" and not _has_stopped_learning(e) else went
    return went if against or kind == "down" else went + _say_no_problems(e, kind)


def _say_course(e: Evidence, kind: str, against: bool) -> str:
    """How it went, by the reward and what is measured beside it alone. Where hardly a group has a learning signal any
    more, what rose before rises no more, if held-out prompts show that anything was learned."""
    if kind == "level":
        return _say_level(e, against)
    opening = (OPENING_ENDED if e.ended else OPENING)[kind]
    if kind == "down":
        return opening
    if _has_stopped_learning(e):
        return rise.say_on_training_only(e) if rise.stayed_held_out(e) else "No longer learning"
    return rise.say_what_rose(e) if against else _but_not_right(e, opening)


def _has_stopped_learning(e: Evidence) -> bool:
    return gradient.is_mostly_tied(e) and e.tied_share.early < gradient.MOSTLY_TIED


def _say_level(e: Evidence, against: bool) -> str:
    """The first words where the reward stayed: some of it may be learned for all that."""
    if against:
        return rise.say_what_rose_instead(e)
    if rise.say_clear_rise(e) and not rise.held_out_rose(e):
        return f"Some of it {'was learned' if e.ended else 'is being learned'}"
    return f"No clear progress{' in training' if rise.held_out_rose(e) else ''}{'' if e.ended else ' so far'}"


def _but_not_right(e: Evidence, opening: str) -> str:
    """The first words of a reward that rose, with what it does not say by itself."""
    return f"{opening}, but answers {e.verbs} not right more often" if rise.right_stayed(e) else opening


def _say_no_problems(e: Evidence, kind: str) -> str:
    """What follows the first words where nothing is wrong: that it is so, or what is to be known all the same."""
    if e.broke_off:
        return f", no problems detected {'before the resume' if e.goes_on else 'until it ended'}"
    idle, stayed = _say_idle_groups(e, kind), kind == "up" and rise.right_stayed(e)
    if kind == "up" and not stayed and (few := rise.say_few_right(e)):
        return f", with {few} {e.at_now}{idle}"
    return idle or ("" if stayed else ", no problems detected")


def _say_idle_groups(e: Evidence, kind: str) -> str:
    """That most groups had nothing to learn from, fewer than a verdict is made of; “” where that is not so, or they are
    mostly solved by all of theirs."""
    if not len(e.tied_share) or e.tied_share.now <= HALF or e.curve("groups/all_high").now >= e.tied_share.now / 2:
        return ""
    link = "though" if kind == "up" else "and"
    return f", {link} more than half of the groups {'had' if e.ended else 'have'} no learning signal"


def _count(grave: tuple[Verdict, ...]) -> str:
    """How many of the gravest level there are: a problem, 2 warnings."""
    worst = [verdict.level for verdict in grave if verdict.level == grave[0].level]
    return f"{len(worst)} {worst[0]}s" if len(worst) > 1 else f"a {worst[0]}"


def _summarise_reward(e: Evidence, kind: str, against: dict[str, str]) -> str:
    """Is it learning? In a few words, with what speaks `against` it, and what held-out prompts say."""
    reward, fell = e.reward, rates.fall(e)
    height, when = (fell.height, fell.when) if fell else (reward.start, rates.start_words(e))
    went = ("fell" if kind == "down" else f"went {kind}") if e.ended else f"is {kind}"  # fell: as beside its state
    said = f"reward {went} from {write_figure(height)} {when} to {write_figure(reward.now)} {e.at_now}"
    said = rates.said_of_reward(e) if kind == "level" else said
    said = _say_at_equal_weights(e, kind) if _moved_by_weights(e, kind) else said
    told = " and ".join(against.values())
    said += f", {'but' if kind == 'up' else 'and'} {told}" if told else _say_functions(e, kind)
    said += "" if "held-out" in said else rise.say_held_out(e)  # one of its figures is enough
    if len(e.tied_share):
        said += f"; {percent_without(e.tied_share.now)} of groups {e.has} a learning signal"
    return said + _say_weights(e)


def _moved_by_weights(e: Evidence, kind: str) -> bool:
    """Whether the reward went another way than at equal weights, by which it is judged."""
    judged, least = last_weights.judged_reward(e), rates.STILL * e.scale
    if kind == "level":
        return judged.direction(least) != e.reward.direction(least)
    return judged.rise * e.reward.rise < 0


def _say_at_equal_weights(e: Evidence, kind: str) -> str:
    """How the reward went, and how it would have gone at the weights that it has now."""
    judged, over = last_weights.judged_reward(e), e.ended and not e.goes_on
    then, now = write_figure(judged.start), write_figure(judged.now)
    noise = ", which may be noise" if kind == "level" else ""
    moved = f"stayed at {now}" if rates.reads_the_same(judged) else f"gone from {then} to {now}{noise}"
    return (
        f"reward {'went' if e.ended else 'has gone'} from {write_figure(e.reward.start)} {rates.start_words(e)} to "
        f"{write_figure(e.reward.now)} {e.at_now}; with the {'final' if over else 'current'} reward weights "
        f"throughout, it would have {moved}"
    )


def _say_weights(e: Evidence) -> str:
    """That weights moved, by which a reward may rise with no score higher; “” where none did."""
    moved = last_weights.moved_weights(e)
    ends = {name: [short_number(curve.values[at]) for at in (0, -1)] for name, curve in moved.items()}
    told = [
        f"the weight of “{name}” {e.verb} {now} {e.at_now}, {first} at the start" for name, (first, now) in ends.items()
    ]
    return "".join(f"; {one}" for one in told)


def _say_functions(e: Evidence, kind: str) -> str:
    """What single functions say beside the total: by which it rose, and whether answers are right more often."""
    if kind == "up":
        return rise.say_by_which(e) + rise.say_scored(e) + rise.say_right(e)
    return (rise.say_clear_rise(e) if kind == "level" else "") + rise.say_scored(e)


def _direction(e: Evidence) -> str:
    """Up, down or level: a reward that has fallen far from its best is down, whatever it was at the start. Where
    weights moved, it is judged at the last of them. Waiting before there are steps enough, unless its completions leave
    no doubt that it fell."""
    if len(e.reward) < WAIT:
        return "down" if rates.is_clear_fall(e) else "waiting"
    judged = last_weights.judged_reward(e)
    if rates.fall(e) or (judged.direction(rates.STILL * e.scale) < 0 and not rates.is_less_scored(e)):
        return "down"
    if not e.has_two_ends:
        return "waiting"
    if gradient.is_mostly_tied(e) and judged.rise <= rates.STILL * e.scale:
        return "level"  # a little more luck: with next to no signal, so small a rise is nothing learned
    return "up" if judged.direction(0, 2.0) > 0 and not rates.reads_the_same(judged) else "level"
