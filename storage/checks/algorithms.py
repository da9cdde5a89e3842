"""Of a setting that takes the name of a training algorithm (loss_type): which one was meant. Pure.

These names differ by a letter and mean something else (GSPO, SAPO, GMPO), so that the nearest in writing is a guess.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from groupwise.storage.spec.words.problem import Fix, Problem

# Other algorithms, of which a slip of another's name would make one that TRL has.
_OTHERS = frozenset({
    "arpo", "cpo", "dpo", "gdpo", "gfpo", "gmpo", "gspo", "gtpo", "ipo", "kto", "online_dpo", "orpo", "papo", "ppo",
    "reinforce", "reinforce++", "rft", "rloo", "rpo", "simpo", "spo", "sppo", "srpo", "tapo", "vapo", "xpo",
})  # fmt: skip
_SEQUENCE = "importance_sampling_level"


def are_algorithms(choices: Sequence[object]) -> bool:
    return "grpo" in choices


def meant_algorithm(value: object, names: Sequence[str]) -> str | None:
    """The one of the algorithms that a text is a slip of: in capitals or what stands between its words, or in two
    letters in each other's place, or one too few or too many. None where it is another."""
    typed = letters_of(value)
    if str(value).strip().casefold() in _OTHERS:
        return None
    plain = {letters_of(name): name for name in names}
    return plain.get(typed) or next((name for one, name in plain.items() if _is_one_slip(typed, one)), None)


def gspo_problem(path: str, value: Any, beside: Mapping[str, Any], default: Fix) -> Problem | None:
    """The problem of GSPO as a loss, which TRL has as another setting; None of any other. `beside`: what is set in the
    same part: no click writes over it. `default`: the click that leaves the loss to TRL."""
    if not path.endswith("loss_type") or letters_of(value) != "gspo":
        return None
    place = f"{path.rpartition('.')[0]}.{_SEQUENCE}"
    message = f"cannot be “{value}”: GSPO in TRL is {_SEQUENCE}: sequence and loss_type: grpo, as in the preset GSPO."
    if beside.get(_SEQUENCE, "sequence") != "sequence":
        return Problem(path, f"{message} {_SEQUENCE} is set already.", fixes=(Fix("Use grpo", {path: "grpo"}), default))
    use = Fix(f"Use {_SEQUENCE}: sequence, with loss_type: grpo", {place: "sequence", path: "grpo"})
    return Problem(path, message, fixes=(use, default))


def letters_of(value: object) -> str:
    """A name in small letters and digits alone, by which two are the same whatever stands between their words."""
    return re.sub(r"[\W_]+", "", str(value).casefold())


def _is_one_slip(typed: str, name: str) -> bool:
    """Whether letters beside each other are swapped, or one is missing or too many."""
    swapped = (typed[:n] + typed[n + 1] + typed[n] + typed[n + 2 :] for n in range(len(typed) - 1))
    return name in swapped or name in _without_one(typed) or typed in _without_one(name)


def _without_one(text: str) -> list[str]:
    return [text[:n] + text[n + 1 :] for n in range(len(text))]
