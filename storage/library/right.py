"""Whether a run bears out that a reward function says what is right: its scores may be by another scale, always the
same, told by no column of the rows, or drawn by chance. Every share that is called solved or right goes by this, on all
pages and in the diagnostics."""

from collections import defaultdict
from pathlib import Path

from groupwise.storage.home import files
from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.library.chance import Scored, scores_by_chance
from groupwise.storage.library.rewards import builder
from groupwise.storage.library.rewards.form_alone import looks_at_form_alone
from groupwise.storage.library.rewards.message_lists import takes_messages_for_text
from groupwise.storage.record import group_metrics
from groupwise.storage.record.group_metrics import SOLVED, TIED, Target
from groupwise.storage.registry.messages.functions import MOST_CODE
from groupwise.storage.spec.spec import RunSpec

SHORT = 512  # tokens of completions that are compared: long ones are never alike
FIRST = 1024  # of a run's, that are


def code_of_reward(rewards: Path, name: str) -> str:
    """The code of a reward function as a run scored with it; “” where there is none to read. `rewards`: the folder of
    the run's reward code."""
    try:
        return files.read_text(rewards / f"{name}.py", MOST_CODE)
    except (OSError, ValueError):
        return ""


def gives_one(target: Target, rewards: Path) -> bool:
    """Whether it is known that the function can give 1, and calls that right: it compares with the answer, or is made
    of the builder's blocks, which give 1 where all hold."""
    name, threshold = target
    if name in group_metrics.OF_ANSWERS:
        return True
    return threshold == SOLVED and builder.most_of_code(code_of_reward(rewards, name), name) == SOLVED


def compares(target: Target, rewards: Path) -> bool:
    """Whether it is known to read its rows' columns, so that the answer may be what it compares with."""
    if target[0] in group_metrics.OF_ANSWERS:
        return True
    return code_of_reward(rewards, target[0]) != "" and not reads_no_column(target[0], rewards)


def tells_right(target: Target, rewards: Path) -> bool:
    """Whether it is known to compare with a column, and to give 1 where that is right."""
    return target[0] in group_metrics.OF_ANSWERS or code_tells_right(target, code_of_reward(rewards, target[0]))


def code_tells_right(target: Target, code: str) -> bool:
    """The same of one's own function, by its code: “” where there is none to read."""
    name, threshold = target
    gives_one = threshold == SOLVED and builder.most_of_code(code, name) == SOLVED
    return code != "" and gives_one and not looks_at_form_alone(code, name)


def may_score_otherwise(target: Target, rewards: Path) -> bool:
    """Whether 1 need not be what it gives a right answer: nothing is known of it, and nobody said what success is."""
    return target[1] == SOLVED and not gives_one(target, rewards)


def reads_no_column(name: str, rewards: Path) -> bool:
    """Whether it is known to look at nothing but what the model wrote: then it may grade its form, and does not say
    what is right, whatever it gives."""
    return name not in group_metrics.OF_ANSWERS and looks_at_form_alone(code_of_reward(rewards, name), name)


def takes_messages(name: str, rewards: Path) -> bool:
    """Whether it is known to take a completion for text, of a run whose completions are lists of messages."""
    return takes_messages_for_text(code_of_reward(rewards, name), name)


def draws_scores(run: Database, target: Target) -> bool:
    """Whether it has scored the same completions of a group as differently as any: by chance, or by their place."""
    if target[0] in group_metrics.OF_ANSWERS:
        return False
    groups = defaultdict[int, list[Scored]](list)
    for grp, text, value in run.execute(
        "SELECT c.grp, c.text, s.value FROM (SELECT grp, idx, text FROM completion WHERE NOT truncated AND tokens <= ? "
        "ORDER BY grp LIMIT ?) c JOIN score s ON s.grp = c.grp AND s.idx = c.idx WHERE s.value IS NOT NULL "
        "AND s.function = (SELECT id FROM reward_function WHERE name = ?)",
        [SHORT, FIRST, target[0]],
    ):
        groups[grp].append((text, value))
    return scores_by_chance(groups.values())


def says_nothing(run: Database, target: Target, rewards: Path) -> bool:
    """Whether its scores, whatever they are, say nothing of what is right: they go by no column, or are drawn."""
    return reads_no_column(target[0], rewards) or draws_scores(run, target)


def scores_otherwise(run: Database, target: Target, rewards: Path) -> bool:
    """Whether it looks at no column of its rows, or scores by chance. Or whether it has told completions apart in this
    run, and never come to 1: −23 or 0.4 say nothing of what is right, and 0 % would be said of every run; where it is
    known that it could have, 0 % is true. Or whether it gave every completion the same, which says as little: all that
    it could, where it is known what that is. One that compares with the answer may have found all of them right."""
    name, threshold = target
    if name in group_metrics.OF_ANSWERS:  # first: the record is asked at each look at a group
        return False
    if says_nothing(run, target, rewards):
        return True
    known = not may_score_otherwise(target, rewards)
    low, high = _extremes(run, f"rewards/{name}/mean")
    if low is None or high is None:
        return False
    if high - low <= TIED:
        spread = _extremes(run, f"rewards/{name}/std")[1]
        return spread is not None and spread <= TIED and (high >= threshold or not known)
    return not known and _extremes(run, "groups/solved")[1] == 0


def target_borne_out(run: Database, spec: RunSpec, stage: int, rewards: Path) -> Target | None:
    """The reward function that says whether a completion is right in the stage of this number (0: a run without
    stages), and the score from which on it is; None where none does, or this run does not bear it out."""
    target = group_metrics.target_of_stage(spec, stage)
    return None if target is None or scores_otherwise(run, target, rewards) else target


def _extremes(run: Database, name: str) -> tuple[float | None, float | None]:
    """The least and the greatest value of a metric; None of one that was not logged."""
    low, high = run.execute(
        "SELECT min(value), max(value) FROM metric WHERE key = (SELECT id FROM metric_key WHERE name = ?)", [name]
    ).fetchone()
    return low, high
