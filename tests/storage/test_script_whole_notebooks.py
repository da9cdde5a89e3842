"""Whole notebooks with what public ones do beside their GRPO: a warm-up by SFT, a pattern made of the tokenizer's
tokens, tags read from its vocabulary, vLLM's sampling, lengths that are measured. The constructs are our own."""

from __future__ import annotations

import json

import pytest

from groupwise.storage.checks.script_reader import ScriptImport, read_script
from groupwise.storage.library.rewards.pasted import clean_paste
from groupwise.storage.library.rewards.signature import analyse
from groupwise.storage.library.rewards.strip_script import keep_only

INSTALL = """%%capture
import os, subprocess
os.environ["UNSLOTH_VLLM_STANDBY"] = "1"
small = "T4" in str(subprocess.check_output(["nvidia-smi"])) and "X" in "".join(os.environ.keys())
!pip install unsloth vllm
"""
MODEL = """from unsloth import FastLanguageModel
model, tokenizer = FastLanguageModel.from_pretrained(model_name="some/base", max_seq_length=2048)
"""
WARM_UP = """from datasets import load_dataset, Dataset
data = load_dataset("some/traces", split="train").to_pandas()
data["talk"] = data.apply(lambda row: [row["q"], row["a"]], axis=1)
data["size"] = data["talk"].apply(len)
from trl import SFTTrainer, SFTConfig
trainer = SFTTrainer(model=model, train_dataset=Dataset.from_pandas(data), args=SFTConfig(max_steps=3))
trainer.train()
del data
"""
DATA = 'data = load_dataset("some/sums", split="train")\ndata[0]["prompt"]\n'
PATTERN = """import re
closing = "</answer>" + "(?:" + re.escape(tokenizer.eos_token) + ")?"
found = re.compile("<answer>(.+?)" + closing)
found.findall("<answer>2</answer>")
"""
TAGS = """opening = None
for token in tokenizer.get_added_vocab().keys():
    if "think" in token:
        opening = token
"""
ANSWERS = """import re
def answers(completions, **kwargs):
    return [1.0 if found.search(text) else 0.0 for text in completions]
"""
THINKS = """def thinks(completions, **kwargs):
    return [float(text.count(opening) == 1) for text in completions]
"""
LENGTHS = """import numpy as np
sizes = data.map(lambda row: {"n": len(tokenizer(row["prompt"]))})
longest = int(np.quantile(sizes["n"], 0.9))
max_prompt_length = longest + 1
"""
TRAIN = """from vllm import SamplingParams
from trl import GRPOConfig, GRPOTrainer
args = GRPOConfig(
    temperature=0.9, max_prompt_length=max_prompt_length, max_completion_length=2048 - max_prompt_length,
    vllm_sampling_params=SamplingParams(min_p=0.1, top_k=-1, temperature=0.9, top_p=0.95, seed=7),
    report_to="none", output_dir="sums",
)
trainer = GRPOTrainer(model=model, processing_class=tokenizer, reward_funcs=[answers, thinks], args=args,
                      train_dataset=data)
trainer.train()
"""
CELLS = [INSTALL, MODEL, WARM_UP, DATA, PATTERN, TAGS, ANSWERS, THINKS, LENGTHS, TRAIN]


def notebook(cells: list[str]) -> str:
    """The file of a notebook with these code cells."""
    made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 0})


@pytest.fixture(scope="module")
def brought() -> ScriptImport:
    return read_script(notebook(CELLS))


def test_what_vllm_samples_by_arrives(brought: ScriptImport) -> None:
    assert brought.raw["training"] == {"temperature": 0.9, "min_p": 0.1, "top_p": 0.95}
    assert (
        "vllm_sampling_params' seed (code cell 10, line 5) was not taken: all completions of a group would be the "
        "same. training.seed is the run's."
    ) in brought.notes
    (nothing,) = [note for note in brought.notes if note.startswith("Left out, as they change nothing here")]
    assert "vllm_sampling_params' top_k (code cell 10, line 5)" in nothing and "subprocess.check_output(…)" in nothing
    other = read_script(notebook([*CELLS[:-1], TRAIN.replace("temperature=0.9, top_p", "temperature=0.5, top_p")]))
    assert other.raw["training"]["temperature"] == 0.9
    words = "was not taken: training.temperature has another value already."
    assert f"vllm_sampling_params' temperature (code cell 10, line 5) {words}" in other.notes


