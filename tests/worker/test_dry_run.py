"""“Try one step” with real supervisors: what a real step took and made, failures in words, and nothing left behind,
however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import locks, paths, process
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import commands, questions, registry
from groupwise.storage.registry.messages.facts import Catalogue
from groupwise.storage.registry.questions import TRY
from groupwise.storage.spec import spec
from groupwise.storage.spec.spec import RewardSpec
from groupwise.worker.capabilities import catalogue
from groupwise.worker.dry_run import dry_run, tries
from groupwise.worker.dry_run.reward_failures import reward_failures
from groupwise.worker.training import scoring
from tests.support.asking import answer_of, put, taken
from tests.support.homes import wait_for
from tests.support.runs import make_spec, queue

Supervisor = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home for all tests here, and a temporary folder of its own for what dry runs write."""
    place = tmp_path_factory.mktemp("tries")
    (place / "tmp").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUPWISE_HOME", str(place / "home"))
        paths.prepare()
        registry.open_registry()
        registry.publish_fact(Catalogue(versions=catalogue.versions()))  # reading TRL is not what this is about
    yield place


@pytest.fixture
def begin(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Supervisor]:
    """Starts supervisors of that home, and ends them after the test."""
    monkeypatch.setenv("GROUPWISE_HOME", str(place / "home"))
    monkeypatch.setenv("TMPDIR", str(place / "tmp"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    begun: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        with paths.worker_log().open("ab") as log:
            begun.append(subprocess.Popen([sys.executable, "-m", "groupwise.worker"], stdout=log, stderr=log))
        wait_for("the supervisor", lambda: locks.is_held(paths.supervisor_lock()))
        wait_for("the starter model", lambda: (paths.models_folder() / "starter").is_dir())
        return begun[-1]

    yield start
    for supervisor in begun:
        supervisor.terminate()
        supervisor.wait(20)
    for run in registry.list_runs():
        if run.tag:
            process.signal_tagged(run.tag, run.folder.path, signal.SIGKILL)


def text(**parts: Any) -> str:
    return spec.to_yaml(make_spec(**parts))


def files() -> set[str]:
    """Everything in the home but what is the supervisor's own, and in the folder for what is temporary. `os.walk`, as
    what is being removed meanwhile is passed over."""
    own = {
        "registry.db",
        "registry.db-journal",
        "worker.log",
        "questions.lock",
        "questions_ready.lock",
        "supervisor.lock",
    }
    places = (paths.home(), Path(tempfile.gettempdir()))
    found = (os.path.join(at, name) for place in places for at, *inside in os.walk(place) for name in sum(inside, []))
    return {path for path in found if os.path.basename(path) not in own}


def under_way(question_id: int) -> bool:
    return bool(process.tagged_pids(tries.tag_of(question_id), tries.folder_of(question_id)))


def wait_begun(question_id: int) -> None:
    """Until its process says so itself; it loads the libraries then."""

    def begun() -> bool:
        question = questions.get_question(question_id)
        return bool(question and question.progress)

    wait_for("the dry run to begin", begun)


def test_one_step_says_what_it_took_and_what_it_made(begin: Supervisor) -> None:
    begin()
    before = files()
    settings = {"save_strategy": "steps", "save_steps": 1, "eval_strategy": "steps", "eval_steps": 1, "max_steps": 900,
                "per_device_eval_batch_size": 4}  # fmt: skip
    asked = put(TRY, {"text": text(training=settings, data={"holdout": 8}, stages=[{"name": "first"}])})
    answer = answer_of(asked)
    assert "error" not in answer, answer
    assert answer["seconds"]["load"] > answer["seconds"]["step"] > 0
    assert answer["memory"]["device"] == "CPU" and 0.2e9 < answer["memory"]["peak"] < 8e9
    assert answer["metrics"]["reward"] == pytest.approx(sum(c["reward"] for c in answer["completions"]) / 4)
    assert not any(name.startswith("eval_") for name in answer["metrics"])
    assert len(answer["completions"]) == 4
    for completion in answer["completions"]:
        assert set(completion["rewards"]) == {"format", "correctness"}
        assert (completion["group"], completion["tokens"] > 0) == (0, True)
        assert completion["prompt"].endswith("?")
    assert "its only stage" in answer["sentence"] and "GB" in answer["sentence"]
    wait_for("the folder to go", lambda: files() == before)
    assert not under_way(asked) and registry.list_runs() == []


WRONG = """import re
def mine(completions, **kwargs):
    return [float(bool(re.search("4", completion))) for completion in completions]
"""


def test_a_reward_function_that_fails_is_said_with_its_line_and_on_how_many(begin: Supervisor) -> None:
    """The step is made all the same, as a run's first steps would be, before its rewards end it."""
    library.save_reward("mine", WRONG)
    begin()
    answer = answer_of(put(TRY, {"text": text(rewards=[{"name": "format"}, {"name": "mine"}])}))
    [failure] = answer["failures"]
    assert failure["sentence"] == (
        "mine raised TypeError at line 3, on all 4 completions: expected string or bytes-like object, got 'list'."
    )
    assert (failure["function"], failure["failed"], failure["completions"]) == ("mine", 4, 4)
    assert [one["failed"] for one in answer["completions"]] == [["mine"]] * 4


@pytest.mark.parametrize(
    ("body", "sentences"),
    [
        ("return [1 / (len(c) - 1) for c in completions]",
         ["mine raised ZeroDivisionError at line 3, on 1 of 4 completions: division by zero."]),
        ("return [['x', 1.0, None, float('nan')][len(c) - 1] for c in completions]",
         ["mine gave no score on 1 of 4 completions: ", "mine gave no score on 1 of 4 completions: "]),
        ("time.sleep(60)", ["mine gave no score on all 4 completions: "]),
        ("return 1.0", ["mine gave no score on all 4 completions: It returned "]),
        ("raise KeyError", ["mine raised KeyError at line 3, on all 4 completions."]),
        ("return [1.0, None, 1, True]", []),
    ],
    ids=["on some", "no numbers", "too long", "no list", "without words", "none"],
)  # fmt: skip
def test_what_fails_on_some_completions_or_gives_no_number_is_counted(
    registry_home: Path, tmp_path: Path, body: str, sentences: list[str]
) -> None:
    folder = RunFolder(tmp_path)
    folder.rewards.mkdir(parents=True)
    (folder.rewards / "mine.py").write_text(f"import time\ndef mine(completions, **kwargs):\n    {body}\n")
    scorers = scoring.Scorers([RewardSpec(name="mine", timeout=1.0)], folder)
    try:
        scorers.functions[0](prompts=["p"] * 4, completions=["a", "aa", "aaa", "aaaa"])
        said = [failure.sentence for failure in reward_failures(scorers.take())]
    finally:
        scorers.close()
    assert len(said) == len(sentences) and all(map(str.startswith, said, sentences)), said


@pytest.mark.parametrize(
    ("parts", "field", "reason"),
    [
        ({"data": {"source": "file:none.csv"}}, "data.source", "none.csv"),
        ({"training": {"temperature": 0.0}}, "training.temperature", "must be above 0"),
        ({"training": {"per_device_train_batch_size": 512}}, "", "rows to train on, but each generation takes"),
    ],
    ids=["before anything is loaded", "by TRL", "by the trainer"],
)
def test_what_keeps_it_from_being_made_is_said_in_words_at_its_field(
    begin: Supervisor, parts: dict[str, Any], field: str, reason: str
) -> None:
    begin()
    before = files()
    answer = answer_of(put(TRY, {"text": text(**parts)}))
    assert reason in answer["error"], answer
    assert answer["field"].startswith(field)
    wait_for("the folder to go", lambda: files() == before)


def test_cancelled_while_it_loads_it_is_gone_at_once_and_the_next_one_is_tried(begin: Supervisor) -> None:
    begin()
    before = files()
    asked, after = (put(TRY, {"text": each}) for each in (text(), "not: a spec"))
    wait_begun(asked)
    assert not taken(after)
    questions.cancel_question(asked)
    assert answer_of(asked, 5) == {"error": "Cancelled.", "field": ""}
    assert not under_way(asked)
    assert answer_of(after)["field"] == "name"
    wait_for("the folder to go", lambda: files() == before)


def test_killed_it_is_answered_for_and_leaves_nothing(begin: Supervisor) -> None:
    begin()
    before = files()
    asked = put(TRY, {"text": text()})
    wait_begun(asked)
    for pid in process.tagged_pids(tries.tag_of(asked), tries.folder_of(asked)):
        os.kill(pid, signal.SIGKILL)
    assert "memory ran out" in answer_of(asked, 5)["error"]
    wait_for("the folder to go", lambda: files() == before)


def test_a_killed_supervisor_s_dry_run_is_ended_and_answered_by_the_next_one(begin: Supervisor) -> None:
    supervisor = begin()
    before = files()
    asked = put(TRY, {"text": text()})
    wait_begun(asked)
    supervisor.kill()
    supervisor.wait()
    assert under_way(asked)
    begin()
    assert "restarted" in answer_of(asked, 10)["error"]
    assert not under_way(asked)
    wait_for("the folder to go", lambda: files() == before)


def test_a_run_goes_first(begin: Supervisor) -> None:
    """One that is launched ends a dry run; while it trains, none is begun."""
    begin()
    asked = put(TRY, {"text": text()})
    wait_begun(asked)
    folder = queue(make_spec(training={"max_steps": 5000}))
    assert "was launched, so" in answer_of(asked, 10)["error"]
    refused = answer_of(put(TRY, {"text": text()}), 10)
    why = "small is training on this machine, and a try would take its memory and time. Try again when it has ended."
    assert refused == {"error": why, "field": "", "untried": True}
    commands.ask_of_run(folder.id, commands.STOP)
    run = registry.get_run(folder.id)
    assert run is not None and run.state in {states.QUEUED, *states.LIVE}


def test_several_processes_work_is_done_by_one() -> None:
    run_spec = make_spec(training={"per_device_train_batch_size": 2, "num_generations": 4}, launch={"processes": 2})
    one = dry_run.one_step(run_spec, 2)
    assert (one.launch.processes, one.training["gradient_accumulation_steps"]) == (1, 2)
    whole = make_spec(launch={"processes": 2})
    assert "gradient_accumulation_steps" not in dry_run.one_step(whole, 2).training


def test_a_tag_is_this_home_s_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    here = tries.tag_of(1), tries.folder_of(1)
    monkeypatch.setenv("GROUPWISE_HOME", "/elsewhere")
    assert tries.tag_of(1) != here[0] and tries.folder_of(1) != here[1]


def test_what_an_earlier_one_left_in_the_temporary_folder_is_swept(place: Path, begin: Supervisor) -> None:
    left = tries.folder_of(999)
    left.mkdir()
    (left / "log.txt").write_text("x")
    other = left.with_name("groupwise-try-of-another-home-1")
    other.mkdir()
    begin()
    wait_for("the sweep", lambda: not left.exists())
    time.sleep(0.2)
    assert other.exists()
    other.rmdir()
