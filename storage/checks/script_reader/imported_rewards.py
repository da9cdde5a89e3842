"""TRL's and open-r1's reward functions in a script: known by where the script imports them from. What it defines itself
is its own, whatever its name and arguments, and keeps its code."""

from groupwise.storage.checks.known_rewards import Known, known_reward
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import Made, Outer, Value


def imported_reward(reading: Reading, value: Value) -> Known | None:
    """The built-in function for one of theirs that the script imports, or for what such a factory makes; None for all
    else."""
    if isinstance(value, Made) and (value.receiver is not None or value.cls is not None):
        return None  # a method's result, or an object of a class of the script
    if not isinstance(value, (Made, Outer)):
        return None
    if "." in value.path:
        return known_reward(value.path)
    found = (known_reward(f"{module}.{value.path}") for module in reading.script.stars)
    return next((known for known in found if known is not None), None)
