"""The Rewards page's functions on plain values: anyone may call them with anything, and nothing typed is ever run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import launch, new_run, presets, url_settings
from groupwise.app.pages.rewards import asking, functions, led_here, library_view, lint, sources
from groupwise.app.pages.rewards import rewards_page as page
from groupwise.app.pages.run import ending
from groupwise.storage.checks import script_reader
from groupwise.storage.home import files, paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.presets import PresetError
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import questions, registry
from groupwise.storage.registry.messages.completions import CompletionsAnswer
from groupwise.storage.registry.messages.message import Progress
from groupwise.storage.spec.spec import parse_spec, to_yaml
from tests.support import offer
from tests.support.made_runs import made_run
from tests.support.runs import make_spec

MINE = "def mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
CODE = '''def short(completions, *, most: int = 20, **kwargs):
    """1 for a short completion.

    Args:
        most: the most characters.
    """
    return [float(len(text) <= most) for text in completions]
'''
FUNCTIONS = (
    page.open_rewards,
    page.show_function,
    page.analyse_code,
    page.save_function,
    page.delete_function,
    page.restore_function,
    page.compare_texts,
    page.clean_paste,
    page.strip_code,
    page.rename_column,
    page.build_function,
    page.run_rewards,
    page.ask_worker,
    page.read_answer,
    page.cancel_question,
    page.cancel_all,
)
MARK = "/tmp/groupwise-was-run"


def question(kind: str, **sent: Any) -> questions.Question:
    """What an asked question carries."""
    asked = page.ask_worker({"kind": kind, **sent})
    assert "question" in asked, asked
    found = questions.get_question(asked["question"])
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker is started: what is queued and asked here is looked at, not done."""
    monkeypatch.setattr(worker_process, "ensure_worker", lambda: False)


@pytest.fixture
def published(no_worker: None) -> None:
    offer.publish_installed()


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize(
    "sent",
    [None, 7, [], "x", {}, {"text": 3, "name": [], "version": {}}, {"text": "x" * 300_000, "name": "x" * 9000},
     {"text": "\0", "name": "../x", "version": "\0", "question": 2**70, "columns": [1, None, {}]},
     {"text": "def (", "old": "a", "new": "b\ud800", "blocks": [None, 3, {"kind": [], "settings": 4, "weight": "x"}]},
     {"kind": "completions", "from": "typed", "data": "preset:nope", "typed": [{"row": -1, "text": 4}]},
     {"kind": "completions", "from": "run", "run": "../../etc", "step": math.nan, "rows": math.inf, "size": True},
     {"kind": "score", "completions": -1, "functions": [{"name": 3, "code": 4, "parameters": {"a": 5}}]},
     {"kind": "rescore", "run": "\0", "functions": "all"}, {"kind": "columns", "data": "text:" + "x: [" * 99}],
    ids=range(14),
)  # fmt: skip
def test_the_page_may_send_anything_to_every_function(registry_home: Path, function: Any, sent: Any) -> None:
    json.dumps(function(sent), allow_nan=False)
    assert library.newest_rewards() == []
    assert registry.list_runs() == []


@pytest.mark.usefixtures("published")
def test_a_function_is_saved_shown_compared_and_deleted() -> None:
    first = page.save_function({"name": "short", "text": CODE})
    [own] = first["library"]["own"]
    assert (own["name"], own["help"], own["hash"]) == ("short", "1 for a short completion.", first["hash"])
    assert [(one["name"], one["default"], one["help"]) for one in own["parameters"]] == [
        ("most", 20, "the most characters.")
    ]
    second = page.save_function({"name": "short", "text": CODE.replace("20", "30"), "network": True})
    now = page.show_function({"name": "short"})
    assert (now["hash"], now["network"], len(now["versions"])) == (second["hash"], True, 2)
    before = page.show_function({"name": "short", "version": first["hash"]})
    assert (before["code"], before["newest"]) == (CODE, second["hash"])
    lines = page.compare_texts({"old": before["code"], "new": now["code"]})["lines"]
    assert [line["kind"] for line in lines if line["kind"] in "+-"] == ["-", "+"]
    assert page.delete_function({"name": "short"})["library"]["own"] == []
    assert "no function" in page.show_function({"name": "short"})["sentence"]


