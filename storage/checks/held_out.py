"""How many rows are held out for evaluation, beside how many there are: none where a run evaluates, or all. Pure."""

from groupwise.storage.checks.reward_columns import TASK_COLUMNS, source_kind_and_name
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import DataSpec, RunSpec
from groupwise.storage.spec.words.number_words import are_words, count_words
from groupwise.storage.spec.words.problem import Fix, Problem

MADE = 4000  # rows of a task or of reasoning-gym, where no limit is set
USUAL = 64  # rows that are enough to evaluate on
SHARE = 10  # one row in so many, where there are few
HOLDOUT, STRATEGY, ON_START = "data.holdout", "training.eval_strategy", "training.eval_on_start"


def usable_rows(data: DataSpec, rows: int | None) -> int | None:
    """How many rows a run uses, to train and to evaluate on; None where that is not known. `rows`: as a page's preview
    counted them, before `limit`."""
    if rows is None:
        return data.limit or (MADE if source_kind_and_name(data)[0] in TASK_COLUMNS else None)
    return min(rows, data.limit or rows)


def check_holdout(data: DataSpec, rows: int | None) -> list[Problem]:
    """Whether all rows are held out. `rows`: as a page's preview counted them, before `limit`."""
    there = usable_rows(data, rows)
    if not there or isinstance(data.holdout, float) or data.holdout < there:
        return []
    return [all_held_out(data.holdout, there)]


def all_held_out(held_out: int, rows: int) -> Problem:
    """The problem of rows that are all held out."""
    message = (
        f"{count_words(held_out, 'row')} {are_words(held_out)} held out, but there "
        f"{are_words(rows)} only {rows:,}, which leaves none to train on."
    )
    return Problem(HOLDOUT, message, fixes=(fewer_held_out(rows),))


def fewer_held_out(rows: int) -> Fix:
    """The button for a tenth of so many rows."""
    tenth = rows // SHARE
    return Fix(f"Hold out {tenth or 'none'}", {HOLDOUT: tenth})


def check_held_out(spec: RunSpec, offer: Offer, rows: int | None = None) -> list[Problem]:
    """Whether there are rows to evaluate on, where the run evaluates. `rows`: as for `usable_rows`."""
    default = ((offer.training or {}).get("eval_strategy") or {}).get("default")
    repeated = (spec.training.get("eval_strategy") or default) in ("steps", "epoch")
    first = spec.training.get("eval_on_start") is True
    if spec.data.holdout or not (repeated or first):
        return []
    evaluating = tuple(path for path, so in ((STRATEGY, repeated), (ON_START, first)) if so)
    there = usable_rows(spec.data, rows)
    fitting = USUAL if there is None else min(USUAL, there // SHARE)
    hold_out = (Fix(f"Hold out {count_words(fitting, 'row')}", {HOLDOUT: fitting}),) if fitting else ()
    message = f"evaluation needs held-out rows{f', for example {fitting}' if fitting else ''}."
    fixes = (*hold_out, Fix("Do not evaluate", {}, evaluating))
    return [Problem(HOLDOUT if repeated else ON_START, message, fixes=fixes)]
