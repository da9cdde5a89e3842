"""How a live part of a page works: a constant template, a JavaScript module, and functions the browser calls.

No gr.Timer: the browser keeps its own cursor, asks `server.NAME(payload)` for what is new, and draws it (see
ui/poll.js). The server keeps nothing about a reader, so a reload, a second tab or a restarted app just work. Every
function here may be called by anyone with any payload: `answer` checks the form of it, `run_of` the run, and what goes
wrong comes back as a sentence.

Parts are made by a function, not by subclassing gr.HTML: Gradio writes a .pyi file beside each subclass's source.
"""

import functools
import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.routes import ORJSONResponse
from starlette.responses import Response

from groupwise.app.core import format, strays
from groupwise.app.core.errors import Unanswerable
from groupwise.storage.home import db, paths
from groupwise.storage.home.logs import Repeats
from groupwise.storage.library.presets import PresetError
from groupwise.storage.library.rewards.library import LibraryError
from groupwise.storage.record import record_check, states
from groupwise.storage.registry import commands, registry, trash

LOG = logging.getLogger("groupwise")
LOG.addFilter(Repeats())  # a page asks again and again
MOST_RUNS = 50  # of a payload
DAMAGED = (
    "This run's record is damaged, or was copied only in part ({}). If there is a whole copy of run.db (in a backup, "
    "say), put it into the run's folder. Without one what was recorded is lost; settings, log and checkpoints are kept."
)
# As this is run, the part's element is there: see ui/mount.js.
BEGIN = 'dispatchEvent(new CustomEvent("groupwise:part", {{ detail: {{ name: "{}", element, server }} }}));'
Payload = dict[str, Any]
Answer = Callable[[Any], dict[str, Any]]


def live(name: str, *functions: Answer, template: str = "", late: bool = False, **options: Any) -> gr.HTML:
    """A live part. `name` is its module as seen from app, without “.js”; the last part of it is its CSS class. `late`:
    its buttons work only when it says so (tellReady of ui/part.js); clicks until then are kept (ui/early_clicks.js)."""
    ready = "late" if late else "at-once"
    made = gr.HTML(
        html_template=f'<div class="gw gw-{Path(name).name}" data-part="{ready}">{template}</div>',
        js_on_load=BEGIN.format(name),
        server_functions=[_to_endpoint(function) for function in functions] or None,
        apply_default_css=False,
        container=False,
        padding=False,
        **options,
    )
    made.module = f"{name}.js"  # fetched while Gradio's own are: see app.server.page_head
    return made


def _to_endpoint(function: Answer) -> Callable[..., Response]:
    """The function as a page calls it (see app.server.calls), its answer already JSON."""

    def served(payload: Any = None) -> Response:
        return reply(function(payload))

    served.__name__ = function.__name__  # by which the browser calls it
    return served


def reply(said: dict[str, Any]) -> Response:
    """An answer as JSON. Text of old records that is not Unicode is written as its escapes."""
    try:
        return ORJSONResponse(said)
    except TypeError:
        return ORJSONResponse(_encodable(said))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(str(key)): _encodable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(each) for each in value]
    return float(value) if isinstance(value, int) and not -(2**63) <= value < 2**64 else value


def answer(function: Callable[[Payload], dict[str, Any]]) -> Answer:
    """Make a function safe to be called from any page, or by hand: never an exception, always a plain dict.

    The one place where what goes wrong in a live part becomes a sentence.
    """

    @functools.wraps(function)
    def answered(payload: Any = None) -> dict[str, Any]:
        try:
            return function(payload if isinstance(payload, dict) else {})
        except (Unanswerable, LibraryError, PresetError, commands.Refused, registry.RegistryError) as refusal:
            return {"sentence": str(refusal)}
        except record_check.LostRecord as lost:
            return {"sentence": str(lost), "unreadable": True}
        except sqlite3.OperationalError as error:
            return {"sentence": _why_unread(error)}
        except sqlite3.Error as error:
            return {"sentence": DAMAGED.format(error), "unreadable": True}
        except Exception as error:
            if odd := _why_odd_record(payload):
                return {"sentence": odd, "unreadable": True}
            if isinstance(error, OSError):
                return {"sentence": f"The run's folder could not be read ({error.strerror or error})."}
            LOG.exception("%s failed", function.__name__)
            sentence = "Something went wrong inside Groupwise: see the terminal that it was started in."
            return {"sentence": sentence, "fault": True}

    return answered


