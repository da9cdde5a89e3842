"""How many tokens the tags take that “format” wants: in fewer it never earns anything. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from groupwise.storage.spec.spec import RewardSpec


@dataclass(frozen=True)
class TagRoom:
    """Tokens: `least`, what the tags take with something between them; `usual`, what an answer in them has room in."""

    least: int
    usual: int


def tag_room(rewards: Sequence[RewardSpec], *, by_letter: bool) -> TagRoom | None:
    """What the built-in “format” asks for: where it is strict it wants each tag opened and closed, and something
    between. A model that reads by the letter, as the starter does, takes a token for each; for others each tag is at
    least one. None where no function wants tags."""
    wanted = next((one.parameters for one in rewards if one.name == "format" and not one.version), None)
    if wanted is None or wanted.get("strict", True) is not True:
        return None
    tags = wanted.get("tags", ("think", "answer"))
    names = [one for one in ([tags] if isinstance(tags, str) else tags) if isinstance(one, str)]
    if by_letter:
        return TagRoom(sum(len(f"<{name}></{name}>") + 1 for name in names), 48)
    return TagRoom(3 * len(names), 256)
