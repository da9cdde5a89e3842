"""Scripts that join datasets: with one of them chosen, a script comes to what it comes to with that one alone."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script

HEAD = """
from datasets import concatenate_datasets, load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

def number_of(text):
    if "####" not in text:
        return None
    return text.split("####")[1].strip().replace(",", "")

def chat(question):
    return [{"role": "system", "content": "Think first."}, {"role": "user", "content": question}]

one = load_dataset("openai/gsm8k", "main", split="train")
one = one.map(lambda row: {"prompt": chat(row["question"]), "answer": number_of(row["answer"])})
two = load_dataset("ChilleD/SVAMP")["train"]
two = two.map(lambda row: {"prompt": chat(row["Body"] + " " + row["Question"]), "answer": row["Answer"]})
"""
TRAIN = """
trainer = GRPOTrainer(model="a/m", reward_funcs=accuracy_reward, args=GRPOConfig(), train_dataset=data)
trainer.train()
"""


def script(data: str) -> str:
    return f"{HEAD}data = {data}\n{TRAIN}"


@pytest.mark.parametrize(("number", "alone"), [(1, "one"), (2, "two")])
@pytest.mark.parametrize("joins", ["concatenate_datasets([one, two])", "interleave_datasets(datasets=[one, two])"])
def test_the_chosen_one_is_read_with_its_own_map_as_if_it_stood_alone(number: int, alone: str, joins: str) -> None:
    found = read_script(script(f"{joins}.shuffle(seed=42)"), dataset=number)
    expected = read_script(script(f"{alone}.shuffle(seed=42)"))
    assert found.raw == expected.raw
    assert found.raw["data"]["prompt_template"] == ("{question}" if number == 1 else "{Body} {Question}")
    assert found.raw["data"]["system_prompt"] == "Think first." and found.raw["data"]["shuffle"] == 42
    assert found.raw["data"].get("answer_pattern") == (r"####\s*(.+)" if number == 1 else None)
    names = ["openai/gsm8k", "ChilleD/SVAMP"]
    said = f"{names[number - 1]} was chosen. {names[2 - number]} was left out."
    assert [note.endswith(said) for note in found.notes if "_datasets(" in note] == [True]
    assert found.datasets == names and "Choose one" not in "".join(found.notes)


def test_until_one_is_chosen_no_column_is_guessed_and_the_maps_are_named() -> None:
    found = read_script(script("concatenate_datasets([one, two]).shuffle(seed=42)"))
    assert found.raw["data"] == {"shuffle": 42}
    words = "Until then, what the script does to their rows is left out: map(…) (line 15), map(…) (line 17)."
    assert words in "".join(found.notes)


def test_a_map_after_the_join_is_read_before_and_after_one_is_chosen() -> None:
    data = 'concatenate_datasets([load_dataset("a/b"), load_dataset("c/d")]).map(lambda r: {"prompt": chat(r["q"])})'
    for number in (0, 1, 2):
        assert read_script(script(data), dataset=number).raw["data"]["prompt_template"] == "{q}"


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ("load_dataset('a/b', split='train'), load_dataset('a/b', split='test')", ["a/b (train)", "a/b (test)"]),
        ("one, one.map(lambda row: {'prompt': row['question']})",
         ["openai/gsm8k (main, train), no. 1", "openai/gsm8k (main, train), no. 2"]),
        ("one, one", ["openai/gsm8k"]),
        ("one, Dataset.from_list(rows)", ["openai/gsm8k"]),
    ],
)  # fmt: skip
def test_each_has_a_name_of_its_own(parts: str, names: list[str]) -> None:
    assert read_script(script(f"concatenate_datasets([{parts}])")).datasets == names


@pytest.mark.parametrize(
    ("part", "name", "why"),
    [
        ("Dataset.from_list(rows).shuffle(seed=1)", "Dataset.from_list(…) (line 18)",
         "Dataset.from_list(…) (line 18) makes the data in the script: save it as a JSONL file, upload that, and "
         "choose it here."),
        ("load_from_disk('x').map(f)", "load_from_disk(…) (line 18)",
         "load_from_disk(…) (line 18) was not taken: save that dataset as Parquet, and upload it."),
        ("load_dataset(name)", "load_dataset(…) (line 18)",
         "The dataset (line 18) is computed by the script: set it here."),
        ("load_dataset('json', data_files=['a.jsonl', 'b.jsonl'])", "load_dataset(…) (line 18)",
         "“a.jsonl”, “b.jsonl” (line 18) may be several files, and a run reads one: join them in one file, upload it, "
         "and choose it here."),
        ("mine()", "mine(…) (line 18)", "The dataset (line 18) is computed by the script: set it here."),
    ],
)  # fmt: skip
def test_one_that_cannot_be_taken_is_named_with_the_reason(part: str, name: str, why: str) -> None:
    text = script(f"interleave_datasets([{part}, load_dataset('csv', data_files='m.csv', split='train')])")
    found = read_script(text)
    assert found.datasets == ["m.csv"] and found.untaken == [why] and why in found.notes
    assert f"it joins m.csv and {name}, and a run has one dataset. Choose one" in "".join(found.notes)
    chosen = read_script(text, dataset=1)
    assert f"m.csv was chosen. {name} was left out." in "".join(chosen.notes) and why in chosen.notes


def test_datasets_that_are_joined_inside_are_offered_and_ones_that_are_computed_are_said() -> None:
    found = read_script(script("concatenate_datasets([one, interleave_datasets([two, load_dataset('c/d')])])"))
    assert found.datasets == ["openai/gsm8k", "ChilleD/SVAMP", "c/d"] and found.untaken == []
    found = read_script(script("concatenate_datasets([one, *more])"))
    words = "More datasets (line 18) that concatenate_datasets(…) joins are computed by the script."
    assert found.datasets == ["openai/gsm8k"] and found.untaken == [words]
    found = read_script(script("concatenate_datasets(parts)"))
    assert found.datasets == [] and found.untaken[0].startswith("The datasets (line 18) that concatenate_datasets(…)")
    assert found.untaken[0] in found.notes


def test_how_rows_are_mixed_is_named_apart() -> None:
    text = (
        "from datasets import load_dataset, interleave_datasets\nfrom trl import GRPOConfig, GRPOTrainer\n"
        "data = interleave_datasets([load_dataset('a/b'), load_dataset('c/d')], probabilities=[0.7, 0.3], seed=1)\n"
        "GRPOTrainer('a/m', 'a/r', GRPOConfig('o'), data).train()\n"
    )
    said = "\n".join(read_script(text, dataset=1).notes)
    assert "interleave_datasets’s probabilities [0.7, 0.3] and seed 1 (line 3) say how rows are mixed" in said
    assert "rows are mixed" not in "\n".join(read_script(text.replace(", probabilities=[0.7, 0.3], seed=1", "")).notes)


@pytest.mark.parametrize("steps", ["", ".shuffle(seed=1)", '.shuffle().sort("prompt").skip(5)'])
def test_of_a_join_that_is_not_trained_on_nothing_is_said_of_the_runs_data(steps: str) -> None:
    text = f"{HEAD}data = one\nboth = concatenate_datasets([one, two]){steps}\n{TRAIN}"
    found, alone = read_script(text), read_script(f"{HEAD}data = one\n{TRAIN}")
    assert found.raw == alone.raw
    said = "A dataset (line 19) does not reach the trainer as its training data: it was not taken."
    assert [one for one in found.notes if "(line 19)" in one] == [said]