@pytest.mark.usefixtures("published")
def test_a_deleted_function_comes_back_as_it_was() -> None:
    page.save_function({"name": "short", "text": CODE})
    kept = page.save_function({"name": "short", "text": CODE.replace("20", "30"), "network": True})
    page.save_function({"name": "short", "text": CODE})  # an older text is the newest version again
    newest = page.save_function({"name": "short", "text": CODE.replace("20", "30"), "network": True})
    before, card = page.show_function({"name": "short"}), paths.rewards_folder() / "short" / "versions.json"
    written = card.read_text()
    page.delete_function({"name": "short"})
    assert "no deleted function" in page.restore_function({"name": "short", "hash": "0" * 16})["sentence"]
    [own] = page.restore_function({"name": "short", "hash": newest["hash"]})["library"]["own"]
    assert (own["hash"], own["network"]) == (kept["hash"], True)
    assert page.show_function({"name": "short"}) == before and card.read_text() == written
    page.delete_function({"name": "short"})
    page.save_function({"name": "short", "text": CODE.replace("20", "40")})
    said = page.restore_function({"name": "short", "hash": newest["hash"]})["sentence"]
    assert said == "Not restored: another “short” has been saved since. What you deleted is among its versions."
    assert newest["hash"] in {one["hash"] for one in page.show_function({"name": "short"})["versions"]}


def test_a_renamed_function_takes_along_its_draft_and_the_presets_that_name_it_are_told(
    registry_home: Path,
) -> None:
    offer.publish_rewards({"format": {"help": ""}})
    page.save_function({"name": "short", "text": CODE})
    given = [("Mine", [{"name": "short"}]), ("Other", [{"name": "format"}])]
    for name, rewards in given:
        presets.store_preset(name, "", to_yaml(make_spec(rewards=rewards)), replace=False)
    typed = CODE + "    (\n"  # no Python yet
    found = page.rename_function({"name": "short", "new": "brief", "text": typed})
    assert found["text"] == typed.replace("def short", "def brief") and found["presets"] == ["Mine"]
    [own] = found["library"]["own"]
    assert own["name"] == found["name"] == "brief" and own["hash"] == found["hash"]
    refused = page.rename_function({"name": "brief", "new": "format"})
    assert "ships with Groupwise" in refused["sentence"]


def test_what_was_made_of_blocks_is_of_blocks_under_another_name(registry_home: Path) -> None:
    block = {"kind": "contains", "settings": {"texts": ["yes"]}, "weight": 1}
    built = page.build_function({"name": "short", "blocks": [block]})
    assert not built["problems"]
    page.save_function({"name": "short", "text": built["code"]})
    page.rename_function({"name": "short", "new": "brief"})
    assert page.show_function({"name": "brief"})["blocks"]["blocks"]


@pytest.mark.usefixtures("published")
def test_a_run_that_a_function_failed_begins_anew_with_the_fixed_one() -> None:
    """Also where its settings name the version that failed."""
    failed, fixed = page.save_function({"name": "short", "text": CODE}), library.hash_of(CODE.replace("20", "30"))
    page.save_function({"name": "short", "text": CODE.replace("20", "30")})
    rewards = [{"name": "format"}, {"name": "short", "version": failed["hash"]}]
    run_id = made_run("a", 0, groups=0, state=states.FAILED, spec_yaml=to_yaml(make_spec(name="a", rewards=rewards)))
    folder = paths.run_folder(run_id)
    record = {"attempt": 1, "outcome": "failed", "step": 0, "planned": 3, "reason": "", "at": 1.0, "traceback": ""}
    asked = {"run": run_id, "name": "short", "hash": fixed}
    assert led_here.corrected_run(asked) == {}
    files.write_json(folder.exit, record | {"cause": "reward", "function": "short", "line": 6})
    go = led_here.corrected_run(asked)["go"]
    assert led_here.corrected_run({**asked, "name": "format"}) == {}
    query = parse_qs(urlsplit(go).query)
    assert query == {"from": [run_id], "fixed": ["short"], "set": [f"rewards.1.version={fixed}"]}
    opened = new_run.open_new_run({"from": run_id, "fixed": "short", "set": query["set"]})["arrival"]
    said = ("Version of short", "as it failed", "as it is saved now")
    assert [tuple(one[key] for key in ("label", "before", "after")) for one in opened["changes"]] == [said]
    begun, changes, refused = url_settings.change(folder.spec.read_text(), query["set"], Offer.read_published())
    assert not refused and [one.label for one in changes] == ["Version of short"]
    assert [one.version for one in parse_spec(begun).rewards] == [None, fixed]


