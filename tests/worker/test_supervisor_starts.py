"""What a supervisor starts, and what it refuses with the reason: runs, folders that appear, benches for questions."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.home import files, paths, process
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.record import log_notes, run_files, states
from groupwise.storage.record.record import RunWriter
from groupwise.storage.registry import questions, registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import WARNING
from groupwise.worker import run_start
from groupwise.worker.supervisor import Supervisor
from groupwise.worker.training import why_failed
from tests.support.asking import answer_of, ask, children, put, taken
from tests.support.homes import wait_for
from tests.support.runs import make_spec, queue
from tests.support.supervised import StartWorker, supervisors, wait_state


@pytest.fixture
def start_worker(registry_home: Path) -> Iterator[StartWorker]:
    with supervisors(registry_home) as begin:
        yield begin


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"data": {"answer_pattern": "#### (.*)"}}, "found in none"),
        ({"data": {"limit": 1}, "training": {"per_device_train_batch_size": 8}}, "1 row to train on, but each"),
        ({"training": {"num_generations": 3}}, "must be divisible by num_generations"),
    ],
    ids=["pattern", "few rows", "batch"],
)
def test_what_only_shows_at_the_start_fails_with_the_reason(
    start_worker: StartWorker, parts: dict[str, Any], reason: str
) -> None:
    folder = queue(make_spec(**parts))
    start_worker()
    run = wait_state(folder.id, states.FAILED)
    assert reason in run.sentence
    assert json.loads(folder.exit.read_text())["outcome"] == "failed"


def test_a_run_that_was_ended_while_its_start_was_prepared_is_not_started(registry_home: Path) -> None:
    folder = queue(make_spec())
    seen = registry.get_run(folder.id)
    registry.set_state(folder.id, states.STOPPED, "Stopped before it started.")
    worker = Supervisor()
    assert seen is not None
    worker.launch(seen)
    assert worker.children == {}
    after = registry.get_run(folder.id)
    assert after is not None and (after.state, after.tag) == (states.STOPPED, None)


def test_a_log_that_comes_after_its_step_is_told_of_too(registry_home: Path) -> None:
    """A run looked at between its last step and the log of that step kept the reward of ten steps before for ever."""
    folder = queue(make_spec())
    registry.set_state(folder.id, states.RUNNING, "Training.")
    writer, worker = RunWriter(folder.db, 1, {"format": 1.0}), Supervisor()

    def seen() -> float | None:
        run = registry.get_run(folder.id)
        assert run is not None
        worker.looked.clear()
        worker._note_progress(run)
        run = registry.get_run(folder.id)
        assert run is not None and run.step == 20
        return run.reward

    writer.commit(10, metrics={"reward": 0.5}, at=100.0)
    writer.commit(20, at=200.0)
    assert seen() == 0.5
    writer.commit(20, metrics={"reward": 0.25}, at=201.0)
    writer.close()
    assert seen() == 0.25


def test_what_the_check_finds_is_not_even_started(start_worker: StartWorker) -> None:
    parts = {"data.prompt_template": {"prompt_template": "{nothing}"}, "data.holdout": {"holdout": 64}}
    folders = {field: queue(make_spec(data=data)) for field, data in parts.items()}
    start_worker()
    for field, folder in folders.items():
        sentence = wait_state(folder.id, states.FAILED).sentence
        assert f"Could not be started: {field}, line " in sentence
        [line] = folder.log.read_text().splitlines()  # no process printed to it
        assert log_notes.is_error(line) and f"Failed. {' '.join(sentence.split())}" in line


def test_what_is_only_warned_of_keeps_no_run_from_starting(registry_home: Path) -> None:
    run_spec = make_spec(data={"config": "main"})
    assert [problem.level for problem in examine_spec(run_spec, Offer())] == [WARNING]
    run = registry.get_run(queue(run_spec).id)
    assert run is not None
    assert run_start.prepare_folder(run) == run_spec


@pytest.mark.parametrize("became", ["renamed", "deleted", "another"])
def test_a_run_starts_with_the_function_it_was_launched_with(registry_home: Path, became: str) -> None:
    """Whatever became of it in the library while the run waited."""
    code = "def short(completions, *, most=5, **kwargs):\n    return [float(len(one) < most) for one in completions]\n"
    library.save_reward("short", code, taken=())
    library.save_reward("other", code.replace("short", "other"), taken=())
    run_spec = make_spec(rewards=[{"name": "short", "parameters": {"most": 9}}])
    frozen = library.own_code(run_spec)
    about = {"name": run_spec.name, "model": run_spec.model.id, "data": run_spec.data.source}
    run_id = registry.create_run(spec.to_yaml(run_spec), **about, code=frozen)
    if became == "renamed":
        library.rename_reward("short", "brief", taken=())
    elif became == "deleted":
        library.delete_reward("short")
    else:  # one that no longer takes the parameter
        library.save_reward("short", code.replace("most=5", "least=5").replace("most]", "least]"), taken=())
    run = registry.get_run(run_id)
    assert run is not None
    assert run_start.prepare_folder(run) == run_spec
    assert (run.folder.rewards / "short.py").read_text(encoding="utf-8") == code


def test_a_run_asks_the_hub_nothing_and_tells_it_nothing(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hub() as (address, asked):
        monkeypatch.setenv("HF_ENDPOINT", address)
        folder = queue(make_spec(training={"max_steps": 1}))
        start_worker()
        wait_state(folder.id, states.FINISHED)
        assert asked == []


def test_a_model_that_cannot_be_fetched_is_told_of_by_its_name(
    start_worker: StartWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # where nobody listens
    folder = queue(make_spec(model={"id": "gpt5"}))
    start_worker()
    told = "“gpt5” is not on this machine, and the hub could not be reached. Check the name and the connection, "
    assert told in wait_state(folder.id, states.FAILED).sentence
    found = run_files.exit_record(folder, 1)
    assert found is not None and found["cause"] == run_files.MODEL


@contextlib.contextmanager
def hub() -> Iterator[tuple[str, list[str]]]:
    """A server in the hub's place: its address, and what it was asked so far."""
    asked: list[str] = []

    class Hub(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        do_GET = do_POST = do_HEAD

        def log_message(self, *_: Any) -> None:
            """Nothing: what was asked is in the list."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def test_a_spec_that_was_edited_by_hand_stops_neither_the_worker_nor_the_next_run(start_worker: StartWorker) -> None:
    broken = {
        "source: file:foo.docx": "is a text document, which holds no rows that can be read",
        "source: task:nothing": "no built-in task “nothing”",
        "source: \xe9": "its spec.yaml is damaged (it is not text in UTF-8). Put the file as it was into ",
    }
    folders = [queue(make_spec()) for _ in broken]
    for folder, line in zip(folders, broken, strict=True):
        text = folder.spec.read_text().replace("source: task:arithmetic", line)
        folder.spec.write_bytes(text.encode("latin-1"))
    (paths.data_folder() / "foo.docx").write_text("x")
    after = queue(make_spec(training={"max_steps": 1}))
    supervisor = start_worker()
    for folder, reason in zip(folders, broken.values(), strict=True):
        assert reason in wait_state(folder.id, states.FAILED).sentence
    wait_state(after.id, states.FINISHED)
    assert supervisor.poll() is None


def test_what_python_says_of_a_folder_that_is_not_ready_stands_in_a_sentence(registry_home: Path) -> None:
    folder = queue(make_spec())
    folder.spec.unlink()
    run = registry.get_run(folder.id)
    assert run is not None
    with pytest.raises(paths.HomeError) as refused:
        run_start.prepare_folder(run)
    told = f"its spec.yaml is missing. Put the file as it was into {folder.path}, then resume."
    assert run_start.why_not_started(refused.value).startswith(told)
    denied = PermissionError(13, "Permission denied", "/x/rewards")
    told = "its folder could not be used at /x/rewards (Permission denied). Resume tries again."
    assert run_start.why_not_started(denied) == told
    told = run_start.why_not_started(KeyError("x"))
    assert told == f"its folder could not be made ready. KeyError: 'x'. The traceback is in {paths.worker_log()}."


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("x"), "an unexpected error ended it. KeyError: 'x'"),
        (ModuleNotFoundError("No module named 'peft'"), "a Python package could not be imported. Module"),
        (ConnectionError("refused"), "a server could not be reached. ConnectionError: refused"),
        (OSError("gone"), "a file could not be read or written. OSError: gone"),
        (RuntimeError("CUDA error: x"), "the GPU reported an error. RuntimeError: CUDA error: x"),
        (SystemExit(3), "the process was told to exit. SystemExit: 3"),
    ],
)
def test_what_python_says_of_a_failure_stands_below_a_sentence(error: BaseException, told: str) -> None:
    cause, reason = why_failed.cause_and_reason(error)
    assert reason.startswith(told) and cause == run_files.OTHER


def test_a_run_folder_that_is_copied_into_the_home_appears(start_worker: StartWorker, tmp_path: Path) -> None:
    folder = queue(make_spec(training={"max_steps": 1}))
    start_worker()
    wait_state(folder.id, states.FINISHED)
    wait_for("the folder to say so too", lambda: (files.read_json(folder.state) or {}).get("state") == states.FINISHED)
    copy = paths.run_folder("a-copy")
    shutil.copytree(folder.path, copy.path)
    run = wait_for("the copy", lambda: registry.get_run("a-copy"))
    assert (run.state, run.name, run.step) == (states.FINISHED, "small (copy)", 1)
    assert run.sentence.endswith(f" This folder is a copy of {folder.id}.")


def test_code_in_the_folder_that_did_not_ship_reaches_nothing(start_worker: StartWorker) -> None:
    """Whatever it is named: it runs in the sandbox, where the folder cannot even be seen."""
    folder = queue(make_spec())
    trace = folder.path / "ran"
    (folder.rewards / "format.py").write_text(f"open({str(trace)!r}, 'w')\ndef format(completions, **_): return []\n")
    start_worker()
    run = wait_state(folder.id, states.FAILED)
    assert "“format” failed in 5 calls in a row: FileNotFoundError" in run.sentence
    assert not trace.exists()


def test_a_bench_is_started_for_a_question_and_again_after_a_kill_9_and_there_are_never_two(start_worker: StartWorker):
    supervisor = start_worker()
    (paths.data_folder() / "hangs.jsonl").write_text('{"question": "1?", "answer": "%s!"}\n' % ("a" * 60))
    data = {"source": "file:hangs.jsonl", "answer_pattern": "(a+)+$"}
    stuck = put(questions.PREVIEW, {"data": data, "model": {}, "row": 0})
    wait_for("it to be taken up", lambda: taken(stuck))
    (first,) = children(supervisor.pid)
    os.kill(first, signal.SIGKILL)
    assert "ended before it could answer" in answer_of(stuck, 10)["error"]
    build = {"spec": make_spec().model_dump()}
    assert ask(questions.BUILD, build) == {"problems": []}
    (second,) = children(supervisor.pid)
    supervisor.kill()
    supervisor.wait()
    restarted = start_worker()
    assert ask(questions.BUILD, build) == {"problems": []}
    (third,) = children(restarted.pid)
    assert len({first, second, third}) == 3 and process.identity_of(second) is None


def test_a_home_that_is_removed_or_made_anew_is_left(start_worker: StartWorker, registry_home: Path) -> None:
    """It looked for the home for ever, and would have served the next one of that name beside that one's own worker."""
    worker = start_worker()
    folder = queue(make_spec(data={"limit": 1}, training={"per_device_train_batch_size": 8}))
    wait_state(folder.id, states.FAILED)  # it looks after the home
    away = registry_home.with_name("away")
    registry_home.rename(away)
    try:
        assert worker.wait(timeout=30) == 0
        assert not registry_home.exists()
    finally:
        away.rename(registry_home)
    worker = start_worker()
    paths.supervisor_lock().unlink()  # as where the folder was made anew
    next_one = start_worker()
    assert worker.wait(timeout=30) == 0
    assert next_one.poll() is None
    assert "is not there any more, or was made anew: leaving" in paths.worker_log().read_text()
