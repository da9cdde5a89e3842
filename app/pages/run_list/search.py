"""What is searched for on Runs: words in what a row shows, its verdict and why it ended so, too; tag:NAME; and what a
setting, a metric or a column is, as learning_rate>1e-4 or state:finished. A part that can mean nothing is left out, and
why is said."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from groupwise.app.core import format, run_facts, run_query
from groupwise.app.core.end_reason import reason_of
from groupwise.app.core.run_query import STATES
from groupwise.app.pages.run_list import choices, columns
from groupwise.app.pages.run_list.columns import METRIC, SETTING, Row
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.rows.number_text import no_number_words
from groupwise.storage.spec.words.setting_names import meant_name

HINT = (
    "A setting or metric is searched for as learning_rate>1e-4 or model=starter, a state as state:failed, a tag as "
    "tag:NAME."
)
Look = Callable[[Sequence[Run]], Mapping[str, Outcome]]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, ":": operator.eq,
}  # fmt: skip
_COLUMNS = ("name", "state", "reward", "step", "duration", "model", "data", "note")
_OF_RUN = ("state", "model", "data", "note")  # as the registry has them
_TAG = ("tag", "tags")
_HAS, _EQUAL = ":", ("=", "==")
_ORDERS = ("<", "<=", ">", ">=")
# A condition, of which the value may be missing while it is typed, or a word. What is of several words is in quotes.
_TERM = re.compile(
    r"(?:([^\W\d][\w./-]*)\s*([!<>=]=|[<>=])\s*|(" + "|".join((*_TAG, *_COLUMNS)) + r")(:))"
    r"(?:\"([^\"]+)\"|([^\s<>=!]\S*)|(?=\s|$))|\S+"
)
_PARTS = ("training", "lora", "data", "model", "launch", "kl")  # whose settings are found by their last names
_LONGEST = 40  # characters of what was typed that are said again


@dataclass(frozen=True)
class Term:
    """What is to be true of a run: that it has a `tag`; or that all these words are in what is searched of it, or else
    that a setting, a metric or a column `name` stands to `value` as `sign` says. `typed`: the whole of it."""

    words: list[str]
    name: str = ""
    sign: str = ""
    value: str = ""
    tag: str = ""
    typed: str = ""


def terms_of(search: str) -> list[Term]:
    """What a person searches for, as terms; all are to be true."""
    return [_term(match) for match in _TERM.finditer(run_query.plain_letters(search))]


def _term(match: re.Match[str]) -> Term:
    name, sign, column, colon, quoted, value = (part or "" for part in match.groups())
    name, sign, value, typed = name or column, sign or colon, quoted or value, match[0].strip()
    if name in _TAG and value and sign in (_HAS, *_EQUAL):
        return Term([], tag=value, typed=typed)
    return Term(typed.split(), name, sign, value, typed=typed)


@dataclass(frozen=True)
class Found:
    """The runs that are searched for; of each term that can mean nothing, and is left out, why; and whether what the
    runs came to was known of all that were looked at."""

    runs: list[Run]
    faults: list[str]
    is_settled: bool


def find_runs(runs: Sequence[Run], terms: Sequence[Term], look: Look = run_facts.outcomes_of) -> Found:
    """The runs of which all of these terms are true. `look`: what runs came to, which is asked only of those of which
    they are not by what the registry knows, or where a term is about it."""
    of_words = [run for run in runs if _has_tags(run, terms) and _has_words(run, terms)]
    rest = runs if any(term.sign for term in terms) else [run for run in runs if _has_tags(run, terms)]
    if len(of_words) == len(rest):
        return Found(of_words, [], True)
    facts, defaults = look(rest), choices.setting_defaults()
    rows = [Row(run, facts.get(run.id), 0.0, defaults=defaults) for run in rest]
    faults = _faults_of(rows, terms)
    sound = [term for at, term in enumerate(terms) if at not in faults]
    found = [row.run for row in rows if _has_tags(row.run, sound) and _is_found(row, sound)]
    return Found(found, list(faults.values()), all(row.facts is not None for row in rows))


def _has_tags(run: Run, terms: Sequence[Term]) -> bool:
    tags = {term.tag for term in terms if term.tag}
    return not tags or tags <= {run_query.plain_letters(tag) for tag in run.tags}


def _has_words(run: Run, terms: Sequence[Term]) -> bool:
    return run_query.matches(run, [word for term in terms for word in term.words])


def _is_found(row: Row, terms: Sequence[Term]) -> bool:
    return _has_words(row.run, terms) or all(_is_true(row, term) for term in terms if not term.tag)


def _faults_of(rows: Sequence[Row], terms: Sequence[Term]) -> dict[int, str]:
    """Why terms can mean nothing, by their places. One that stands in a run's name or note as it is means that."""
    said = {at: _fault(rows, term) for at, term in enumerate(terms) if term.sign and not term.tag}
    return {
        at: f"“{format.shorten(terms[at].typed, _LONGEST)}” is left out: {why}"
        for at, why in said.items()
        if why and not any(_has_words(row.run, [terms[at]]) for row in rows)
    }


