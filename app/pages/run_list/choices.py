"""Which columns there are to choose from: every setting that a run of this home gives, or that has a default, and every
metric that one logged. What differs between runs comes first."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from groupwise.app.core import run_facts, run_query
from groupwise.app.core.field_labels import compared_label
from groupwise.app.pages.run_list import columns
from groupwise.app.ui.figures import metric_label
from groupwise.app.ui.live import Payload, answer
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis import outcome
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Catalogue

MOST = 2000  # names of one kind
FRESH = 30.0  # seconds for which what is the default is not asked again

_defaults: tuple[float, dict[str, Any]] | None = None


def setting_defaults() -> Mapping[str, Any]:
    """What settings are where a spec does not give them."""
    global _defaults
    if _defaults is None or time.monotonic() - _defaults[0] > FRESH:
        catalogue = registry.read_fact(Catalogue)
        _defaults = time.monotonic(), outcome.default_settings(catalogue.defaults() if catalogue else {})
    return _defaults[1]


@answer
def offered_columns(payload: Payload) -> dict[str, Any]:
    """The columns, as groups of {key, words, name}, `name` being a setting's own, or that of a metric which has
    a label: the basics, the settings in which runs differ, the others that runs give and then those that have a
    default, and the metrics."""
    known = run_facts.outcomes_of(registry.list_runs(curves=False)).values()
    defaults = setting_defaults()
    given = sorted({name for facts in known for name in facts.settings})
    differ = differing_settings([facts.settings for facts in known], defaults)
    others = [name for name in dict.fromkeys([*given, *sorted(defaults)]) if name not in differ]
    metrics = sorted({name for facts in known for name in facts.metrics})
    basics = [key for key in columns.KNOWN if key not in columns.FIXED]
    return {
        "groups": [
            {"title": "Basics", "columns": [_offer(key, BASICS.get(key, columns.KNOWN[key].title)) for key in basics]},
            *([_settings_group("Settings that differ", list(differ))] if differ else []),
            _settings_group("Other settings" if differ else "Settings", others),
            {"title": "Metrics", "columns": [_offer_metric(name) for name in metrics[:MOST]]},
        ],
        "usual": columns.USUAL, "most": columns.MOST,
    }  # fmt: skip


BASICS = {"spark": "reward curve", "reward": "reward now, or at the end"}


def differing_settings(given: Sequence[Mapping[str, Any]], defaults: Mapping[str, Any]) -> dict[str, None]:
    """The settings that have more than one value among runs, what one does not give being its default; by name."""
    names = sorted({name for settings in given for name in settings})
    values = {name: {run_query.order_key(one.get(name, defaults.get(name))) for one in given} for name in names}
    return {name: None for name in names if len(values[name]) > 1}


def _settings_group(title: str, names: Sequence[str]) -> dict[str, Any]:
    return {
        "title": title,
        "columns": [_offer(columns.SETTING + name, compared_label(name), name) for name in names[:MOST]],
    }


def _offer_metric(name: str) -> dict[str, str]:
    label = metric_label(name)
    return _offer(columns.METRIC + name, label or name, name if label else "")


def _offer(key: str, words: str, name: str = "") -> dict[str, str]:
    return {"key": key, "words": visible_text(words), "name": visible_text(name)}