@pytest.mark.usefixtures("published")
def test_a_run_that_a_function_failed_begins_anew_without_it_where_others_count() -> None:
    page.save_function({"name": "short", "text": CODE})

    def help_of(*weights: float, **parts: Any) -> dict[str, Any]:
        """What the run's page offers, of `short` with `format`s of these weights."""
        rewards = [{"name": "short"}, *({"name": "format", "weight": weight} for weight in weights)]
        spec = to_yaml(make_spec(name="a", rewards=rewards, **parts))
        run_id = made_run("a", 0, groups=0, state=states.FAILED, spec_yaml=spec)
        record = {"attempt": 1, "outcome": "failed", "step": 0, "planned": 3, "reason": "", "at": 1.0, "traceback": ""}
        files.write_json(paths.run_folder(run_id).exit, record | {"cause": "reward", "function": "short", "line": 6})
        run = registry.get_run(run_id)
        told = ending.describe_end(run) if run else None
        assert told and told["helps"]["label"] == "Open short at line 6"
        return {"run": run_id, **(told["helps"]["second"] or {})}

    assert "label" not in help_of() and "label" not in help_of(0.0)
    alone = [{"training": {"max_steps": 2}}, {"rewards": [{"name": "short"}], "training": {"max_steps": 2}}]
    assert "label" not in help_of(1.0, stages=alone)
    alone[1]["rewards"] = [{"name": "short", "weight": 3.0}, {"name": "correctness"}]
    found = help_of(1.0, stages=alone)
    assert found["label"] == "New run without short"
    assert found["go"] == f"/new?from={found['run']}&without=short"
    opened = new_run.open_new_run({"from": found["run"], "without": "short"})
    begun = parse_spec(opened["text"])
    assert [[one.name for one in part.rewards] for part in begun.by_stage()] == [["format"], ["correctness"]]
    [said] = opened["arrival"]["changes"]
    assert (said["label"], said["before"], said["after"]) == ("Reward “short”", "weight 1", "removed")
    opened = new_run.open_new_run({"from": found["run"], "without": "other"})["arrival"]
    assert opened["changes"] == [] and opened["refused"] == "“other” is none of these rewards, so none was removed."


@pytest.mark.usefixtures("published")
def test_what_ships_is_shown_and_cannot_be_overwritten_or_deleted() -> None:
    shown = page.show_function({"name": "format"})
    assert shown["built_in"] and "def format" in shown["code"]
    assert "sentence" in page.save_function({"name": "format", "text": shown["code"]})
    assert "sentence" in page.delete_function({"name": "format"})


@pytest.mark.usefixtures("published")
def test_which_runs_use_a_function_is_said() -> None:
    kept = page.save_function({"name": "short", "text": CODE})
    run_id = launch.queue_run(presets.quickstart_text())
    folder = paths.run_folder(run_id).rewards
    folder.mkdir(exist_ok=True)
    (folder / "short.py").write_text(CODE)
    assert page.show_function({"name": "short"})["users"] == [
        {"id": run_id, "name": "arithmetic-quickstart", "hash": kept["hash"], "called": ""}
    ]


@pytest.mark.usefixtures("published")
def test_a_run_that_used_a_function_under_its_earlier_name_counts_as_one_that_uses_it() -> None:
    old = page.save_function({"name": "short", "text": CODE})
    run_id = launch.queue_run(presets.quickstart_text())
    folder = paths.run_folder(run_id).rewards
    folder.mkdir(exist_ok=True)
    (folder / "short.py").write_text(CODE)
    library.rename_reward("short", "brief")
    [version] = library.versions("brief")
    assert version.hash != old["hash"]
    assert page.show_function({"name": "brief"})["users"] == [
        {"id": run_id, "name": "arithmetic-quickstart", "hash": version.hash, "called": "short"}
    ]
    page.save_function({"name": "short", "text": CODE})  # another function, whose runs are its own
    assert page.show_function({"name": "brief"})["users"] == []