def test_what_else_vllm_samples_by_is_handed_on_where_vllm_generates() -> None:
    said = TRAIN.replace("seed=7", 'stop=["</a>"], include_stop_str_in_output=True, bad_words=words()')
    without = read_script(notebook([*CELLS[:-1], said]))
    words = "was not taken: training.generation_kwargs takes it where use_vllm is true."
    assert f"vllm_sampling_params' stop (code cell 10, line 5) {words}" in without.notes
    assert "generation_kwargs" not in without.raw["training"]
    said = said.replace("temperature=0.9, max_p", "use_vllm=True, temperature=0.9, max_p")
    brought = read_script(notebook([*CELLS[:-1], said]))
    assert brought.raw["training"]["generation_kwargs"] == {"stop": ["</a>"], "include_stop_str_in_output": True}
    notes = [note for note in brought.notes if "vllm_sampling_params" in note and "top_k" not in note]
    assert len(notes) == 1 and notes[0].startswith("vllm_sampling_params' bad_words (code cell 10, line 5)")
    given = said.replace("use_vllm", 'generation_kwargs={"stop": "x"}, use_vllm')
    other = read_script(notebook([*CELLS[:-1], given]))
    assert other.raw["training"]["generation_kwargs"] == {"stop": "x"}
    assert any("training.generation_kwargs is set already. Add it there." in note for note in other.notes)


def test_what_is_measured_is_said_and_a_setting_that_is_gone_is_not_asked_for(brought: ScriptImport) -> None:
    assert "max_completion_length (code cell 10, line 4) is computed by the script: set it here." in brought.notes
    assert (
        "max_prompt_length (code cell 9, line 4) was not taken: it was removed in TRL 0.28. Prompts are no "
        "longer cut; leave long ones out with a filter under data."
    ) in brought.notes


def test_each_thing_of_the_warm_up_is_said_once(brought: ScriptImport) -> None:
    said = [note for note in brought.notes if "code cell 3," in note]
    assert len(said) == len({note.split("(code cell")[1] for note in said}) <= 4, said
    assert any(note.startswith("SFTTrainer(…) (code cell 3, line 6) was not taken") for note in said)
    assert sum("does not reach the trainer as its training data" in note for note in said) == 1
    assert not any("data['" in note or 'data["' in note for note in said)
    assert "UNSLOTH_VLLM_STANDBY (code cell 1, line 3) is Unsloth's own, and was not taken: TRL trains here." in (
        brought.notes
    )
    assert not any("environ.keys" in note for note in brought.notes)


def test_a_reward_that_comes_along_loads_no_model(brought: ScriptImport) -> None:
    """As it was seen: the cells that load the model came along with the pattern that is made of the tokenizer."""
    by_name = {function.name: function for function in brought.functions}
    answers = by_name["answers"]
    assert answers.problems == [] and answers.imports == ["import re"]
    assert "from_pretrained" not in answers.code and "tokenizer" not in answers.code
    space: dict[str, object] = {}
    exec(answers.code, space)  # noqa: S102 - our own code, from above
    assert space["answers"](["<answer>2</answer>", "2"]) == [1.0, 0.0]  # type: ignore[operator]


MISSING = "“opening” got its value from what the script loaded. Give it one above."


def test_what_only_the_tokenizer_says_is_missing_and_not_none(brought: ScriptImport) -> None:
    """As it was seen: `opening = None` stayed, the loop that gave it its value went, and the reward counted nothing."""
    thinks = next(function for function in brought.functions if function.name == "thinks")
    assert "# opening = None" in thinks.code and "get_added_vocab" not in thinks.code
    assert [problem.message for problem in thinks.problems] == [MISSING]
    pasted = keep_only(clean_paste(notebook(CELLS)))
    assert "# opening = None" in pasted
    assert [problem.message for problem in analyse(pasted).problems] == [MISSING]
    mended = pasted.replace("# opening = None", 'opening = "<think>"')
    assert analyse(mended).problems == []


def test_a_key_for_wandb_is_no_token_for_the_hub() -> None:
    found = read_script(notebook([*CELLS[:-1], "import wandb\nwandb.login()\n", TRAIN]))
    words = "was not taken: keys belong in the environment of Groupwise (WANDB_API_KEY)."
    assert f"wandb.login(…) (code cell 10, line 2) {words}" in found.notes


