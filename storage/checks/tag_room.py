"""How many tokens the tags take that “format” wants: in fewer it never earns anything. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    names = tags_wanted(wanted)
    if by_letter:
        return TagRoom(sum(len(f"<{name}></{name}>") + 1 for name in names), 48)
    return TagRoom(3 * len(names), 256)


def tags_wanted(parameters: Mapping[str, Any]) -> list[str]:
    """The names of the tags that “format” wants, with these settings."""
    tags = parameters.get("tags", ("think", "answer"))
    given = [tags] if isinstance(tags, str) else tags if isinstance(tags, (list, tuple)) else []
    return [one for one in given if isinstance(one, str)]