SCRIPT = """from datasets import load_dataset
from trl import GRPOTrainer
from trl.rewards import accuracy_reward, get_soft_overlong_punishment

def make(example):
    return {"prompt": example["problem"]}

train = load_dataset("a/b", split="train").map(make)
trainer = GRPOTrainer(model="a/m", reward_funcs=[accuracy_reward, get_soft_overlong_punishment(512, 64)])
trainer.train()
"""


def test_a_script_without_a_reward_function_of_its_own_is_told_where_it_can_be_imported() -> None:
    [said] = page.clean_paste({"text": SCRIPT})["problems"]
    assert said["kind"] == library_view.SCRIPT
    assert said["message"] == (
        "This script has no reward function of its own; it uses accuracy_reward and get_soft_overlong_punishment, "
        "built in here as “math_equivalence” and “soft_overlong_punishment”. To take over the whole script, import it "
        "under New run."
    )
    [said] = page.analyse_code({"text": "\n".join(SCRIPT.replace(", get_soft", ", get_other").split("\n")[3:])})[
        "problems"
    ]
    assert said["message"].startswith("This script has no reward function of its own. To take over")
    # what a trainer is given is meant as one, and what the data is made with never stands in an example of one
    meant = SCRIPT.replace("[accuracy_reward,", "[mine,").replace(
        "def make", "def mine(text):\n    return 1.0\n\ndef make"
    )
    said = page.analyse_code({"text": meant})["problems"]
    assert not any(one["kind"] == library_view.SCRIPT for one in said)
    assert not any("def make(completions" in one["message"] for one in said)


def test_lint_says_lines_and_runs_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"import os\nopen({str(mark)!r}, 'w')\ndef f(completions, **kwargs):\n    return [undefined] * 3\n"
    found = {(one["line"], one["level"]) for one in lint.lint(code)}
    assert found == {(1, "warning"), (4, "error")}
    assert not mark.exists()


def test_lint_is_silent_about_looks_and_about_what_trl_documents() -> None:
    code = "def f(completions,   answer, **kwargs):\n    return [1.0  for c, a in zip(completions, answer) if c==a ]"
    code += f" # {'x' * 200}"
    assert lint.lint(code) == []


def test_where_ruff_cannot_be_run_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lint, "find_ruff_bin", lambda: "/no/such/ruff")
    assert lint.lint("import os") == []


def test_of_blocks_no_line_of_code_is_said() -> None:
    """Nobody who builds from blocks sees lines."""

    def said(given: list[str], *blocks: dict[str, Any]) -> list[tuple[str, int | None]]:
        code = page.build_function({"name": "note", "blocks": [*blocks]})["code"]
        found = page.analyse_code({"text": code, "name": "note", "columns": given})["problems"]
        assert all(one["blocks"] for one in found), found
        return [(one["message"], one["block"]) for one in found]

    number = {"kind": "number_equals", "settings": {}, "weight": 1}
    words = {"kind": "contains", "settings": {"texts": ["Euro"]}, "weight": 1}
    wanted = "“note” compares with the answer, and this data has no answer"
    assert said(["answer"], number) == []
    assert said(["Thema"], number) == [(f"{wanted}: choose which column is the answer.", 0)]
    assert said(["solution"], number) == [(f"{wanted}. Did you mean “solution”?", 0)]
    other = number | {"settings": {"column": "punkte"}}
    in_second = "“note” compares with “punkte” in block 2, and this data has no such column: choose another column."
    assert said(["Thema"], words, other) == [(in_second, 1)]
    always = number | {"settings": {"value": 4}}
    third = (
        "“note” compares with the answer in block 3, and this data has no answer: choose which column is the answer."
    )
    assert said(["Thema"], words, always, number) == [(third, 2)]
    secret = words | {"settings": {"texts": ["hf_" + "a1B2c3D4e5" * 4]}}
    held = "Block 2 holds a secret. Take it out: what is typed here is kept with every run."
    assert said(["Thema"], words, secret) == [(held, 1)]


