"""The doctor on the page: what it answers, that no payload hurts it, and that its suggestions open as they say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

import pytest

from groupwise.app.core import setting_words
from groupwise.app.pages.new import new_run, presets, url_settings, yaml_edit
from groupwise.app.pages.run import doctor, overview
from groupwise.storage.analysis.compare import finals
from groupwise.storage.analysis.doctor import evidence_reader, next_step
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.record import record_check, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.record.step_record import Completion, Event, Group
from groupwise.storage.registry import commands, registry
from groupwise.storage.spec import spec
from tests.support import offer
from tests.support.doctor import healthy
from tests.support.doctor_cases import SICK
from tests.support.made_runs import made_run, running

HOSTILE = "<img src=x onerror=alert(1)>${alert(1)}\x1b[31m\u202e"
SENT = [None, 7, [], {}, {"run": 3}, {"run": "../x", "after": "1"}, {"run": "\0", "after": 2**70}, {"run": "nope"}]


@pytest.fixture(autouse=True)
def forget() -> None:
    """Each test is another home."""
    doctor._reports.clear()
    doctor._around = None


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("sent", SENT, ids=range(len(SENT)))
def test_anything_may_be_sent(sent: Any) -> None:
    said = doctor.diagnose_run(sent)
    assert "sentence" in said and "fault" not in said


@pytest.mark.usefixtures("no_worker")
def test_a_healthy_run_is_told_once_until_something_new_is_recorded() -> None:
    run_id = made_run("well", 60)
    first = doctor.diagnose_run({"run": run_id})
    assert first["headline"].startswith("Learned, no problems detected: reward went up")
    assert first["at"] == "at step 60 · means of the first 5 and the last 10 logged steps"
    seldom = made_run("logged every tenth step", 206, every=10)
    assert doctor.diagnose_run({"run": seldom})["at"] == "at step 206 · means of steps 1–10 and 101–200"
    assert doctor.diagnose_run({"run": run_id, "after": first["seq"]}) == {"poll": 10_000, "seq": first["seq"]}
    json.dumps(first, allow_nan=False)


@pytest.mark.usefixtures("no_worker")
def test_where_a_log_is_of_several_steps_those_steps_are_named() -> None:
    told = doctor.diagnose_run({"run": made_run("seldom", 100, every=10)})
    assert told["at"] == "at step 100 · means of steps 1–10 and 51–100"


@pytest.mark.usefixtures("no_worker")
def test_before_there_is_a_record_it_says_what_it_waits_for_and_after_it_is_gone_that() -> None:
    run_id = registry.create_run("name: one\nrewards: [{name: format}]\n", name="one", model="starter", data="task:x")
    assert doctor.diagnose_run({"run": run_id})["headline"] == doctor.WAITS[states.QUEUED]
    RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0}).close()
    assert "need 10 steps" in doctor.diagnose_run({"run": run_id})["headline"]
    shutil.rmtree(paths.run_folder(run_id).path)
    assert "is not where it was" in doctor.diagnose_run({"run": run_id})["headline"]


@pytest.mark.usefixtures("no_worker")
def test_a_run_that_was_killed_in_its_first_evaluation_names_what_that_measured() -> None:
    run_id = registry.create_run("name: one\nrewards: [{name: format}]\n", name="one", model="starter", data="task:x")
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0})
    writer.commit(0, events=[Event("begin", "Training begins.", {"total": 20})])
    writer.commit(0, metrics={"eval_reward": 0.84})
    writer.close()
    for state in (states.STARTING, states.RUNNING, states.KILLED):
        registry.set_state(run_id, state, "Killed at step 0 (SIGKILL), which Groupwise did not send.")
    assert "Held-out reward before training: 0.84." in doctor.diagnose_run({"run": run_id})["headline"]
    with record_check.read_record(paths.run_folder(run_id).db) as record:
        assert finals.seconds_trained(record) is None


@pytest.mark.usefixtures("no_worker")
def test_a_damaged_record_or_spec_is_said() -> None:
    run_id = made_run("damaged", 20)
    paths.run_folder(run_id).spec.write_text("name: [", encoding="utf-8")
    assert doctor.diagnose_run({"run": run_id})["kind"] == "up"
    doctor._reports.clear()
    paths.run_folder(run_id).db.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert "is damaged" in doctor.diagnose_run({"run": run_id})["sentence"]


@pytest.mark.usefixtures("no_worker")
def test_hostile_names_and_messages_are_plain_text() -> None:
    run_id = made_run("hostile", 12)
    writer = RunWriter(paths.run_folder(run_id).db, 1, {HOSTILE: 1.0})
    for step in range(13, 30):
        scored = [Completion(HOSTILE, 1, False, 1.0, 0.0, [(None, "error")]) for _ in range(4)]
        writer.commit(step, groups=[Group("train", step, HOSTILE, {}, scored) for _ in range(4)],
                      events=[Event("reward", HOSTILE, {"function": HOSTILE})])  # fmt: skip
    writer.close()
    said = json.dumps(doctor.diagnose_run({"run": run_id}), ensure_ascii=False)
    assert "fails" in said
    assert "\x1b" not in said and "\u202e" not in said and "\\u001b" not in said


@pytest.mark.usefixtures("no_worker")
def test_a_run_that_ends_is_told_of_its_end_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the last report is too new for another: the page asks once when the state changes, and then seldom."""
    run_id = running(made_run("killed", 40, state=states.STOPPED))
    monkeypatch.setattr(doctor, "REST", 10**6)
    before = doctor.diagnose_run({"run": run_id})
    assert before["headline"].startswith("Learning, ")
    registry.set_state(run_id, states.INTERRUPTED, "")
    after = doctor.diagnose_run({"run": run_id, "after": before["seq"]})
    assert after["seq"] > before["seq"]
    assert after["headline"].startswith("Learned, no problems detected until it ended: ")
    assert "headline" not in doctor.diagnose_run({"run": run_id, "after": after["seq"]})


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize(("steps", "told_of"), [(12, 13), (19, 20), (20, 20)])
def test_while_now_is_of_more_steps_each_time_each_is_told_of(
    monkeypatch: pytest.MonkeyPatch, steps: int, told_of: int
) -> None:
    """As it was seen: “0.016 now … last 5 logged steps” beside “Now 0.013, mean of the last 6”."""
    run_id = running(made_run("begins", steps, state=states.STOPPED))
    monkeypatch.setattr(doctor, "REST", 10**6)
    before = doctor.diagnose_run({"run": run_id})
    assert before["at"].startswith(f"at step {steps} · ")
    writer = RunWriter(paths.run_folder(run_id).db, 1, {"format": 1.0, "correctness": 2.0})
    writer.commit(steps + 1, metrics={"reward": 1.0})
    writer.close()
    after = doctor.diagnose_run({"run": run_id, "after": before["seq"]})
    assert after["at"].startswith(f"at step {told_of} · ")


