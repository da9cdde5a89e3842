"""The groupwise command as a newcomer meets it: real processes, in a home of their own; what is wrong is one sentence
and an exit code."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from groupwise.app.cli.parser import SUMMARIES, token_from
from groupwise.app.cli.runs import short_age
from groupwise.storage.home import db, paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from tests.conftest import Groupwise, Start

SPEC = """\
# the comment stays
name: small
data: {source: task:arithmetic}
rewards: [{name: format}]
training: {num_generations: 4}
"""


def make_run(state: str = states.QUEUED, name: str = "small") -> str:
    run_id = registry.create_run(SPEC, name=name, model="starter", data="task:arithmetic")
    for step in {states.QUEUED: [], states.STARTING: [states.STARTING]}.get(state, [states.STARTING, state]):
        assert registry.set_state(run_id, step, f"It is {step}.")
    return run_id


def wait_until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# --- the home, and what is wrong with it


COMMANDS = [["list"], ["stop", "x"], ["resume", "x"], ["repair"], ["worker"], ["--no-open"], ["launch", "spec.yaml"]]


@pytest.mark.parametrize("command", COMMANDS, ids=str)
def test_a_home_that_is_a_file_is_a_sentence(groupwise: Groupwise, own_home: Path, tmp_path: Path, command: list[str]):
    own_home.write_text("I am a file")
    (tmp_path / "spec.yaml").write_text(SPEC)
    result = groupwise(*(str(tmp_path / "spec.yaml") if part == "spec.yaml" else part for part in command))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"groupwise: The data home {own_home} is a file, not a folder. "
        "Choose another folder with GROUPWISE_HOME=/some/folder.\n"
    )
    assert own_home.read_text() == "I am a file"


@pytest.mark.parametrize("place", ["/proc/groupwise", "{file}/home", "/dev/null/home"])
def test_a_home_that_cannot_be_written_is_a_sentence(groupwise: Groupwise, tmp_path: Path, place: str):
    (tmp_path / "file").touch()
    place = place.format(file=tmp_path / "file")
    result = groupwise("list", env={**os.environ, "GROUPWISE_HOME": place})
    assert result.returncode == 1 and f"The data home {place} cannot be written" in result.stderr


@pytest.mark.parametrize("command", COMMANDS[:3] + COMMANDS[5:6], ids=str)
def test_a_damaged_registry_is_a_sentence_that_says_the_way_out(
    groupwise: Groupwise, registry_home: Path, command: list[str]
):
    paths.registry_path().write_bytes(b"this was a database once " * 400)
    result = groupwise(*command)
    assert result.returncode == 1 and "is damaged" in result.stderr and "`groupwise repair`" in result.stderr


def test_repair_brings_every_run_back_and_keeps_the_damaged_file(groupwise: Groupwise, registry_home: Path):
    kept = [make_run(states.FINISHED), make_run(states.STOPPED)]
    assert "nothing to repair" in groupwise("repair").stdout
    paths.registry_path().write_bytes(b"garbage" * 1000)
    result = groupwise("repair")
    assert result.returncode == 0 and "2 runs" in result.stdout
    aside = next(registry_home.glob("registry.damaged-*"))
    assert str(aside) in result.stdout and aside.read_bytes().startswith(b"garbage")
    rows = json.loads(groupwise("list", "--json").stdout)
    assert {row["id"]: row["state"] for row in rows} == {kept[0]: "finished", kept[1]: "stopped"}


def test_a_registry_that_another_process_keeps_locked_is_a_sentence(groupwise: Groupwise, registry_home: Path):
    other = db.open_writer(paths.registry_path(), journal="delete")
    other.execute("BEGIN EXCLUSIVE")
    result = groupwise("list")
    other.close()
    assert result.returncode == 1 and "locked" in result.stderr


# --- words and help


@pytest.mark.parametrize("command", ["", *SUMMARIES])
def test_help_tells_the_exit_codes(groupwise: Groupwise, own_home: Path, command: str):
    result = groupwise(*command.split(), "--help")
    assert result.returncode == 0 and "Exit codes: 0 done, 1 it failed, 2 wrong input" in result.stdout
    assert not own_home.exists()


@pytest.mark.parametrize(
    "arguments",
    [["lunch"], ["launch"], ["stop"], ["--port", "0"], ["--port", "x"], ["--port", "70000"], ["list", "--jsn"], ["-x"]],
    ids=str,
)
def test_a_mistyped_command_is_wrong_input(groupwise: Groupwise, own_home: Path, arguments: list[str]):
    result = groupwise(*arguments)
    assert result.returncode == 2 and "error:" in result.stderr and not own_home.exists()


def test_the_token_leaves_the_environment_before_any_child_is_made(monkeypatch: pytest.MonkeyPatch):
    for option, given, wanted in ((None, "secret", "secret"), ("auto", "secret", "secret"), ("mine", "secret", "mine")):
        monkeypatch.setenv("GROUPWISE_TOKEN", given)
        assert token_from(option) == wanted and "GROUPWISE_TOKEN" not in os.environ
    assert token_from(None) is None
    assert token_from("auto") != token_from("auto")


# --- list, stop, resume


def test_list_is_a_table_or_json(groupwise: Groupwise, registry_home: Path):
    assert "no runs yet" in groupwise("list").stdout and groupwise("list", "--json").stdout == "[]\n"
    run_id = make_run(states.RUNNING, name="two\nlines \x1b[31mred")
    registry.set_facts(run_id, step=12, total=60, reward=0.4321)
    lines = groupwise("list").stdout.splitlines()
    assert lines[0].split() == ["ID", "NAME", "STATE", "STEP", "REWARD", "AGE"] and len(lines) == 2
    assert lines[1].startswith(f"{run_id}  two lines  [31mred  ") and "running  12/60  0.432" in lines[1]
    row = json.loads(groupwise("list", "--json").stdout)[0]
    assert row["reward"] == 0.4321 and row["name"] == "two\nlines \x1b[31mred" and "tag" not in row and "pid" not in row


def test_list_into_a_reader_that_leaves_is_no_error(start: Start, registry_home: Path):
    process = start("-m", "groupwise.app", "list")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 0 and process.stderr.read() == ""


@pytest.mark.parametrize(("seconds", "words"), [(-3, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (86400 * 3, "3d")])
def test_age_is_in_the_largest_unit(seconds: float, words: str):
    assert short_age(seconds) == words


def test_a_run_is_named_by_any_unique_beginning(groupwise: Groupwise, registry_home: Path, no_worker: None):
    first, second = make_run(name="alpha"), make_run(name="beta")
    both = os.path.commonprefix([first, second])
    result = groupwise("stop", both)
    assert result.returncode == 2 and first in result.stderr and second in result.stderr
    assert groupwise("stop", "nothing").returncode == 2 and groupwise("stop", "").returncode == 2
    assert groupwise("stop", first[:-2]).returncode == 0
    assert commands.asked_at(first, 1, commands.STOP) and not commands.asked_at(second, 1, commands.STOP)


@pytest.mark.parametrize(
    ("state", "options", "kind"),
    [
        (states.RUNNING, [], commands.STOP),
        (states.RUNNING, ["--now"], commands.KILL),
        (states.QUEUED, ["--now"], commands.STOP),
    ],
)
def test_stop_asks_for_what_it_says(
    groupwise: Groupwise, registry_home: Path, no_worker: None, state: str, options: list[str], kind: str
):
    run_id = make_run(state)
    assert groupwise("stop", run_id, *options).returncode == 0
    assert groupwise("stop", run_id, *options).returncode == 0  # twice is once
    assert [(c.run, c.kind) for c in commands.open_commands()] == [(run_id, kind)]


def test_what_cannot_be_done_to_a_run_is_refused_in_words(groupwise: Groupwise, registry_home: Path, no_worker: None):
    done, going = make_run(states.FINISHED), make_run(states.RUNNING)
    for arguments, word in (
        (["stop", done], "finished"),
        (["resume", done], "finished"),
        (["resume", going], "running"),
    ):
        result = groupwise(*arguments)
        assert result.returncode == 1 and word in result.stderr and result.stderr.count("\n") == 1
    assert commands.open_commands() == []


def test_resume_with_wait_follows_the_new_attempt_and_not_the_old_end(
    start: Start, registry_home: Path, no_worker: None
):
    run_id = make_run(states.STOPPED)
    process = start("-m", "groupwise.app", "resume", run_id, "--wait")
    wait_until(lambda: commands.asked_at(run_id, 1, commands.RESUME) is not None)
    time.sleep(0.5)
    assert process.poll() is None
    registry.set_state(run_id, states.QUEUED, "Again.", attempt=2)
    for state in (states.STARTING, states.RUNNING, states.FINISHED):
        registry.set_state(run_id, state, f"It is {state}.")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0 and "finished: It is finished." in err
