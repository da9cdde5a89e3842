"""The live parts of a run's page and of the table of runs: what they answer, and in which words."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.run import checkpoints, config, ending, groups, header, log, overview
from groupwise.app.pages.run_list import columns, runs_table
from groupwise.app.ui import completion, highlight, state_badge
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.home import paths
from groupwise.storage.record import states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Checkpoint, Event
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.messages.facts import Catalogue, Setting
from tests.support.made_runs import made_run
from tests.support.one_run import SPEC, group_of, record
from tests.support.records import seal_checkpoint


@pytest.fixture
def run_id(no_worker: None) -> str:
    return registry.create_run(SPEC, name="one", model="starter", data="task:arithmetic")


def test_tags_are_coloured_and_nothing_else_is() -> None:
    assert highlight.colour_tags("<think>a<b</think>") == (
        '<span class="region r4"><span class="tag r4">&lt;think&gt;</span>a&lt;b'
        '<span class="tag r4">&lt;/think&gt;</span></span>'
    )
    assert "tag" not in highlight.colour_tags('<img src="x">')


def test_a_tied_group_has_no_best() -> None:
    rows = [
        {"idx": n, "text": "x", "tokens": 1, "truncated": 0, "reward": 1.0, "advantage": 0.0, "scores": []}
        for n in range(2)
    ]
    assert "best" not in completion.cards(rows, by_reward=True, tied=True)


def test_a_reward_that_failed_is_named_and_no_zero_is_shown() -> None:
    row = {"name": "judge", "weight": 1.0, "value": None, "status": "timeout"}
    assert "timed out" in completion.score_bar(row, 1.0)
    assert 'class="b"' not in completion.score_bar(row, 1.0)


@pytest.mark.parametrize(
    ("state", "wishes"),
    [
        (states.QUEUED, ["stop"]), (states.RUNNING, ["stop"]), (states.STOPPING, ["kill"]), (states.FINISHED, []),
        (states.STOPPED, ["resume"]), (states.FAILED, []), (states.INTERRUPTED, ["resume"]),
    ],
)  # fmt: skip
def test_a_state_offers_what_it_allows_and_refuses_the_rest(run_id: str, state: str, wishes: list[str]) -> None:
    for step in {states.QUEUED: [], states.STOPPING: [states.STARTING, state]}.get(state, [states.STARTING, state]):
        registry.set_state(run_id, step, "")
    offered = [action["do"] for action in header.run_status({"run": run_id})["actions"] if "do" in action]
    assert offered == wishes
    for wish in ("stop", "kill", "resume", "delete"):
        answer = header.command_run({"run": run_id, "do": wish})
        allowed = wish in header.ASKS and state in commands.ALLOWED[header.ASKS[wish]]
        assert answer == {"done": True} if allowed else answer["sentence"]


def test_of_checkpoints_that_read_the_same_none_is_the_best(registry_home: Path) -> None:
    told = {1: 0.5, 2: 0.5001, 4: 0.75, 6: 0.7501}
    run_id = made_run("alike", 6, groups=0, metrics=lambda step: {"reward": told[step]} if step in told else {})
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    for step, expected in ((1, [""]), (2, ["", ""]), (4, ["best reward", "", ""]), (6, ["", "", "", ""])):
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 100))
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{step}")
        assert [row["best"] for row in checkpoints.list_checkpoints({"run": run_id})["rows"]] == expected
    writer.close()


@pytest.mark.parametrize(
    ("saved", "expected"),
    [
        ((10, 12), ["", ""]), ((10, 20, 22), ["", "best reward", ""]), ((10, 20, 25), ["best reward", "", ""]),
        ((10, 20, 24), ["", "best reward", ""]),
    ],
)  # fmt: skip
def test_a_mean_of_less_than_half_as_many_steps_as_the_longest_is_no_best_and_the_page_says_so(
    registry_home: Path, saved: tuple[int, ...], expected: list[str]
) -> None:
    """As it was seen: “best reward” at step 12, of 2 steps, over step 10, of 10; and “of few steps” beside one of 3."""
    assert "A mean of less than half as many steps as the longest here is not" in " ".join(checkpoints.TEMPLATE.split())
    run_id = made_run("short", saved[-1], groups=0, metrics=lambda step: {"reward": step / 10})
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    for step in saved:
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 100))
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{step}")
    writer.close()
    rows = checkpoints.list_checkpoints({"run": run_id})["rows"]
    assert [row["best"] for row in rows] == expected
    assert rows[-1]["over"] == "mean of steps 1–10"


def test_why_a_checkpoint_has_no_reward_is_said_where_others_have_one(registry_home: Path) -> None:
    run_id = made_run("seldom", 20, groups=0, metrics=lambda step: {} if step % 10 else {"reward": 0.5})
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    told = {}
    for step in (10, 15, 20):
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 100))
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{step}")
        told[step] = checkpoints.list_checkpoints({"run": run_id})["how"].startswith("“–”: no reward was logged in ")
    writer.close()
    assert told == {10: False, 15: True, 20: True}
    over = {row["step"]: row["over"] for row in checkpoints.list_checkpoints({"run": run_id})["rows"]}
    words = {10: "mean of steps 1–10", 15: "", 20: "mean of steps 11–20"}
    assert over == words, "a log tells of all steps since the log before it, and not of 16–20 alone"


def test_each_figure_of_a_checkpoint_names_its_own_steps(registry_home: Path) -> None:
    """12 steps, logged every 10, a checkpoint every 5: the reward is known of each step, KL is not."""
    run_id = made_run("seldom", 12, groups=2, every=10)
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    for step in (5, 10):
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 100))
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{step}")
    writer.close()
    told = checkpoints.list_checkpoints({"run": run_id})
    over = {row["step"]: row["over"] for row in told["rows"]}
    assert over == {5: "mean of steps 1–5", 10: "reward: mean of steps 6–10\nKL: mean of steps 1–10"}
    assert told["how"].startswith("“–”: no KL was logged in those steps (logging_steps "), "at step 5"


def test_resume_names_the_newest_checkpoint_that_is_still_there(run_id: str) -> None:
    writer = record(run_id)
    folder = paths.run_folder(run_id)
    for step in (2, 3):
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 100))
    writer.close()
    run = registry.get_run(run_id)
    assert run is not None
    assert ending.resume_label(run) == "Start again"
    seal_checkpoint(folder.checkpoints / "checkpoint-2")
    assert ending.resume_label(run) == "Resume from step 2"
    told = checkpoints.list_checkpoints({"run": run_id})
    assert [(row["step"], row["state"], row["whole"]) for row in told["rows"]] == [(2, "complete", True)]
    words = "Removed since, to make room for newer ones (save_total_limit) or by hand: step 3."
    assert told["removed"] == words
    assert ending.say_damaged_point(run) == ""
    seal_checkpoint(folder.checkpoints / "checkpoint-3")
    (folder.checkpoints / "checkpoint-3" / "model.safetensors").write_bytes(b"x")
    assert ending.resume_label(run) == "Resume from step 2"
    damaged = "The checkpoint of step 3 cannot be resumed from: it has a damaged model.safetensors."
    words = "Stopped at step 3, as asked. Resume continues from step 3."
    for state in (states.STARTING, states.STOPPED):
        registry.set_state(run_id, state, words)
    assert header.run_status({"run": run_id})["sentence"] == f"Stopped at step 3, as asked. {damaged}"
    killed = dataclasses.replace(run, state=states.KILLED, sentence=words.replace("Stopped", "Killed"))
    told = ending.describe_end(killed)
    assert told and (told["headline"], told["rest"]) == ("Killed at step 3, as asked", damaged)
    gone = "Could not be started: data.source, line 7: there is no file “weg.csv” in data. Upload it."
    lost = ending.describe_end(dataclasses.replace(run, state=states.FAILED, sentence=gone))
    assert lost and lost["headline"] == "There is no file “weg.csv” in data", "no line of a YAML that is not in sight"
    said = f"The reward function “mine” failed: {'x' * 300} is no number"
    long = ending.describe_end(dataclasses.replace(run, state=states.FAILED, sentence=f"Failed at step 3: {said}."))
    assert long and (len(long["headline"]), long["headline"][-2:], long["said"]) == (160, "x…", said)
    assert lost["said"] == ""
    many = checkpoints.removed_words(range(1, 15))
    assert many.endswith("2 earlier ones and step 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.")


@pytest.mark.parametrize(("training", "words"), [
    ({"save_steps": 25}, "one comes every 25 steps, and when the run is stopped"),
    ({"save_steps": 1}, "one comes after every step"),
    ({"save_steps": 0.2}, "they come as save_steps says, and when the run is stopped"),
    ({"save_steps": 25, "save_strategy": "no"}, "one comes only when the run is stopped (save_strategy: no)"),
    ({"save_steps": 25, "save_strategy": "epoch"}, "one comes after each epoch, and when the run is stopped"),
])  # fmt: skip
def test_when_checkpoints_come_is_said_with_the_runs_own_number(training: dict[str, Any], words: str) -> None:
    assert checkpoints.when_saved(training) == words


def test_a_silent_run_is_called_stalled_only_after_ten_of_its_steps() -> None:
    assert header.stall_warning(states.RUNNING, 0.0, 1.0, 59.0) == ""
    assert "No step for 1 min" in header.stall_warning(states.RUNNING, 0.0, 1.0, 61.0)
    assert header.stall_warning(states.RUNNING, 0.0, 30.0, 299.0) == ""
    assert header.stall_warning(states.FINISHED, 0.0, 1.0, 9999.0) == ""


def test_a_resumed_run_is_where_its_checkpoint_is_until_it_makes_a_step(run_id: str) -> None:
    record(run_id, steps=36).close()
    folder = paths.run_folder(run_id)
    seal_checkpoint(folder.checkpoints / "checkpoint-20")
    registry.set_state(run_id, states.STARTING, "", step=36, total=60, attempt=2)
    registry.set_state(run_id, states.RUNNING, "")
    said = header.run_status({"run": run_id})
    assert str(said["line"]).startswith("step 20 of ") and "updated" not in str(said["line"])
    writer = RunWriter(folder.db, 2, {"format": 1.0})
    writer.commit(21)
    writer.close()
    said = header.run_status({"run": run_id})
    assert str(said["line"]).startswith("step 21 of ") and "· updated " in str(said["line"])


def test_the_time_left_is_said_until_the_run_is_called_stalled() -> None:
    for silence, pace in ((299.0, 90.0), (59.0, 1.0)):
        assert " left" in header.progress_line(states.RUNNING, 3, 60, 2.0, pace, 0.0, silence)
        assert header.stall_warning(states.RUNNING, 0.0, pace, silence) == ""
    assert " left" not in header.progress_line(states.RUNNING, 3, 60, 2.0, 1.0, 0.0, 61.0)
    assert " left" not in header.progress_line(states.STOPPING, 3, 60, 2.0, 90.0, 0.0, 59.0), "it will not get there"


def test_a_step_and_the_time_left_add_up() -> None:
    assert "3.6 s a step · 54 s left" in header.progress_line(states.RUNNING, 45, 60, 3.6, 2.5, 0.0, 1.0)
    assert "· 2.0 s a step · 30 s left" in header.progress_line(states.RUNNING, 45, 60, 2.0, 2.1, 0.0, 1.0)
    seen = header.progress_line(states.RUNNING, 169, 400, 0.26, 1.04, 1.0, 2.0)
    assert "· 0.26 s a step, 1.0 s overall · 4 min left · " in seen, "it saves, evaluates and waits, too"
    assert "counted" not in header.progress_line(states.STOPPING, 169, 400, 0.26, 1.04, 0.0, 1.0), "nothing is left"
    assert header.progress_line(states.FINISHED, 60, 60, 2.0, 4.0, 0.0, 1.0) == "step 60 of 60 · 2.0 s a step"


@pytest.mark.parametrize(
    "tables", [[], ["_sqlite_migrations (id INTEGER PRIMARY KEY, migration_set, name, applied_at)"]]
)
def test_a_record_whose_tables_are_being_made_is_not_there_yet(run_id: str, tables: list[str]) -> None:
    made = sqlite3.connect(paths.run_folder(run_id).db)
    for table in tables:
        made.execute(f"CREATE TABLE {table}")
    made.close()
    assert header.run_status({"run": run_id})["label"] == "Queued · 1st in queue"
    assert "Waiting for its turn" in overview.draw_board({"run": run_id})["wait"]
    assert "No group has been scored yet" in groups.groups_at_step({"run": run_id})["wait"]
    assert "Nothing is recorded yet" in groups.show_group({"run": run_id, "group": 1})["sentence"]
    assert "No checkpoint has been saved yet" in checkpoints.list_checkpoints({"run": run_id})["wait"]
    run = registry.get_run(run_id)
    assert run is not None
    assert ending.resume_label(run) == "Start again"


def test_a_run_without_a_checkpoint_starts_again_and_is_not_resumed(run_id: str) -> None:
    def said_of(wish: str) -> list[str]:
        told = header.run_status({"run": run_id})["meanwhile"]
        return list(told[wish])  # type: ignore[index]

    registry.set_state(run_id, states.STOPPED, "Stopped before its first step.")
    again = ["Starting again", "Starting again… The worker starts it in a moment."]
    assert said_of(commands.RESUME) == again
    seal_checkpoint(paths.run_folder(run_id).checkpoints / "checkpoint-10")
    assert said_of(commands.RESUME)[0] == "Resuming", "which checkpoint is chosen with the wish"
    commands.ask_of_run(run_id, commands.RESUME)
    status = header.run_status({"run": run_id})
    assert status["label"] == "Resuming" and str(status["sentence"]).startswith("Resuming from step 10…")


def test_before_the_first_metric_the_board_says_when_it_comes(run_id: str) -> None:
    paths.run_folder(run_id).spec.write_text(SPEC.replace("beta: 0.0", "logging_steps: 10"))
    registry.set_state(run_id, states.STARTING, "")
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    asked = {"run": run_id, "empty": True}
    writer.commit(0)
    assert "the model is loading" in overview.draw_board(asked)["wait"]
    writer.commit(0, events=[Event("begin", "Training begins: 60 steps.", {"total": 60})])
    assert "the first group is being generated" in overview.draw_board(asked)["wait"], "before the state says so"
    registry.set_state(run_id, states.RUNNING, "")
    assert "the first group is being generated" in overview.draw_board(asked)["wait"]
    writer.commit(3, groups=[group_of("x", 3)])
    writer.close()
    assert overview.draw_board(asked)["wait"] == "Metrics are logged every 10 steps; the first come at step 10."
    registry.set_state(run_id, states.STOPPING, "")
    assert overview.draw_board(asked)["wait"] == "The first metrics come as it stops."  # not: “Training ended before”
    registry.set_state(run_id, states.KILLED, "")
    assert "ended before the first metrics" in overview.draw_board(asked)["wait"]


def test_what_final_holds_is_said_as_it_is(run_id: str) -> None:
    final = paths.run_folder(run_id).final
    final.mkdir()
    told = checkpoints.list_checkpoints({"run": run_id})
    assert "Hugging Face form" in told["final"]["use"] and "a .tar file: unpack it" in told["final"]["use"]
    assert told["final"]["start"] and "begins from this model" in told["final"]["further"]
    assert told["how"] == f"{checkpoints.UNPACK} Where this run is stopped before its end, it can be resumed from one."
    for state in (states.STARTING, states.RUNNING, states.FINISHED):
        registry.set_state(run_id, state, "")
    how = checkpoints.list_checkpoints({"run": run_id})["how"]
    assert how == f"{checkpoints.UNPACK} This run is finished, so it cannot be resumed."
    (final / "adapter_config.json").write_text("{}")
    said = checkpoints.list_checkpoints({"run": run_id})["final"]
    assert "PeftModel.from_pretrained" in said["use"]
    assert str(paths.models_folder() / "starter") in said["use"]
    assert not said["start"] and "No run begins from an adapter" in said["further"]


def test_the_board_gives_the_whole_once_and_then_what_is_new(run_id: str) -> None:
    assert "Waiting" in overview.draw_board({"run": run_id})["wait"]
    writer = record(run_id, steps=3)
    first = overview.draw_board({"run": run_id, "after": 0})
    assert first["curves"]["reward"]["x"] == [1, 2, 3]
    assert [section["title"] for section in first["sections"]] == ["Learning", "Stability", "Length", "Speed"]
    assert first["latest"]["step"] == 3
    writer.commit(4, metrics={"reward": 0.4})
    writer.close()
    delta = overview.draw_board({"run": run_id, "after": first["seq"], "event": 1, "drawn": True})
    assert (delta["reset"], delta["curves"]["reward"]["x"]) == (False, [4])
    assert delta["events"] == []
    same = overview.draw_board({"run": run_id, "after": delta["seq"], "drawn": True})
    assert same["curves"] == {}
    assert "sections" not in same


def test_groups_of_a_step_come_once_and_are_told_in_words(run_id: str) -> None:
    assert "No group has been scored yet" in groups.groups_at_step({"run": run_id})["wait"]
    record(run_id).close()
    now = groups.groups_at_step({"run": run_id})
    assert (now["step"], now["earlier"], now["later"], now["last"]) == (3, 2, None, 3)
    assert "groups" not in groups.groups_at_step({"run": run_id, "mark": now["mark"]})
    one = groups.show_group({"run": run_id, "group": now["groups"][0]["id"]})
    assert "▲ best" in one["html"]
    assert "this prompt over time" in one["html"]


def test_a_completion_of_a_hundred_thousand_characters_is_whole(run_id: str) -> None:
    record(run_id, steps=1, text="<think>" + "x" * 100_000).close()
    asked = {"run": run_id, "group": 1, "idx": 1}
    _, *cards = groups.show_group(asked)["html"].split("<article")
    assert len(cards) == 2 and all("more: show all" in card and len(card) < 5000 for card in cards)
    assert "x" * 100_000 in groups.full_text(asked)["html"]


def test_a_deleted_folder_is_said_on_every_part(run_id: str) -> None:
    folder = paths.run_folder(run_id)
    for path in folder.path.iterdir():
        path.unlink()
    folder.path.rmdir()
    assert "is not where it was" in header.run_status({"run": run_id})["note"]
    assert "is not where it was" in overview.draw_board({"run": run_id})["wait"]
    assert "is not where it was" in groups.groups_at_step({"run": run_id})["wait"]
    for function in (config.config_files, log.tail, checkpoints.list_checkpoints):
        assert "is not where it was" in function({"run": run_id})["sentence"]


def test_a_log_is_readable_and_keeps_no_secret() -> None:
    raw = b"\x1b[31mred\x1b[0m\x07 10%|#\r100%|####\r\n"
    raw += b"hf_ABCDEFGHIJKLMNOP api_key=abcdef123456 num_tokens: 123456789\n\xff"
    words = log.readable(raw)
    assert words == "100%|####\nhf_… api_key=… num_tokens: 123456789\n\ufffd"


def test_a_log_is_read_on_from_where_one_was(run_id: str) -> None:
    path = paths.run_folder(run_id).log
    path.write_bytes(b"one\ntwo\nthr")
    first = log.read_from(path, 0)
    assert (first["lines"], first["line"], first["reset"]) == (
        [[0, "one", None, ""], [4, "two", None, ""]],
        "thr",
        True,
    )
    path.write_bytes(b"one\ntwo\nthree\n")
    second = log.read_from(path, first["at"])
    assert (second["lines"], second["line"], second["reset"]) == ([[8, "three", None, ""]], "", False)
    path.write_bytes(b"x" * log.TAIL + b"\nend\n")
    assert log.read_from(path, 0)["lines"] == [[log.TAIL + 1, "end", None, ""]]
    assert log.read_from(path, 10**9)["reset"] is True


def test_config_shows_the_files_of_the_run_and_no_link_out_of_it(run_id: str) -> None:
    folder = paths.run_folder(run_id)
    folder.rewards.mkdir()
    (folder.rewards / "format.py").write_text("def format(): ...")
    (folder.rewards / "evil.py").symlink_to("/etc/passwd")
    names = [file["name"] for file in config.config_files({"run": run_id})["files"]]
    assert names == ["spec.yaml", "rewards/format.py"]


def test_config_says_which_settings_applied_and_which_were_set(run_id: str) -> None:
    registry.publish_fact(Catalogue(versions={}, training={
        "temperature": Setting(types=["float"], default=1.0), "output_dir": Setting(types=["str"], default=None),
    }, lora={"r": Setting(types=["int"], default=8)}))  # fmt: skip
    paths.run_folder(run_id).spec.write_text("name: one\nrewards: [{name: format}]\nlora: {lora_alpha: 32}\n")
    found = {one["name"]: one for one in config.effective_settings({"run": run_id})["settings"]}
    assert (found["training.temperature"]["words"], found["training.temperature"]["set"]) == ("1", False)
    assert (found["lora.lora_alpha"]["set"], found["lora.r"]["words"]) == (True, "8")
    assert found["data.limit"] == {"label": "Rows", "name": "data.limit", "words": "all", "set": False}
    assert "training.output_dir" not in found
    folder = paths.run_folder(run_id)
    assert config.config_files({"run": run_id})["versions"] == ""  # it has not begun
    whose = {}
    for trained in (None, "1.2", "1.1"):
        if trained:
            folder.versions.write_text(json.dumps({"trl": trained, "python": "3.12.1", "torch": 2, "other": "1"}))
        registry.publish_fact(Catalogue(versions={"trl": "1.2"}, training={}))
        whose[trained] = config.effective_settings({"run": run_id})["defaults"]
    assert whose == {
        None: "Defaults (faint) are those of the installed TRL (1.2).",
        "1.2": "Defaults (faint) are those of TRL 1.2, which this run trained with.",
        "1.1": "Defaults (faint) are those of TRL 1.2, which is installed now; this run trained with TRL 1.1.",
    }
    assert config.config_files({"run": run_id})["versions"] == "Trained with Python 3.12.1, TRL 1.1."
    paths.run_folder(run_id).spec.unlink()
    assert "cannot be read" in config.effective_settings({"run": run_id})["sentence"]


def test_every_state_has_a_pill_of_its_own_words() -> None:
    assert set(state_badge.KINDS) == set(states.LABELS)
    assert all(states.LABELS[state] in state_badge.pill(state) for state in states.LABELS)


def test_the_table_searches_all_runs_and_says_how_many_it_shows(run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.create_run(SPEC, name="two", model="starter", data="task:arithmetic")
    monkeypatch.setattr(runs_table, "PAGE", 1)
    deadline = time.monotonic() + 10
    while not runs_table.draw_runs({})["settled"] and time.monotonic() < deadline:
        time.sleep(0.02)  # what runs came to is worked out beside the answers
    whole = runs_table.draw_runs({})
    assert "showing 1 of 2" in whole["counts"]
    assert runs_table.draw_runs({"mark": whole["mark"]}) == {"same": True}
    assert ">one<" in runs_table.draw_runs({"search": "ONE queued"})["rows"]
    assert "No run matches" in runs_table.draw_runs({"search": "<b>"})["nothing"]


def test_an_empty_home_says_so(registry_home: Path) -> None:
    assert runs_table.draw_runs({})["empty"] is True


def test_the_table_of_runs_says_shares_in_percent_and_which_learning_rate_is_which(run_id: str) -> None:
    run = registry.get_run(run_id)
    assert run is not None
    came_to = {"groups/tied": 0.175, "reward": 0.42, "learning_rate": 1e-4}
    row = columns.Row(run, Outcome("", 1.0, came_to, {}), time.time(), 3)
    cells = {name: column.text(row) for name in came_to if (column := columns.column_of(f"metric:{name}"))}
    assert cells["groups/tied"] == "18\u202f%" and cells["reward"] == "0.42"
    setting, metric = columns.column_of("set:training.learning_rate"), columns.column_of("metric:learning_rate")
    assert setting and metric and (setting.title, metric.title) == ("Learning rate", "learning_rate (logged)")
    assert metric.about == "learning_rate: its last logged value"