@pytest.mark.usefixtures("no_worker")
def test_a_run_that_was_asked_to_go_on_is_told_of_no_end() -> None:
    run_id = made_run("goes on", 5, state=states.STOPPED)
    ended = doctor.diagnose_run({"run": run_id})
    assert ended["headline"].startswith("It ended after 5 logged steps: ")
    assert not overview.draw_board({"run": run_id})["live"]
    commands.ask_of_run(run_id, commands.RESUME)
    assert doctor.diagnose_run({"run": run_id, "after": ended["seq"]})["headline"].startswith("Diagnostics need ")
    assert overview.draw_board({"run": run_id})["live"], "its figures are those of now, and not of the end"


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("beta", [0.0, 0.04])
def test_evidence_leads_to_no_chart_of_what_was_not_logged(beta: float) -> None:
    def fell(step: int) -> dict[str, float | None]:
        return {"reward": 2.0 - step / 30 + step % 3 / 50} | ({"kl": 0.01} if beta else {})

    run_id = made_run("falls", 40, metrics=fell, training={"beta": beta})
    told = [link for verdict in doctor.diagnose_run({"run": run_id})["verdicts"] for link in verdict["links"]]
    assert ("kl" in [link["chart"] for link in told]) == bool(beta)
    assert "reward" in [link["chart"] for link in told]


