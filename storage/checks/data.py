"""What of a spec's data keeps a run from being launched, as far as it can be told without reading rows. Pure, but for
a look at files."""

import difflib
import re
from collections.abc import Collection
from typing import Any

from groupwise.storage.checks.columns import check_known_columns
from groupwise.storage.checks.conditions import check_conditions
from groupwise.storage.checks.held_out import MADE, check_holdout
from groupwise.storage.checks.reward_columns import TASK_COLUMNS, check_reward_columns, source_kind_and_name
from groupwise.storage.checks.values import fixes_of_value, value_fault
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.rows import patterns
from groupwise.storage.spec.rows.column_names import PROMPTS, find_named, meant_column, say_columns
from groupwise.storage.spec.rows.file_format import (
    DATA_SUFFIXES,
    FILE_SETTINGS,
    SETTING_OWNERS,
    data_suffix,
    file_kind,
    missing_file_words,
    settings_of_source,
)
from groupwise.storage.spec.rows.other_kinds import unreadable_kind
from groupwise.storage.spec.rows.prompt_template import COLUMN, close_brace
from groupwise.storage.spec.spec import DataSpec, RunSpec
from groupwise.storage.spec.words.problem import WARNING, Fix, Problem, did_you_mean, nearest_name
from groupwise.storage.spec.words.setting_names import unknown_setting
from groupwise.storage.spec.words.value_kinds import can_mean, kinds_of_published

