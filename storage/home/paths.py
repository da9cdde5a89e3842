"""The data home: the one place that knows where Groupwise keeps things and what a path may look like."""

import contextlib
import os
import re
import secrets
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
# Signs that belong to the letters before them, which a regular expression does not take for letters: accents, points of
# Hebrew and Arabic, vowels of Indic scripts, Thai and their neighbours. The shown and the hidden marks of punctuation,
# of line ends and of direction are none of them.
SIGNS = (
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0df3"
    "\u0e31-\u0e4e\u0eb1-\u0ece\u0f35-\u0f39\u0f71-\u0f84\u102b-\u103e\u17b6-\u17d3\u3099\u309a"
)
BRING_FILE = "Upload it, or copy it there."  # into the data folder
DATA_NAME = re.compile(rf"[^\W_][\w{SIGNS} .-]{{0,127}}")  # letters of any language
OTHER_HOME = "Choose another folder with GROUPWISE_HOME=/some/folder."
MOST_NAME_BYTES = 255  # of a file's name, on Linux
# How letters are written where only those from a to z are had.
WRITTEN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae", "œ": "oe", "ł": "l",
                         "đ": "d", "ð": "d", "þ": "th", "ı": "i"})  # fmt: skip


class HomeError(Exception):
    """The data home cannot be used; the message says what happened and what to do."""


def home() -> Path:
    """The data home: $GROUPWISE_HOME, or ~/.groupwise. It may not exist yet (see `prepare`)."""
    return expand_home(os.environ.get("GROUPWISE_HOME") or "~/.groupwise").absolute()


@contextlib.contextmanager
def use_as_home(place: Path) -> Iterator[None]:
    """While this folder is the home of this process, and of those that it starts."""
    before = os.environ.get("GROUPWISE_HOME")
    os.environ["GROUPWISE_HOME"] = str(place)
    try:
        yield
    finally:
        os.environ.pop("GROUPWISE_HOME")
        if before is not None:
            os.environ["GROUPWISE_HOME"] = before


def expand_home(name: str) -> Path:
    """The path that a person wrote, with a home for its ~; as it stands where that is nobody's who has one here, and
    where it cannot be a path (a NUL): such a file is not there, as others are not."""
    try:
        return Path(name).expanduser()
    except (RuntimeError, ValueError):
        return Path(name)


def prepare() -> Path:
    """Make the home and its folders, private to this user, and return it.

    Raises HomeError when it is a file or in nobody's home, or cannot be made or written.
    """
    refuse_no_folder()
    place = home()
    try:
        for folder in (place, *home_folders()):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = place / f".write-test-{os.getpid()}-{secrets.token_hex(4)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise HomeError(f"The data home {place} cannot be written: {error.strerror}. {OTHER_HOME}") from error
    return place


def refuse_no_folder() -> None:
    """Raises HomeError where the home is a file, or in the home of nobody who has one here."""
    place, wanted = home(), os.environ.get("GROUPWISE_HOME", "")
    if wanted.startswith("~") and expand_home(wanted) == Path(wanted):
        raise HomeError(
            f"The data home {wanted} is in the home of a user whom this machine does not have. {OTHER_HOME}"
        )
    if place.exists() and not place.is_dir():
        raise HomeError(f"The data home {place} is a file, not a folder. {OTHER_HOME}")


def home_folders() -> tuple[Path, ...]:
    """The folders that a prepared home has."""
    return runs_folder(), trash_folder(), data_folder(), models_folder(), rewards_folder()


def registry_path() -> Path:
    """The registry's file."""
    return home() / "registry.db"


def runs_folder() -> Path:
    """The folder of all runs' folders."""
    return home() / "runs"


def trash_folder() -> Path:
    """The folders of deleted runs, each under its run's id, until they are a day old."""
    return home() / "trash"


def data_folder() -> Path:
    """Where data files live that a spec names as `file:NAME`."""
    return home() / "data"


def models_folder() -> Path:
    """The folder of models."""
    return home() / "models"


def rewards_folder() -> Path:
    """Every saved version of one's own reward functions, as NAME/HASH.py: what is left when the registry is damaged."""
    return home() / "rewards"


def questions_lock() -> Path:
    """Held by the one process that answers questions, for as long as it lives."""
    return home() / "questions.lock"


def questions_ready_lock() -> Path:
    """Held by that process once it has loaded its libraries, and answers."""
    return home() / "questions_ready.lock"


