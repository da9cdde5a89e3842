"""registry.db: states go forward only, a run is a folder and a row, and asking twice is asking once."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from groupwise.storage.home import db, files, paths
from groupwise.storage.record import states
from groupwise.storage.registry import commands, registry
from groupwise.storage.registry.commands import KILL, RESUME, STOP, Refused
from groupwise.storage.registry.messages.facts import Sandbox
from tests.support.run_states import get, make

# --- states


@pytest.mark.parametrize(("before", "after"), [*itertools.product(states.LABELS, states.LABELS)])
def test_a_state_is_left_only_for_one_that_may_follow_it(registry_home: Path, before: str, after: str):
    run_id = make(before)
    allowed = before == after or after in states.NEXT[before]
    assert registry.set_state(run_id, after, "So it was said.") is allowed
    run = get(run_id)
    assert run.state == (after if allowed else before)
    assert (run.sentence == "So it was said.") is allowed


def test_an_end_is_never_undone_but_by_a_resume():
    for end in states.ENDED:
        assert states.NEXT[end] == ({states.QUEUED} if end in states.RESUMABLE else set())
    assert states.FINISHED not in states.RESUMABLE
    assert set(states.NEXT) == set(states.LABELS)


def test_a_state_can_bring_facts_with_it(registry_home: Path):
    run_id = make()
    assert registry.set_state(run_id, states.STARTING, "Now.", pid=5, boot="b", started=7, tag="t")
    identity = get(run_id).identity
    assert identity is not None and (identity.boot, identity.pid, identity.started) == ("b", 5, 7)
    assert files.read_json(get(run_id).folder.state)["state"] == states.STARTING


def test_an_unknown_run_changes_nothing(registry_home: Path):
    assert registry.get_run("nothing") is None
    assert not registry.set_state("nothing", states.RUNNING, "x")
    registry.set_facts("nothing", step=3)
    assert registry.list_runs() == []


# --- runs


def test_a_run_is_a_folder_with_its_spec_and_a_row(registry_home: Path):
    run_id = make(name="Ünï cöde / ../ $(id)\n")
    run = get(run_id)
    assert paths.RUN_ID.fullmatch(run_id) and run.folder.path.parent == registry_home / "runs"
    assert run.folder.spec.read_text() == "name: small\n" and run.folder.path.stat().st_mode & 0o077 == 0
    assert (run.state, run.attempt, run.step, run.total, run.reward, run.spark) == (states.QUEUED, 1, 0, 0, None, [])


def test_runs_come_newest_first_and_can_be_picked_by_state(registry_home: Path):
    ids = [make(), make(states.RUNNING), make(states.FINISHED)]
    assert [run.id for run in registry.list_runs()] == ids[::-1]
    assert [run.id for run in registry.list_runs(only=states.LIVE)] == [ids[1]]
    assert registry.list_runs(only=set()) == []


def test_facts_are_kept_as_they_were_said(registry_home: Path):
    run_id = make()
    registry.set_facts(run_id, step=3, total=60, reward=0.25, spark=[0.1, 0.25], seen_at=5.0)
    run = get(run_id)
    assert (run.step, run.total, run.reward, run.spark, run.seen_at) == (3, 60, 0.25, [0.1, 0.25], 5.0)


@pytest.mark.parametrize(
    "run_id", ["..", "../x", "/etc", "a/b", "", ".", "-x", "a\0b", "a\nb", "x" * 65, "$(id)", "a b"]
)
def test_no_text_leads_out_of_the_runs_folder(registry_home: Path, run_id: str):
    with pytest.raises(ValueError, match="is not a run id"):
        paths.run_folder(run_id)


def test_a_link_is_no_run_folder(registry_home: Path, tmp_path: Path):
    (registry_home / "runs" / "linked").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="is not a run id"):
        paths.run_folder("linked")


# --- what people ask


@pytest.mark.parametrize(("state", "kind"), [*itertools.product(states.LABELS, (STOP, KILL, RESUME))])
def test_only_what_makes_sense_now_can_be_asked(registry_home: Path, state: str, kind: str):
    run_id = make(state)
    if state in commands.ALLOWED[kind]:
        commands.ask_of_run(run_id, kind)
        assert [c.kind for c in commands.open_commands()] == [kind]
    else:
        goes_on = kind == RESUME and state in {states.QUEUED, *states.LIVE}
        with pytest.raises(Refused, match="has not ended yet" if goes_on else f"there is nothing to {kind}"):
            commands.ask_of_run(run_id, kind)
        assert commands.open_commands() == []


def test_asking_twice_is_asking_once_even_after_it_was_taken(registry_home: Path):
    run_id = make(states.RUNNING)
    commands.ask_of_run(run_id, STOP)
    first = commands.asked_at(run_id, 1, STOP)
    commands.ask_of_run(run_id, STOP)
    (command,) = commands.open_commands()
    commands.take_command(command, "done")
    commands.take_command(command, "done")
    commands.ask_of_run(run_id, STOP)
    assert commands.open_commands() == [] and commands.asked_at(run_id, 1, STOP) == first


def test_each_attempt_can_be_stopped_anew(registry_home: Path):
    run_id = make(states.RUNNING)
    commands.ask_of_run(run_id, STOP)
    commands.take_command(commands.open_commands()[0], "done")
    registry.set_state(run_id, states.STOPPED, "Stopped.")
    registry.set_state(run_id, states.QUEUED, "Again.", attempt=2)
    assert commands.asked_at(run_id, 2, STOP) is None
    commands.ask_of_run(run_id, STOP)
    assert [(c.run, c.attempt) for c in commands.open_commands()] == [(run_id, 2)]


def test_many_who_ask_at_once_ask_once(registry_home: Path):
    run_id = make(states.RUNNING)
    threads = [threading.Thread(target=commands.ask_of_run, args=[run_id, STOP]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(commands.open_commands()) == 1


def test_asking_of_an_unknown_run_is_refused(registry_home: Path):
    with pytest.raises(Refused, match="There is no run “nothing”"):
        commands.ask_of_run("nothing", STOP)


def test_the_stop_flag_never_waits_for_a_locked_registry(registry_home: Path):
    run_id = make(states.RUNNING)
    flag = commands.StopFlag(run_id, 1)
    assert not flag.is_set()
    commands.ask_of_run(run_id, STOP)
    other = db.open_writer(paths.registry_path(), journal="delete")
    other.execute("BEGIN EXCLUSIVE")
    assert not flag.is_set()  # and at once: a training step must not wait
    other.execute("ROLLBACK")
    other.close()
    assert flag.is_set() and not commands.StopFlag(run_id, 2).is_set()


def test_what_is_published_replaces_what_was(registry_home: Path):
    assert registry.read_fact(Sandbox) is None
    registry.publish_fact(Sandbox(name="none", label="ü", sentence="", network="x"))
    newer = Sandbox(name="landlock", label="", sentence="")
    registry.publish_fact(newer)
    assert registry.read_fact(Sandbox) == newer