def test_a_text_is_looked_at_for_the_data_that_is_chosen() -> None:
    code = "def f(completions, anser, **kwargs):\n    return [0.5 for _ in completions]\n"
    said = page.analyse_code({"text": code, "columns": ["question", "answer"]})
    assert [one["name"] for one in said["functions"]] == ["f"]
    [problem] = [one for one in said["problems"] if "anser" in one["message"]]
    assert (problem["line"], problem["level"]) == (1, "error") and "answer" in problem["message"]
    assert not any("anser" in one["message"] for one in page.analyse_code({"text": code})["problems"])


def test_a_long_name_is_taken_whole_whatever_is_asked_of_it() -> None:
    long = "r" * 90
    blocks = [{"kind": "length_between", "settings": {"most": 5}}]
    [problem] = page.build_function({"name": long, "blocks": blocks})["problems"]
    assert problem["message"] == "The name has 90 characters; 64 is the most."
    two = f"{CODE}def {long}(completions, anser, **kwargs):\n    return [0.5 for _ in completions]\n"
    found = page.analyse_code({"text": two, "name": long, "columns": ["answer"]})["problems"]
    assert any("anser" in one["message"] for one in found)
    renamed = page.rename_column({"text": two, "names": [long], "old": "anser", "new": "answer"})["text"]
    assert f"{long}(completions, answer," in renamed


def test_a_secret_and_a_long_name_are_said_at_their_lines_with_all_else() -> None:
    function = f"def {'f' * 200}(completions):\n    return [nowhere for _ in completions]\n"
    code = f"KEY = 'sk-proj-{'a1B2' * 9}'\n\n\n{function}"
    said = page.analyse_code({"text": code})["problems"]
    errors = [(one["line"], one["kind"], one["message"]) for one in said if one["level"] == "error"]
    cut = f"“{'f' * 63}…” has to end its arguments with **kwargs"
    assert [(line, kind) for line, kind, _ in errors] == [(1, "secret"), (4, ""), (4, "name"), (5, "")]
    assert errors[0][2].startswith("This line holds a secret.") and errors[1][2].startswith(cut)
    assert errors[2][2] == "The name has 200 characters; 64 is the most."
    assert [one["kind"] for one in page.clean_paste({"text": code})["problems"]][:3] == ["secret", "", "name"]


def test_text_that_is_no_python_is_said_once_and_at_its_line() -> None:
    said = page.analyse_code({"text": "def f(completions, **kwargs):\n    return [1.0 for c in\n"})
    assert len(said["problems"]) == 1
    assert said["functions"] == []


def test_what_a_notebook_or_a_terminal_put_around_it_is_taken_off() -> None:
    function = "def f(completions, **kwargs):\n    return [len(c) for c in completions]\n"
    said = page.clean_paste({"text": f"%pip install trl\n\n{function}"})
    assert said["cleaned"] and [one["name"] for one in said["functions"]] == ["f"]
    assert not any(one["level"] == "error" for one in said["problems"])
    assert page.analyse_code({"text": f"%pip install trl\n{function}"})["cleaner"]


@pytest.mark.usefixtures("published")
def test_completions_are_asked_for_with_the_spec_whose_data_is_chosen() -> None:
    run_id = launch.queue_run(presets.quickstart_text().replace("limit: 2500", "limit: 40"))
    asked = question("completions", **{"from": "model"}, data=f"run:{run_id}", rows=3, size=5)
    assert asked.kind == questions.COMPLETIONS
    assert (asked.payload["rows"], asked.payload["size"], asked.payload["from"]) == (3, 5, "model")
    assert asked.payload["spec"]["data"]["limit"] == 40
    typed = question("completions", **{"from": "typed"}, typed=[{"row": 2, "text": "a"}, {"row": 0, "text": "b"}])
    assert typed.payload["typed"] == [{"row": 2, "text": "a"}, {"row": 0, "text": "b"}]
    assert question("columns").payload["data"]["source"] == "task:arithmetic"
    for wrong in ({"from": "typed", "typed": []}, {"from": "moon"}, {"from": "model", "data": "preset:nope"}):
        assert "sentence" in page.ask_worker({"kind": "completions", **wrong})


