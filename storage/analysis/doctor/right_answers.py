"""What keeps right answers from being learned though nothing else looks wrong: they are punished, they may belong to
other prompts, or length earns more than they do. Each rule is pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from groupwise.storage.analysis.doctor import answers, changes, grounds, rise
from groupwise.storage.analysis.doctor.curve import mean
from groupwise.storage.analysis.doctor.empty import say_beyond_starter, title_too_hard
from groupwise.storage.analysis.doctor.evidence import Evidence, Function, Sample
from groupwise.storage.analysis.doctor.length import APART, ENOUGH
from groupwise.storage.analysis.doctor.verdict import (
    COMMON,
    CORPUS,
    PROBLEM,
    SUSPICION,
    TRL,
    WARNING,
    Change,
    Grounds,
    Place,
    Verdict,
    chart,
    completions,
    step_groups,
)
from groupwise.storage.analysis.doctor.words import percent, setting_text, short_number, write_figure
from groupwise.storage.library import chance
from groupwise.storage.library.rewards.message_lists import AS_TEXT
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.words.number_words import count_words

TREND, POINTS = 20, 5  # logged steps; before what the code shows is said
MANY = 64  # completions
AGREE, TIMES = 0.3, 5  # pairs of one prompt with the same answer; as many times as of pairs of all prompts
READ = 2000  # characters of a completion that were read: the end of a longer one is not known
BROUGHT = 0.5  # of the reward's rise
LONGER = 1.5  # as long as at the start
MARKED, IN_GROUPS = 16, 4  # completions, of so many groups, that earn less than the best of theirs
NEARLY_ALL, SELDOM = 0.95, 0.7  # of these, those that give their answer; of the others
_TAG = re.compile(r"<[^<>]*>")


def right_is_punished(e: Evidence) -> Verdict | None:
    """A function that compares with the answer has a negative weight."""
    names = [name for name, told in e.functions.items() if told.weight < 0 and name in group_metrics.OF_ANSWERS]
    if not names or e.weights_move:
        return None
    name, place = names[0], e.place(names[0])
    weight, solved = e.functions[name].weight, e.curve("groups/solved")
    fell = ""
    if name == e.target and len(solved) and solved.now < solved.start:
        fell = f" Its share of right answers went from {percent(solved.start)} to {percent(solved.now)}."
    value = abs(weight)
    fixes = (Change(f"Weight {setting_text(value)} for {name}", {f"{place}.weight": value}),) if place else ()
    words = (
        f"“{name}” compares with the answer, and its weight is {short_number(weight)}: a right answer earns less than "
        f"a wrong one, so right answers are unlearned.{fell}"
    )
    return Verdict(
        "punished", PROBLEM, "Right answers are punished", words,
        "Shown where a built-in function that compares with the answer has a weight below 0.", TRL,
        (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The worst completions", sort="reward")),
        fixes, Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True)),
    )  # fmt: skip


def right_earns_nothing(e: Evidence) -> Verdict | None:
    """A function of a person's own gives every completion the same, which is not above 0, and many give the answer of
    their row: it looks for something that the model is not asked to write."""
    known = group_metrics.OF_ANSWERS | group_metrics.OF_FORM
    with_answer = [one for group in e.groups for one in group if one.answer.strip()]
    for name, told in e.functions.items():
        value = told.constant
        if not told.weight or value is None or value * told.weight > 0 or name in known or told.reads_no_column:
            continue
        read = [one for one in with_answer if one.scores.get(name) is not None]
        right = [one for one in read if answers.gives_answer(one)]
        if len(right) < max(MARKED, answers.SEVERAL * len(read)) or len({one.grp for one in right}) < IN_GROUPS:
            continue
        words = (
            f"“{name}” {'gave' if e.ended else 'gives'} {told.whom} {write_figure(value)}, right or wrong: of the "
            f"{len(read):,} that were read, {percent(len(right) / len(read))} give the answer of their row. "
            f"{_say_why(told)}"
        )
        return Verdict(
            "scored_wrong", PROBLEM, f"No answer is right by {name}", words,
            f"Shown where {percent(answers.SEVERAL)} of the completions that were read, of {IN_GROUPS} groups or more, "
            "give the answer of their row, in a tag or as their last number, and a function of one’s own gives all "
            "completions the same, 0 or less.",
            "the recorded answers and completions",
            (completions("The last completions", sort="newest"),),
            _ways_out(name, told), _scored_now(e, name),
        )  # fmt: skip
    return None


def _scored_now(e: Evidence, name: str) -> Grounds:
    """Where a function scores nothing any more, that it fails comes first."""
    told = e.functions[name]
    share = max(0.0, 1 - told.failure_share - told.unscored_share)
    return Grounds(Place.SCORING, True, share, grounds.last_of(e, lambda one: True))


def _say_why(told: Function) -> str:
    """Why a function may give right answers nothing: by its code, where that is known."""
    if told.takes_messages_for_text:
        return AS_TEXT
    return "Does it need a format that the prompt does not ask for?"


def _ways_out(name: str, told: Function) -> tuple[Change, ...]:
    if told.takes_messages_for_text:
        return (Change(f"Fix {name}", edit_reward=name),)
    asks = Change("State the expected format in the prompt", field="data.system_prompt")
    return (Change(f"Try {name} on its completions", edit_reward=name), asks)


def treats_messages_as_text(e: Evidence) -> Verdict | None:
    """A function whose code looks for text in a list of messages gives every completion the same, whatever it says."""
    for name, told in e.functions.items():
        curve, value = e.curve(f"rewards/{name}/mean"), told.constant
        if not told.weight or not told.takes_messages_for_text or value is None or told.calls < MANY:
            continue
        if len(curve) < POINTS or curve.high - curve.low > 1e-6:
            continue
        alone = all(other.weight == 0 for one, other in e.functions.items() if one != name)
        words = f"“{name}” gave {short_number(value)} to {told.whom}: it tells none of them apart. {AS_TEXT}"
        return Verdict(
            "scored_wrong", PROBLEM if alone else WARNING, f"{name} treats completions as text", words,
            f"Shown when all of its scores were the same in {POINTS} logged steps or more, and its code measures, "
            "searches or compares completions, which are lists of messages.",
            "the recorded scores and the function’s code",
            (chart(f"rewards/{name}/mean", f"The chart of {name}"), completions("The last completions", sort="newest")),
            _ways_out(name, told), _scored_now(e, name) if alone else Grounds(Place.SCORING, True, 0.0),
        )  # fmt: skip
    return None


def right_is_marked_down(e: Evidence) -> Verdict | None:
    """A function of a person's own takes away for nothing but right answers, as where its sign is mistaken."""
    for name, told in e.functions.items():
        if not told.weight or name in group_metrics.OF_ANSWERS | group_metrics.OF_FORM or e.weights_move:
            continue
        down, groups, others = _marked_down(e, name)
        if len(down) < MARKED or groups < IN_GROUPS or not _are_right(down, others) or _earn(down) >= _earn(others):
            continue
        place, value = e.place(name), -told.weight
        fixes = (Change(f"Weight {short_number(value)} for {name}", {f"{place}.weight": value}),) if place else ()
        right = sum(map(answers.gives_answer, down))
        words = (
            f"In the groups of {e.steps_read} “{name}” marked down {count_words(len(down), 'completion')}, and "
            f"{'all' if right == len(down) else f'{right:,}'} of them give the answer of their row; of the others in "
            f"these groups {percent(sum(map(answers.gives_answer, others)) / len(others))} do. So a right answer "
            "earns less than a wrong one, and is unlearned. Is the sign of its scores right?"
        )
        return Verdict(
            "punished", WARNING, f"{name} marks right answers down", words,
            f"Shown where {percent(NEARLY_ALL)} of what it marks down in groups that it tells apart ({MARKED} "
            f"completions of {IN_GROUPS} groups or more) is right, and at most {percent(SELDOM)} of the rest.",
            "the recorded answers and completions",
            (step_groups(e.reward.steps[-1] if len(e.reward) else e.step, "spread"),
             chart(f"rewards/{name}/mean", f"The chart of {name}")),
            (Change(f"Fix {name}", edit_reward=name), *fixes),
            Grounds(Place.SCORING, True, 1.0, grounds.last_of(e, lambda one: True)),
        )  # fmt: skip
    return None


