"""A table whose columns are called as people call them, from the file to what the reward functions get."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from groupwise.storage.checks.check import check_spec
from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.spec.spec import RunSpec, from_dict
from groupwise.worker.data import data_checks, mapping, preview
from groupwise.worker.training import train
from tests.support.runs import ask_db, make_spec, queue

pytestmark = pytest.mark.usefixtures("keep_signal_handler")

NAMES = ["Frage Nr.", "Lösung", "答案", "Preis {netto}", "a}b", "price ($)", "class", "is empty", "x.y-z", "“q”\n2"]
CODE = '''
def awkward(completions, answer, **kwargs):
    """1 where every column came under its own name."""
    wanted = %r
    right = [all(kwargs[name][n] == f"{name} {kwargs['Nr.'][n]}" for name in wanted) for n in range(len(completions))]
    return [float(each and value in ("1", "2", "3", "4")) for each, value in zip(right, answer)]
'''


def german() -> RunSpec:
    """A run over the table, whose settings name the odd columns wherever a column can be named."""
    rows = [{name: f"{name} {n}" for name in NAMES} | {"Nr.": str(n), "Menge": f"{n},0 Stück"} for n in range(1, 6)]
    (paths.data_folder() / "odd.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    library.save_reward("awkward", CODE % NAMES)
    return make_spec(
        data={
            "source": "file:odd.jsonl", "limit": None,
            "prompt_template": '{Frage Nr.}|{答案}|{Preis {netto}}|{a}b}|{"JSON": 1}',
            "answer_column": "Menge", "answer_numbers": "comma",
            "filter": ['"is empty" is not empty', "Preis {netto} contains netto", "Nr. < 5", "length of 答案 > 3"],
        },
        rewards=[{"name": "awkward"}],
        training={"max_steps": 2},
    )  # fmt: skip


def test_odd_names_reach_prompt_filter_answer_and_rewards(registry_home: Path) -> None:
    spec = german()
    assert [problem for problem in check_spec(spec, Offer()) if problem.level == "blocking"] == []
    shown = preview.preview(spec.data, spec.model, 0)
    assert shown.messages is not None
    assert shown.messages[0].content == 'Frage Nr. 1|答案 1|Preis {netto} 1|a}b 1|{"JSON": 1}'
    assert [column.name for column in shown.columns] == [*NAMES, "Nr.", "Menge"]
    assert (shown.answer, shown.written_answer) == ("1", "1,0 Stück") and shown.problems == []
    found = data_checks.check_data(spec.data, spec.model, 8, True)
    assert (found.kept, found.filtered, found.empty) == (4, 1, 0)
    folder = queue(spec)
    assert train.main(folder.id) == 0
    scores = ask_db(folder, "SELECT value, status FROM score")
    assert {(1.0, "ok")} == set(scores) and len(scores) == 8
    [(prompt, columns)] = ask_db(folder, "SELECT prompt, columns FROM prompt LIMIT 1")
    assert "答案" in prompt and "Preis {netto} " in prompt
    assert set(NAMES) <= set(json.loads(columns))
    assert from_dict(from_script(to_script(spec))[0]).data == spec.data


def test_a_name_that_is_nearly_one_is_offered(registry_home: Path) -> None:
    spec = german()
    columns = [*NAMES, "Nr.", "Menge"]
    asked = spec.data.model_copy(update={"prompt_template": "{Frage Nr} {price ($}", "answer_column": "Mengen"})
    said = {
        problem.message.split(".")[0]: problem.fixes
        for problem in mapping.mapping_problems(asked, columns, [], mapping.guess(columns, []))
    }
    assert said["there is no column “Frage Nr”"][0].settings == {"data.prompt_template": "{Frage Nr.} {price ($}"}
    assert "there is no column “Mengen”" in said


def test_the_script_fills_odd_names_as_the_run_does(registry_home: Path) -> None:
    spec = german()
    script = to_script(spec)
    assert "def fill_template(" in script and "def number_of_answer(" in script
    plain = to_script(spec.model_copy(update={"data": spec.data.model_copy(update={"prompt_template": "{Frage Nr.}"})}))
    assert "def fill_template(" not in plain
