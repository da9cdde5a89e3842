"""One run in a backup, in an order in which whatever its process does meanwhile leaves a run that can be gone on with:
the checkpoints before the record, so that no step is missing between them, and its state last, which says what became
of the rest."""

import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from groupwise.storage.backup.adding import Adding, size_of_file, walk_files
from groupwise.storage.backup.names import CHECKPOINTS, FINAL, RECORD, belongs_in_backup, name_of_run
from groupwise.storage.home import files, locks
from groupwise.storage.record import checkpoint_files, endings, metrics, run_files, states
from groupwise.storage.record.record import spill_of
from groupwise.storage.registry import notes
from groupwise.storage.registry.registry import Run

OF_THIS_MACHINE = ("boot", "pid", "started", "tag", "number", "id")
LOOKS = 5  # at the checkpoints of a run that removes some of them while they are read


class RunPart:
    """Adds one run. `checkpoints`: with what it can go on from and with its final model."""

    def __init__(self, adding: Adding, run: Run, *, checkpoints: bool) -> None:
        self._adding, self._run, self._checkpoints = adding, run, checkpoints
        self._is_busy = run.state in states.LIVE or (files.is_file(run.folder.lock) and locks.is_held(run.folder.lock))
        # First of all: it is written last, so that where it is there all else is as it stays.
        self._exit = run_files.exit_record(run.folder, run.attempt) if self._is_busy else None

    def add(self) -> bool:
        """Whether the run is in the archive: its folder may have been deleted meanwhile."""
        folder, ended = self._run.folder, not self._is_busy or self._exit is not None
        saved = self._add_checkpoints() if self._checkpoints else None
        if self._checkpoints and ended:
            self._adding.add_folder(self._name(FINAL), folder.final)
        # Before the record, which takes up what is there: twice is once, and never is lost.
        self._adding.add_file(self._name("run.spill.jsonl"), spill_of(folder.db))
        progress = metrics.progress_if_readable(folder.db) if self._is_busy else None
        self._adding.add_record(self._name(RECORD), folder.db, busy=not ended)
        self._add_others(ended=ended)
        if not files.is_folder(folder.path):
            self._adding.archive.drop(self._name())
            return False
        self._adding.archive.add_json(self._name("notes.json"), [asdict(note) for note in notes.of_run(self._run.id)])
        self._adding.archive.add_json(self._name("state.json"), self._state(saved, progress))
        return True

    def _name(self, name: str = "") -> str:
        return name_of_run(self._run.id, name)

    def _add_others(self, *, ended: bool) -> None:
        folder = self._run.folder
        for path in (folder.spec, folder.script, folder.task, folder.versions):
            self._adding.add_file(self._name(path.name), path)
        if ended:
            self._adding.add_file(self._name(folder.exit.name), folder.exit)
        self._adding.add_log(self._name(folder.log.name), folder.log)
        for path in (folder.rewards, folder.carried_source, folder.path / "tensorboard"):
            self._adding.add_folder(self._name(path.name), path)
        for path in [*sorted(folder.path.glob("run.damaged-*.db")), folder.path / "run.spill.damaged.jsonl"]:
            self._adding.add_file(self._name(path.name), path)
        self._adding.strange += sorted(filter(_is_strange, map(self._name, _names_in(folder.path))))

    def _add_checkpoints(self) -> int | None:
        """Add what is whole to go on from; the step of the newest. Where one is removed as it is read (the run keeps
        only some), a newer one is whole by now: it is looked for again."""
        folder, begun, steps, lost = self._run.folder.checkpoints, set[Path](), dict[Path, int](), set[str]()
        for _ in range(LOOKS):
            there = [*checkpoint_files.points(folder), *checkpoint_files.set_aside_points(folder)]
            new = [point for point in there if point not in begun]
            for point in new:
                step, is_sealed = checkpoint_files.step_of(point), checkpoint_files.problem(point, deep=False) is None
                if is_sealed:
                    begun.add(point)
                if is_sealed and self._add_point(point):
                    steps[point] = step
            lost |= {str(point.relative_to(folder)) for point in new if point not in steps}
            if all(map(files.is_folder, new)):
                break
        lost -= {str(point.relative_to(folder)) for point in steps}
        if lost:
            what = f"{', '.join(sorted(lost))} of {self._run.id}"
            self._adding.told.left_out.append(f"{what} (not whole, or removed during the backup)")
        aside = checkpoint_files.ASIDE
        return max((steps[point] for point in steps if aside not in str(point.relative_to(folder))), default=None)

    def _point_name(self, point: Path) -> str:
        return self._name(f"{CHECKPOINTS}/{point.relative_to(self._run.folder.checkpoints)}")

    def _add_point(self, point: Path) -> bool:
        """Whether one checkpoint is in the archive, whole: each file is what its manifest says, which is added last."""
        name, digests = self._point_name(point), checkpoint_files.digests_of(point)
        is_whole = all(self._adding.add_file(f"{name}/{path}", point / path) == digests[path] for path in digests)
        manifest = checkpoint_files.MANIFEST
        is_whole = is_whole and self._adding.add_file(f"{name}/{manifest}", point / manifest) is not None
        if not (digests and is_whole):
            self._adding.archive.drop(name)
        return bool(digests and is_whole)

    def _state(self, saved: int | None, progress: dict[str, Any] | None) -> dict[str, Any]:
        """The run's row, as it is where nothing trains."""
        row = {name: value for name, value in asdict(self._run).items() if name not in OF_THIS_MACHINE}
        if progress is not None and progress["attempt"] >= self._run.attempt:
            row |= {name: progress[name] for name in ("attempt", "step", "total", "reward", "spark")}
            row["seen_at"] = progress["at"]
        if self._is_busy and (self._exit is None or self._run.state in states.LIVE):
            state, sentence = self._end(row["step"], saved)
            row |= {"state": state, "sentence": sentence, "state_at": time.time()}
            if self._exit is None:
                self._adding.told.training.append(self._run.id)
        if not self._checkpoints:
            row["sentence"] = endings.without_files(row["sentence"])
            if row["ended_sentence"]:
                row["ended_sentence"] = endings.without_files(row["ended_sentence"])
        return row

    def _end(self, step: int, saved: int | None) -> tuple[str, str]:
        if self._exit is None:
            return states.INTERRUPTED, endings.in_a_backup(time.strftime("%Y-%m-%d %H:%M"), step, saved)
        stopping = self._run.state == states.STOPPING
        return endings.ending(
            self._exit, None, step=step, saved=saved, killed_on_request=False, stopping=stopping
        )  # fmt: skip


def _names_in(folder: Path) -> list[str]:
    return os.listdir(folder) if files.is_folder(folder) else []


def _is_strange(name: str) -> bool:
    """Whether something that lies in a run's folder is none of Groupwise's."""
    end = name.rpartition("/")[2]
    is_known = end.startswith((".", "run.db-")) or end in ("run.lock", "deleted.json", "__pycache__")
    return not (is_known or belongs_in_backup(name) or belongs_in_backup(f"{name}/x"))


def data_names(run: Run) -> set[str]:
    """The files of the home's data folder that a run trains on."""
    spec = run_files.spec_of(run.folder)
    kind, _, name = (spec.data.source if spec else run.data).partition(":")
    return {name} if kind == "file" else set()


def size_of_run(run: Run, *, checkpoints: bool) -> tuple[int, int]:
    """Bytes of a run's folder: of weights, and of all else."""
    heavy = light = 0
    for path in walk_files(run.folder.path):
        if path.relative_to(run.folder.path).parts[0] not in (CHECKPOINTS, FINAL):
            light += size_of_file(path)
        elif checkpoints:
            heavy += size_of_file(path)
    return heavy, light