def _marked_down(e: Evidence, name: str) -> tuple[list[Sample], int, list[Sample]]:
    """Of the groups with an answer that a function tells apart: the completions that earn less by it than the best, of
    how many groups these are, and the others there."""
    down, others, groups, weight = list[Sample](), list[Sample](), 0, e.weight(name)
    for group in e.groups:
        scored = [(weight * score, one) for one in group if (score := one.scores.get(name)) is not None]
        best, least = max((given for given, _ in scored), default=0.0), min((given for given, _ in scored), default=0.0)
        if not group[0].answer.strip() or best - least <= group_metrics.TIED:
            continue
        groups += 1
        for given, one in scored:
            (down if given < best - group_metrics.TIED else others).append(one)
    return down, groups, others


def _are_right(down: Sequence[Sample], others: Sequence[Sample]) -> bool:
    """Whether nearly all of the ones give their answer, and most of the others do not."""
    shares = [sum(map(answers.gives_answer, some)) / len(some) if some else 1.0 for some in (down, others)]
    return shares[0] >= NEARLY_ALL and shares[1] <= SELDOM


def _earn(samples: Sequence[Sample]) -> float:
    """What these earn on average, by all functions."""
    return mean([one.reward for one in samples if one.reward is not None])


def asks_beyond_starter(e: Evidence) -> Verdict | None:
    """The starter model is asked what it was not made for, and nearly none of what it says is right: then why is known,
    and nothing is to be looked for in the answers."""
    if not (answers.starter_has_no_answer(e) or e.beyond_starter and _is_hardly_right_from_start(e)):
        return None
    return Verdict(
        "too_hard", WARNING, title_too_hard(e), f"{_say_hardly_right(e)}. {say_beyond_starter(e)}",
        f"Shown for the starter model alone: when fewer than {percent(rise.FEW_RIGHT)} are right from the start while "
        "another function rises, or of the completions that end by themselves.",
        COMMON, (step_groups(e.reward.steps[-1], "worst"),), changes.harder(e), Grounds(Place.PROMPTS, True),
    )  # fmt: skip


