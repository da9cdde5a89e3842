"""One's own reward functions that a new run would take as they are now, though the run that it is begun from had other
code. Pure, but for the copies in that run's folder."""

from dataclasses import dataclass

from groupwise.app.pages.new import form_rows, yaml_edit
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library


@dataclass(frozen=True)
class ChangedFunction:
    """A function that has changed since a run: the `hash` of the code that the run had, and whether the library still
    `has` that version."""

    name: str
    hash: str
    has: bool


def changed_since(run_id: str, text: str, offer: Offer) -> tuple[ChangedFunction, ...]:
    """The functions of which these settings take the newest version, where that is another than the run's."""
    places = form_rows.reward_places(yaml_edit.load(text))
    names = dict.fromkeys(str(reward.get("name")) for _, reward in places if not reward.get("version"))
    found = ((name, library.hash_in_run(run_id, name)) for name in names if offer.rewards.get(name, {}).get("own"))
    return tuple(
        ChangedFunction(name, digest, any(one["hash"] == digest for one in offer.versions.get(name, [])))
        for name, digest in found
        if digest not in ("", offer.rewards[name].get("hash"))
    )