@pytest.mark.usefixtures("no_worker")
def test_more_steps_from_what_was_trained_are_told_apart() -> None:
    follows = next_step.Next(next_step.LONGER, ", as the reward was still rising", trained=True)
    run = registry.get_run(made_run("rose", 5))
    assert run is not None
    without = doctor.next_of(run, follows)
    run.folder.final.mkdir()
    from_final = doctor.next_of(run, follows)
    assert without and from_final and (without["trained"], from_final["trained"]) == (False, True)
    assert f"model.id={run.folder.final}" in unquote_plus(from_final["go"])
    assert (without["label"], from_final["label"]) == ("more steps", "5 more steps from the trained model")
    query = parse_qs(urlsplit(from_final["go"]).query)
    opened = new_run.open_new_run({"from": query["from"][0], "set": query["set"]})
    assert [(one["label"], one["after"]) for one in opened["arrival"]["changes"]] == [
        ("Model", str(run.folder.final)), ("Steps", "5 more, from this model"),
    ]  # fmt: skip


def test_what_the_head_of_a_failed_run_offers_is_not_offered_again() -> None:
    report = examine(SICK["a function that only fails"][0])
    assert [change.edit_reward for change in report.verdicts[0].changes] == ["format"]
    assert doctor.without_fix_of(report, "format").verdicts[0].changes == ()
    assert doctor.without_fix_of(report, "other") == doctor.without_fix_of(report, None) == report


STAGES = """stages:
- training: {max_steps: 30}
- training: {max_steps: 30, beta: 0.02, learning_rate: 1.0e-4, num_generations: 8, max_completion_length: 48}
  rewards: [{name: format}, {name: correctness, weight: 2.0}]
"""


@pytest.mark.usefixtures("no_worker")
def test_more_steps_of_a_staged_run_repeat_no_stage_that_is_done() -> None:
    offer.publish_installed()
    text = new_run.open_new_run({})["text"] + STAGES
    run = registry.get_run(made_run("staged", 60, spec_yaml=text))
    assert run is not None
    run.folder.final.mkdir()
    writer = RunWriter(run.folder.db, 1, {"format": 1.0, "correctness": 2.0})
    writer.commit(61, events=[Event("stage", "Stage 2 of 2.", {"stage": 2, "of": 2, "total": 61})])
    writer.close()
    told = doctor.next_of(run, next_step.Next(next_step.LONGER, "", trained=True))
    assert told and told["label"] == "30 more steps of stage 2 from the trained model"
    query = parse_qs(urlsplit(told["go"]).query)
    opened = new_run.open_new_run({"from": query["from"][0], "stage": query["stage"][0], "set": query["set"]})
    found, whole = spec.parse_spec(opened["text"]), spec.parse_spec(text)
    assert found.model.id == str(run.folder.final) and found.stages == []
    assert (found.training, found.rewards) == (whole.by_stage()[1].training, whole.by_stage()[1].rewards)
    said = [one["after"] for one in opened["arrival"]["changes"]]
    assert said == ["from stage 2 on", str(run.folder.final), "30 more, from this model"]
    three = text.replace("- training: {max_steps: 30}\n", "- training: {max_steps: 30}\n" * 2, 1)
    assert len(spec.parse_spec(presets.from_stage(three, 2)).stages) == 2, "two are still to be trained"


@pytest.mark.usefixtures("no_worker")
@pytest.mark.parametrize("stages", ["", STAGES], ids=["one", "stages"])
def test_every_suggested_new_run_opens_with_just_that_changed(stages: str) -> None:
    """Each button of each verdict, through the New run page's own reading, with what is really installed. What the
    stage that trains has of its own is changed there: elsewhere it would change nothing."""
    offer.publish_installed()
    quick = new_run.open_new_run({})["text"] + "kl: {target: 0.05}\n" + stages
    places = evidence_reader.places(spec.parse_spec(quick), 2 if stages else 0)
    run_id = registry.create_run(quick, name="quick", model="starter", data="task:arithmetic")
    seen: set[str] = set()
    for evidence in [found for found, _, _ in SICK.values()] + [
        healthy(training={"fp16": True}, not_finite={"loss": 1})
    ]:
        for verdict in doctor.draw_report(run_id, examine(replace(evidence, places=places)), 60)["verdicts"]:
            for change in verdict["changes"]:
                if change["go"] in seen:
                    continue
                seen.add(change["go"])
                query = parse_qs(urlsplit(change["go"]).query)
                assert ("choose" in change) == (change["to"] == "New run" and "set" not in query)
                if "set" not in query:
                    _leads(query, run_id, change["to"], places)
                    continue
                opened = new_run.open_new_run({"from": query["from"][0], "set": query["set"]})
                _only_changed(quick, opened, query["set"])
    assert len(seen) > 15
    own = ("training.beta", "training.learning_rate", "training.num_generations", "rewards.")
    assert all(f"set={path}" not in go for go in seen for path in own) if stages else any(own[0] in go for go in seen)
    assert any("set=stages.1.rewards." in go for go in seen) == bool(stages)