HUB_DATASET = re.compile(r"(?!.*(?:--|\.\.))[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)
# As it is copied from the hub's pages, or as other tools name it.
HUB_ADDRESS = re.compile(
    r"(?:hub: *)?(?:(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/datasets/|(?:hf|huggingface):(?:// *datasets/)?|"
    r"datasets/)([\w.-]+/[\w.-]+)(?:/|/(?:tree|viewer|blob|resolve)/.*|[?#].*)?", re.ASCII | re.IGNORECASE
)  # fmt: skip
NAME_OF_PATH = re.compile(r"[/\\]")
QUOTES_AND_SPACES = "‘’‚“”„'\"` \t\u00a0"
CHOOSE_ANOTHER = Fix("Choose another file", {}, leads=True)
# Settings of the data that fit any: how many rows are taken, and what stands before every prompt.
OF_ANY_DATA = {"source", "shuffle", "limit", "holdout", "system_prompt", "examples"}
# Where the data itself has to be fixed elsewhere: what makes the rest of the run work until then.
MEANWHILE = Fix(
    "Switch to the built-in task, without the settings of this data",
    {"data.source": "task:arithmetic"},
    tuple(f"data.{name}" for name in DataSpec.model_fields if name not in OF_ANY_DATA),
)
NEAR_FILE = 0.75  # of a name to another's, without their endings, from where on one is a slip of the other
NEAR_TASK = 0.85  # of a name to that of a built-in task
LONGEST_BUTTON = 60  # characters of a template that is offered on one
KINDS = "task:NAME (built in), gym:NAME (reasoning-gym), file:NAME (in the home's data folder) or hub:ORG/NAME"


def check_data(
    spec: RunSpec, offer: Offer, columns: list[str] | None = None, rows: int | None = None, empty: Collection[str] = ()
) -> list[Problem]:
    """Every problem, those that block and those worth knowing. `columns`, `rows`: those that the preview has seen;
    `empty`: which of the columns hold nothing, and are offered for nothing."""
    data = spec.data
    there = TASK_COLUMNS.get(source_kind_and_name(data)[0]) or columns or []
    filled = [name for name in there if name not in empty]
    return [
        *_source(data, offer), *_only_of_its_kind(data), *check_conditions(data), *_prompt(data, there), *_answer(data),
        *check_holdout(data, rows), *check_known_columns(data), *check_reward_columns(spec, offer, filled, empty),
    ]  # fmt: skip


# What a kind of source says that names none: no data, as when one has just chosen where it is to come from.
TO_CHOOSE = {
    "task": "choose a built-in task.",
    "gym": "choose a task of reasoning-gym.",
    "file": "choose a file, or upload one.",
    "hub": "choose a dataset: its id on the hub, such as openai/gsm8k.",
}


def _source(data: DataSpec, offer: Offer) -> list[Problem]:
    kind, name = source_kind_and_name(data)
    if kind in TO_CHOOSE and not name.strip():
        return [Problem("data.source", TO_CHOOSE[kind])]
    if kind == "task":
        return [] if not offer.tasks or name in offer.tasks else [_unknown_source(name, "task", list(offer.tasks))]
    if kind == "gym":
        return _gym(name, data.parameters, data.limit, offer)
    if kind == "file":
        return _file(name)
    guessed = _guess_source(data.source) or _bare_name(data.source, offer)
    hint = f" Did you mean “{guessed}”?" if guessed else ""
    if kind == "hub":
        if HUB_DATASET.fullmatch(name):
            return []
        return [_wrong_source(f"should be the dataset's id on the hub, such as openai/gsm8k.{hint}", guessed)]
    return [_wrong_source(f"should be {KINDS}.{hint}", guessed)]


def _wrong_source(message: str, better: str | None) -> Problem:
    instead = Fix("Use the built-in task arithmetic", {"data.source": "task:arithmetic"})
    return Problem("data.source", message, fixes=_use_fix("data.source", better) if better else (instead,))


def _guess_source(source: str) -> str | None:
    """What was meant by a source that lacks its kind or misspells it, or is a path, or an address of the hub."""
    source = source.strip(QUOTES_AND_SPACES)
    address = HUB_ADDRESS.fullmatch(source)
    if address or "://" in source:
        return f"hub:{address[1]}" if address and HUB_DATASET.fullmatch(address[1]) else None
    written, colon, name = (part.strip() for part in source.rpartition(":"))
    kind = nearest_name(written, [*TO_CHOOSE]) if colon else None
    base = NAME_OF_PATH.split(name)[-1]
    if kind in (None, "file") and base.lower().endswith(DATA_SUFFIXES) and paths.DATA_NAME.fullmatch(base):
        return f"file:{base}"
    if kind in ("task", "gym", "file") and name:
        return f"{kind}:{name}"
    return f"hub:{name}" if (kind or not colon) and HUB_DATASET.fullmatch(name) else None


def _bare_name(source: str, offer: Offer) -> str | None:
    """What was meant by the name of a task, or of a file that is there, without the kind before it."""
    name = source.strip(QUOTES_AND_SPACES)
    if name in (offer.gym or ()) and name not in offer.tasks:
        return f"gym:{name}"
    task = nearest_name(name, [*offer.tasks], NEAR_TASK)
    files = [one for one in _files() if name in (one, _stem(one))]
    return f"task:{task}" if task else f"file:{files[0]}" if len(files) == 1 else None


def _unknown_source(name: str, kind: str, names: list[str]) -> Problem:
    close = nearest_name(name, names) or (names[0] if len(names) == 1 else None)
    listed = did_you_mean(name, names) or (f" There are {', '.join(names)}." if len(names) <= 10 else "")
    what = "built-in task" if kind == "task" else "reasoning-gym task"
    return Problem("data.source", f"there is no {what} “{name}”.{listed}",
                   fixes=_use_fix("data.source", f"{kind}:{close}" if close else "task:arithmetic"))  # fmt: skip


def _use_fix(field: str, value: Any) -> tuple[Fix, ...]:
    return (Fix(f"Use {value}", {field: value}),)


def _gym(name: str, parameters: dict[str, Any], limit: int | None, offer: Offer) -> list[Problem]:
    if offer.gym is None:
        if not offer.hardware and not offer.extras:
            return []  # nothing is known yet
        message = "needs the reasoning-gym package: pip install reasoning-gym, then start Groupwise again."
        return [Problem("data.source", message, fixes=_use_fix("data.source", "task:arithmetic"))]
    if name not in offer.gym:
        return [_unknown_source(name, "gym", list(offer.gym))]
    fields = offer.gym[name].get("parameters", {})
    found = []
    for field, value in parameters.items():
        path = f"data.parameters.{field}"
        if field == "size":
            movable = isinstance(value, int) and not isinstance(value, bool) and value > 0 and limit is None
            fix = Fix("Use data.limit", {"data.limit": value}, (path,)) if movable else Fix("Remove it", {}, (path,))
            found.append(Problem(path, "cannot be set here: use data.limit instead.", fixes=(fix,)))
        elif field not in fields:
            said = f"{name} has no such parameter."
            kinds = {one: kinds_of_published(about) for one, about in fields.items()}
            fitting = [one for one in fields if can_mean(field, one, value, kinds[one])]
            found.append(unknown_setting(path, value, fields, parameters, said, fitting=fitting))
        else:
            message = value_fault(value, fields[field])
            found += [Problem(path, message, fixes=fixes_of_value(path, value, fields[field]))] if message else []
    return found


def _near_file(name: str, there: list[str]) -> str | None:
    """The file whose name is a slip of this one: how it ends, as most do, makes no two alike."""
    stems = {_stem(one): one for one in there}
    close = difflib.get_close_matches(_stem(name), stems, n=1, cutoff=NEAR_FILE)
    return stems[close[0]] if close else None


def _stem(name: str) -> str:
    return name.casefold().removesuffix(data_suffix(name))


def _file(name: str) -> list[Problem]:
    there = _files()
    close = _near_file(NAME_OF_PATH.split(name)[-1], there)
    near = f"file:{close}" if close else None
    fixes = (*_use_fix("data.source", near), CHOOSE_ANOTHER) if near else (CHOOSE_ANOTHER, MEANWHILE)
    hint = f" Did you mean “{close}”?" if close else ""
    try:
        path = paths.data_file(name)
        if not path.is_file():
            message = missing_file_words(name, paths.data_folder())
            return [Problem("data.source", message + hint, fixes=fixes)]
        if not file_kind(name):
            return [Problem("data.source", unreadable_kind(name), fixes=fixes)]
        if path.stat().st_size == 0:
            return [Problem("data.source", f"“{name}” is empty.", fixes=fixes)]
    except (ValueError, OSError) as error:
        said = error.strerror if isinstance(error, OSError) and error.strerror else f"{error}{hint}"
        return [Problem("data.source", said, fixes=fixes)]
    return []


def _files() -> list[str]:
    try:
        found = sorted(path.name for path in paths.data_folder().iterdir())
    except OSError:
        return []
    return [name for name in found[:1000] if paths.DATA_NAME.fullmatch(name) and name.lower().endswith(DATA_SUFFIXES)]


def _only_of_its_kind(data: DataSpec) -> list[Problem]:
    """Settings that only some sources have."""
    kind, _ = source_kind_and_name(data)
    if kind not in ("task", "gym", "file", "hub"):
        return []
    default, found = DataSpec(), []
    wrong = ["parameters"] if kind != "gym" else []
    wrong += ["config", "split", "revision", "streaming"] if kind != "hub" else []
    for name in wrong:
        if getattr(data, name) != getattr(default, name):
            path = f"data.{name}"
            where = "a reasoning-gym task (gym:NAME)" if name == "parameters" else "a dataset of the hub (hub:ORG/NAME)"
            fix = Fix("Remove it", {}, (path,))
            found.append(Problem(path, f"is not used: only {where} has this.", level=WARNING, fixes=(fix,)))
    found += _only_of_its_file(data)
    if kind == "hub" and data.streaming and not data.limit:
        fixes = (Fix("Read 4000 rows", {"data.limit": MADE}), Fix("Do not stream", {"data.streaming": False}))
        found.append(Problem("data.limit", "streaming needs a limit: how many rows to read.", fixes=fixes))
    return found


def _only_of_its_file(data: DataSpec) -> list[Problem]:
    """Settings of how a file is read that this source does not have."""
    taken, found = settings_of_source(data.source), []
    for setting in FILE_SETTINGS:
        if getattr(data, setting) is not None and setting not in taken:
            path = f"data.{setting}"
            message = f"is not used: only {SETTING_OWNERS[setting]} has this."
            found.append(Problem(path, message, level=WARNING, fixes=(Fix("Remove it", {}, (path,)),)))
    return found


def _prompt(data: DataSpec, there: Collection[str]) -> list[Problem]:
    named = COLUMN.findall(data.prompt_template)
    if data.prompt_column is None and not named:
        return [_no_column(data.prompt_template, there)]
    if data.prompt_column is not None and data.prompt_template != DataSpec().prompt_template:
        message = f"is not used: the prompt is the column “{data.prompt_column}” as it is."
        fixes = (
            Fix("Use the template, not the prompt column", {}, ("data.prompt_column",)),
            Fix("Remove it", {}, ("data.prompt_template",)),
        )
        return [Problem("data.prompt_template", message, level=WARNING, fixes=fixes)]
    if (closed := close_brace(data.prompt_template, there)) and closed[0] in there:
        message = f"the brace before “{closed[0]}” is not closed, so prompts show the name, not its value."
        use = _use_fix("data.prompt_template", closed[1]) if len(closed[1]) <= LONGEST_BUTTON else ()
        return [Problem("data.prompt_template", message, level=WARNING, fixes=use)]
    return []


def _no_column(template: str, there: Collection[str]) -> Problem:
    """Of a template that names no column: a brace is not closed, or there is none. `there`: the columns, where they are
    known."""
    if closed := close_brace(template, there):
        name, whole = closed
        meant = name if name in there or not there else meant_column(name, there)
        listed = f" {say_columns(there)}" if there else ""
        whole = whole.replace(f"{{{name}}}", f"{{{meant}}}")
        fixes = _use_fix("data.prompt_template", whole) if meant and len(whole) <= LONGEST_BUTTON else ()
        return Problem("data.prompt_template", f"the brace before “{name}” is not closed.{listed}", fixes=fixes)
    example = find_named(PROMPTS, there) or next(iter(there), "question")
    message = f"names no column, so every prompt would be the same. Write a column's name in braces: {{{example}}}."
    return Problem("data.prompt_template", message, fixes=_use_fix("data.prompt_template", f"{{{example}}}"))


def _answer(data: DataSpec) -> list[Problem]:
    return [*_answer_numbers(data), *_answer_pattern(data)]


def _answer_numbers(data: DataSpec) -> list[Problem]:
    if data.answer_numbers is None or data.answer_column:
        return []
    fix = Fix("Remove it", {}, ("data.answer_numbers",))
    message = "is not used: there is no answer column."
    return [Problem("data.answer_numbers", message, level=WARNING, fixes=(fix,))]


def _answer_pattern(data: DataSpec) -> list[Problem]:
    if not data.answer_pattern:
        return []
    remove = Fix("Remove it", {}, ("data.answer_pattern",))
    wrong = patterns.fault(data.answer_pattern)
    if wrong:
        return [Problem("data.answer_pattern", f"is not a regular expression: {wrong}.", fixes=(remove,))]
    if not data.answer_column:
        return [
            Problem("data.answer_pattern", "is not used: there is no answer column.", level=WARNING, fixes=(remove,))
        ]
    return []
