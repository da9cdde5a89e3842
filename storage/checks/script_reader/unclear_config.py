"""A config that is one of several, or that the script puts through what cannot be followed: its settings are taken
where all agree, and else named one by one."""

from typing import Any

from groupwise.storage.checks.script_reader.config_changes import held_in_training, note_config_changes
from groupwise.storage.checks.script_reader.moments import changes_of
from groupwise.storage.checks.script_reader.places import configs_of, is_config
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.scopes import either
from groupwise.storage.checks.script_reader.unsaid import list_names
from groupwise.storage.checks.script_reader.values import (
    Either,
    Made,
    Mapping,
    Value,
    inner_values,
    plain_or,
    script_line,
)
from groupwise.storage.spec.python_source import literal

_LONGEST = 60  # signs of a value in a sentence


def join_configs(reading: Reading, value: Either) -> Made | None:
    """One config with the settings of several, of which a condition decides; None where one of them is none."""
    configs = configs_of(value)
    if len(configs) < 2:
        return None
    known = reading.joined.get(id(value))
    if known is None:
        said = [_said_to(reading, one) for one in configs]
        names = dict.fromkeys(name for one in said for name in one)
        given = {name: _whichever([one.get(name) for one in said], value) for name in names}
        dark = [one for config in configs for one in config.dark]
        known = reading.joined[id(value)] = Made(value.node, configs[0].path, [], given, dark)
    reading.account_one(value, *configs)
    note_config_changes(reading, known, changes_of(reading, value, *configs), known.keywords, lambda change: "")
    return known


def _said_to(reading: Reading, config: Made) -> dict[str, Value]:
    """What a config is given, and what is set on it until the training."""
    given = dict(zip(["output_dir"], config.arguments, strict=False)) | config.keywords
    return held_in_training(reading, given, config)


def _whichever(said: list[Value | None], at: Value) -> Value:
    found = said[0]
    for other in said[1:]:
        found = either(at.node, found, other) if found is not None or other is not None else None
    assert found is not None
    return found


def note_unfollowed(reading: Reading, value: Value) -> None:
    """Name what the configs and the settings say that something is made of which cannot be followed."""
    configs = [one for one in inner_values(value) if isinstance(one, Made) and is_config(one)]
    for config in configs:
        _name_settings(reading, "GRPOConfig", config, _said_to(reading, config))
    if not configs and isinstance(value, Made):
        given = [*value.arguments, *value.keywords.values()]
        for one in (one for one in given if isinstance(one, Mapping)):
            _name_settings(reading, "the settings", one, {str(name): said for name, said in one.entries.items()})
    for setting in reading.script.settings:
        if setting.of in configs:
            reading.account_one(setting)
        if setting.of is value and not isinstance(value, Either):
            reading.account_one(setting)
            reading.note(f"{setting.name}", setting.node, "is set on args, which cannot be followed: set it here.")


def _name_settings(reading: Reading, what: str, at: Value, said: dict[str, Value]) -> None:
    names = [f"{name}{_in_words(value)}" for name, value in said.items() if name != "output_dir"]
    if names:
        place = reading.place(script_line(at))
        reading.tell(f"Of {what} ({place}) nothing was taken: {list_names(names)}. Set them here.", at)


def _in_words(value: Value) -> str:
    known: Any = plain_or(value, ...)
    return "" if known is ... else f" {literal(known)[:_LONGEST]}"
