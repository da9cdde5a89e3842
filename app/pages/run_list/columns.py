"""The columns of the table of runs: those that are always at hand, and any setting or metric. Pure.

A column's key is its name, or `set:NAME` for a setting of the spec, `metric:NAME` for a metric. Of each there is a
value, by which runs are sorted, and a cell.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groupwise.app.core import format, run_query
from groupwise.app.core.field_labels import compared_label
from groupwise.app.core.setting_words import compared_words
from groupwise.app.ui import figures
from groupwise.app.ui.safe_text import escape
from groupwise.storage.analysis.doctor.words import percent
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.record import group_metrics, recent, states
from groupwise.storage.registry.registry import Run

SETTING, METRIC = "set:", "metric:"
NAMED_AS_SETTINGS = ("learning_rate",)  # metrics that TRL logs under the name of a setting
USUAL = ("spark", "reward", "step", "duration", "data", "created")
LAST_ABOUT = "its last logged value"
METRIC_ABOUT = "the mean of its last 10 logged steps (of fewer than 20: of the later half)"
DURATION_ABOUT = "of training: all attempts together, without the pauses between them"
MOST, LONGEST = 20, 200  # columns, characters of a key
LONG_TITLE, LONG_CELL = 9, 16  # characters of its title, and with its words, that half a line of a phone's card takes
AGES = ("created", "changed")  # which would go from half a line to a whole one as a run grows older
ORDER = {state: place for place, state in enumerate(run_query.STATES)}


@dataclass(frozen=True)
class Row:
    """A run with all that its cells say. `defaults`: what settings are that its spec does not give."""

    run: Run
    facts: Outcome | None
    now: float
    place: int | None = None  # in the queue
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """What the doctor says against its end."""
        return self.facts.verdict if self.facts else ""

    @property
    def level(self) -> str:
        """How grave that is, as on the run's own page."""
        return self.facts.level if self.facts else ""

    @property
    def changed_at(self) -> float:
        """When it last did something."""
        run = self.run
        return run.seen_at if run.state in states.LIVE and run.seen_at else run.state_at

    @property
    def model(self) -> str:
        """The model's name, without where it is from; of what another run saved, whose it is."""
        if saved := OF_A_RUN.search(self.run.model):
            return f"{saved[2]} of {saved[1]}"
        return self.run.model.rstrip("/").rpartition("/")[2] or self.run.model

    @property
    def data(self) -> str:
        """The data's name, without its kind."""
        return self.run.data.partition(":")[2] or self.run.data

    @property
    def seconds(self) -> float | None:
        """For how long it has trained."""
        return self.facts.seconds if self.facts else None


@dataclass(frozen=True)
class Column:
    """`value` is what runs are sorted by, `text` what the cell says, `more` what it says below; `numeric` stands on the
    right."""

    title: str
    value: Callable[[Row], Any]
    text: Callable[[Row], str] = lambda row: ""
    numeric: bool = True
    about: str = ""  # said of its head
    more: Callable[[Row], str] = lambda row: ""


def _steps(row: Row) -> str:
    run = row.run
    total = f" / {format.count(run.total)}" if run.total and run.step != run.total else ""
    return format.count(run.step) + total if run.step or run.total else "–"


def _resumed(row: Row) -> str:
    return f"resumed from {format.count(row.facts.resumed_at)}" if row.facts and row.facts.resumed_at else ""


def _duration(row: Row) -> str:
    return "–" if row.seconds is None else format.duration(row.seconds)


