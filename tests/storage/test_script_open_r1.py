"""A script as open-r1 writes it: its own class of settings, splits that are changed in a loop, and several datasets."""

from __future__ import annotations

from groupwise.storage.checks.script_reader import read_script

SCRIPT = """
from dataclasses import dataclass, field
import trl
from datasets import load_dataset
from trl import GRPOTrainer, ModelConfig, ScriptArguments, TrlParser
from trl.rewards import accuracy_reward

@dataclass
class GRPOConfig(trl.GRPOConfig):
    benchmarks: list[str] = field(default_factory=lambda: [], metadata={"help": "to run"})
    learning_rate: float = 2e-6
    beta: float = field(default=0.02)

    def __post_init__(self):
        super().__post_init__()

def main(script_args, training_args, model_args):
    dataset = load_dataset("AI-MO/NuminaMath-TIR")
    dataset = dataset.map(lambda row: {"prompt": row["problem"]})
    for split in dataset:
        if "messages" in dataset[split].column_names:
            dataset[split] = dataset[split].remove_columns("messages")
    trainer = GRPOTrainer(model=model_args.model_name_or_path, reward_funcs=accuracy_reward, args=training_args,
                          train_dataset=dataset["train"])
    trainer.train()

if __name__ == "__main__":
    parser = TrlParser((ScriptArguments, GRPOConfig, ModelConfig))
    main(*parser.parse_args_and_config())
"""


def test_the_defaults_of_a_class_of_settings_are_taken_and_what_is_its_own_is_said() -> None:
    found = read_script(SCRIPT, {"learning_rate", "beta", "seed"})
    said = "\n".join(found.notes)
    assert found.raw["training"] == {"learning_rate": 2e-6, "beta": 0.02}
    assert "GRPOConfig (line 9) has settings of its own, which were not taken: benchmarks." in said
    assert "GRPOConfig (line 9) changes GRPOConfig (__post_init__), which was not taken." in said
    read = SCRIPT.replace('row["problem"]}', 'training_args.benchmarks[0] + row["problem"]}')
    assert read != SCRIPT
    assert [one for one in read_script(read, {"learning_rate", "beta", "seed"}).notes if "benchmarks" in one][0] == (
        "GRPOConfig (line 9) has settings of its own, whose defaults hold where the script reads them: benchmarks."
    )
    plain = read_script(SCRIPT.replace("@dataclass\n", ""), {"learning_rate", "beta"})
    assert plain.raw["training"] == {}
    assert "is no dataclass, so what it sets changes no setting: benchmarks, learning_rate, beta." in str(plain.notes)


def test_data_whose_columns_are_removed_in_a_loop_is_taken_and_not_said_to_be_left() -> None:
    found = read_script(SCRIPT)
    said = "\n".join(found.notes)
    assert found.raw["data"]["source"] == "hub:AI-MO/NuminaMath-TIR" and "does not reach the trainer" not in said
    assert "Removing columns (line 22) was not taken: rewards get every column." in said
    assert "The model (line 23) is read from the command line or a recipe (model_name_or_path): set it here." in said


def test_of_datasets_that_are_joined_each_is_named_and_none_is_taken() -> None:
    joined = "concatenate_datasets([load_dataset('AI-MO/NuminaMath-TIR', split='train'), load_dataset('a/b')['test']])"
    found = read_script(SCRIPT.replace('load_dataset("AI-MO/NuminaMath-TIR")', joined))
    assert "source" not in found.raw["data"]
    assert found.datasets == ["AI-MO/NuminaMath-TIR", "a/b"]
    words = "it joins AI-MO/NuminaMath-TIR and a/b, and a run has one dataset. Choose one, or join them in one file."
    assert words in "\n".join(found.notes)