def _why_unread(error: sqlite3.OperationalError) -> str:
    """Why a record could not be read, which may be another matter in a moment."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        return f"Reading this run's record took more than {db.LONGEST:.0f} s, and was stopped."
    return f"The record could not be read just now ({error}). Trying again."


def _why_odd_record(payload: Any) -> str:
    """A sentence on the first record among those that a payload names in which no run has written what is there: then
    it is no mistake of a page's that it fails; "" where there is none."""
    given = payload if isinstance(payload, dict) else {}
    ids = given.get("ids")
    for run_id in [given.get("run"), *(ids if isinstance(ids, list) else [])][:MOST_RUNS]:
        try:
            path = paths.run_folder(run_id if isinstance(run_id, str) else "").db
            fault = record_check.of_file(path, odd=True)
        except (ValueError, sqlite3.Error):
            continue
        if fault is not None:
            return record_check.NEWER_SENTENCE if fault.newer else DAMAGED.format(fault.reason)
    return ""


def run_by_id(run_id: str) -> registry.Run | None:
    """The run of this id; None where there is none, or no run can have it."""
    try:
        paths.run_folder(run_id)
    except ValueError:
        return None
    return registry.get_run(run_id)


def run_of(payload: Payload) -> registry.Run:
    """The run that a payload names. Raises Unanswerable."""
    run_id = text(payload, "run")
    run = run_by_id(run_id)
    if run is None:
        raise Unanswerable(_why_no_run(run_id))
    return run


def _why_no_run(run_id: str) -> str:
    if not run_id:
        return "This address names no run."
    gone = trash.find_deleted(run_id)
    if gone is None:
        return strays.why_stray(run_id) or f"There is no run “{format.shorten(run_id, 80)}”."
    return (
        f"The run “{gone.run.name}” was deleted. It can be restored for a day: on its page, or on Runs under Deleted."
    )


def say_missing_folder(run: registry.Run) -> str:
    """What to say of a run whose folder is gone: nobody knows whether it was deleted, or only moved."""
    return f"The folder of this run is not where it was ({run.folder.path}). Put it back, and the run is whole again."


def record_of(run: registry.Run) -> Path:
    """The run's run.db. Raises Unanswerable where it is not there (yet, or with its folder), and LostRecord where it is
    gone from a folder that has all else."""
    if not run.folder.path.is_dir():
        raise Unanswerable(say_missing_folder(run))
    record_check.refuse_lost(run.folder, run.state, run.step)
    if not has_record(run):
        raise Unanswerable("Nothing is recorded yet: the training process writes the first row when it begins.")
    return run.folder.db


def has_record(run: registry.Run) -> bool:
    """Whether run.db is there with its tables; for some milliseconds it is a file with none, or some of them."""
    if not run.folder.db.is_file():
        return False
    try:
        with record_check.read_record(run.folder.db) as record:
            record.execute("SELECT 1 FROM checkpoint LIMIT 1")  # the table that is made last
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return False
        raise
    return True


def is_ongoing(run: registry.Run) -> bool:
    """Whether the run may still record something: it is not over, or was asked to go on."""
    if run.state in states.LIVE or run.state == states.QUEUED:
        return True
    return run.state in states.RESUMABLE and commands.waiting_action(run.id, run.attempt) == commands.RESUME


def is_restarting(run: registry.Run) -> bool:
    """Whether the run trained before and is to go on, but has not begun to: what is recorded tells of before."""
    if run.state in states.RESUMABLE:
        return run.step > 0 and is_ongoing(run)
    return run.step > 0 and run.attempt > 1 and run.state in (states.QUEUED, states.STARTING)


def text(payload: Payload, key: str, limit: int = 200) -> str:
    """A text of a payload, cut at a length; empty where there is none."""
    value = payload.get(key)
    return value[:limit] if isinstance(value, str) else ""


def texts(payload: Payload, key: str, limit: int = 200) -> list[str]:
    """The texts in a list of a payload, each cut at a length; the empty ones, and what is no text, are left out."""
    value = payload.get(key)
    return [one[:limit] for one in value if isinstance(one, str) and one] if isinstance(value, list) else []


def whole_number(payload: Payload, key: str, default: int = 0) -> int:
    """A whole number that SQLite can hold, or the default."""
    value = payload.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**62:
        return default
    return value
