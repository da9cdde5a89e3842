"""Comparing runs: settings that differ, reward code, shared prompts, and all that the page asks."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.core.field_labels import SHORT, compared_label
from groupwise.app.core.setting_words import compared_words
from groupwise.app.pages.compare import compare
from groupwise.app.pages.compare import prompts as compare_prompts
from groupwise.app.pages.compare import settings as compare_settings
from groupwise.app.pages.compare.runs import MOST
from groupwise.storage.analysis.compare import code, fields, prompts
from groupwise.storage.home import db, paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import registry, trash
from groupwise.storage.registry.messages.facts import Catalogue, Setting
from groupwise.storage.spec import spec
from tests.support.made_runs import made_run

Server = Callable[[Any], dict[str, Any]]
SERVERS: list[Server] = [
    compare.compare_runs, compare.search_runs, compare_settings.compare_settings, compare_settings.compare_code,
    compare_prompts.shared_prompts, compare_prompts.prompt_in_runs,
]  # fmt: skip


# ---- settings ----
def flat(text: str, **defaults: Any) -> dict[str, fields.Value]:
    return fields.flat(spec.parse_spec(text), defaults)


def names(*texts: str, **defaults: Any) -> list[str]:
    return [field["name"] for field in fields.differing_fields([flat(text, **defaults) for text in texts])]


ONE = "name: one\nrewards: [{name: format}]\n"


def test_only_what_differs_is_named_by_its_dotted_name_and_seeds_come_last() -> None:
    other = "name: two\nrewards: [{name: format, weight: 2.0}]\ntraining: {seed: 7, learning_rate: 1.0e-5}\n"
    assert names(ONE, other, seed=42, learning_rate=1e-6, beta=0.0) == [
        "training.learning_rate", "rewards.format.weight", "training.seed",
    ]  # fmt: skip
    assert names(ONE, ONE) == []


def test_what_is_found_in_a_file_is_none_of_a_task_s_settings() -> None:
    task = f"{ONE}data: {{source: 'task:quickstart'}}\n"
    read = f"{ONE}data: {{source: 'file:./rows.csv', separator: comma}}\n"
    assert names(task, read) == ["data.source", "data.separator"], "and none of what neither says"
    chosen = f"{read.removesuffix('}' + chr(10))}, limit: 9, prompt_template: '{{b}}'}}\ntraining: {{seed: 7}}\n"
    assert names(task, chosen, seed=42) == [
        "data.source", "data.prompt_template", "data.limit", "training.seed", "data.separator",
    ], "how a file is read follows from the file"  # fmt: skip
    assert names(task, read.replace("rows.csv", "rows.json").replace(", separator: comma", "")) == ["data.source"]
    assert flat(task.replace("'}", "', sheet: A}"))["data.sheet"]["value"] == "A", "what is said, is"


def test_what_new_run_shows_first_comes_before_the_rest_in_its_order() -> None:
    other = (
        "name: two\nrewards: [{name: format, weight: 2.0}]\nmodel: {id: other}\nlora: {r: 8, bias: all}\n"
        "training: {bf16: true, learning_rate: 1.0e-5, num_generations: 4, beta: 0.1, seed: 7, adam_beta1: 0.8}\n"
    )
    found = fields.differing_fields([flat(ONE), flat(other)], tuple(SHORT))
    assert [field["name"] for field in found] == [
        "training.num_generations", "training.learning_rate", "training.beta", "rewards.format.weight", "lora.r",
        "lora", "model.id", "training.adam_beta1", "training.bf16", "lora.bias", "training.seed",
    ]  # fmt: skip


def test_a_default_that_is_said_is_no_difference_and_an_unset_field_shows_its_default() -> None:
    said = ONE + "training: {beta: 0, learning_rate: 1.0e-5}\n"
    (field,) = fields.differing_fields(
        [flat(ONE, beta=0.0, learning_rate=1e-6), flat(said, beta=0.0, learning_rate=1e-6)]
    )
    assert field["values"] == [{"value": 1e-6, "set": False}, {"value": 1e-5, "set": True}]


def test_the_steps_of_a_run_in_stages_are_those_that_it_trains() -> None:
    def steps(*stages: str) -> Any:
        text = f"{ONE}training: {{max_steps: 60}}\nstages: [{', '.join(stages)}]\n"
        return fields.of_whole_run(spec.parse_spec(text))["training.max_steps"]["value"]

    short = "{training: {max_steps: 25}}"
    assert steps() == 60 and steps(short, short) == 50 and steps(short, "{training: {beta: 0.1}}") == 85
    assert steps(short, "{training: {max_steps: -1}}") == -1, "left to the epochs"
    assert "training.max_steps" not in fields.of_whole_run(
        spec.parse_spec(f"{ONE}stages: [{{training: {{beta: 0.1}}}}]")
    )


def test_a_reward_that_one_run_lacks_is_one_line_and_lora_and_stages_are_compared() -> None:
    two = "name: one\nrewards: [{name: format}, {name: brief, parameters: {most: 9}}]\n"
    assert names(ONE, two) == ["rewards.brief.parameters.most", "rewards.brief.weight"]
    assert names(ONE, ONE + "lora: {r: 8}\n") == ["lora", "lora.r"]
    assert names(ONE, ONE + "stages: [{training: {beta: 0.1}}]\n") == ["stages.1.training.beta"]


def test_values_read_as_a_person_writes_them() -> None:
    words = [fields.words(value) for value in (None, True, 1e-05, 0.1, "on", ["a"], {"r": 8}, 3)]
    assert words == ["null", "true", "1e-5", "0.1", "on", '["a"]', '{"r": 8}', "3"]
    rates = [fields.words(rate) for rate in (2e-05, 1e-4, 2.5e-4, 0.001, 1.23456789e-5, -3e-6, 0.0)]
    assert rates == ["2e-5", "1e-4", "2.5e-4", "0.001", "1.23456789e-5", "-3e-6", "0"], "in one way, as New run does"


# ---- reward code ----
def test_code_is_compared_line_by_line_and_links_are_not_followed(tmp_path: Path) -> None:
    folder = paths.RunFolder(tmp_path)
    assert code.code_by_function(folder) == {}
    folder.rewards.mkdir()
    (folder.rewards / "format.py").write_text("a\nb\n")
    (folder.rewards / "secret.py").symlink_to(tmp_path / "elsewhere.py")
    (tmp_path / "elsewhere.py").write_text("secret")
    assert code.code_by_function(folder) == {"format": "a\nb\n"}
    assert code.diff("a\nb\n", "a\nc\n") == [("@", "@@ -1,2 +1,2 @@"), (" ", "a"), ("-", "b"), ("+", "c")]
    assert code.diff("a\n" * 3000, "b\n") is None


def test_reward_code_of_two_runs(registry_home: Path) -> None:
    ids = [made_run(f"run {n}", 2, groups=0) for n in range(3)]
    for n, run_id in enumerate(ids):
        folder = paths.run_folder(run_id)
        folder.rewards.mkdir()
        (folder.rewards / "same.py").write_text("same\n")
        (folder.rewards / "other.py").write_text(f"<b>{n % 2}</b>\n")
    (paths.run_folder(ids[2]).rewards / "other.py").unlink()
    other, same = compare_settings.compare_code({"ids": ids, "a": ids[0], "b": ids[1]})["functions"]
    assert (other["name"], same["words"], same["code"]) == ("other", "The same code in both.", "same")
    assert other["lines"][1:] == [["-", "<b>0</b>"], ["+", "<b>1</b>"]]
    assert len(set(other["hashes"][:2])) == 2 and other["hashes"][2] is None
    found = compare_settings.compare_code({"ids": ids, "a": ids[0], "b": ids[2]})["functions"]
    assert (found[0]["words"], found[0]["code"]) == ("Only the first of the two runs uses it.", "<b>0</b>")


# ---- prompts ----
def asked(step: int, prompt: str, scores: list[float], mode: str = "train") -> Group:
    said = [Completion(f"{prompt} {step} {score}", 3, False, score, 0.0, [(score, "ok")]) for score in scores]
    return Group(mode, step, [{"role": "user", "content": prompt}], {"answer": "2"}, said)


def run_with(name: str, groups: list[Group]) -> str:
    """A run whose one function is correctness, with these groups, each at its step."""
    run_id = made_run(name, 1, groups=0, functions=["correctness"])
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"correctness": 2.0})
    for group in groups:
        writer.commit(group.step, groups=[group])
    writer.close()
    return run_id


def test_shared_prompts_with_how_each_run_did_at_first_and_at_last(registry_home: Path) -> None:
    one = run_with("one", [asked(2, "1+1?", [0, 1]), asked(3, "lonely", [0, 0]), asked(5, "1+1?", [1, 1])])
    two = run_with("two", [asked(2, "1+1?", [0, 0])])
    three = run_with("three", [asked(2, "100%_!", [0, 0])])
    found = compare_prompts.shared_prompts({"ids": [one, two, three]})
    (row,) = found["rows"]
    assert (row["prompt"], found["count"]) == ("1+1?", 1)
    assert [(run["first"]["solved"], run["last"]["solved"], run["last"]["step"]) for run in row["runs"][:2]] == [
        (0.5, 1.0, 5), (0.0, 0.0, 2),
    ]  # fmt: skip
    assert row["runs"][2] is None
    assert compare_prompts.shared_prompts({"ids": [one, two], "words": "1+"})["count"] == 1
    for words, seen in (("", 2), ("lonely", 1), ("nowhere", 0)):
        asked_for = {"ids": [run_with("alone", [asked(2, "lonely", [0, 1])]), three], "words": words}
        found = compare_prompts.shared_prompts(asked_for)
        assert (found["rows"], found["count"], found["seen"]) == ([], 0, seen)
    assert compare_prompts.shared_prompts({"ids": [one, two], "words": "%"})["count"] == 0


def test_the_same_question_is_one_row_and_what_differs_in_its_prompt_is_said(registry_home: Path) -> None:
    """Seen: “no two were given the same prompt” of runs on one file, whose answers were 57 and 57,0."""

    def told(answer: str, system: str = "", **columns: str) -> Group:
        group = asked(2, "40+17?", [0, 1])
        before = [{"role": "system", "content": system}] if system else []
        return replace(group, prompt=[*before, *group.prompt], columns={"answer": answer, **columns})

    one, two = run_with("one", [told("57", Frage="40+17?")]), run_with("two", [told("57,0", Frage="40+17?")])
    three, four = run_with("three", [told("57", question="40+17?")]), run_with("four", [told("57", "Think.")])
    ids = [one, two, three, four, run_with("five", [asked(2, "else", [1, 1])])]
    (row,) = compare_prompts.shared_prompts({"ids": ids})["rows"]
    assert [bool(run) for run in row["runs"]] == [True] * 4 + [False]
    assert row["differs"] == ["", "answer 57,0", "", "another system prompt", ""]
    found = compare_prompts.prompt_in_runs({"ids": ids, "hash": row["hash"]})["runs"]
    assert [one and one["differs"] for one in found] == [*row["differs"][:4], None]
    assert compare_prompts.shared_prompts({"ids": ids, "order": "differ"})["count"] == 1


def test_one_prompt_with_what_each_run_says_to_it_at_last_and_where_its_best_is(registry_home: Path) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    one = run_with(
        "one", [asked(2, hostile, [0.2, 0.9]), asked(5, hostile, [0.9, 0.1]), asked(6, hostile, [0.3, 0, 0.2])]
    )
    two = run_with("two", [asked(2, hostile, [0.5]), asked(7, hostile, [1.0], mode="eval")])
    (row,) = compare_prompts.shared_prompts({"ids": [one, two]})["rows"]
    found = compare_prompts.prompt_in_runs({"ids": [one, "gone", two], "hash": row["hash"]})
    first, gone, second = found["runs"]
    assert found["prompt"] == hostile and gone is None
    latest = first["latest"]
    assert (latest["step"], latest["reward"], latest["of"], first["groups"]) == (6, 0.2, 3, 3), "not its best"
    assert (first["best"]["step"], first["best"]["reward"]) == (5, 0.9)
    assert second["latest"]["reward"] == 0.5  # what was only evaluated is no training
    assert second["best"] is None, "its latest is no worse"
    assert "<img" not in latest["html"] and "&lt;img" in latest["html"]


def test_a_prompt_that_was_held_out_is_read_from_its_evaluations(registry_home: Path) -> None:
    one = run_with("one", [asked(2, "held?", [0, 1], mode="eval"), asked(4, "held?", [1, 1], mode="eval")])
    two = run_with("two", [asked(2, "held?", [0.0])])
    (row,) = compare_prompts.shared_prompts({"ids": [one, two]})["rows"]
    first, second = row["runs"]
    assert (first["first"]["solved"], first["last"]["solved"], first["held_out"]) == (0.5, 1.0, True)
    assert (second["last"]["solved"], second["held_out"]) == (0.0, False)
    held, _ = compare_prompts.prompt_in_runs({"ids": [one, two], "hash": row["hash"]})["runs"]
    assert (held["latest"]["step"], held["latest"]["reward"], held["groups"]) == (4, 1.0, 2)


def test_a_long_completion_is_cut_and_what_was_trained_over_does_not_count(registry_home: Path) -> None:
    long = Group("train", 1, "plain", {}, [Completion("x" * 100_000, 9, True, 1.0, 0.0, [(1.0, "ok")])])
    one = run_with("one", [long])
    two = run_with("two", [asked(2, "1+1?", [1.0])])
    writer = RunWriter(paths.run_folder(two).db, 2, {"correctness": 2.0})
    writer.commit(1, events=[Event("begin", "again", {"total": 9})])
    writer.commit(2, groups=[asked(2, "1+1?", [0.0])])
    writer.close()
    record = db.open_reader(paths.run_folder(two).db)
    try:
        looker = prompts.Looker(record, ("correctness", 1.0))
        found = looker.ends(1)
        assert found is not None and found["last"]["solved"] == 0.0 and looker.count(1) == 1
    finally:
        record.close()
    digest = prompts.hashes(reader := db.open_reader(paths.run_folder(one).db))[0]
    reader.close()
    said = compare_prompts.prompt_in_runs({"ids": [one, two], "hash": digest})["runs"][0]["latest"]
    assert len(said["html"]) == compare_prompts.LONGEST and said["cut"].startswith("96,000 more") and said["truncated"]


# ---- what the page asks ----
def test_runs_are_told_apart_by_colour_dash_and_name(registry_home: Path) -> None:
    ids = [made_run("same", 2, groups=0) for _ in range(9)]
    runs = compare.compare_runs({"ids": ids})["runs"]
    assert len({run["colour"] for run in runs}) == 9
    assert len({run["name"] for run in runs}) == 9
    assert not any(run["other_colour"] for run in runs), "each has that of Runs"
    alone = compare.compare_runs({"ids": ids[:1]})["runs"][0]
    assert (alone["colour"], alone["dash"], alone["name"]) == (runs[0]["colour"], "solid", "same")


def test_what_a_run_can_earn_at_most_comes_with_its_figures(registry_home: Path) -> None:
    ids = [made_run("both", 2, groups=1), made_run("one", 2, groups=1, functions=["correctness"])]
    paths.run_folder(unread := made_run("unread", 2, groups=1)).spec.write_text("rewards: [")
    assert [run["most"] for run in compare.compare_runs({"ids": [*ids, unread]})["runs"]] == [3.0, 2.0, None]


def test_what_did_not_change_is_not_sent_again_and_other_metrics_come_when_asked(registry_home: Path) -> None:
    ids = [made_run(f"run {n}", 12, groups=1, eval_every=4) for n in range(2)]
    first = compare.compare_runs({"ids": ids})
    assert [chart["name"] for chart in first["charts"]][:2] == ["reward", "eval_reward"] and first["poll"] >= 10_000
    assert first["runs"][0]["final"]["step"] == 12 and first["runs"][0]["curves"]["reward"][0]["x"][-1] == 12
    seen = {run["id"]: run["seq"] for run in first["runs"]}
    again = compare.compare_runs({"ids": ids, "seen": {**seen, ids[1]: 1}})
    assert "curves" not in again["runs"][0] and "curves" in again["runs"][1]
    other = compare.compare_runs({"ids": ids, "metrics": ["groups/spread", "nothing"]})
    assert [chart["name"] for chart in other["charts"]] == ["groups/spread", "nothing"]
    assert list(other["runs"][0]["curves"]) == ["groups/spread"] and other["charts"][0]["unit"] == ""


def test_a_run_that_cannot_be_read_is_said_and_keeps_no_other_from_being_compared(registry_home: Path) -> None:
    well, deleted, damaged, half, bare, emptied = (made_run(f"run {n}", 4, groups=1) for n in range(6))
    shutil.rmtree(paths.run_folder(deleted).path)
    paths.run_folder(damaged).db.write_bytes(b"nonsense" * 1000)
    paths.run_folder(damaged).spec.write_text("rewards: [")
    writer = db.open_writer(paths.run_folder(half).db, journal="wal")
    writer.execute("DROP TABLE grp")
    writer.execute("DROP TABLE acknowledged")
    writer.close()
    paths.run_folder(bare).db.unlink()
    paths.run_folder(emptied).db.write_bytes(b"")
    ids = [deleted, damaged, half, bare, "no such run", "../etc", well, emptied]
    runs = compare.compare_runs({"ids": ids})["runs"]
    words = [run.get("problem", "") for run in runs]
    assert words[0] == "Its folder is not where it was." and words[3] == "Its run.db is missing." and words[6] == ""
    assert words[1].startswith("Its record cannot be read") and words[2].startswith("Its record is incomplete")
    assert words[7] == "Its run.db is empty."
    assert words[4] == words[5] == "There is no run of this id here."
    assert "reward" in runs[6]["curves"]
    settings = compare_settings.compare_settings({"ids": ids})
    assert set(settings["problems"]) == {deleted, damaged} and "sentence" not in settings
    assert "sentence" not in compare_settings.compare_code({"ids": ids, "a": deleted, "b": well})
    digest = compare_prompts.shared_prompts({"ids": [*ids, made_run("run 4", 4, groups=1)]})["rows"][0]["hash"]
    assert [bool(run) for run in compare_prompts.prompt_in_runs({"ids": ids, "hash": digest})["runs"]] == [
        False
    ] * 6 + [True, False]


def test_an_older_record_without_group_metrics_is_compared(registry_home: Path) -> None:
    run_id = made_run("old", 12, groups=0)
    record = db.open_writer(paths.run_folder(run_id).db, journal="wal")
    record.execute("DROP TABLE completion_text")
    record.execute("DELETE FROM metric WHERE key IN (SELECT id FROM metric_key WHERE name LIKE 'time/%')")
    record.close()
    (run,) = compare.compare_runs({"ids": [run_id], "x": "time"})["runs"]
    assert "problem" not in run and run["final"]["tied"] == pytest.approx(0.2)  # TRL's own


def test_settings_that_differ_with_the_published_defaults(registry_home: Path) -> None:
    temperature = Setting(types=["float"], default=1.0)
    registry.publish_fact(Catalogue(versions={}, training={"temperature": temperature}, lora={}))
    ids = [made_run("one", 2, groups=0), made_run("two", 2, groups=0, training={"temperature": 0.5, "seed": 2})]
    found = compare_settings.compare_settings({"ids": ids, "by": "training.beta"})
    assert [field["name"] for field in found["fields"]] == ["training.temperature", "training.seed", "training.beta"]
    assert found["fields"][0]["values"] == [
        {"words": "1", "number": 1.0, "set": False}, {"words": "0.5", "number": 0.5, "set": True},
    ]  # fmt: skip
    assert found["fields"][1]["values"][0] is None
    assert [field["label"] for field in found["fields"]] == ["Temperature", "Seed", "KL weight"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("data.separator", "comma", "commas"), ("data.encoding", "cp1252", "Windows-1252"),
        ("data.heading", "line", "first line"), ("data.separator", None, "found in the file"),
        ("data.limit", None, "all"), ("data.prompt_column", None, "not set"), ("data.streaming", True, "on"),
        ("data.answer_numbers", "comma", "only the number: 1.234,5"), ("data.filter", [], "none"),
        ("training.report_to", ["wandb", "mlflow"], "wandb, mlflow"), ("training.learning_rate", 1e-5, "1e-5"),
        ("data.prompt_template", "comma", "comma"),
        ("rewards.format.schedule", [{"step": 0, "weight": 1.0}, {"step": 20, "weight": 0.5}],
         "1 at step 0, 0.5 at step 20"),
        ("stages.1.rewards.format.adapt", {"low": 0.3, "success": 1.0}, "raise it below 0.3, success is 1"),
    ],
)  # fmt: skip
def test_a_value_stands_in_the_words_of_the_form(name: str, value: object, words: str) -> None:
    assert compared_words(name, value) == words


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("training.learning_rate", "Learning rate"), ("training.top_p", "Top p"), ("data.source", "Data source"),
        ("training.model_init_kwargs.dtype", "Model init arguments: dtype"), ("lora", "LoRA"), ("lora.r", "LoRA rank"),
        ("rewards.format.weight", "Weight of format"), ("rewards.format.parameters.tags", "tags of format"),
        ("rewards.format.schedule", "Schedule of format"), ("stages.2.training.beta", "KL weight in stage 2"),
        ("stages.1.rewards.format.weight", "Weight of format in stage 1"),
    ],
)  # fmt: skip
def test_a_setting_is_called_what_the_form_calls_it(name: str, label: str) -> None:
    assert compared_label(name) == label


def test_a_failed_run_says_why_and_a_deleted_one_where_it_is(registry_home: Path) -> None:
    well, failed, deleted = made_run("well", 2), made_run("ill", 2, state=states.FAILED), made_run("gone", 2)
    registry.set_state(failed, states.FAILED, "Failed at step 2: CUDA ran out of memory. See the log.")
    trash.delete_run(deleted)
    runs = compare.compare_runs({"ids": [well, failed, deleted]})["runs"]
    assert [run.get("reason") for run in runs] == ["", "CUDA ran out of memory", None]
    assert (runs[2]["name"], runs[2]["there"]) == ("gone", False)
    assert runs[2]["problem"] == "Deleted. It can be restored on the Runs page, under Deleted."


def test_the_search_finds_runs_that_are_not_compared_yet(registry_home: Path) -> None:
    one, two = made_run("alpha", 2, groups=0), made_run("beta", 2, groups=0)
    assert [run["id"] for run in compare.search_runs({"words": "BETA finished"})["runs"]] == [two]
    assert [run["id"] for run in compare.search_runs({"ids": [two]})["runs"]] == [one]


def test_at_most_twenty_runs_each_once(registry_home: Path) -> None:
    one = made_run("one", 2, groups=0)
    found = compare.compare_runs({"ids": [one, one, *(f"run-{n}" for n in range(30))]})
    assert len(found["runs"]) == MOST and found["left_out"] == 12


@pytest.mark.parametrize("server", SERVERS)
def test_any_payload_gets_a_plain_answer(registry_home: Path, server: Server) -> None:
    run_id = made_run("one", 2, groups=1)
    for payload in (
        None, 7, [], {}, {"ids": run_id}, {"ids": [None, 7, {}, [run_id], "../../etc", "\0", "x" * 10_000, "\ud800"]},
        {"ids": [run_id], "x": [], "by": 7, "metrics": "reward", "seen": [], "words": {}, "hash": None, "a": 3},
        {"ids": [run_id], "metrics": [None, "\0", "x" * 10_000], "seen": {run_id: []}, "x": "'; --", "hash": "%"},
        {"ids": [run_id] * 100_000},
    ):  # fmt: skip
        answer = server(payload)
        assert isinstance(answer, dict) and "fault" not in answer, payload
        json.dumps(answer, allow_nan=False)


def test_hostile_names_stay_text(registry_home: Path) -> None:
    run_id = made_run("\u202e<script>\x1b", 2, groups=0, metrics=lambda step: {"<b>\u202e": 1.0})
    found = compare.compare_runs({"ids": [run_id], "metrics": ["<b>\u202e"]})
    assert found["runs"][0]["name"] == "⟨U+202E⟩<script>␛"
    assert found["charts"][0]["title"] == "<b>⟨U+202E⟩" and list(found["runs"][0]["curves"]) == ["<b>\u202e"]


def test_a_run_is_offered_with_its_age_as_runs_and_the_command_say_it(registry_home: Path) -> None:
    ended, waits = made_run("ended", 3, groups=0), registry.create_run(ONE, name="waits", model="m", data="d")
    registry.set_facts(ended, created=time.time() - 7200, state_at=time.time() - 120)
    about = {run["id"]: run["about"] for run in compare.search_runs({})["runs"]}
    assert about == {ended: "Finished · launched 2 h ago", waits: "Queued · launched now"}
