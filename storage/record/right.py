"""Whether a record bears out that a reward function says what is right: its scores may be by another scale, or always
the same."""

from groupwise.storage.home.sqlite_tools import Database
from groupwise.storage.record import group_metrics
from groupwise.storage.record.group_metrics import SOLVED, TIED, Target


def may_score_otherwise(target: Target) -> bool:
    """Whether 1 need not be what it gives a right answer: it compares with none, and nobody said what success is."""
    return target[0] not in group_metrics.OF_ANSWERS and target[1] == SOLVED


def scores_otherwise(run: Database, target: Target) -> bool:
    """Whether it has told completions apart in this run, and never come to 1: −23 or 0.4 say nothing of what is right,
    and 0 % would be said of every run. Or whether it gave every completion the same, which says as little."""
    low, high = _extremes(run, f"rewards/{target[0]}/mean")
    if not may_score_otherwise(target) or low is None or high is None:
        return False
    if high - low <= TIED:
        spread = _extremes(run, f"rewards/{target[0]}/std")[1]
        return spread is not None and spread <= TIED
    return _extremes(run, "groups/solved")[1] == 0


def _extremes(run: Database, name: str) -> tuple[float | None, float | None]:
    """The least and the greatest value of a metric; None of one that was not logged."""
    low, high = run.execute(
        "SELECT min(value), max(value) FROM metric WHERE key = (SELECT id FROM metric_key WHERE name = ?)", [name]
    ).fetchone()
    return low, high
