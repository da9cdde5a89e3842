"""The groupwise command as a newcomer meets it: real processes, in a home of their own; what is wrong is one sentence
and an exit code."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from groupwise.app.__main__ import main
from groupwise.app.cli.parser import SUMMARIES, token_from
from groupwise.app.cli.runs import short_age, state_words
from groupwise.app.core.format import mid_sentence
from groupwise.app.core.terminal import UNSAFE
from groupwise.storage.analysis.outcome import Outcome
from groupwise.storage.home import db, files, paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from tests.conftest import Groupwise, Start, holder_of, holding, playing_supervisor
from tests.support.made_runs import made_run
from tests.support.records import seal_checkpoint

SPEC = """\
# the comment stays
name: small
data: {source: task:arithmetic}
rewards: [{name: format}]
training: {num_generations: 4}
"""


def make_run(state: str = states.QUEUED, name: str = "small", sentence: str = "") -> str:
    run_id = registry.create_run(SPEC, name=name, model="starter", data="task:arithmetic")
    for step in {states.QUEUED: [], states.STARTING: [states.STARTING]}.get(state, [states.STARTING, state]):
        assert registry.set_state(run_id, step, sentence or f"It is {step}.")
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


def test_a_home_of_nobody_is_a_sentence(groupwise: Groupwise, tmp_path: Path):
    result = groupwise("list", env={**os.environ, "GROUPWISE_HOME": "~nobody-here/runs"}, cwd=tmp_path)
    assert result.returncode == 1 and "in the home of a user whom this machine does not have" in result.stderr
    assert not list(tmp_path.glob("~*"))


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


HOSTILE = "x\x1b[31m\x9b2J\u202e\x07"
SAFE = "x\\u001b[31m\\u009b2J\\u202e\\u0007"


@pytest.mark.parametrize(
    "arguments",
    [["stop", HOSTILE], ["resume", HOSTILE], ["delete", HOSTILE], ["restore", HOSTILE], ["tag", "a", HOSTILE],
     ["rename", HOSTILE, "b"], ["launch", HOSTILE], ["launch", f"{HOSTILE}.yaml"], [HOSTILE], ["list", f"-{HOSTILE}"],
     ["list", "--sort", HOSTILE], ["restore", f"{HOSTILE}.tar.gz"]],
    ids=lambda each: " ".join(part.replace(HOSTILE, "HOSTILE") for part in each),
)  # fmt: skip
def test_nothing_given_to_the_command_reaches_the_terminal_as_an_order(
    own_home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with contextlib.suppress(SystemExit):
        main(arguments)
    said = capsys.readouterr()
    assert SAFE in said.err or repr(HOSTILE) in said.err
    assert not UNSAFE.search(said.err + said.out)


def test_a_hostile_spec_is_refused_without_orders_to_the_terminal(
    own_home: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(f'name: small\ndata: {{source: "file:{json.dumps(HOSTILE)[1:-1]}"}}\nrewards: [{{name: format}}]\n')
    assert main(["launch", str(file)]) != 0
    said = capsys.readouterr()
    assert "u001b[31m" in said.err and not UNSAFE.search(said.err + said.out)


# --- list, stop, resume


def test_list_is_a_table_or_json(groupwise: Groupwise, registry_home: Path):
    assert "no runs yet" in groupwise("list").stdout and groupwise("list", "--json").stdout == "[]\n"
    run_id = make_run(states.RUNNING, name="two\nlines \x1b[31mred")
    registry.set_facts(run_id, step=12, total=60, reward=0.4321)
    with holding(paths.run_folder(run_id).lock):  # it trains
        lines = groupwise("list").stdout.splitlines()
    assert lines[0].split() == ["ID", "NAME", "STATE", "STEP", "REWARD", "AGE"] and len(lines) == 2
    assert lines[1].startswith(f"{run_id}  two lines  [31mred  ") and "running  12/60  0.43 " in lines[1]
    row = json.loads(groupwise("list", "--json").stdout)[0]
    assert row["reward"] == 0.4321 and row["name"] == "two\nlines \x1b[31mred" and "tag" not in row and "pid" not in row
    make_run(name="a\u202eb\u200bc")
    assert "  a⟨U+202E⟩b⟨zero-width space⟩c  " in groupwise("list").stdout


def test_list_cuts_names_and_states_on_a_terminal_only(start: Start, groupwise: Groupwise, registry_home: Path):
    name = f"{'long ' * 12}name"
    make_run(states.FINISHED, name=name)
    assert f"  {name}  " in groupwise("list").stdout
    ours, theirs = os.openpty()
    process = start("-m", "groupwise.app", "list", stdout=theirs)
    assert process.wait(timeout=60) == 0
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert f"  {name[:31]}…  " in shown


def ids_of(text: str) -> list[str]:
    return [line.split()[0] for line in text.splitlines()[1:]]


def test_list_narrows_and_sorts_and_says_what_ended_worse(groupwise: Groupwise, registry_home: Path):
    good, bad = made_run("good", 30), made_run("bad", 40, metrics=lambda step: {"reward": 2 - step / 30})
    waits = make_run(name="waits")
    listed = groupwise("list").stdout
    assert ids_of(listed) == [waits, bad, good]
    assert re.search(rf"{bad} .* finished, verdict: the reward fell ", listed)
    assert re.search(rf"{good} .* finished  ", listed)
    assert mid_sentence("The KL weight is too high") == "the KL weight is too high" and mid_sentence("KL x") == "KL x"
    run = registry.get_run(bad)
    told = "finished, verdict: completions are cut off at their limit"
    assert run and state_words(run, Outcome("Completions are cut off at their limit")) == told
    killed = dataclasses.replace(
        run, state="killed", sentence="Killed at step 12 (SIGKILL), which Groupwise did not send: by hand."
    )
    assert state_words(killed, None).startswith("killed at step 12 (SIGKILL)"), "the state's word once"
    rows = {row["id"]: row for row in json.loads(groupwise("list", "--json").stdout)}
    assert [rows[run_id]["verdict"] for run_id in (bad, good, waits)] == ["The reward fell", None, None]
    assert rows[good]["seconds"] == pytest.approx(30 * 0.52) and rows[waits]["seconds"] is None
    assert ids_of(groupwise("list", "--state", "queued").stdout) == [waits]
    assert ids_of(groupwise("list", "--state", "queued", "--state", "finished", "--text", "AD bad").stdout) == [bad]
    for sort, order in {
        "-step": [bad, good, waits],
        "name": [bad, good, waits],
        "duration": [bad, good, waits],
    }.items():
        assert ids_of(groupwise("list", f"--sort={sort}").stdout) == order, sort
    assert groupwise("list", "--text", "nowhere").stdout == "No run matches.\n"
    for wrong in (["--state", "over"], ["--sort=weight"]):
        assert groupwise("list", *wrong).returncode == 2
    for word, said in (
        ("--deletd", "there is no option --deletd. Did you mean “--deleted”?"),
        ("--foo=3", "there is no option --foo.\n"), ("more", "“more” is one argument too many."),
    ):  # fmt: skip
        unknown = groupwise("list", word)
        assert unknown.returncode == 2 and "usage: groupwise list" in unknown.stderr
        assert f"groupwise list: error: {said}" in unknown.stderr


def test_list_says_why_a_run_failed(groupwise: Groupwise, registry_home: Path):
    why = "Failed at step 3: the GPU ran out of \x1b[31mmemory while it generated completions. Use fewer of them."
    failed, fine = make_run(states.FAILED, sentence=why), make_run(states.FINISHED)
    listed = groupwise("list").stdout
    assert "  failed: the GPU ran out of  [31mmemory while it generated completions  " in listed
    rows = {row["id"]: row["reason"] for row in json.loads(groupwise("list", "--json").stdout)}
    assert rows[fine] is None and rows[failed].startswith("The GPU ran out of")
    assert not rows[failed].endswith("Use fewer of them.")


def test_list_says_that_a_run_is_interrupted_where_its_process_is_gone_and_no_worker_is_there(
    groupwise: Groupwise, registry_home: Path
):
    """Worker and trainer were ended together: nobody had noted it, and the list said “running”."""
    gone, done, lives = (make_run(states.RUNNING, name) for name in ("gone", "done", "lives"))
    waits = make_run(name="waits")
    seal_checkpoint(paths.run_folder(gone).checkpoints / "checkpoint-30")
    record = {"attempt": 1, "outcome": "finished", "step": 4, "planned": 4}
    paths.run_folder(done).exit.write_text(json.dumps(record))
    before = [registry.get_run(one) for one in (gone, done, lives, waits)]
    with holding(paths.run_folder(lives).lock):
        result = groupwise("list")
        rows = {row["id"]: row for row in json.loads(groupwise("list", "--json").stdout)}
        assert ids_of(groupwise("list", "--state", "interrupted").stdout) == [gone]
        assert ids_of(groupwise("list", "--state", "running").stdout) == [lives]
    assert re.search(rf"{gone} +gone +interrupted: its process is gone  ", result.stdout)
    told = f"{gone}: its process is gone, and no worker is running. Continue with `groupwise resume {gone}`."
    assert told in result.stderr
    assert [rows[one]["state"] for one in (done, lives, waits)] == [states.FINISHED, states.RUNNING, states.QUEUED]
    assert rows[gone]["sentence"] == "Its process is gone. Resume continues from step 30."
    with playing_supervisor(registry_home):
        rows = {row["id"]: row for row in json.loads(groupwise("list", "--json").stdout)}
        assert rows[gone]["state"] == states.RUNNING, "the worker sees to it"
    assert [registry.get_run(one) for one in (gone, done, lives, waits)] == before, "the list only reads"


def test_resume_goes_by_how_a_run_ended_that_no_worker_had_noted(groupwise: Groupwise, registry_home: Path):
    gone = make_run(states.RUNNING)
    record = {"attempt": 1, "outcome": "finished", "step": 4, "planned": 4}
    paths.run_folder(gone).exit.write_text(json.dumps(record))
    result = groupwise("resume", gone)
    assert result.returncode == 1 and "“small” is finished: there is nothing to resume." in result.stderr
    if worker := holder_of(paths.supervisor_lock()):
        os.kill(worker, signal.SIGTERM)


def test_a_long_reason_does_not_stretch_the_list(groupwise: Groupwise, registry_home: Path):
    """One word after another, as long as a library's error: also where the output is piped."""
    failed = make_run(states.FAILED, sentence="Failed at step 3: " + "ValueError: much " + "more " * 60)
    [line] = [line for line in groupwise("list").stdout.splitlines() if line.startswith(failed)]
    assert len(line) < 180 and "…" in line
    [row] = json.loads(groupwise("list", "--json").stdout)
    assert row["reason"].count("more") == 60