def _fault(rows: Sequence[Row], term: Term) -> str:
    """Why a condition can be true of no run, whatever they are; "" where it can, or where that is not known yet."""
    if term.name in _TAG:
        return _tag_fault(term)
    there = [list(_values(row, term.name)) for row in rows]
    if not any(there):
        is_known = bool(rows) and all(row.facts is not None for row in rows)
        return _unknown_words(rows, term.name) if is_known else ""
    values = [value for one in there for value in one if value is not None]
    is_number = bool(values) and all(map(_is_number, values))
    if not term.value:
        return f"{'a number' if is_number else 'a value'} is missing behind it."
    if is_number:
        return "" if _number(term.value) is not None else no_number_words(term.value)
    if values and term.sign in _ORDERS and not any(map(_is_number, values)):
        return f"{term.name} is no number; compare it with = or !=."
    if term.name == "state" and not any(_compare(state, term.sign.lstrip("!"), term.value) for state in STATES):
        return f"there is no such state. The states: {', '.join(STATES)}."
    return ""


def _tag_fault(term: Term) -> str:
    if term.value:
        return "a run has a tag or has not; search for tag:NAME."
    return 'the name of a tag is missing, as in tag:NAME or tag:"TWO WORDS".'


def _unknown_words(rows: Sequence[Row], name: str) -> str:
    """That nothing is called so, and what may be meant: only what is near in meaning."""
    paths = {path for row in rows for path in (*row.defaults, *(row.facts.settings if row.facts else ()))}
    short = {path.rpartition(".")[2] for path in paths if path.partition(".")[0] in _PARTS}
    metrics = {run_query.plain_letters(key) for row in rows if row.facts for key in row.facts.metrics}
    meant = meant_name(name, sorted({*_COLUMNS, *short, *paths, *metrics}))
    hint = f" Did you mean “{meant}”?" if meant else ""
    return f"no setting or metric is called “{format.shorten(name, _LONGEST)}”.{hint}"


def _is_true(row: Row, term: Term) -> bool:
    if term.sign and _is_met(row, term):
        return True
    shown = run_query.plain_letters(f"{row.verdict}\n{reason_of(row.run)}")
    return all(word in shown or run_query.matches(row.run, [word]) for word in term.words)


def _is_met(row: Row, term: Term) -> bool:
    """Whether one of what its name means in this run stands so to its value; not where there is no such thing."""
    return any(_compare(value, term.sign, term.value) for value in _values(row, term.name) if value is not None)


def _values(row: Row, name: str) -> Iterator[Any]:
    """What a name means: a column, a setting by its whole name or by its last, or a metric; the first that there is."""
    if name in _COLUMNS:
        yield getattr(row.run, name) if name in _OF_RUN else columns.KNOWN[name].value(row)
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
    """Numbers as numbers; words whole, or by their last part: starter is org/starter, too. They have no order, and with
    a colon it is enough that they have what is asked in them."""
    if _is_number(value):
        number = _number(asked)
        return sign == "!=" if number is None else _COMPARE[sign](value, number)
    said = run_query.plain_letters(str(value))
    if sign == _HAS:
        return asked in said
    if sign not in (*_EQUAL, "!="):
        return False
    return (asked in (said, re.split(r"[/:]", said)[-1])) == (sign != "!=")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(asked: str) -> float | None:
    try:
        return float(asked)
    except ValueError:
        return None
