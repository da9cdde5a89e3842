"""What is searched for on Runs: words in what a row shows, its verdict too; tag:NAME; and what a setting or a metric
is, as learning_rate>1e-4."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groupwise.app.core import run_facts, run_query
from groupwise.app.pages.run_list import choices, columns
from groupwise.app.pages.run_list.columns import METRIC, SETTING, Row
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.registry.registry import Run

HINT = "A setting or metric is searched for as learning_rate>1e-4 or model=starter, a tag as tag:NAME."
Look = Callable[[Sequence[Run]], Mapping[str, Outcome]]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}  # fmt: skip
# A condition, a tag (in quotes, where it is of several words), or a word.
_TERM = re.compile(r"([\w./-]+)\s*([!<>=]=|[<>=])\s*([^\s<>=!]\S*)|tag:(?:\"([^\"]+)\"|(\S+))|\S+")
_PARTS = ("training", "lora", "data", "model", "launch", "kl")  # whose settings are found by their last names
_COLUMNS = ("name", "reward", "step", "duration", "model", "data")


@dataclass(frozen=True)
class Term:
    """What is to be true of a run: that it has a `tag`; or that all these words are in what is searched of it, or else
    that a setting, a metric or a column `name` stands to `value` as `sign` says."""

    words: list[str]
    name: str = ""
    sign: str = ""
    value: str = ""
    tag: str = ""


def terms_of(search: str) -> list[Term]:
    """What a person searches for, as terms; all are to be true."""
    found = []
    for match in _TERM.finditer(run_query.plain_letters(search)):
        name, sign, value, quoted, tag = (part or "" for part in match.groups())
        found.append(Term([], tag=quoted or tag) if quoted or tag else Term(match[0].split(), name, sign, value))
    return found


def find_runs(runs: Sequence[Run], terms: Sequence[Term], look: Look = run_facts.outcomes_of) -> list[Run]:
    """The runs of which all of these terms are true. `look`: what runs came to, which is asked only of those of which
    they are not by what the registry knows."""
    tags, told = {term.tag for term in terms if term.tag}, [term for term in terms if not term.tag]
    words = [word for term in told for word in term.words]
    runs = [run for run in runs if not tags or tags <= {run_query.plain_letters(tag) for tag in run.tags}]
    by_name = {run.id for run in runs if run_query.matches(run, words)}
    rest = [run for run in runs if run.id not in by_name]
    if not rest:
        return list(runs)
    facts, defaults = look(rest), choices.setting_defaults()
    rows = {run.id: Row(run, facts.get(run.id), 0.0, defaults=defaults) for run in rest}
    return [run for run in runs if run.id in by_name or all(_is_true(rows[run.id], term) for term in told)]


def _is_true(row: Row, term: Term) -> bool:
    if term.sign and _is_met(row, term):
        return True
    verdict = run_query.plain_letters(row.verdict)
    return all(word in verdict or run_query.matches(row.run, [word]) for word in term.words)


def _is_met(row: Row, term: Term) -> bool:
    """Whether one of what its name means in this run stands so to its value; not where there is no such thing."""
    return any(_compare(value, term.sign, term.value) for value in _values(row, term.name) if value is not None)


def _values(row: Row, name: str) -> Iterator[Any]:
    """What a name means: a column, a setting by its whole name or by its last, or a metric; the first that there is."""
    if name in _COLUMNS:
        known = {"model": row.run.model, "data": row.run.data}
        yield known[name] if name in known else columns.KNOWN[name].value(row)
        return
    given = {**row.defaults, **(row.facts.settings if row.facts else {})} if row.facts else {}
    for path in (name, *(f"{part}.{name}" for part in _PARTS)):
        if path in given:
            yield columns.column_of(SETTING + path).value(row)  # type: ignore[union-attr]
            return
    metrics = {run_query.plain_letters(key): key for key in row.facts.metrics} if row.facts else {}
    if name in metrics:
        yield columns.column_of(METRIC + metrics[name]).value(row)  # type: ignore[union-attr]


def _compare(value: Any, sign: str, asked: str) -> bool:
    """Numbers as numbers; words whole, or by their last part: starter is org/starter, too. They have no order."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return _COMPARE[sign](value, float(asked))
        except ValueError:
            return sign == "!="
    said = run_query.plain_letters(str(value))
    if sign not in ("=", "==", "!="):
        return False
    return (asked in (said, re.split(r"[/:]", said)[-1])) == (sign != "!=")