# ---- tables that pandas reads ----
TABLE = """
import pandas as pd
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

df = READ
STEPS
data = MADE
data = data.map(lambda r: {"prompt": [{"role": "user", "content": r["question"]}]})
GRPOTrainer("a/b", "org/judge", GRPOConfig(), data).train()
"""
SHEET = "pd.read_excel('Klasse 4b Plus und Minus.xlsx', sheet_name='Plus', skiprows=1)"


def read_table(read: str = SHEET, steps: str = "", made: str = "Dataset.from_pandas(df)") -> tuple[dict, str]:
    found = read_script(TABLE.replace("READ", read).replace("STEPS", steps).replace("MADE", made))
    return found.raw["data"], "\n".join(found.notes)


@pytest.mark.parametrize(
    ("read", "taken"),
    [
        (SHEET, {"source": "file:Klasse 4b Plus und Minus.xlsx", "sheet": "Plus", "skip_lines": 1}),
        ("pd.read_excel('/home/x/a.xlsx', 'Plus')", {"source": "file:a.xlsx", "sheet": "Plus"}),
        ("pd.read_excel('a.ods', sheet_name=0)", {"source": "file:a.ods"}),
        ("pd.read_csv('a.csv', sep=';', encoding='cp1252', nrows=50)",
         {"source": "file:a.csv", "separator": "semicolon", "encoding": "cp1252", "limit": 50}),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "made", ["Dataset.from_pandas(df, preserve_index=False)", "Dataset.from_list(df.to_dict('records'))"]
)
def test_a_table_that_pandas_reads_is_taken_by_its_name(read: str, taken: dict, made: str):
    data, said = read_table(read, made=made)
    assert data == {**taken, "prompt_template": "{question}", "answer_column": None}
    assert "JSONL" not in said and "is read from the uploaded files" in said and "not taken" not in said


@pytest.mark.parametrize(
    ("read", "note"),
    [
        ("pd.read_excel('a.xlsx', sheet_name=2)", "read_excel's sheet_name (line 6) could not be taken."),
        ("pd.read_excel('a.xlsx', sheet_name=None)", "read_excel's sheet_name (line 6) could not be taken."),
        ("pd.read_excel('a.xlsx', skiprows=[0, 2])", "read_excel's skiprows (line 6) could not be taken."),
        ("pd.read_excel('a.xlsx', skiprows=n())", "read_excel's skiprows (line 6) could not be taken."),
        ("pd.read_excel('a.xlsx', usecols='A:B')", "read_excel's usecols (line 6) could not be taken."),
        ("pd.read_csv('a.csv', sep='::')", "read_csv's sep (line 6) could not be taken."),
        ("pd.read_csv('a.csv', sheet_name='x')", "read_csv's sheet_name (line 6) could not be taken."),
        ("pd.read_excel(path())", "The data file (line 6) is computed by the script"),
    ],
)
def test_what_else_a_table_is_read_with_is_said(read: str, note: str):
    data, said = read_table(read)
    assert note in said and not {"sheet", "skip_lines", "separator"} & set(data)


def test_renamed_columns_are_followed():
    data, said = read_table(steps="df = df.rename(columns={'Aufgabe': 'question', 'Lösung': 'answer'})")
    assert (data["prompt_template"], data["answer_column"]) == ("{Aufgabe}", "Lösung")


@pytest.mark.parametrize(
    ("steps", "note"),
    [
        ("df = df.rename(columns=names)", "rename(…) (line 7) is computed by the script: set the columns here."),
        ("df.rename(columns={'A': 'question'}, inplace=True)", "rename(…) (line 7) on the data was not taken"),
        ("df.columns = ['question', 'answer']", "“df.columns” (line 7) is set, which was not taken"),
        ("df['question'] = df['Aufgabe'] + '?'", "“df['question']” (line 7) is set, which was not taken"),
        ("df = df[df['n'] > 3]", "Rows of the table (line 7) are chosen by “df['n'] > 3”: set data.filter"),
        ("df = df.dropna()", "dropna(…) (line 7) on the data was not taken"),
    ],
)
def test_what_is_done_to_a_table_is_said(steps: str, note: str):
    data, said = read_table(steps=steps)
    assert data["source"] == "file:Klasse 4b Plus und Minus.xlsx" and note in said


def test_the_columns_of_a_table_that_are_kept():
    data, said = read_table(made="Dataset.from_pandas(df[['question', 'answer']])")
    assert data["columns"] == ["question", "answer"] and "not taken" not in said
