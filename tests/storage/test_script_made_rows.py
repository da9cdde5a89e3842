"""Rows that people make in their own ways: comprehensions over a dataset, files of lines, parts put into a DatasetDict,
several files, and answers under names of their own."""

from __future__ import annotations

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.storage.test_script_nothing_dropped import read, script


def test_a_list_made_of_a_dataset_is_its_rows():
    rows = "[{'prompt': 'Q: ' + r['q'], 'answer': r['a']} for r in load_dataset('a/b', split='train') if r['n'] > 3]"
    raw, said = read(script(data=f"Dataset.from_list({rows})"))
    assert said == "" and raw["data"] == {
        "source": "hub:a/b",
        "split": "train",
        "filter": ["n > 3"],
        "prompt_template": "Q: {q}",
        "answer_column": "a",
    }
    made = "def shape(r):\n    return {'prompt': r['q']}\ndata = Dataset.from_list([shape(r) for r in data])"
    raw, said = read(script(made))
    assert said == "" and raw["data"]["prompt_column"] == "q"


def test_lines_of_json_that_are_read_one_by_one_are_the_file():
    lines = "with open('d/rows.jsonl') as f:\n    rows = [json.loads(line) for line in f]"
    shaped = "data = Dataset.from_list([{'prompt': r['q']} for r in rows])"
    raw, said = read(script(f"import json\n{lines}\n{shaped}", data="None"))
    assert raw["data"]["source"] == "file:rows.jsonl" and raw["data"]["prompt_column"] == "q"
    assert said == (
        "The file “rows.jsonl” (line 13) is read from the uploaded files: upload it if it is not among them."
    )


def test_rows_that_a_loop_makes_do_not_say_that_their_dataset_is_of_no_use():
    loop = "rows = []\nfor r in data:\n    rows.append({'prompt': r['q']})\ndata = Dataset.from_list(rows)"
    _, said = read(script(loop))
    assert "does not reach the trainer" not in said
    assert "load_dataset(…) (line 9) was not taken: where the script makes its rows of it, choose it here" in said


def test_a_list_of_a_dataset_that_does_not_reach_the_trainer_changes_nothing():
    raw, said = read(script("texts = [{'q': r['q']} for r in data]\nlongest = max(len(t['q']) for t in texts)"))
    assert said == "" and raw["data"]["source"] == "hub:a/b"


def test_a_part_of_a_dict_of_datasets_is_that_part():
    parts = "DatasetDict({'train': data.map(lambda r: {'prompt': r['q']}), 'test': load_dataset('c/d', split='test')})"
    raw, said = read(script(f"data = {parts}.shuffle(seed=3)['train']"))
    assert said.count("\n") == 0 and "load_dataset(…) (line 11) does not reach the trainer" in said
    assert raw["data"] == {
        "source": "hub:a/b",
        "split": "train",
        "shuffle": 3,
        "prompt_column": "q",
        "answer_column": None,
    }
    joined = "DatasetDict(train=concatenate_datasets([data, load_dataset('c/d', split='train')]))['train']"
    assert read_script(script(f"data = {joined}")).datasets == ["a/b", "c/d"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("['a.json', 'b.json']", "“a.json”, “b.json” (line 9) may be several files, and a run reads one"),
        ("'data/*.json'", "“data/*.json” (line 9) may be several files, and a run reads one"),
    ],
)
def test_several_files_are_said_by_their_names(files: str, said: str):
    raw, notes = read(script(data=f"load_dataset('json', data_files={files}, split='train')"))
    assert "source" not in raw["data"] and said in notes


def test_files_on_the_hub_are_their_dataset():
    files = "'hf://datasets/a/c@v2/data/train-*.parquet'"
    raw, said = read(script(data=f"load_dataset('parquet', data_files={files}, split='train')"))
    assert raw["data"]["source"] == "hub:a/c" and raw["data"]["revision"] == "v2"
    assert said == "load_dataset's data_files (line 9) could not be taken: all files of a/c are read."


@pytest.mark.parametrize("column", ["gold", "gt", "reference_answer", "ground_truths", "final_answer"])
def test_an_answer_under_a_name_of_ones_own_is_the_one_that_a_reward_takes(column: str):
    ok = f"def ok(completions, {column}, **kwargs):\n    return [float(a in c) for c, a in zip(completions, {column})]"
    shape = f"lambda r: {{'prompt': r['q'], '{column}': r['a'].split('####')[1].strip(), 'gold_length': 3}}"
    found = read_script(script(f"{ok}\nthink_format_reward = ok\ndata = data.map({shape})"))
    assert found.raw["data"]["answer_column"] == "a" and found.raw["data"]["answer_pattern"] == r"####\s*(.+)"
    assert "def ok(completions, answer, **kwargs)" in found.functions[0].code
    unasked = read_script(script(f"data = data.map({shape})"))
    assert unasked.raw["data"]["answer_column"] is None


