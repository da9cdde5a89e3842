"""Settings that need a package that is not installed. Pure: which are, whoever asks says."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import Fix, Problem


class Needed(NamedTuple):
    package: str  # by the name it is imported by
    label: str = "Remove it"  # of the button that does without
    is_switch: bool = True  # only true is on; else anything that is set, such as a mapping


NEEDED = {
    "use_vllm": Needed("vllm", "Generate without vLLM"),
    "use_liger_kernel": Needed("liger_kernel"),
    "deepspeed": Needed("deepspeed", is_switch=False),
}


def check_packages(spec: RunSpec, offer: Offer) -> list[Problem]:
    """What the worker has said is not installed; nothing where it has not said anything yet."""
    known = bool(offer.extras or offer.hardware)
    return list(lacking_packages(spec.training, offer.extras)) if known else []


def lacking_packages(training: dict[str, Any], installed: Collection[str]) -> Iterator[Problem]:
    """A problem for each of these settings that is on and whose package is not among the `installed`."""
    for name, needed in NEEDED.items():
        value = training.get(name)
        is_on = value is True if needed.is_switch else bool(value)  # of a switch that is neither, that is said
        if is_on and needed.package not in installed:
            yield not_installed(f"training.{name}", needed.package, needed.label)


def not_installed(path: str, package: str, label: str = "Remove it") -> Problem:
    """The problem of a setting whose package there is none of."""
    message = f"needs {package}, which is not installed here: pip install {package.replace('_', '-')}"
    return Problem(path, message, fixes=(Fix(label, {}, (path,)),))