def _leads(query: dict[str, list[str]], run_id: str, to: str, places: Mapping[str, str]) -> None:
    """To where a person chooses: a field of the new run, or the run's own functions in the workbench."""
    if to == "Rewards":
        assert query["run"] == [run_id] and query["view"] == ["rescore"]
        assert query.get("name", ["format"])[0] in {"format", "correctness", "longer", "mine", "digits"}
    else:
        asked = {"data.system_prompt", "data.prompt_template", "data.answer_column"}
        fields = asked | {"data.source", "model.id", places.get("rewards", "rewards")}
        assert query["from"] == [run_id] and query["at"][0] in fields


def _only_changed(before: str, opened: dict[str, Any], sets: list[str]) -> None:
    old, new = spec.parse_spec(before).model_dump(), spec.parse_spec(opened["text"]).model_dump()
    told = opened["arrival"]
    assert told["refused"] == "" and told["run"]["name"] == "quick"
    assert old.pop("name") != new.pop("name") == told["name"] == "quick-2"
    assert [problem for problem in opened["view"]["problems"] if "no such" in problem["message"]] == []
    said = {(change["label"], change["after"]) for change in told["changes"]}
    added = {one.partition("=")[0] for one in sets if re.search(r"rewards\.\d+=", one)}
    for one in sets:
        field, _, value = one.partition("=")
        if field in added:
            assert (f"Reward “{value}”", "added, weight 1") in said
            assert _at(new, field.rpartition(".")[0]).pop()["name"] == value
            continue
        if any(field.startswith(f"{reward}.") for reward in added):
            assert any(label.startswith(f"{field.rpartition('.')[2]} of ") for label, _ in said)
            continue
        words = setting_words.compared_words(field, value) if field.startswith("data.") else value
        assert words in {after for _, after in said} or _at(old, field) == _at(new, field)
        _drop(old, field)
        _drop(new, field)
    assert old == new


def _at(plain: Any, field: str) -> Any:
    for part in field.split("."):
        plain = plain[int(part)] if isinstance(plain, list) else plain.get(part)
    return plain


def _drop(plain: Any, field: str) -> None:
    *way, last = field.split(".")
    inner = _at(plain, ".".join(way))
    inner.pop(last, None)


def test_changes_of_an_address_are_made_as_the_form_would() -> None:
    text = "name: x\nrewards:\n- name: format\n  weight: 1.0  # mine\ntraining:\n  learning_rate: 1e-4  # kept\n"
    asked = ["training.learning_rate=5e-06", "training.beta=0.04", "rewards.0.weight=0.5", "model.id=other"]
    made, changes, refused = url_settings.change(text, asked, offer.OFFER)
    assert yaml_edit.load(made) == {
        "name": "x", "rewards": [{"name": "format", "weight": 0.5}],
        "training": {"learning_rate": 5e-06, "beta": 0.04}, "model": {"id": "other"},
    }  # fmt: skip
    assert "learning_rate: 5e-06  # kept" in url_settings.change(text, asked[:3], offer.OFFER)[0]
    assert (_told(changes), refused) == (
        ["Learning rate 0.0001 → 5e-06", "KL weight 0.0 → 0.04", "Weight of format 1.0 → 0.5", "Model starter → other"],
        "",
    )


