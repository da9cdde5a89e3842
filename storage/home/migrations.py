"""Append-only steps that make and change both kinds of file; which ones a file has had is recorded in it."""

import functools
import sqlite3

from groupwise.storage.home.sqlite_tools import Database, Migrations

registry = Migrations("registry")
record = Migrations("record")


def names(kind: Migrations) -> tuple[str, ...]:
    """All steps that this version of Groupwise knows of one kind of file."""
    return _names(kind.name)


@functools.cache
def _names(kind: str) -> tuple[str, ...]:
    nothing = Database(memory=True)
    try:
        return tuple(step.name for step in {"registry": registry, "record": record}[kind].pending(nothing))
    finally:
        nothing.close()


def applied_migrations(db: Database, kind: Migrations) -> list[str]:
    """The steps that a file has had, in their order; also those that only a newer version knows."""
    try:
        query = "SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id"
        return [name for (name,) in db.execute(query, [kind.name]).fetchall()]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise


def _run_all(db: Database, ddl: str) -> None:
    for statement in ddl.split(";"):
        if statement.strip():
            db.execute(statement)


@registry()
def r001_runs_commands_published(db: Database) -> None:
    """Make the tables of runs, of what is asked of them, and of what the worker publishes."""
    _run_all(
        db,
        """
        CREATE TABLE run (
          id TEXT PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL, data TEXT NOT NULL, created REAL NOT NULL,
          state TEXT NOT NULL, sentence TEXT NOT NULL, state_at REAL NOT NULL,
          attempt INTEGER NOT NULL, step INTEGER NOT NULL, total INTEGER NOT NULL,
          reward REAL, spark TEXT NOT NULL, seen_at REAL,
          boot TEXT, pid INTEGER, started INTEGER, tag TEXT
        ) STRICT;
        CREATE INDEX run_by_state ON run (state);
        CREATE INDEX run_by_age ON run (created);
        CREATE TABLE command (
          id INTEGER PRIMARY KEY, run TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL,
          asked_at REAL NOT NULL, taken_at REAL, result TEXT
        ) STRICT;
        CREATE INDEX command_open ON command (run, kind) WHERE taken_at IS NULL;
        CREATE TABLE published (key TEXT PRIMARY KEY, value TEXT NOT NULL, at REAL NOT NULL) STRICT
        """,
    )


@registry()
def r002_questions_presets(db: Database) -> None:
    """Make the tables of questions with their answers, and of presets."""
    _run_all(
        db,
        """
        CREATE TABLE question (
          id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, topic TEXT NOT NULL, payload TEXT NOT NULL,
          asked_at REAL NOT NULL, taken_at REAL, progress TEXT, answer TEXT, answered_at REAL, cancelled_at REAL
        ) STRICT;
        CREATE INDEX question_open ON question (id) WHERE taken_at IS NULL AND answered_at IS NULL;
        CREATE TABLE preset (
          name TEXT PRIMARY KEY, sentence TEXT NOT NULL, spec TEXT NOT NULL, at REAL NOT NULL
        ) STRICT
        """,
    )


@registry()
def r003_reward_library(db: Database) -> None:
    """Make the tables of reward functions, by version."""
    _run_all(
        db,
        """
        CREATE TABLE reward_code (
          name TEXT NOT NULL, hash TEXT NOT NULL, code TEXT NOT NULL, at REAL NOT NULL, network INTEGER NOT NULL,
          about TEXT NOT NULL, PRIMARY KEY (name, hash)
        ) STRICT;
        CREATE TABLE reward (name TEXT PRIMARY KEY, hash TEXT NOT NULL) STRICT
        """,
    )


@registry()
def r004_notes(db: Database) -> None:
    """Completions that a person starred, or wrote something about."""
    _run_all(
        db,
        """
        CREATE TABLE note (
          run TEXT NOT NULL, grp INTEGER NOT NULL, idx INTEGER NOT NULL, starred INTEGER NOT NULL,
          words TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (run, grp, idx)
        ) STRICT, WITHOUT ROWID
        """,
    )


@registry()
def r005_labels_trash_outcomes(db: Database) -> None:
    """What people say of runs, the how-many-th of its home each run is, what was deleted, and what runs came to."""
    _run_all(
        db,
        """
        ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT '';
        ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE run ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
        UPDATE run SET number = (
          SELECT count(*) FROM run AS older WHERE (older.created, older.id) < (run.created, run.id)
        );
        CREATE TABLE trash (id TEXT PRIMARY KEY, deleted_at REAL NOT NULL, row TEXT NOT NULL) STRICT;
        CREATE TABLE outcome (run TEXT PRIMARY KEY, mark TEXT NOT NULL, told TEXT NOT NULL) STRICT
        """,
    )


