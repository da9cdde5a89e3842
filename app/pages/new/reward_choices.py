"""The reward functions that a run can be scored by, as the form offers them: one's own, then those that ship."""

from typing import Any

from groupwise.app.core import format
from groupwise.app.pages.new import form
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.answer_numbers import COMPARE_NUMBERS


def reward_functions(offer: Offer) -> list[dict[str, Any]]:
    """{name, help, own, network, parameters (as fields), versions} of each; one's own first, else in order.

    Each of one's own has its saved versions, the newest first: {hash, saved (when, in words), parameters}.
    """
    names = sorted(offer.rewards, key=lambda name: (not offer.rewards[name].get("own"), name))
    return [_function(name, offer.rewards[name], offer) for name in names]


def _function(name: str, about: dict[str, Any], offer: Offer) -> dict[str, Any]:
    own = about.get("own") is True
    return {
        "name": name,
        "help": str(about.get("help") or ""),
        "own": own,
        "hash": str(about.get("hash") or ""),
        "network": about.get("network") is True,
        "parameters": [_as_data(name, one) for one in form.parameter_fields(about)],
        "versions": [_version(one) for one in offer.versions.get(name, [])] if own else [],
    }


def _as_data(name: str, field: form.Field) -> form.Field:
    """The field with the setting of the data that it `follows` where it is not set, if it does."""
    follows = name in COMPARE_NUMBERS and field["path"] == "parameters.decimal"
    return field | {"follows": "data.answer_numbers"} if follows else field


def _version(version: dict[str, Any]) -> dict[str, Any]:
    return {"hash": version["hash"], "saved": format.age(version["at"]), "parameters": form.parameter_fields(version)}