def test_a_setting_without_a_label_of_its_own_is_called_in_words() -> None:
    text = "name: x\ndata: {source: task:arithmetic}\nrewards: [{name: format}]\n"
    _, changes, _ = url_settings.change(text, ["data.source=hub:openai/gsm8k", "training.loss_type=bnpo"], offer.OFFER)
    assert [one.label for one in changes] == ["Data source", "Loss type"]


def _told(changes: list[url_settings.Change]) -> list[str]:
    return [f"{one.label}{f' {one.before} →' if one.before else ':'} {one.after}" for one in changes]


def test_a_reward_is_added_after_the_others_with_its_parameters() -> None:
    text = "name: x\nrewards: [{name: format}]\nstages:\n- rewards: [{name: format}]\n"
    asked = ["rewards.1=length", "rewards.1.parameters.target=20", "stages.0.rewards.1=correctness", "rewards.1=format"]
    length = {"help": "", "parameters": [{"name": "target", "types": ["int"], "default": "8"}]}
    known = replace(offer.OFFER, rewards={**offer.OFFER.rewards, "length": length})
    made, changes, refused = url_settings.change(text, asked, known)
    plain = yaml_edit.load(made)
    assert plain is not None
    assert plain["rewards"][1] == {"name": "length", "weight": 1.0, "parameters": {"target": 20}}
    assert plain["stages"][0]["rewards"][1] == {"name": "correctness", "weight": 1.0}
    assert _told(changes) == [
        "Reward “length”: added, weight 1", "target of length not set → 20", "Reward “correctness”: added, weight 1",
    ]  # fmt: skip
    assert refused == "Not changed: “rewards.1”; there is no such setting.", "another one is there"


def test_what_a_stage_has_of_its_own_is_changed_in_it() -> None:
    text = "name: x\nrewards: [{name: format}]\nstages:\n- training: {max_steps: 5}\n- training: {beta: 0.1}  # mine\n"
    asked = ["stages.1.training.beta=0.04", "stages.0.training.beta=0.04"]
    made, changes, refused = url_settings.change(text, asked, offer.OFFER)
    assert yaml_edit.load(made)["stages"] == [{"training": {"max_steps": 5}}, {"training": {"beta": 0.04}}]
    assert _told(changes) == ["KL weight in stage 2 0.1 → 0.04"]
    assert refused == "Not changed: “stages.0.training.beta”; there is no such setting."


@pytest.mark.parametrize(
    "asked",
    [["training.nonsense=1"], ["rewards.7.weight=1"], ["=1"], ["training.beta="], ["rewards=[]"], ["x" * 1000 + "=1"],
     ["__class__=1"], ["training=5"], ["<script>alert(1)</script>=1"], ["stages.0.training=x"],
     ["rewards.1=no_such_function"], ["rewards.2=format"], ["rewards.1="]],
    ids=range(13),
)  # fmt: skip
def test_what_is_no_setting_is_refused_in_a_sentence_and_changes_nothing(asked: list[str]) -> None:
    text = "name: x\nrewards: [{name: format}]\n"
    made, changes, refused = url_settings.change(text, asked, offer.OFFER)
    assert (made, changes) == (text, [])
    assert refused.startswith("Not changed: “") and "there is no such setting" in refused


@pytest.mark.parametrize("asked", [None, 7, "training.beta=1", [], [None, {}, 3]])
def test_what_is_no_list_of_changes_is_none(asked: object) -> None:
    assert url_settings.change("name: x\n", asked, offer.OFFER) == ("name: x\n", [], "")


def test_before_the_worker_has_said_what_there_is_that_is_why() -> None:
    assert "the worker has not listed" in url_settings.change("name: x\n", ["training.beta=1"], Offer())[2]


@pytest.mark.usefixtures("no_worker")
def test_an_address_that_names_no_run_says_so_and_changes_nothing() -> None:
    offer.publish_installed()
    opened = new_run.open_new_run({"from": "gone", "set": ["training.beta=0.5"]})
    assert opened["missing"] == "There is no run “gone”. Nothing was taken from it or changed."
    assert opened["origin"] == "Preset: Quickstart" and opened["arrival"] is None
    assert "beta: 0.5" not in opened["text"]