@registry()
def r006_end_before(db: Database) -> None:
    """How a run that waits to be started again had ended: what it goes back to where it is removed from the queue."""
    _run_all(
        db,
        """
        ALTER TABLE run ADD COLUMN ended_state TEXT;
        ALTER TABLE run ADD COLUMN ended_sentence TEXT;
        ALTER TABLE run ADD COLUMN ended_at REAL
        """,
    )


@registry()
def r007_reward_tried(db: Database) -> None:
    """The versions of reward functions that failed when they were last tried, and at what."""
    _run_all(
        db,
        """
        CREATE TABLE reward_tried (
          name TEXT NOT NULL, hash TEXT NOT NULL, failed INTEGER NOT NULL, of INTEGER NOT NULL, error TEXT NOT NULL,
          at REAL NOT NULL, PRIMARY KEY (name, hash)
        ) STRICT
        """,
    )


@record()
def d001_metrics_groups_events(db: Database) -> None:
    """Make the tables of metrics, groups of completions, events and checkpoints."""
    _run_all(
        db,
        """
        CREATE TABLE metric_key (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE metric (
          key INTEGER NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL, value REAL,
          PRIMARY KEY (key, attempt, step)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE rollup (
          size INTEGER NOT NULL, key INTEGER NOT NULL, attempt INTEGER NOT NULL, bucket INTEGER NOT NULL,
          n INTEGER NOT NULL, total REAL NOT NULL, low REAL NOT NULL, high REAL NOT NULL,
          PRIMARY KEY (size, key, attempt, bucket)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE acknowledged (
          seq INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, step INTEGER NOT NULL, at REAL NOT NULL
        ) STRICT;
        CREATE INDEX acknowledged_step ON acknowledged (attempt, step);
        CREATE TABLE prompt (
          id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, prompt TEXT NOT NULL, columns TEXT NOT NULL
        ) STRICT;
        CREATE TABLE reward_function (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, weight REAL NOT NULL) STRICT;
        CREATE TABLE grp (
          id INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, mode TEXT NOT NULL, step INTEGER NOT NULL,
          prompt INTEGER NOT NULL REFERENCES prompt, size INTEGER NOT NULL, mean REAL, std REAL, low REAL, high REAL
        ) STRICT;
        CREATE INDEX grp_by_step ON grp (mode, step);
        CREATE INDEX grp_by_prompt ON grp (prompt, step);
        CREATE TABLE completion (
          id INTEGER PRIMARY KEY, grp INTEGER NOT NULL REFERENCES grp, idx INTEGER NOT NULL, text TEXT NOT NULL,
          tokens INTEGER NOT NULL, truncated INTEGER NOT NULL, reward REAL, advantage REAL NOT NULL,
          UNIQUE (grp, idx)
        ) STRICT;
        CREATE TABLE score (
          grp INTEGER NOT NULL, idx INTEGER NOT NULL, function INTEGER NOT NULL, value REAL, status TEXT NOT NULL,
          PRIMARY KEY (grp, idx, function)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE event (
          id INTEGER PRIMARY KEY, at REAL NOT NULL, attempt INTEGER NOT NULL, step INTEGER NOT NULL,
          kind TEXT NOT NULL, message TEXT NOT NULL, data TEXT NOT NULL
        ) STRICT;
        CREATE TABLE checkpoint (
          step INTEGER PRIMARY KEY, attempt INTEGER NOT NULL, at REAL NOT NULL, path TEXT NOT NULL,
          bytes INTEGER NOT NULL
        ) STRICT
        """,
    )


@record()
def d002_what_functions_logged(db: Database) -> None:
    """Make the table of what reward functions logged of each completion."""
    _run_all(
        db,
        """
        CREATE TABLE extra (
          grp INTEGER NOT NULL, idx INTEGER NOT NULL, columns TEXT NOT NULL, PRIMARY KEY (grp, idx)
        ) STRICT, WITHOUT ROWID
        """,
    )


@record()
def d003_search_in_completions(db: Database) -> None:
    """Full text, and the rewards in order; the text itself stays where it is (FTS5's external content)."""
    _run_all(
        db,
        """
        CREATE VIRTUAL TABLE completion_text USING fts5(text, content='completion', content_rowid='id');
        INSERT INTO completion_text (completion_text) VALUES ('rebuild');
        CREATE INDEX completion_by_reward ON completion (reward)
        """,
    )


@record()
def d004_values_that_are_no_numbers(db: Database) -> None:
    """Few rows, so that counting them in a long run costs nothing."""
    db.execute(
        "CREATE INDEX metric_not_finite ON metric (key, attempt, step) "
        "WHERE (value IS NULL OR abs(value) > 1.7976931348623157e308)"
    )


@record()
def d005_numbers_of_completions(db: Database) -> None:
    """What statistics count, beside the text and not behind it: read without turning over every page of text."""
    db.execute("CREATE INDEX completion_numbers ON completion (grp, idx, tokens, truncated, reward, advantage)")
