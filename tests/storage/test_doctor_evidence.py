"""The doctor's evidence, read from records: as they are written, as older ones are, and as broken ones are."""

from __future__ import annotations

import random
import re
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench.doctor import VARIATIONS, variation
from bench.doctor_corpus import records
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.evidence_reader import METRICS, gather, newest_batch
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.doctor.verdict import Change
from groupwise.storage.home import db, paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record.groups import at_step
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.spec import spec
from groupwise.worker.builtin.rewards.correctness import correctness
from tests.support.made_runs import curves, learning_group, made_run, spec_of

pytestmark = pytest.mark.usefixtures("registry_home")


def of(folder: RunFolder, until: int | None = None) -> Evidence:
    return gather(folder.db, spec.parse_spec(folder.spec.read_text(encoding="utf-8")), until=until)


def made(name: str, **options: Any) -> RunFolder:
    return paths.run_folder(made_run(name, **options))


def test_what_is_recorded_is_what_is_told() -> None:
    evidence = of(made("plain", steps=60))
    assert evidence.step == evidence.total == 60
    assert {"reward", "kl", "groups/tied", "groups/solved", "rewards/format/mean"} <= set(evidence.curves)
    assert evidence.training["beta"] == 0.02
    assert evidence.target == "correctness"
    assert set(evidence.functions) == {"format", "correctness"}
    assert evidence.functions["correctness"].weight == 2.0
    assert evidence.functions["correctness"].statuses == {"ok": 1024}  # of the last 128 groups
    assert {sample.step for sample in evidence.first} == set(range(1, 9))  # 32 groups, four a step
    assert {sample.step for sample in evidence.last} == set(range(53, 61))
    assert evidence.last[0].prompt.endswith("+21?") or "+" in evidence.last[0].prompt
    assert (evidence.low, evidence.high) == (0.0, 3.0)
    assert examine(evidence).verdicts == ()


@pytest.mark.parametrize("steps", [700, 3_000])
def test_a_long_run_is_read_from_its_rollups_and_says_the_same(steps: int) -> None:
    folder = made("long", steps=steps, groups=0)
    curve = of(folder).curves["reward"]
    reader = db.open_reader(folder.db)
    try:
        values = [
            row[0]
            for row in reader.execute(
                "SELECT value FROM metric JOIN metric_key ON id = key WHERE name = 'reward' ORDER BY step"
            ).fetchall()
        ]
    finally:
        reader.close()
    assert 30 <= len(curve) <= 200
    assert (curve.low, curve.high) == (min(values), max(values))
    tenth = steps // 10
    assert curve.start == pytest.approx(sum(values[:tenth]) / tenth, abs=0.2)
    assert curve.now == pytest.approx(sum(values[-tenth:]) / tenth, abs=0.05)
    assert (curve.course.began, curve.course.ended) == ((1, 5), (steps - 9, steps))
    assert curve.steps[0] <= 64 and curve.steps[-1] > steps * 0.98


@pytest.mark.parametrize("steps", [150, 300, 599, 700, 3_000])
def test_the_first_step_is_itself_however_long_a_run_is(steps: int, tmp_path: Path) -> None:
    """“0.88 at its first step” became 0.44 after 200 steps, 0.29 after 400; from 600 on the cause was another one. And
    evaluations every 50 steps were told of step 56."""
    writer = RunWriter(tmp_path / "run.db", 1, {"format": 1.0, "correctness": 1.0})
    for step in range(1, steps + 1):
        met = {"reward": 0.875 if step == 1 else 0.0, "kl": min(4.0, step / 3), "learning_rate": 0.005}
        held_out = {"eval_reward": 0.0} if step % 50 == 0 else {}
        writer.commit(step, metrics=met | held_out, groups=[])
    writer.close()
    curves = gather(tmp_path / "run.db", spec.parse_spec(spec_of("x", ("format",), steps))).curves
    assert (curves["reward"].steps[0], curves["reward"].first) == (1, 0.875)
    assert list(curves["reward"].steps) == sorted(set(curves["reward"].steps)) and len(curves["reward"]) <= 202
    assert curves["eval_reward"].steps[0] == 50


def test_a_resumed_run_is_one_curve() -> None:
    evidence = of(made("resumed", steps=60, resumed_at=30))
    assert evidence.curves["reward"].steps == tuple(range(1, 61))