def hardly_right(e: Evidence) -> Verdict | None:
    """The form is learned and groups agree on an answer, as a model does that knows one, and nearly none is right: they
    may be compared with the answers of other prompts."""
    if e.beyond_starter or not _is_hardly_right_from_start(e):
        return None
    of_one, of_all = share_same(e.last_groups), share_same([e.last])
    if of_one < AGREE or of_one < TIMES * of_all:
        return None
    said = _say_hardly_right(e)
    words = (
        f"{said}. Two completions of one prompt end in the same answer in {percent(of_one)} of cases, any two of all "
        f"prompts in {percent(of_all)}. Look at its groups: does the answer belong to the prompt, and is it written as "
        "the model writes it? If so, the prompts may be too hard."
    )
    return Verdict(
        "hardly_right", WARNING, "Hardly any answer is right", words,
        f"Shown when fewer than {percent(rise.FEW_RIGHT)} are right from the start on while another function rises, "
        f"and {percent(AGREE)} of the pairs of one prompt's completions have the same last word, {TIMES} times as many "
        "as of any two.", CORPUS,
        (step_groups(e.reward.steps[-1], "worst"), completions("The last completions", sort="newest")),
        (Change("Answers that belong to the prompts", field=changes.DATA),
         Change(f"Try {e.target} on its completions", edit_reward=e.target)),
        Grounds(Place.ANSWERS, True),
    )  # fmt: skip


def _is_hardly_right_from_start(e: Evidence) -> bool:
    """Whether next to nothing is right, now as at the start, though another function rises."""
    risen = rise.functions_that_rose(e)
    started = e.curve("groups/solved").start
    return rise.is_hardly_right(e) and started < rise.FEW_RIGHT and bool(risen) and e.target not in risen


def _say_hardly_right(e: Evidence) -> str:
    solved, risen = e.curve("groups/solved"), [name for name in rise.functions_that_rose(e) if name != e.target]
    though = f", though “{risen[0]}” gives more" if risen else ""
    return (
        f"{percent(solved.now)} of completions {e.verbs} right by “{e.target}” {e.at_now}, {percent(solved.start)} at "
        f"the start{though}"
    )