def supervisor_lock() -> Path:
    """Held by the one supervisor of this home for as long as it lives."""
    return home() / "supervisor.lock"


def app_lock() -> Path:
    """Held (shared) by every living app, so that an idle supervisor knows whether to stay."""
    return home() / "app.lock"


def dashboards_lock() -> Path:
    """Locked by every living dashboard at the byte of its port's number (see storage.registry.judge_ports)."""
    return home() / "dashboards.lock"


def worker_log() -> Path:
    """What the supervisor prints, appended."""
    return home() / "worker.log"


def logged_out() -> Path:
    """The sessions that were logged out before their time."""
    return home() / "logged-out"


def uploads_folder() -> Path:
    """Where uploads wait until the app has looked at them; emptied of what is older than a day."""
    return home() / "uploads"


def data_file(name: str) -> Path:
    """The file that `file:NAME` means. Raises ValueError for a name that could leave the data folder."""
    path = data_folder() / name
    fits = DATA_NAME.fullmatch(name) and len(name.encode()) <= MOST_NAME_BYTES
    if not fits or path.resolve().parent != data_folder().resolve():
        bring = f" {BRING_FILE}" if "/" in name else ""  # a path, of a file that may well be elsewhere
        raise ValueError(f"“{name}” is not the name of a file in {data_folder()}.{bring}")
    return path


def new_run_id(name: str) -> str:
    """A run id that sorts by time and can be read: 20261120-1432-arithmetic-k3f9. ö is written oe there, é e."""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFC", name).casefold().translate(WRITTEN))
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    slug = re.sub(r"[^a-z0-9]+", "-", letters).strip("-")[:32].rstrip("-") or "run"
    return f"{time.strftime('%Y%m%d-%H%M')}-{slug}-{secrets.token_hex(2)}"


@dataclass(frozen=True)
class RunFolder:
    """The paths inside one run's folder."""

    path: Path

    @property
    def id(self) -> str:
        """Name the run: the folder's own name."""
        return self.path.name

    @property
    def spec(self) -> Path:
        """The spec as submitted (YAML)."""
        return self.path / "spec.yaml"

    @property
    def rewards(self) -> Path:
        """The reward code this run scores with, exactly."""
        return self.path / "rewards"

    @property
    def carried_source(self) -> Path:
        """Groupwise's own source, as far as the plain script needs it: the sandbox."""
        return self.path / "groupwise"

    @property
    def task(self) -> Path:
        """The code of a built-in task, if the data comes from one."""
        return self.path / "task.py"

    @property
    def script(self) -> Path:
        """The same run as a plain TRL script."""
        return self.path / "train.py"

    @property
    def db(self) -> Path:
        """Locate the record: metrics, groups, completions, events."""
        return self.path / "run.db"

    @property
    def log(self) -> Path:
        """stdout and stderr of the training process, appended by the operating system."""
        return self.path / "log.txt"

    @property
    def exit(self) -> Path:
        """Written last by the training process: how it ended."""
        return self.path / "exit.json"

    @property
    def versions(self) -> Path:
        """Of the libraries that its newest attempt trained with."""
        return self.path / "versions.json"

    @property
    def state(self) -> Path:
        """The registry's row of this run, kept beside it so that a copied folder is whole."""
        return self.path / "state.json"

    @property
    def deletion(self) -> Path:
        """When it was deleted, in a folder that lies in the trash: for a registry that is made anew."""
        return self.path / "deleted.json"

    @property
    def notes(self) -> Path:
        """What people said of its completions: a copy of the registry's rows."""
        return self.path / "notes.json"

    @property
    def lock(self) -> Path:
        """Held by the training process for as long as it lives."""
        return self.path / "run.lock"

    @property
    def checkpoints(self) -> Path:
        """Locate the folder of what a resume goes on from."""
        return self.path / "checkpoints"

    @property
    def final(self) -> Path:
        """The trained model."""
        return self.path / "final"


def run_folder(run_id: str) -> RunFolder:
    """The folder of a run, which may not exist. Raises ValueError for an id that no run can have."""
    path = runs_folder() / run_id
    if not RUN_ID.fullmatch(run_id) or _leads_elsewhere(path):
        raise ValueError(f"“{run_id[:80]}” is not a run id.")
    return RunFolder(path)


def _leads_elsewhere(path: Path) -> bool:
    # Every look at a run asks this, several times: only a link is followed.
    return path.is_symlink() and path.resolve().parent != path.parent.resolve()
