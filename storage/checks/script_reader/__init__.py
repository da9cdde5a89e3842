"""A plain TRL script → the RunSpec it means, as far as that can be read: the way back from storage.checks.script, and
the way in for scripts that people have. Reads the syntax tree only; nothing of the script is ever run."""

from typing import Any

from groupwise.storage.checks.script_reader import dataset, own, rewards, training
from groupwise.storage.checks.script_reader.syntax import Script, parse_script
from groupwise.storage.checks.script_reader.training import Reading
from groupwise.storage.spec.problem import Problem, SpecError


def from_script(text: str) -> tuple[dict[str, Any], list[str]]:
    """(the settings that `spec.from_dict` takes, a sentence for each thing in the script that was not taken).

    Raises SpecError, with the line, for what is no Python or no GRPO script.
    """
    tree = parse_script(text)
    try:
        script = Script(tree)
        if not {*training.trainers_of(script), "GRPOConfig"} & set(script.calls):
            raise SpecError([Problem("", "This is no GRPO script: it calls neither GRPOTrainer nor GRPOConfig.")])
        reading = Reading(script)
        raw = _own_settings(reading) if own.is_own(tree) else _ordinary(reading)
    except RecursionError as error:
        raise SpecError([Problem("", "The script is nested too deeply to be read.")]) from error
    return raw, reading.notes


def _own_settings(reading: Reading) -> dict[str, Any]:
    raw = {"name": training.name(reading), **own.title(reading.script.tree)}
    raw |= {"model": training.model(reading), "data": own.own_data(reading), "lora": training.lora(reading)}
    return own.with_unused(raw | (own.stages(reading) or _training(reading)), own.unused_settings(reading))


def _ordinary(reading: Reading) -> dict[str, Any]:
    raw: dict[str, Any] = {"name": training.name(reading), "model": training.model(reading)}
    raw["data"] = dataset.data_settings(reading)
    lora = training.lora(reading)
    raw = raw | ({} if lora is None else {"lora": lora}) | _training(reading)
    if "rewards" in raw:
        names = ", ".join(reward["name"] for reward in raw["rewards"])
        taken = f"Of the reward functions ({names}) only the names were taken, not their code: save it under Rewards."
        reading.notes.append(taken)
    else:
        reading.notes.append("The script names no reward functions that could be taken: choose them here.")
    return raw


def _training(reading: Reading) -> dict[str, Any]:
    found = rewards.read_rewards(reading)
    return {"training": training.training(reading)} | ({} if found is None else {"rewards": found})