def test_runs_are_renamed_tagged_deleted_and_restored_by_command(groupwise: Groupwise, registry_home: Path):
    one, two, going = make_run(states.FINISHED), make_run(states.FAILED), make_run(states.RUNNING)
    assert groupwise("rename", one, "  new\nname ").returncode == 0
    assert groupwise("tag", "night, day", one, two).returncode == 0
    assert groupwise("tag", "--remove", "DAY", two).returncode == 0
    assert [(run.name, run.tags) for run in map(registry.get_run, (one, two)) if run] == [
        ("new name", ["day", "night"]), ("small", ["night"]),
    ]  # fmt: skip
    for arguments, code, words in (
        (["rename", one, " "], 2, "A run needs a name."),
        (["rename", one, "x" * 81], 2, "at most 80 characters"),
        (["rename", "nope", "x"], 2, "There is no run “nope”"),
        (
            ["tag", one, "healthy"],
            2,
            f"shows them all. “{one}” names a run. Tags come before runs",
        ),
        (["tag", "new name", "a", "b"], 2, "Tags come before runs: `groupwise tag TAG[,TAG…] RUN…`."),
        (["tag", "x" * 41, one], 2, "at most 40 characters; “xxx"),
        (["tag", "", one], 2, "A tag needs a name."),
        (["tag", " , ", one], 2, "A tag needs a name."),
        (["tag", "--remove", "", one], 2, "A tag needs a name."),
        (["tag", "--remove", "zzz,yyy", one], 0, f"{one} has no tag “zzz” and “yyy”."),
        (["delete", going], 1, "is running: stop it first"),
        (["restore", one], 2, "There is no deleted run"),
        (["restore", __file__], 2, "is no backup of Groupwise. `groupwise backup FILE.tar.gz` makes one."),
    ):
        result = groupwise(*arguments)
        assert result.returncode == code and words in result.stderr and result.stderr.count("\n") == 1, arguments
    some = groupwise("delete", going, one)  # what can be is done, and the rest is told
    assert some.returncode == 1 and f"Deleted {one}." in some.stderr and "is running: stop it first" in some.stderr
    deleted = groupwise("delete", two)
    assert deleted.returncode == 0 and f"Deleted {two}." in deleted.stderr and "groupwise restore RUN" in deleted.stderr
    assert ids_of(groupwise("list").stdout) == [going]
    assert set(ids_of(groupwise("list", "--deleted").stdout)) == {one, two}
    assert groupwise("restore", one[:-1], two).returncode == 0
    assert "There are no deleted runs." in groupwise("list", "--deleted").stdout
    assert groupwise("list", "--json", "--text", "night new").stdout.count('"id"') == 1


