"""Which trackers a run reports to beside its own record, and what keeps one from being used. Pure."""

from typing import Any

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.number_words import join_words
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
    """A problem for each that there is none of, and one for all that are not installed."""
    names = asked_trackers(spec.training)
    usable = [name for name in names if _is_usable(name, offer)]
    missing = [name for name in names if name in TRACKERS and name not in usable]
    without = Fix(f"Report to {join_words(usable)} only", {FIELD: usable}) if usable else Fix("Remove it", {}, (FIELD,))
    unknown = [_unknown(name, usable, without, offer) for name in names if name not in TRACKERS]
    message = f"needs {join_words(missing)}, which {_lacking(missing)}"
    return [*unknown, *([Problem(FIELD, message, fixes=(without,))] if missing else [])]


def _unknown(name: str, usable: list[str], without: Fix, offer: Offer) -> Problem:
    close = nearest_name(name, list(TRACKERS))
    is_usable = close is not None and _is_usable(close, offer)
    use = (Fix(f"Use {close}", {FIELD: [*usable, close]}),) if is_usable else ()
    meant = f" Did you mean “{close}”?{'' if is_usable else f' It {_lacking([close])}'}" if close else ""
    message = f"“{name[:60]}” is not a tracker that can be used here. There are {', '.join(TRACKERS)}.{meant}"
    return Problem(FIELD, message, fixes=(*use, without))


def _lacking(names: list[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} not installed here: pip install 'groupwise[{','.join(names)}]'"


def _is_usable(name: str, offer: Offer) -> bool:
    """Whether there is such a tracker, and it is installed as far as that is known."""
    known = bool(offer.extras or offer.hardware)
    return name in TRACKERS and (not known or any(package in offer.extras for package in TRACKERS[name]))