KNOWN: dict[str, Column] = {
    "name": Column("run", lambda row: row.run.name, numeric=False),
    "state": Column("state", lambda row: ORDER.get(row.run.state), numeric=False),
    "spark": Column("curve", lambda row: row.run.reward, numeric=False, about="of the reward; sorted by the reward"),
    "reward": Column("reward", lambda row: row.run.reward, lambda row: format.number(row.run.reward),
                     about=f"reward now, or at the end: {METRIC_ABOUT}; it compares runs with the same rewards"),
    "step": Column("step", lambda row: row.run.step, _steps, more=_resumed),
    "duration": Column("duration", lambda row: row.seconds, _duration, about=DURATION_ABOUT),
    "data": Column("model · data", lambda row: f"{row.model} · {row.data}",
                   lambda row: format.shorten(f"{row.model} · {row.data}", 60), numeric=False),
    "created": Column("launched", lambda row: row.run.created, lambda row: format.age(row.run.created, row.now)),
    "changed": Column("changed", lambda row: row.changed_at, lambda row: format.age(row.changed_at, row.now)),
    "tags": Column("tags", lambda row: ", ".join(row.run.tags), lambda row: ", ".join(row.run.tags), numeric=False),
    "id": Column("id", lambda row: row.run.id, lambda row: row.run.id, numeric=False),
}  # fmt: skip
OF_A_RUN = re.compile(r"/runs/([^/]+)/(?:checkpoints/(?:[^/]+/)?)?(final|checkpoint-\d+|model)/?$")
FIXED = ("name", "state")  # in every table


def column_of(key: str) -> Column | None:
    """The column of this key; None where there is none."""
    if key in KNOWN:
        return KNOWN[key]
    kind, _, name = key.partition(":")
    if f"{kind}:" == SETTING and name:
        return Column(compared_label(name), lambda row: setting_value(row, name),
                      lambda row: setting_words(row, name), about=name)  # fmt: skip
    if f"{kind}:" == METRIC and name:
        return Column(_head_of_metric(name), lambda row: metric_value(row, name), lambda row: metric_words(row, name),
                      about=f"{name}: {LAST_ABOUT if recent.SINGLE.match(name) else METRIC_ABOUT}")  # fmt: skip
    return None


def _head_of_metric(name: str) -> str:
    """A metric's name in a head; one named as a setting of the training is says which of the two it is."""
    return f"{name} (logged)" if name in NAMED_AS_SETTINGS else figures.metric_label(name) or name


def setting_value(row: Row, name: str) -> Any:
    """What a setting is in a run: as given, or its default; None where that is not known."""
    given = row.facts.settings if row.facts else {}
    return given[name] if name in given else row.defaults.get(name) if row.facts else None


def setting_words(row: Row, name: str) -> str:
    """A setting as a cell says it."""
    value = setting_value(row, name)
    return "–" if value is None else format.shorten(compared_words(name, value), 40)


def metric_value(row: Row, name: str) -> float | None:
    """What a metric is at the end of a run; None where it logged none."""
    return row.facts.metrics.get(name) if row.facts else None


def metric_words(row: Row, name: str) -> str:
    """The same as a cell says it: a share in percent, as other pages write it."""
    value = metric_value(row, name)
    return percent(value) if value is not None and group_metrics.SHARES.match(name) else format.number(value)


def columns_asked(keys: Sequence[str]) -> list[str]:
    """The columns that a page asks for, each once, without those that are there anyway; none: the usual ones."""
    known = [key for key in dict.fromkeys(keys) if key not in FIXED and column_of(key) is not None]
    return known[:MOST] or list(USUAL)


def needs_facts(keys: Sequence[str], sort: str) -> bool:
    """Whether these columns, or this order, are of what runs came to."""
    return any(key == "duration" or key.startswith((SETTING, METRIC)) for key in (*keys, sort))


def draw_cell(key: str, row: Row, colour: str) -> str:
    """One cell as HTML."""
    column = column_of(key)
    assert column is not None
    if key == "spark":
        return f'<td class="curve" data-label="curve">{figures.sparkline(row.run.spark, colour)}</td>'
    said = column.text(row)
    words = escape(said)
    look = "n" if column.numeric else "w"
    look += " strong" if key == "reward" else " mut" if key in ("data", "created", "changed", "id") else ""
    default = key.startswith(SETTING) and row.facts is not None and key.removeprefix(SETTING) not in row.facts.settings
    look += " default" if default else ""
    is_long = len(column.title) > LONG_TITLE or len(column.title) + len(said) > LONG_CELL
    look += " long" if is_long or key in AGES else ""
    title = ' title="the default"' if default and words != "–" else f' title="{words}"' if len(words) > 24 else ""
    more = f' <span class="from xs mut">{escape(below)}</span>' if (below := column.more(row)) else ""
    return f'<td class="{look}" data-label="{escape(column.title)}"{title}><bdi>{words}</bdi>{more}</td>'