def test_list_into_a_reader_that_leaves_is_no_error(start: Start, registry_home: Path):
    process = start("-m", "groupwise.app", "list")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=30) == 0 and process.stderr.read() == ""


@pytest.mark.parametrize(("seconds", "words"), [(-3, "0s"), (59, "59s"), (60, "1m"), (7199, "1h"), (86400 * 3, "3d")])
def test_age_is_in_the_largest_unit(seconds: float, words: str):
    assert short_age(seconds) == words


def test_a_run_is_named_by_its_name_where_it_alone_has_it(groupwise: Groupwise, registry_home: Path, no_worker: None):
    base, longer, twin = make_run(name="base"), make_run(name="base longer"), make_run(name="twin")
    other = make_run(states.STOPPED, name="twin")
    result = groupwise("stop", "base")
    assert result.returncode == 0 and result.stderr == f"Removed {base} from the queue.\n"
    assert commands.asked_at(base, 1, commands.STOP) and not commands.asked_at(longer, 1, commands.STOP)
    result = groupwise("resume", "twin")
    assert result.returncode == 2 and "“twin” is the name of 2 runs" in result.stderr
    assert twin in result.stderr and other in result.stderr and "Give the id of one." in result.stderr
    copied = paths.runs_folder() / "20261125-1702-base-k3f9"
    copied.mkdir()
    os.utime(copied, (0, 0))
    told = groupwise("list")
    assert copied.name not in told.stdout and f"“{copied.name}” has no spec.yaml" in told.stderr


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
        (["resume", going], "has not ended yet"),
    ):
        result = groupwise(*arguments)
        assert result.returncode == 1 and word in result.stderr and result.stderr.count("\n") == 1
    assert commands.open_commands() == []