def share_same(groups: Sequence[Sequence[Sample]]) -> float:
    """The share of the pairs of a group's completions that end in the same word, of all groups."""
    same = pairs = 0
    for group in groups:
        words = [_last_word(one.text) for one in group if not one.cut and len(one.text) < READ]
        same += sum(count * (count - 1) for count in Counter(words).values())
        pairs += len(words) * (len(words) - 1)
    return same / pairs if pairs else 0.0


def _last_word(text: str) -> str:
    """The answer, as far as can be told without knowing the format: what stands last, tags apart."""
    return next(reversed(_TAG.sub(" ", text).split()), "")


def by_chance(e: Evidence) -> Verdict | None:
    """A function that counts scores the same completions of a group as differently as any others."""
    name = next((one for one, told in e.functions.items() if told.weight and _draws(e, one)), "")
    if not name:
        return None
    words = (
        f"“{name}” gives completions of one group that are the same, word for word, different scores, as far apart as "
        "those of any others: higher scores come by chance, or from the place in the group, and cannot be learned."
    )
    return Verdict(
        "by_chance", WARNING, f"{name} seems to score by chance", words,
        f"Shown from {count_words(chance.PAIRS, 'pair')} of the same text in "
        f"{count_words(chance.IN_GROUPS, 'group')} on, whose scores differ by "
        f"{percent(chance.AS_FAR)} of what any two do, squared.", "the recorded scores",
        (step_groups(e.reward.steps[-1] if len(e.reward) else e.step, "spread"),),
        (Change(f"Change {name}", edit_reward=name),), Grounds(Place.SCORING, True),
    )  # fmt: skip


def _draws(e: Evidence, name: str) -> bool:
    if name in group_metrics.OF_ANSWERS | group_metrics.OF_FORM:
        return False  # the same text earns the same of these
    whole = [[one for one in group if not one.cut and 0 < len(one.text) < READ] for group in e.groups]
    scored = [[(one.text, score) for one in group if (score := one.scores.get(name)) is not None] for group in whole]
    return chance.scores_by_chance(scored)


def length_pays(e: Evidence) -> Verdict | None:
    """Beside what is right a function pays for length alone, and most of the rise is by it."""
    length, total = e.curve("completions/mean_length"), e.reward.rise
    if len(e.reward) < TREND or not e.target or not e.right_is_told or e.weights_move or total <= 0:
        return None
    if length.direction(0) < 1 or not length.at_least(LONGER * length.start):
        return None
    name = next((one for one in rise.functions_that_rose(e) if one != e.target and _is_by_length(e, one)), "")
    brought = e.weight(name) * e.curve(f"rewards/{name}/mean").rise / total if name else 0.0
    if brought < BROUGHT:
        return None
    words = (
        f"“{name}” scores by the length alone, and {percent(min(brought, 1.0))} of the reward's rise is by it: "
        f"completions {e.verbs} {write_figure(length.now)} tokens long {e.at_now}, {write_figure(length.start)} at the "
        f"start{rise.say_right_beside(e)}. Is it meant to count so much?"
    )
    return Verdict(
        "length_pays", SUSPICION, "Is length rewarded?", words,
        f"Shown when a function gives completions of one length the same and longer ones more, brings "
        f"{percent(BROUGHT)} of the reward's rise, and they are {LONGER:g} times as long as at the start.", CORPUS,
        (chart(f"rewards/{name}/mean", f"The chart of {name}"),
         chart("completions/mean_length", "The chart of length")),
        (changes.weigh_double(e, e.target, e.weight(name)), Change(f"Change {name}", edit_reward=name)),
        Grounds(Place.TREND),
    )  # fmt: skip


def _is_by_length(e: Evidence, name: str) -> bool:
    """Whether a function's scores follow from the length, the longer the more."""
    scored = [replace(one, reward=one.scores.get(name)) for group in e.groups for one in group]
    link = grounds.length_link(scored, ENOUGH)
    return link is not None and link.same and link.longer > 0 and link.apart >= APART


RULES = (
    right_is_punished, right_earns_nothing, treats_messages_as_text, right_is_marked_down, by_chance,
    asks_beyond_starter, hardly_right, length_pays,
)  # fmt: skip