@pytest.mark.usefixtures("published")
def test_scores_are_asked_for_with_the_completions_that_came_and_the_code_that_is_typed() -> None:
    page.save_function({"name": "short", "text": CODE, "network": True})
    completions = question("completions", **{"from": "probes"})
    assert asking.GONE in page.ask_worker({"kind": "score", "completions": completions.id})["sentence"]
    groups = [{"row": 0, "prompt": "1+1?", "columns": {"answer": "2"}, "completions": [{"text": "2"}]}]
    questions.answer_question(completions.id, CompletionsAnswer.from_plain({"groups": groups, "sentence": ""}))
    sent = [
        {"name": "mine", "code": MINE, "weight": 2, "timeout": 0.5,
         "parameters": {"tags": ["a, b", ["list"]]}},
        {"name": "short", "parameters": {"most": ["7", ["int"]], "other": ["", ["str"]]}},
        {"name": "format"},
    ]  # fmt: skip
    asked = question("score", completions=completions.id, functions=sent, scale_rewards="none").payload
    mine, short, built_in = asked["functions"]
    assert asked["groups"] == groups and asked["scale_rewards"] == "none" and asked["columns"] == ["answer"]
    assert (mine["code"], mine["parameters"], mine["weight"], mine["timeout"]) == (
        MINE, {"tags": ["a", "b"]}, 2.0, 0.5,
    )  # fmt: skip
    assert (short["code"], short["parameters"], short["network"]) == (CODE, {"most": 7}, True)
    assert built_in["code"] is None and not built_in["network"]


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("sent", "words"),
    [([], "at least one"), ([{"name": "format"}] * 2, "twice"), ([{"name": "nope"}], "nope"),
     ([{"name": "x", "code": "x" * 70_000}], "64 KB"), ([{"name": "format"}] * 40, "At most"),
     ([{"name": "short", "code": f"from .tools import x\n{CODE}"}], "Fix line 1 of “short” first: Relative imports"),
     ([{"name": "short", "code": f"{CODE}]"}], "Fix line .* of “short” first: This is not Python"),
     ([{"name": "other", "code": CODE}], "Fix line 1 of “other” first")],
)  # fmt: skip
def test_functions_that_cannot_be_tried_are_refused_in_words(sent: Any, words: str) -> None:
    with pytest.raises((Unanswerable, library.LibraryError), match=words):
        functions.read_functions(sent)


@pytest.mark.usefixtures("published")
def test_answers_progress_and_what_was_withdrawn_are_told_apart() -> None:
    asked = question("completions", **{"from": "probes"}, topic="page")
    assert page.read_answer({"question": asked.id})["waiting"] == "Preparing the completions…"
    questions.set_progress(asked.id, Progress(sentence="half", done=2, total=4))
    assert page.read_answer({"question": asked.id}) == {"waiting": "half", "done": 2, "total": 4}
    page.cancel_question({"question": asked.id})
    assert page.read_answer({"question": asked.id}) == {"gone": True}


@pytest.mark.usefixtures("published")
def test_a_page_that_is_left_takes_back_what_it_asked_and_nothing_else() -> None:
    of_page, other = [page.ask_worker({"kind": "columns", "topic": topic})["question"] for topic in ("abc1", "abd")]
    taken = page.ask_worker({"kind": "completions", "from": "probes", "topic": "abc2"})["question"]
    assert questions.take_question(taken)
    assert page.cancel_all({"topic": ""}) == {"cancelled": False}
    assert page.cancel_all({"topic": "abc"}) == {"cancelled": True}
    assert questions.get_question(of_page) is None and questions.get_question(other) is not None
    found = questions.get_question(taken)
    assert found is not None and found.cancelled


@pytest.mark.usefixtures("published")
def test_data_is_taken_from_presets_files_and_runs_and_from_nothing_else() -> None:
    (paths.data_folder() / "my.csv").write_text("a,b\n1,2\n")
    run_id = launch.queue_run(presets.quickstart_text())
    listed = sources.list_sources()
    assert listed["presets"][0]["value"] and [one["value"] for one in listed["runs"]] == [f"run:{run_id}"]
    registry.set_state(run_id, states.FAILED, "Failed at step 0: there is no such model.")
    then = sources.list_sources()["runs"]
    begun = [one["begun"] for one in (*listed["runs"], *then)]
    assert begun == [True, False], "what ended before a step is not what to try functions on"
    assert listed["files"] == [{"value": "file:my.csv", "label": "my.csv", "past": None}]
    for wrong in ("run:../../etc", "file:/etc/passwd", "preset:../x", "nonsense", "text:name: ["):
        with pytest.raises((Unanswerable, PresetError)):
            sources.source_spec(wrong)


