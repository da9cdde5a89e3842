"""What each panel of the Statistics says: from a run's record to plain data and a sentence."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from groupwise.app.core import format
from groupwise.app.pages.run.prompt_outline import columns_apart, outline
from groupwise.app.pages.run.statistics_lately import (
    LAST,
    mean_of_last,
    newest,
    newest_stretches,
    of_last,
    where_newest,
)
from groupwise.app.ui.function_colours import colours_of_functions
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.doctor.words import percent, percent_parts, percent_without
from groupwise.storage.analysis.statistics import pass_at_k
from groupwise.storage.analysis.statistics import ties as tied
from groupwise.storage.analysis.statistics.agreement import FEWEST
from groupwise.storage.analysis.statistics.pass_at_k import PromptRate, Solved
from groupwise.storage.analysis.statistics.reading import Statistics
from groupwise.storage.analysis.tie_words import tie_words
from groupwise.storage.spec.words.number_words import count_part, with_digits

LINE, HEAT, CELLS, AGREEMENT = 200, 60, 24, 30  # stretches of steps, at most
ROWS = 25  # prompts
SMALL = 0.1  # spread within groups under which little is left to learn from
AGAINST = 0.05  # share of it below 0 from which on a function is said to work against the rest
ALONE = 0.9  # share of the variance with which a function decides alone


class Asked(NamedTuple):
    """`function`: the id of the reward function that says what is solved; None where the run has none. `over`: the run
    has ended."""

    mode: str
    function: int | None
    name: str
    threshold: float
    order: str
    over: bool


def tie_shares(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Shares of tied groups by kind, over the steps."""
    rows = statistics.groups(asked.function, asked.threshold, with_answers=True)
    groups = tied.explain_ties(rows, asked.mode)
    stretches = statistics.stretches(LINE)
    if not groups or stretches is None:
        return wait_for_scores()
    part = newest(groups, asked.mode, statistics.logged_lately())
    counts = tied.counts(part)
    words = tie_words(tells_right=asked.function is not None)
    says = tied_words(counts, words, asked.mode, (part[0].step, part[-1].step))
    whole, shares = counts["tied"] / len(part), [counts[kind] / len(part) for kind in tied.KINDS]
    now = dict(zip(tied.KINDS, percent_parts(whole, shares), strict=True)) | {"bearing": percent_without(whole)}
    return tied.ties_over_steps(groups, stretches) | {"says": says, "now": now, "words": words}


def tied_words(counts: dict[str, int], words: dict[str, str], mode: str, steps: tuple[int, int]) -> str:
    """Of the 80 groups of steps 51–60, 62 are tied (40 none right, 22 all at top score): no learning signal from
    them. `steps`: the first and the last of them."""
    groups, number = counts["groups"], counts["tied"]
    last = format.step_range((steps[1], steps[1]))
    of = f" of the last evaluation ({last})" if mode == "eval" else f" of {format.step_range(steps)}"
    if groups == 1:
        whose = f"The only group{of if mode == 'eval' else ''}"
    else:
        them = f"{format.plural(groups, 'group')}{of}"
        whose = f"All {them}" if number == groups else f"Of the {them},"
    if not number:
        rest = "is not tied" if groups == 1 else "none is tied"
        return f"{whose} {rest}{': each has a learning signal' if mode == 'train' else ''}."
    told = [f"{counts[kind]} {words[kind]}" for kind in tied.KINDS if counts[kind]]
    kinds = f" ({', '.join(told)})" if counts["other"] < number else ""  # of one kind that is no other, nothing is told
    many = "is" if number == 1 else "are"
    many = many if number == groups else f"{format.count(number)} {many}"
    why = (
        f"no learning signal from {'it' if number == 1 else 'them'}"
        if mode == "train"
        else "all of a group scored the same"
    )
    return f"{whose} {many} tied{kinds}: {why}."