def test_it_is_counted_how_many_prompts_the_last_evaluation_had() -> None:
    evaluated = made("evaluated", steps=20, eval_every=10)
    found = of(evaluated)
    assert found.held_out_prompts == len({str(group["prompt"]) for group in at_step(evaluated.db, 20, "eval")}) > 0
    assert of(made("trained only", steps=20)).held_out_prompts == 0


def test_until_is_what_was_known_then() -> None:
    folder = made("until", steps=60)
    earlier = of(folder, until=20)
    assert earlier.step == 20
    assert earlier.curves["reward"].steps[-1] == 20
    assert max(sample.step for sample in earlier.last) == 20


def test_a_stage_is_looked_at_by_itself(tmp_path: Path) -> None:
    """Rewards of another stage are of another scale: what was before it is not compared with."""
    text = "name: two\nrewards: [{name: format}]\ntraining: {learning_rate: 1.0e-4}\n"
    text += "stages: [{training: {beta: 0.1}}, {rewards: [{name: correctness}]}]\n"
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, {"format": 1.0, "correctness": 1.0})
    for step in range(61):
        events = [Event("stage", "", {"stage": step // 30 + 1, "of": 2, "after": step, "total": 60})]
        value = 1.0 if step <= 30 else 0.2
        writer.commit(step, metrics={"reward": value} if step else {}, events=events if step in (0, 30) else [])
    writer.close()
    evidence = gather(path, spec.parse_spec(text))
    assert (evidence.since, evidence.target) == (30, "correctness")
    assert evidence.places == {"rewards": "stages.1.rewards"}
    assert evidence.curves["reward"].steps == tuple(range(31, 61))
    assert "since" not in examine(evidence).headline or "step 30" in examine(evidence).headline
    assert examine(evidence).verdicts == ()
    assert gather(path, spec.parse_spec(text), until=25).step == 0  # before its stage there is nothing to tell of it


def test_numbers_that_are_none_are_noticed_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, {"format": 1.0})
    for step in range(1, 41):
        sick = step > 35
        writer.commit(step, metrics={
            "reward": 0.01 * step, "loss": float("nan") if sick else 0.0, "grad_norm": float("inf") if sick else 0.3,
        })  # fmt: skip
    writer.close()
    evidence = gather(path, None)
    assert evidence.not_finite == {"loss": 40, "grad_norm": 40}
    assert len(evidence.curves["loss"]) == 35
    assert [verdict.key for verdict in examine(evidence).verdicts] == ["not_finite"]


def test_a_function_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, {"format": 1.0, "mine": 1.0})
    for step in range(1, 4):
        scored = [Completion("x", 1, False, 1.0, 0.0, [(1.0, "ok"), (None, "error")]) for _ in range(4)]
        event = Event("reward", f"mine gave no score: step {step}.", {"function": "mine", "error": f"KeyError: {step}"})
        writer.commit(step, groups=[Group("train", step, "2+2?", {}, scored)], events=[event])
    writer.close()
    verdict = examine(gather(path, None)).verdicts[0]
    assert (verdict.key, verdict.level) == ("failing", "problem")
    assert "“mine” gave no score to 100\u202f% of the last 12 completions." in verdict.sentence
    assert verdict.sentence.endswith("completions. Last error: KeyError: 3."), (
        "and not how many calls had failed by then"
    )


def test_where_no_step_has_a_score_no_steps_are_waited_for(tmp_path: Path) -> None:
    """“A problem after 17 steps. Trends need 10.” stood there."""
    writer = RunWriter(tmp_path / "run.db", 1, {"mine": 1.0})
    for step in range(1, 18):
        unscored = [Completion("x", 1, False, None, 0.0, [(None, "none")]) for _ in range(4)]
        writer.commit(step, groups=[Group("train", step, "2+2?", {}, unscored)], metrics={"reward": None})
    writer.close()
    evidence = gather(tmp_path / "run.db", None)
    said = examine(evidence).headline
    assert said == "A problem after 17 steps. No step has a score yet, so there is no trend."
    over = examine(replace(evidence, ended=True)).headline
    assert over == "A problem after 17 steps. No step has a score, so there is no trend."
    assert examine(replace(evidence, step=9)).headline == "A problem after 9 steps. Trends need 10."


def test_a_function_that_fails_in_the_evaluation_before_the_first_step_is_told_of_then(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, {"format": 1.0, "mine": 1.0})
    scored = [Completion("x", 1, False, 1.0, 0.0, [(1.0, "ok"), (None, "error")]) for _ in range(4)]
    event = Event("reward", "mine gave no score to all 4 completions: KeyError: '46'.", {"function": "mine"})
    writer.commit(0, groups=[Group("eval", 0, "2+2?", {}, scored)], events=[event])
    evidence = gather(path, None)
    report = examine(evidence)
    assert [(one.key, one.level) for one in report.verdicts] == [("failing", "problem")]
    assert "KeyError: '46'" in report.verdicts[0].sentence
    assert report.headline == "A problem before the first step. Trends need 10."
    fine = [Completion("x", 1, False, 1.0, 0.0, [(1.0, "ok"), (1.0, "ok")]) for _ in range(4)]
    writer.commit(1, groups=[Group("train", 1, "2+2?", {}, fine)])
    writer.close()
    assert examine(gather(path, None)).verdicts == ()  # from then on, what it does in training counts


def test_each_completion_is_told_with_its_length_and_every_score(tmp_path: Path) -> None:
    """Of more than are read, the first ones of the run and the last; one that nothing scored is among them."""
    path = tmp_path / "run.db"
    writer = RunWriter(path, 1, {"format": 1.0, "mine": 1.0})
    for step in range(1, 41):
        scored: list[tuple[float | None, str]] = [(None, "none"), (0.5, "ok") if step % 2 else (None, "error")]
        completions = [Completion(f"{step}", step, step > 20, scored[1][0], 0.0, scored) for _ in range(16)]
        writer.commit(step, groups=[Group("train", step, "2+2?", {}, completions)], metrics={"reward": scored[1][0]})
    writer.close()
    evidence = gather(path, None)
    assert {sample.step for sample in evidence.first} == set(range(1, 17))
    assert {sample.step for sample in evidence.last} == set(range(25, 41))
    assert [len(group) for group in evidence.last_groups] == [16] * 16
    odd, even = evidence.last_groups[-2][0], evidence.last_groups[-1][0]
    assert (odd.tokens, odd.cut, odd.reward, odd.scores) == (39, True, 0.5, {"format": None, "mine": 0.5})
    assert (even.tokens, even.reward, even.scores) == (40, None, {"format": None, "mine": None})
    assert evidence.functions["mine"].statuses == {"ok": 320, "error": 320}
    assert evidence.functions["mine"].failure_share == evidence.functions["format"].unscored_share / 2 == 0.5
    assert evidence.not_finite == {}, "where nothing was scored there is no reward, which is no number gone wrong"


def test_rows_decide_what_a_made_sick_run_is_told() -> None:
    """From the recorder's own rows to the verdict: groups that all fail, and completions stuffed with tags."""
    rng = random.Random(1)

    def hard(step: int, n: int) -> Group:
        group = learning_group(step, n, 60, 8, ("format", "correctness"), 16, rng)
        for completion in group.completions:
            completion.reward, completion.scores = 0.0, [(0.0, "ok"), (0.0, "ok")]
        return group

    def stuffed(step: int, n: int) -> Group:
        group = learning_group(step, n, 60, 8, ("format", "correctness"), 16, rng)
        for completion in group.completions if step > 40 else []:
            if completion.scores[0][0]:
                completion.text = "<answer></answer>" * 30
        return group

    flat = curves(1, 60, random.Random(0)) | {"frac_reward_zero_std": 1.0}
    told = {
        name: [verdict.key for verdict in examine(of(made(name, make_group=make, **more))).verdicts]
        for name, make, more in (("hard", hard, {"metrics": lambda _: flat}), ("stuffed", stuffed, {}))
    }
    assert told == {"hard": ["too_hard"], "stuffed": ["hacking_pattern"]}


NEVER = ("groups/solved", "groups/any_solved", "rewards/correctness/mean")
WRITTEN = "name: x\nmodel: {id: starter}\ndata: {source: 'file:sums.csv', answer_column: Antwort}\nrewards: " \
    "[{name: format}, {name: correctness}]\ntraining: {max_completion_length: 48}\n"  # fmt: skip


def learned_sums(path: Path, answer: str) -> Evidence:
    """A real run of sums as its record would be where each answer is written so ({} is the sum)."""
    record = records.read(records.path_of(records.FOLDER, "healthy", 0))
    writer = RunWriter(path, 1, {"format": 1.0, "correctness": 1.0})
    for step, prompt, completions in record["groups"]:
        right = answer.format(sum(map(int, prompt[-1]["content"].rstrip("?").split("+"))))
        texts = [one[0] for one in completions]
        again = correctness([[{"content": text}] for text in texts], [right] * len(texts))
        told = [
            Completion(text, tokens, bool(cut), given[0][0] + score, 0.0, [given[0], (score, "ok")])
            for (text, tokens, cut, _, given), score in zip(completions, again, strict=True)
        ]
        values = {name: values[str(step)] for name, values in record["metrics"].items() if str(step) in values}
        values |= {} if any(again) else dict.fromkeys(NEVER, 0.0)
        writer.commit(step, metrics=values, groups=[Group("train", step, prompt, {"answer": right}, told)])
    writer.close()
    return gather(path, spec.parse_spec(WRITTEN))


def asked_otherwise(path: Path, prompts: list[tuple[str, dict[str, Any]]], written: str = WRITTEN) -> Evidence:
    """A run of the starter that answers no such prompt right, with the columns of each one's row."""
    writer = RunWriter(path, 1, {"format": 1.0, "correctness": 1.0})
    for step in range(1, 41):
        prompt, columns = prompts[step % len(prompts)]
        given = [(float(n % 2), "ok") for n in range(8)]
        told = [Completion(f"<think>{n}", 5, False, one[0], 0.0, [one, (0.0, "ok")]) for n, one in enumerate(given)]
        said = [{"role": "user", "content": prompt}]
        metrics = dict.fromkeys(NEVER, 0.0) | {"reward": 0.5, "rewards/format/mean": 0.5, "groups/tied": 0.0}
        writer.commit(step, metrics=metrics, groups=[Group("train", step, said, columns, told)])
    writer.close()
    return gather(path, spec.parse_spec(written))


def test_sums_that_the_starter_cannot_read_are_said_as_new_run_says_them(tmp_path: Path) -> None:
    """As it was seen of “0+1”: “The prompts are too hard … choose another model”, where New run had said how to."""
    sums = [(f"{n}+{n + 1}", {"question": f"{n}+{n + 1}", "answer": str(2 * n + 1)}) for n in range(9)]
    first = examine(asked_otherwise(tmp_path / "sums.db", sums)).verdicts[0]
    assert (first.key, first.title) == ("too_hard", "The starter does not know sums written like this")
    assert re.search(
        r"The starter model knows sums only as “(\d\+\d)\?”: of “\1” it finds hardly any\.$", first.sentence
    )
    assert first.changes[0] == Change("Use the template {question}?", {"data.prompt_template": "{question}?"})
    by_prompt = WRITTEN.replace("answer_column", "prompt_column: prompt, answer_column")
    bare = [(asked, {"answer": row["answer"]}) for asked, row in sums]  # rewards do not get “prompt” twice
    first = examine(asked_otherwise(tmp_path / "prompt.db", bare, by_prompt)).verdicts[0]
    assert first.changes[0].settings == {"data.prompt_template": "{prompt}?", "data.prompt_column": None}
    hidden = WRITTEN.replace("answer_column", "columns: [], prompt_template: '{x} + {y} =', answer_column")
    spaced = [(asked.replace("+", " + ") + " =", {}) for asked, _ in sums]
    told = asked_otherwise(tmp_path / "hidden.db", spaced, hidden).other_writing
    assert told and "hardly any. Write them as “" in told.message and told.fixes == ()
    mixed = asked_otherwise(tmp_path / "mixed.db", [*sums, ("What is the capital of France?", {})])
    assert mixed.other_writing is None and examine(mixed).verdicts[0].title == "The prompts are too hard"


def test_right_answers_that_are_scored_wrong_are_the_cause_and_no_prompt_is_too_hard(tmp_path: Path) -> None:
    """As it was seen: “49” scored 0, as the answer was “49,0”, and sums were called too hard for the starter."""
    evidence = learned_sums(tmp_path / "comma.db", "{},0")
    assert not evidence.beyond_starter, "sums are what it knows, whatever the file is called"
    (verdict,) = examine(evidence).verdicts
    assert (verdict.key, verdict.level) == ("scored_wrong", "problem")
    assert re.search(r"such as “\d+,0”, so “correctness” compares them as text: of \d+ comp", verdict.sentence)
    assert verdict.sentence.endswith(", it scored all of them wrong.")
    assert [change.settings for change in verdict.changes] == [{"data.answer_numbers": "comma"}]


def test_answers_that_numbers_equal_are_no_cause(tmp_path: Path) -> None:
    for number, written in enumerate(("{}", "{}.0")):
        evidence = learned_sums(tmp_path / f"{number}.db", written)
        assert evidence.last[0].answer and examine(evidence).verdicts == ()


def test_it_is_known_whether_the_function_that_says_what_is_right_reads_the_answer(tmp_path: Path) -> None:
    learned_sums(tmp_path / "run.db", "{}")
    mine = spec.parse_spec("name: x\nmodel: {id: starter}\nrewards: [{name: format}, {name: mine}]\n")
    (tmp_path / "rewards").mkdir()
    for arguments, reads in (("completions, answer, **kwargs", True), ("completions, **kwargs", False)):
        read = "answer" if reads else "completions"
        code = f"def mine({arguments}):\n    return [float('!' in str(one)) for one in {read}]\n"
        (tmp_path / "rewards" / "mine.py").write_text(code, encoding="utf-8")
        assert gather(tmp_path / "run.db", mine).compares == reads
    unread = "def mine(completions, answer, **kwargs):\n    answer = 1\n    return [1.0 for _ in completions]\n"
    (tmp_path / "rewards" / "mine.py").write_text(unread, encoding="utf-8")
    assert not gather(tmp_path / "run.db", mine).compares, "it never reads the answer that it is given"
    assert gather(tmp_path / "run.db", spec.parse_spec(WRITTEN)).compares


OLDER = ("completion_text", "extra", "event", "score", "prompt", "grp", "completion", "reward_function", "rollup",
         "metric", "metric_key", "acknowledged", "checkpoint")  # fmt: skip


def test_an_older_or_half_made_file_is_told_as_far_as_it_goes() -> None:
    folder = made("older", steps=30)
    for table in OLDER:
        connection = sqlite3.connect(folder.db)
        connection.execute(f"DROP TABLE {table}")
        connection.commit()
        connection.close()
        evidence = of(folder)
        assert examine(evidence).kind in ("waiting", "up")
    assert (evidence.curves, evidence.step, newest_batch(folder.db)) == ({}, 0, 0)


def test_a_truncated_file_is_an_error_that_can_be_told() -> None:
    folder = made("cut", steps=60)
    whole = folder.db.read_bytes()
    for share in (0.3, 0.6, 0.9):
        folder.db.write_bytes(whole[: int(len(whole) * share)])
        try:
            examine(of(folder))
        except sqlite3.Error as error:
            assert str(error)


def test_a_run_of_an_older_version_is_told_from_what_trl_logged() -> None:
    """Without the groups' metrics, and without the settings: the tied share is TRL's own."""
    folder = made("trl", steps=60, groups=0, metrics=lambda step: {
        "reward": 0.5 + step / 100, "frac_reward_zero_std": 0.9, "kl": 0.01})  # fmt: skip
    report = examine(gather(folder.db, None))
    assert [verdict.key for verdict in report.verdicts] == ["tied"]
    assert spec_of("x", ["format"], 1) and "groups/tied" in METRICS


def test_the_variations_whose_false_alarms_are_counted_are_sound_and_each_another() -> None:
    made_of = [variation(changes) for changes in VARIATIONS]
    assert len({one.name for one in made_of}) == len(made_of) >= 20
    assert all(64 % one.training["num_generations"] == 0 for one in made_of)


def test_the_weight_that_follows_a_kl_is_read_with_its_target() -> None:
    def logged(step: int) -> dict[str, float | None]:
        return {"reward": 1 + step / 100, "kl": 0.01 * step, "beta": min(0.1, 0.02 + step / 500), "kl/target": 0.05}

    folder = made("follows", steps=60, metrics=logged)
    told = folder.spec.read_text(encoding="utf-8")
    follows = spec.parse_spec(told).model_copy(update={"kl": spec.KlSpec(target=0.05, most=0.1)})
    found = [verdict.key for verdict in examine(gather(folder.db, follows)).verdicts]
    assert found == ["kl_target"] and "kl" in [one.key for one in examine(of(folder)).verdicts]