def test_a_column_that_a_reward_takes_and_that_is_no_answer_stays_a_column():
    ok = "def ok(completions, level, **kwargs):\n    return [1.0 for c in completions]"
    found = read_script(script(f"{ok}\nthink_format_reward = ok\ndata = data.map(lambda r: {{'level': r['a']}})"))
    assert found.raw["data"]["answer_column"] is None


def test_the_name_that_a_reward_is_logged_under_is_its_name_without_a_note():
    part = "from functools import partial\ndef lr(completions, *, n=1, **k):\n    return [n for c in completions]"
    raw, said = read(script(f"{part}\nlonger = partial(lr, n=3)\nlonger.__name__ = 'n3'\nthink_format_reward = longer"))
    assert said == "" and raw["rewards"] == [{"name": "n3", "parameters": {"n": 3}, "weight": 1.0}]


def test_other_words_for_what_has_no_place():
    _, said = read(script("model.add_adapter(LoraConfig(r=4))", model="AutoModelForCausalLM.from_pretrained('x/y')"))
    assert "model.add_adapter(…) (line 11) was not taken: set LoRA under lora here." in said
    _, said = read(script("data.set_transform(lambda b: {'prompt': b['q']})"))
    assert "set_transform(…) (line 11) on the data was not taken: set prompt and answer here." in said


def test_a_filter_with_two_bounds_is_two_conditions():
    raw, said = read(script("data = data.filter(lambda r: 2 < r['level'] <= 5)"))
    assert said == "" and raw["data"]["filter"] == ["level > 2", "level <= 5"]


def test_the_beginning_of_the_answer_is_said_and_the_rest_of_the_prompt_is_taken():
    chat = (
        "[{'role': 'system', 'content': 'S'}, {'role': 'user', 'content': 'Q: ' + r['q']}, "
        "{'role': 'assistant', 'content': 'Let me think.\\n<think>'}]"
    )
    for prompt in (chat, f"tok.apply_chat_template({chat}, tokenize=False, continue_final_message=True)"):
        raw, said = read(script(f"tok = load_tokenizer()\ndata = data.map(lambda r: {{'prompt': {prompt}}})"))
        assert raw["data"]["system_prompt"] == "S" and raw["data"]["prompt_template"] == "Q: {q}"
        assert "The beginning of the answer, “Let me think. <think>” (line 12) was not taken" in said


def test_what_omegaconf_reads_of_the_command_line_and_refers_to_is_said():
    base = "base = OmegaConf.create({'train': {'beta': 0.2, 'max_steps': '${total}'}, 'total': 200})"
    conf = "cfg = OmegaConf.merge(base, OmegaConf.from_cli())\nargs = GRPOConfig(**cfg.train)"
    raw, said = read(script(f"from omegaconf import OmegaConf\n{base}\n{conf}"))
    assert raw["training"] == {"beta": 0.2}
    assert "The command line (line 13) is read: where it has defaults, those were taken." in said
    assert "max_steps (line 12) refers to another setting, ${total}: set it here." in said


RENAMED = "split['train'].rename_column('answer', 'solution')"


@pytest.mark.parametrize(
    ("lines", "answer", "words"),
    [
        (f"split['train'] = {RENAMED}", "answer", "The column “solution” (line 13) is the answer"),
        (
            "for k in ('train', 'test'):\n    split[k] = split[k].rename_columns({'answer': 'solution'})",
            "answer",
            "The column “solution” (line 14) is the answer",
        ),
        (f"if fast:\n    split['train'] = {RENAMED}", None, "rename_column(…) (line 14) depends on a condition"),
        (
            "for k in split:\n    split[k] = split[k].rename_column('answer', 'solution')",
            None,
            "rename_column(…) (line 14) on a part of the data was not taken.",
        ),
        ("split['rest'] = split['test'].filter(good)", "solution", "filter(…) (line 13) on a part of the data"),
    ],
)
def test_what_a_script_makes_of_a_part_in_its_place_is_taken_or_said(lines: str, answer: str | None, words: str):
    """No answer column is taken that the rows have only after a step that was not."""
    compared = "from trl.rewards import accuracy_reward as think_format_reward"
    before = f"{compared}\nsplit = data.train_test_split(test_size=9, seed=5)\n{lines}\ndata = split['train']"
    raw, said = read(script(before))
    assert raw["data"].get("answer_column") == answer and words in said