def group_spread(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """The standard deviation within groups, over the steps."""
    groups, stretches = tied.explain_ties(statistics.groups(), asked.mode), statistics.stretches(LINE)
    if not groups or stretches is None:
        return wait_for_scores()
    part = newest(groups, asked.mode, statistics.logged_lately())
    mean = sum(group.row.std or 0.0 for group in part) / len(part)
    teaches = asked.mode == "train"
    small = f", which is little (under {SMALL})" if teaches and mean < SMALL else ""
    says = f"{format.number(mean)} on average {where_newest(part, asked.mode)}{small}."
    return tied.ties_over_steps(groups, stretches) | {"says": says, "small": SMALL if teaches else None}


def best_mean_worst(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Each group's best, mean and worst reward, over the steps."""
    groups, stretches = tied.explain_ties(statistics.groups(), asked.mode), statistics.stretches(LINE)
    if not groups or stretches is None:
        return wait_for_scores()
    part = newest(groups, asked.mode, statistics.logged_lately())
    ends = ((group.row.high, group.row.mean, group.row.low) for group in part)
    high, mean, low = (sum(values) / len(part) for values in zip(*ends, strict=True))
    best = f"Best {reward_text(high)}, mean {reward_text(mean)}, worst {reward_text(low)}"
    says = f"{best} {where_newest(part, asked.mode)}."
    return tied.ties_over_steps(groups, stretches) | {"says": says}


def wait_for_scores() -> dict[str, Any]:
    """What a panel waits for while no group has two rewards to compare."""
    return {"wait": "No group has two completions with a reward: there is nothing to compare."}


def solved_groups(statistics: Statistics, asked: Asked) -> list[Solved]:
    """Each group with how many of its completions are right; none where no function says what is right."""
    return [] if asked.function is None else statistics.solved_by_group(asked.function, asked.threshold)


def wait_for_target(asked: Asked) -> dict[str, Any]:
    """What a panel waits for while nothing says which completions are right."""
    if asked.function is None:
        return {"wait": "This run has no reward function that could say what is right."}
    return {"wait": f"“{visible_text(asked.name)}” has scored no completion of these groups."}


def pass_at_k_curves(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """pass@k over the steps."""
    groups, stretches = solved_groups(statistics, asked), statistics.stretches(LINE)
    if not groups or stretches is None:
        return wait_for_target(asked)
    found, part = pass_at_k.pass_over_steps(groups, stretches), newest(groups, asked.mode, statistics.logged_lately())
    largest = min(group.n for group in part)
    told = [f"pass@{k} {percent(mean_pass(k, part))}" for k in dict.fromkeys((1, largest))]
    says = f"{' and '.join(told)} {where_newest(part, asked.mode)}."
    return found | {"says": says + unreached_words(statistics, asked, groups)}


def unreached_words(statistics: Statistics, asked: Asked, groups: Sequence[Solved]) -> str:
    """No completion came to 15: the most was 1. Empty where one did."""
    if asked.function is None or any(group.c for group in groups):
        return ""
    most = statistics.highest_score(asked.function)
    return "" if most is None else f" No completion reached {digits(asked.threshold)}: the highest was {digits(most)}."


def digits(value: float) -> str:
    """A score in as many digits as it was given with, six at most: 15, 0.998."""
    return f"{value:,.6g}".replace("-", "−")


def mean_pass(k: int, part: Sequence[Solved]) -> float:
    """The mean of pass@k over some groups."""
    return sum(pass_at_k.pass_at(k, group.n, group.c) for group in part) / len(part)


def prompt_table(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """The prompts that the order asks for, each with its solve rate in each stretch of steps."""
    groups, stretches = solved_groups(statistics, asked), statistics.stretches(CELLS)
    if not groups or stretches is None:
        return wait_for_target(asked)
    rates = pass_at_k.by_prompt(groups)
    rows, of = pass_at_k.pick(rates, asked.order, ROWS)
    ids = {row.prompt for row in rows}
    cells = pass_at_k.cells((group for group in groups if group.prompt in ids), stretches)
    found = statistics.prompts(sorted(ids))
    texts = {number: prompt for number, (prompt, _) in found.items()}
    apart = columns_apart(texts, {number: columns for number, (_, columns) in found.items()})
    return {
        "steps": stretches.all_steps(),
        "over": asked.over,
        "rows": [outline(row, texts.get(row.prompt), cells[row.prompt], apart.get(row.prompt, "")) for row in rows],
        "says": prompt_words(asked, len(rows), of, rates) + unreached_words(statistics, asked, groups),
    }


def prompt_words(asked: Asked, shown: int, of: int, rates: list[PromptRate]) -> str:
    """How many prompts there are, how many of them the order is about, and how many are shown."""
    all_, part = format.plural(len(rates), "prompt"), count_part(of, len(rates), "prompt")
    never, always = sum(not one.late for one in rates), sum(one.late == 1 for one in rates)
    if asked.order == "improved":
        told = f"{part.capitalize()} solved more often in the newer half of their groups than before"
    elif asked.order == "forgotten":
        told = f"{part.capitalize()} solved by half of a group before, and by none of the newest"
    elif all(one.groups == 1 for one in rates):
        each = ", each seen once" if len(rates) > 1 else ", seen once"
        told = f"{all_}{each}: {format.count(never)} solved by no completion, {format.count(always)} by all"
    else:
        half = "in the newer half of each one’s groups" if len(rates) > 1 else "in the newer half of its groups"
        told = f"{all_}; {half}, {format.count(never)} never solved, {format.count(always)} always"
    return f"{told}; {format.count(shown)} shown." if shown < of else f"{told}."


def reward_histograms(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Reward histograms over the steps."""
    stretches = statistics.stretches(HEAT)
    found = statistics.heat("reward", stretches) if stretches else None
    if found is None or not any(map(any, found["counts"])):
        return {"wait": "No completion has a reward."}
    return found | {"says": commonest_reward(found, asked.mode)}


def commonest_reward(found: dict[str, Any], mode: str) -> str:
    """What most completions of the newest stretch got."""
    column = [line[-1] for line in found["counts"]]
    row = column.index(max(column))
    low, high = found["bounds"][row]
    what = reward_text(low) if low == high else f"{reward_text(low)} to {reward_text(high)}"
    share = percent(column[row] / (sum(column) or 1))
    steps = format.step_range(found["steps"][-1])
    where = f"in the last evaluation ({steps})" if mode == "eval" else f"in {steps}"
    return f"Most often {what} {where}: {share} of the completions."


def advantage_histograms(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Advantage histograms over the steps."""
    stretches = statistics.stretches(HEAT)
    found = statistics.heat("advantage", stretches) if stretches else None
    if found is None or not any(map(any, found["counts"])):
        return {"wait": "No completion has an advantage."}
    column = [line[-1] for line in found["counts"]]
    zero = column[len(column) // 2]
    share = percent(zero / (sum(column) or 1))
    return found | {"says": f"{share} of the completions of {format.step_range(found['steps'][-1])} are at about 0."}


def score_histograms(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Each function's scores in the last groups."""
    groups = statistics.last_groups(LAST)
    found = statistics.score_histograms([number for number, _ in groups])
    if not any(one["scored"] for one in found):
        return {"wait": "No function has scored a completion of these groups."}
    constant = [
        visible_text(one["name"])
        for one in found
        if one["histogram"] and sum(map(bool, one["histogram"]["counts"])) == 1
    ]
    mute = [visible_text(one["name"]) for one in found if not one["scored"]]
    where = of_last(len(groups), groups[-1][1], asked.mode)
    told = [f"Always the same {where}: {', '.join(constant)}."] if constant else []
    told += [f"Never scored{'' if constant else f' {where}'}: {', '.join(mute)}."] if mute else []
    says = " ".join(told) or f"Each function tells completions apart {where}."
    colours = colours_of_functions([one["name"] for one in found])
    named = [
        one | {"name": visible_text(one["name"]), "asked": one["name"], "colour": colours[one["name"]]} for one in found
    ]
    return {"functions": named, "steps": (groups[0][1], groups[-1][1]), "says": says}


def length_against_reward(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Length against reward of the newest completions."""
    found = statistics.lengths()
    return found | {"says": length_words(found, asked.mode)} if found else {"wait": "No completion has a reward."}


def length_words(found: dict[str, Any], mode: str) -> str:
    """Correlation 0.42 over the 3,008 completions of steps 14–60: longer ones scored higher. Why is not known: what is
    longer may have what a function wants, or a function scores length."""
    completions = format.plural(found["completions"], "completion")
    steps = format.step_range(found["steps"])
    many = f"the {completions} of {steps}" if mode == "train" else f"the {completions} of the last evaluation ({steps})"
    value = found["correlation"]
    if value is None:
        told = f"No correlation over {many}: all are of one length or have one reward."
    elif abs(value) < SMALL:
        told = f"Correlation {correlation_text(value)} over {many}: reward and length are hardly related."
    else:
        how = "" if abs(value) > 0.5 else " somewhat" if abs(value) > 0.25 else " slightly"
        higher = "higher" if value > 0 else "lower"
        told = f"Correlation {correlation_text(value)} over {many}: longer ones scored{how} {higher}."
    cut, mean, rest = found["truncated"]
    if not cut:
        return told
    against = f", the others {format.number(rest)}" if rest is not None else ""
    return f"{told} {format.count(cut)} truncated: {format.number(mean)} on average{against}."


def score_correlation(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Each pair of functions' correlation, over the steps."""
    found = agreement(statistics)
    if "wait" in found:
        return found
    if len(found["names"]) < 2:
        return {"wait": "This run has one reward function: there is none to compare it with."}
    count, where = newest_stretches(found["steps"], asked.mode)
    means = [mean_of_last(line, count) for line in found["correlation"]]
    told = [(value, pair) for value, pair in zip(means, found["pairs"], strict=True) if value is not None]
    if not told:
        same = f"No two functions can be compared {where}: all but one always gave the same score."
        return found | {"says": f"{same}{sample_words(found)}"}
    value, pair = max(told, key=lambda one: abs(one[0]))
    a, b = (found["names"][k] for k in pair)
    return found | {"says": f"Strongest {where}: {a} and {b}, {correlation_text(value)}.{sample_words(found)}"}


def variance_share(statistics: Statistics, asked: Asked) -> dict[str, Any]:
    """Each function's share of the total's variance, over the steps."""
    found = agreement(statistics)
    if "wait" in found:
        return found
    count, where = newest_stretches(found["steps"], asked.mode)
    means = [mean_of_last(line, count) for line in found["share"]]
    told = [(value, name) for value, name in zip(means, found["names"], strict=True) if value is not None]
    return found | {"says": share_words(told, where) + sample_words(found)}


def share_words(told: list[tuple[float, str]], where: str) -> str:
    """In steps 46–60, 72 % of the differences in reward come from correctness."""
    if not told:
        return f"All completions have the same reward {where}."
    most, name = max(told)
    if len(told) == 1:
        return f"{name} is the only reward function, so all comes from it."
    alone = " It decides nearly alone." if most > ALONE else ""
    against = [f" {other} works against the rest." for value, other in told if value < -AGAINST]
    begin = f"{where[0].upper()}{where[1:]}"
    return f"{begin}, {percent(most)} of the differences in reward come from {name}.{alone}{''.join(against)}"


def agreement(statistics: Statistics) -> dict[str, Any]:
    """How the functions go together, or what it waits for. Their names are as a page shows them."""
    stretches = statistics.stretches(AGREEMENT)
    found = statistics.agreement(stretches) if stretches else {"steps": []}
    if not found["steps"]:
        return {"wait": f"Waiting for {FEWEST} scored completions in one stretch of steps."}
    colours = list(colours_of_functions(found["names"]).values())
    return found | {"names": [visible_text(name) for name in found["names"]], "colours": colours}


def sample_words(found: dict[str, Any]) -> str:
    """Of how many completions a sample was taken; empty where all were looked at."""
    some, all_ = found["of"]
    return f" From a sample of {format.count(some)} of {format.count(all_)} completions." if some < all_ else ""


def reward_text(value: float) -> str:
    """A reward as text: 3, 2.26."""
    whole = abs(value) < 1e6 and value == int(value)
    return f"{value:,.0f}".replace("-", "−") if whole else format.number(value)


def correlation_text(value: float) -> str:
    """A correlation in two digits: 0.42, −0.42."""
    return f"{'' if value > -0.005 else '−'}{with_digits(abs(value), 2)}"