@pytest.mark.usefixtures("published")
def test_the_functions_of_a_run_are_said_with_their_weights() -> None:
    run_id = launch.queue_run(presets.quickstart_text().replace("weight: 1.0", "weight: 2.5", 1))
    said = page.run_rewards({"data": f"run:{run_id}"})["rewards"]
    assert [(one["name"], one["weight"]) for one in said] == [("format", 2.5), ("correctness", 1.0)]
    assert "sentence" in page.run_rewards({"data": "run:nope"})


def test_differences_are_told_with_the_lines_around_them() -> None:
    old = "\n".join(str(n) for n in range(40))
    found = library_view.difference(old, old.replace("20", "twenty"))
    assert [one["text"] for one in found if one["kind"] == "-"] == ["20"]
    assert len(found) < 12
    assert library_view.difference(old, old) == []


@pytest.mark.usefixtures("no_worker")
def test_of_a_draft_that_has_no_data_that_alone_is_said() -> None:
    """In the words by which the page knows that there is something to choose, rather than something wrong."""
    for source in ("file:", "hub: "):
        draft = "text:" + json.dumps({"name": "a", "data": {"source": source}, "rewards": [{"name": "format"}]})
        for kind in ("columns", "completions"):
            said = page.ask_worker({"kind": kind, "data": draft, "from": "probes", "rows": 3})
            assert said == {"sentence": sources.NO_DATA}
        assert [one["name"] for one in page.run_rewards({"data": draft})["rewards"]] == ["format"]
    assert f'"{sources.NO_DATA}"' in (Path(page.__file__).parent / "source.js").read_text()


MAKERS = """from datasets import load_dataset
from trl import GRPOTrainer

def logged(times):
    def around(function):
        def inner(completions, **kwargs):
            return function(completions, **kwargs)
        return inner
    return around

@logged(3)
def acc(completions, **kwargs):
    return [1.0 for _ in completions]

def make_cosine(max_len, lo):
    def scaled(completions, **kwargs):
        return [lo if len(c) > max_len else 1.0 for c in completions]
    return scaled

def unused(n):
    def inner(completions, **kwargs):
        return [n for _ in completions]
    return inner

class Scorer:
    def __call__(self, completions, **kwargs):
        return [0.0 for _ in completions]

class MyTrainer(GRPOTrainer):
    def weigh(self, prompts, completions):
        return completions

scorer = Scorer()
funcs = [acc, make_cosine(max_len=100, lo=-1.0)]
funcs.append(scorer)
MyTrainer(model="a/m", reward_funcs=funcs, train_dataset=load_dataset("a/b")).train()
"""


def test_what_makes_a_reward_function_for_a_script_is_named() -> None:
    """It was neither listed among the functions nor told of. Decorators, trainers and what is not called make none."""
    took = "Import the script under New run, which takes what it makes, with the values of the call."
    brought = page.clean_paste({"text": MAKERS})
    assert [one["name"] for one in brought["functions"]] == ["acc"]
    said = [(one["line"], one["message"]) for one in brought["problems"] if one["kind"] == library_view.MAKER]
    assert said == [
        (15, f"make_cosine(…) makes a reward function when it is called, and is no reward function itself: it is not "
             f"listed here. {took}"),
        (25, f"Scorer(…) makes an object that scores, and is no reward function itself: it is not listed here. {took}"),
    ]  # fmt: skip
    taken = script_reader.read_script(MAKERS)
    assert len(taken.functions) == 3, "as it is said"
    kept = brought["alone"].splitlines()
    assert "def make_cosine(max_len, lo):" in kept and "class Scorer:" in kept and "# scorer = Scorer()" in kept
    left = page.analyse_code({"text": brought["alone"]})["problems"]
    assert not [one for one in left if one["kind"] == library_view.MAKER], "its script is not there to be imported"
    for name in ("make_cosine", "Scorer"):  # still named: whoever saves acc alone would miss them
        (said_of_it,) = [one["message"] for one in left if one["message"].startswith(f"{name}(…) makes ")]
        assert f"Write a function that returns what {name}(…)(completions, **kwargs) gives" in said_of_it
    assert not any("MyTrainer" in one["message"] or "logged" in one["message"] for one in left)