@pytest.mark.parametrize(
    ("chat", "system"),
    [
        ("[SYSTEM, {'role': 'user', 'content': r['q']}, {'role': 'user', 'content': 'Think!'}]", "Be brief."),
        ("[SYSTEM, {'role': 'user', 'content': clean(r['q'])}]", "Be brief."),
        ("[SYSTEM] + [{'role': 'user', 'content': r['q']}] + [{'role': 'user', 'content': 'Think!'}]", "Be brief."),
        ("tok.apply_chat_template([SYSTEM, {'role': 'user', 'content': clean(r['q'])}])", "Be brief."),
        ("[{'role': 'system', 'content': r['s']}, {'role': 'user', 'content': clean(r['q'])}]", None),
        ("[{'role': 'user', 'content': clean(r['q'])}]", None),
    ],
)
def test_the_system_message_of_a_chat_is_taken_where_the_rest_cannot_be(chat: str, system: str | None):
    said_once = "SYSTEM = {'role': 'system', 'content': 'Be brief.'}\ntok = load_tokenizer()"
    raw, said = read(script(f"{said_once}\ndata = data.map(lambda r: {{'prompt': {chat}}})"))
    assert raw["data"].get("system_prompt") == system and "prompt_template" not in raw["data"]
    assert "The prompt (line 13) is made by the script: set its template here." in said


AS_TEXT = "{'prompt': f\"Q: {r['p']}\"}"
AS_MESSAGE = "{'prompt': [{'role': 'user', 'content': r['p']}]}"
UNTAKEN = "A filter (line 11) was not taken: it keeps rows where"


@pytest.mark.parametrize(
    ("kept", "use", "taken", "words"),
    [
        ("len(r['p']) < 2", "r", "length of p < 2",
         "“len(r['p']) < 2” (line 11) counts characters here; if “p” is a chat or another list, the script counts its "
         "messages or items."),
        ("'x' in r['p']", "r", 'p contains "x"', "“'x' in r['p']” (line 11) looks in the text here; if “p” is a chat"),
        ("r['p'] is not None", "r", "p is not empty", "is whether the cell is empty here; if “p” is a chat or another"),
        ("len(r['p']) < 2", AS_TEXT, "length of p < 2", ""),
        ("len(r['p']) < 2", AS_MESSAGE, "length of p < 2", ""),
        ("len(r['p']) < 2", "{'prompt': 'Q: ' + r['p'] + ' A:'}", "length of p < 2", ""),
        ("len(r['p']) < 2 and r['p'] != 'n/a'", "r", "length of p < 2", ""),
        ("'x' in r['p']", "{'prompt': r['p'].strip()}", 'p contains "x"', ""),
        ("r['p'] is not None", AS_TEXT, "p is not empty", ""),
        ("r['p'] != ''", "r", "p is not empty", ""),
        ("len(r['p']) < 2", "{'prompt': r['p'][0]['content']}", None, UNTAKEN),
        ("len(r.get('p')) < 2", "{'prompt': r['p'] + [{'role': 'user', 'content': 'Go!'}]}", None, UNTAKEN),
        ("'x' in r['p']", "{'prompt': ' '.join(r['p'])}", None, UNTAKEN),
        ("r['p'] is not None", "{'prompt': [m for m in r['p'] if good(m)]}", None, UNTAKEN),
        ("len(r['p']) < 2", "{'prompt': tok.apply_chat_template(r['p'], tokenize=False)}", None, UNTAKEN),
        ("len(r['p']) < 2", "{'prompt': [*r['p'], f'{r[\"p\"]}']}", "length of p < 2", "counts characters here; if"),
        ("r['p'] == 5", "r", "p = 5", ""),
        ("r['p'] == 5", AS_TEXT, "p = 5", ""),  # a number, as it is written into a text
        ("r['p'] == 5", "{'prompt': r['p'].strip()}", None, UNTAKEN),  # no text is a number
        ("r['p'] == '5'", "{'prompt': r['p'].strip()}", 'p = "5"', ""),
    ],
)  # fmt: skip
def test_a_condition_on_a_column_that_may_be_a_list_is_said_or_not_taken(
    kept: str, use: str, taken: str | None, words: str
):
    """A condition reads each cell as one text here; what the column holds is known by what functions do with it."""
    raw, said = read(script(f"data = data.filter(lambda r: {kept}).map(lambda r: {use})"))
    assert raw["data"].get("filter", [None])[0] == taken
    assert words in said and (bool(words) or ("another list" not in said and UNTAKEN not in said))


def test_a_column_that_an_earlier_step_renamed_is_known_by_both_names():
    rows = "data.rename_column('q', 'p').filter(lambda r: len(r['p']) < 3)"
    raw, said = read(script(f"data = {rows}.map(lambda r: {{'prompt': r['p'][0]['content']}})"))
    assert "filter" not in raw["data"] and UNTAKEN in said
