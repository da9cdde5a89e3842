"""What is said of the seeds that a script sets beside its config: TRL sets the config's own as it makes the trainer."""

from groupwise.storage.checks.limits import MOST_SEED, USUAL_SEED
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.training import config_values
from groupwise.storage.checks.script_reader.values import Made, plain_or

SEEDING = ("set_seed", "manual_seed", "manual_seed_all", "seed", "seed_everything")  # calls that set one


def seed_words(reading: Reading, call: Made) -> str:
    """That what a call seeds was not taken, which seed holds, and what to do to have the script's."""
    said = config_values(reading).get("seed")
    known = plain_or(said)
    now = f" ({USUAL_SEED} by default)" if said is None else f" ({known} in the script’s config)" if known else ""
    words = f"was not taken: a run trains with training.seed{now}, which TRL sets by itself."
    seed = _certain_seed(reading, call) if said is None else None
    return words if seed is None else f"{words} To train with {seed}, set it there."


def _certain_seed(reading: Reading, call: Made) -> int | None:
    """What set_seed(3) sets, where no condition stands around it and nothing else sets another seed; None else."""
    seeding = [one for one in reading.script.calls if one.name in SEEDING]
    given = [plain_or(next(iter((*one.arguments, *one.keywords.values())), None)) for one in seeding]
    is_one = type(given[0]) is int and 0 <= given[0] <= MOST_SEED and given.count(given[0]) == len(given)
    is_sure = is_one and not any(one.arms or one.dark for one in seeding)
    return given[0] if call.name == "set_seed" and is_sure else None