def test_resume_goes_on_from_the_step_that_is_named(groupwise: Groupwise, registry_home: Path, no_worker: None):
    run_id = make_run(states.STOPPED)
    for step in (10, 20):
        seal_checkpoint(paths.run_folder(run_id).checkpoints / f"checkpoint-{step}")
    missing = groupwise("resume", run_id, "--from-step", "15")
    assert missing.returncode == 1 and "There is no complete checkpoint of step 15" in missing.stderr
    for odd in ("-1", "ten", "1.5", "9" * 30):
        refused = groupwise("resume", run_id, f"--from-step={odd}")
        assert refused.returncode == 2 and "a step is a whole number" in refused.stderr
    assert commands.open_commands() == []
    asked = groupwise("resume", run_id, "--from-step", "10")
    assert asked.returncode == 0 and "to go on from step 10." in asked.stderr
    assert [(one.action, one.step) for one in commands.open_commands()] == [(commands.RESUME, 10)]
    assert "The worker starts it in a moment." in asked.stderr
    make_run(states.RUNNING, "trains")
    make_run()
    again = groupwise("resume", run_id)  # twice is once
    assert "it starts when trains has ended. It goes before 1 run in the queue, launched later." in again.stderr
    anew = groupwise("resume", make_run(states.KILLED))
    assert anew.returncode == 0 and "to start again: it has no checkpoint." in anew.stderr


def test_resume_says_what_the_page_offers_instead(groupwise: Groupwise, registry_home: Path, no_worker: None):
    """Of a run that its own reward code ended: it is done as asked."""
    run_id = make_run(states.FAILED, sentence="Failed at step 5: the reward function “format” scored nothing.")
    known = {"attempt": 1, "outcome": "failed", "step": 5, "planned": 40, "reason": "", "at": 1.0, "traceback": ""}
    files.write_json(paths.run_folder(run_id).exit, known | {"cause": "reward", "function": "format", "line": 6})
    asked = groupwise("resume", run_id)
    assert asked.returncode == 0 and [one.action for one in commands.open_commands()] == [commands.RESUME]
    kept = "The run's reward code is as it was when it failed"
    said = f"{kept}; instead of a resume, its page offers “Change its rewards”."
    assert said in asked.stderr.splitlines()
    stopped = groupwise("resume", make_run(states.STOPPED, "other"))
    assert stopped.returncode == 0 and "instead of a resume" not in stopped.stderr


@pytest.mark.parametrize("attempt", [1, 2])
def test_resume_with_wait_follows_the_new_attempt_and_not_the_old_end(
    start: Start, registry_home: Path, no_worker: None, attempt: int
):
    run_id = make_run(states.STOPPED)
    registry.set_facts(run_id, tag="started" if attempt == 2 else None)
    process = start("-m", "groupwise.app", "resume", run_id, "--wait")
    wait_until(lambda: commands.asked_at(run_id, 1, commands.RESUME) is not None)
    time.sleep(0.5)
    assert process.poll() is None
    registry.set_state(run_id, states.QUEUED, "Again.", attempt=attempt)
    commands.take_command(commands.open_commands()[0], commands.DONE)
    for state in (states.STARTING, states.RUNNING, states.FINISHED):
        registry.set_state(run_id, state, f"It is {state}.")
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0 and "finished: It is finished." in err
