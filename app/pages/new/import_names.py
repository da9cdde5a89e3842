"""The name under which a script's reward function goes into the library: its own where that is free, never another's.
Pure on texts, but for what the library has."""

from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library, names
from groupwise.storage.library.rewards.renaming import rename_function


def library_name(name: str, code: str, offer: Offer) -> tuple[str, str]:
    """(the name, why it is another than the script's: "" where it is the same). The library's own function of this
    name keeps it, unless it is this very code."""
    built_in = [known for known, about in offer.rewards.items() if not about.get("own")]
    problem = names.problem_with(name, built_in)
    if not problem and _is_free(name, code):
        return name, ""
    base = f"my_{name}".replace("__", "_") if problem else name
    base = base[: names.LONGEST - 5]
    tries = [base, *(f"{base}_{number}" for number in range(2, 1000))] if problem else [
        f"{base}_{number}" for number in range(2, 1000)
    ]  # fmt: skip
    found = next(one for one in tries if not names.problem_with(one, built_in)
                 and _is_free(one, rename_function(code, name, one)))  # fmt: skip
    return found, problem or f"Your library has another function “{name}”."


def _is_free(name: str, code: str) -> bool:
    """Whether no other code was ever saved under a name, however it is capitalised."""
    known = {own for own in library.all_versions() if own.casefold() == name.casefold()}
    if not known:
        return True
    versions = library.versions(name) if known == {name} else []
    return bool(versions) and versions[0].hash == library.hash_of(library.with_plain_line_ends(code))
