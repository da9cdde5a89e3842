"""Which trackers a run reports to beside its own record, and what keeps one from being used. Pure."""

from collections.abc import Iterator
from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import Fix, Problem, nearest_name

FIELD = "training.report_to"
# Tracker → the packages of which one must be installed, by the name they are imported by.
TRACKERS = {"wandb": ("wandb",), "trackio": ("trackio",), "tensorboard": ("tensorboard", "tensorboardX"),
            "mlflow": ("mlflow",)}  # fmt: skip
NONE: tuple[Any, ...] = (None, "none", [], ["none"])


def asked_trackers(training: dict[str, Any]) -> list[str]:
    """The trackers that these settings name, each once."""
    given = training.get("report_to")
    if given in NONE:
        return []
    return list(dict.fromkeys(str(name) for name in (given if isinstance(given, list) else [given])))


def check_trackers(spec: RunSpec, offer: Offer) -> list[Problem]:
    """A problem for each that there is none of, or that is not installed."""
    names = asked_trackers(spec.training)
    return [problem for name in names for problem in _check_one(name, names, offer)]


def _check_one(name: str, names: list[str], offer: Offer) -> Iterator[Problem]:
    others = [other for other in names if other != name and _is_usable(other, offer)]
    without = (
        Fix(f"Report to {' and '.join(others)} only", {FIELD: others}) if others else Fix("Remove it", {}, (FIELD,))
    )
    if name not in TRACKERS:
        close = nearest_name(name, list(TRACKERS))
        usable = close is not None and _is_usable(close, offer)
        use = (Fix(f"Use {close}", {FIELD: [*others, close]}),) if usable else ()
        meant = f" Did you mean “{close}”?{'' if usable else f' It {_lacking(close)}'}" if close else ""
        message = f"“{name[:60]}” is not a tracker that can be used here. There are {', '.join(TRACKERS)}.{meant}"
        yield Problem(FIELD, message, fixes=(*use, without))
    elif not _is_usable(name, offer):
        yield Problem(FIELD, f"needs {name}, which {_lacking(name)}", fixes=(without,))


def _lacking(name: str) -> str:
    return f"is not installed here: pip install 'groupwise[{name}]'"


def _is_usable(name: str, offer: Offer) -> bool:
    """Whether there is such a tracker, and it is installed as far as that is known."""
    known = bool(offer.extras or offer.hardware)
    return name in TRACKERS and (not known or any(package in offer.extras for package in TRACKERS[name]))
