"""What a script makes of a row by where the row stands is said, and never taken as if it were the same for all rows."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script

SCRIPT = """
import itertools, random, uuid
from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

ds = load_dataset("openai/gsm8k", "main", split="train")
{code}
trainer = GRPOTrainer(model="a/m", reward_funcs=accuracy_reward, args=GRPOConfig(), train_dataset=ds)
trainer.train()
"""


def batched(prompts: str, before: str = "pass") -> str:
    return f"""
def f(batch):
    {before}
    return {{"prompt": {prompts}}}
ds = ds.map(f, batched=True)
"""


def by_row(body: str, before: str = "", signature: str = "row") -> str:
    return f"{before}\ndef f({signature}):\n    {body}\nds = ds.map(f)\n"


@pytest.mark.parametrize(
    "code",
    [
        batched("[f'Problem {i}: {p}' for i, p in enumerate(batch['question'])]"),
        batched("[f'Problem {i + 1}: {p}' for i, p in enumerate(batch['question'])]"),
        batched("[f'{i}: ' + batch['question'][i] for i in range(len(batch['question']))]"),
        batched("[f'{n} in all: {p}' for p in batch['question']]", "n = len(batch['question'])"),
        batched("[f'{n}: {p}' for n, p in zip(range(len(batch['question'])), batch['question'])]"),
        batched("[batch['question'][0] + p for p in batch['question']]"),
        batched("[batch['question'][i - 1] + p for i, p in enumerate(batch['question'])]"),
        batched("list(reversed(batch['question']))"),
        batched("['only one']"),
        batched("out", "out = []\n    for i, p in enumerate(batch['question']): out.append(f'{i}. {p}')"),
        by_row("global n; n += 1; return {'prompt': f'{n}: ' + row['question']}", "n = 0"),
        by_row("state['n'] += 1; return {'prompt': f'{state[\"n\"]}: ' + row['question']}", "state = {'n': 0}"),
        by_row("s['n'] += 1; return {'prompt': f'{s[\"n\"]}: ' + row['question']}", "", "row, s={'n': 0}"),
        by_row("seen.append(1); return {'prompt': f'{len(seen)}: ' + row['question']}", "seen = []"),
        by_row("global last; p = last + row['question']; last = row['question']; return {'prompt': p}", "last = ''"),
        by_row("f.n += 1; return {'prompt': f'{f.n}: ' + row['question']}") + "\nf.n = 0",
        by_row("return {'prompt': f'{next(c)}: ' + row['question']}", "c = itertools.count()"),
        by_row("return {'prompt': random.choice(['A ', 'B ']) + row['question']}"),
        by_row("return {'prompt': kinds[0] + row['question']}", "kinds = ['A ', 'B ']\nrandom.shuffle(kinds)"),
        by_row("return {'prompt': f'{uuid.uuid4()} {row[\"question\"]}'}"),
        by_row("return {'prompt': f'{hash(row[\"question\"])} {row[\"question\"]}'}"),
        "ds = ds.map(lambda row, i: {'prompt': f'{i}: ' + row['question']}, with_indices=True)",
        """
class Numbers:
    def __init__(self): self.n = 0
    def f(self, row):
        self.n += 1
        return {"prompt": f"{self.n}: " + row["question"]}
ds = ds.map(Numbers().f)
""",
    ],
)
def test_what_depends_on_the_rows_place_is_said_and_becomes_no_template(code: str) -> None:
    found = read_script(SCRIPT.format(code=code))
    assert {"prompt_template", "prompt_column", "system_prompt"}.isdisjoint(found.raw["data"]) or (
        found.raw["data"].get("prompt_column") == "prompt" and "map(…" in "".join(found.notes)
    ), (found.raw["data"], found.notes)
    assert [note for note in found.notes if note.startswith(("The prompt (", "map(…"))], found.notes


def test_the_words_name_the_reason() -> None:
    found = read_script(SCRIPT.format(code=batched("[f'{i}: {p}' for i, p in enumerate(batch['question'])]")))
    assert (
        "The prompt (line 11) is not the same for each row, as it depends on which row it is: set its template here."
        in found.notes
    )


@pytest.mark.parametrize(
    ("code", "template"),
    [
        (batched("[f'Problem: {p}' for p in batch['question']]"), "Problem: {question}"),
        (batched("['Problem: ' + batch['question'][i] for i in range(len(batch['question']))]"), "Problem: {question}"),
        (batched("[f'{q} ({a})' for q, a in zip(batch['question'], batch['hint'])]"), "{question} ({hint})"),
        (batched("out", "out = []\n    for i, p in enumerate(batch['question']): out.append('Q: ' + p)"),
         "Q: {question}"),
        ("def f(batch):\n    batch['prompt'] = ['Q: ' + q for q in batch['question']]\n    return batch\n"
         "ds = ds.map(f, batched=True)", "Q: {question}"),
        ("ds = ds.map(lambda r: {'q2': 'Q: ' + r['question']})\n" + batched("[q + '!' for q in batch['q2']]"),
         "Q: {question}!"),
        (by_row("global n; n += 1; return {'prompt': 'Q: ' + row['question'], 'id': n}", "n = 0"), "Q: {question}"),
        ("ds = ds.map(lambda row, i: {'prompt': 'Q: ' + row['question'], 'id': i}, with_indices=True)",
         "Q: {question}"),
    ],
)  # fmt: skip
def test_what_is_the_same_for_all_rows_is_still_a_template(code: str, template: str) -> None:
    found = read_script(SCRIPT.format(code=code))
    assert found.raw["data"]["prompt_template"] == template
    assert "which row it is" not in "".join(found.notes)
    if "id'" in code:
        assert "The column “id”" in "".join(found.notes)


def test_a_name_means_in_a_map_and_a_filter_what_it_did_when_they_were_called() -> None:
    code = """
WORDS, MOST, ENDS = "Think. ", 5, {"a": "!"}
ds = ds.filter(lambda row: row["level"] < MOST)
ds = ds.map(lambda row: {"prompt": WORDS + row["question"] + ENDS["a"]})
WORDS, MOST = "Chat. ", 9
ENDS["a"] = "?"
"""
    data = read_script(SCRIPT.format(code=code)).raw["data"]
    assert data["prompt_template"] == "Think. {question}!" and data["filter"] == ["level < 5"]
