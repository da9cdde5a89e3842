"""A spec's text as the page shows it: what each field says, what is wrong, what will happen, and the script."""

import contextlib
import math
import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from groupwise.app.core.field_labels import own_label
from groupwise.app.pages.new import (
    edits,
    form_rows,
    found_reading,
    launch,
    once_readable,
    past_reading,
    presets,
    yaml_edit,
)
from groupwise.app.pages.new.field_values import field_text
from groupwise.app.pages.new.found_reading import reading_key
from groupwise.app.pages.new.known import NO_ROWS, Known, is_chosen, known_of, rows_key, short_hash, source_key
from groupwise.app.pages.new.preflight.report import Report
from groupwise.app.pages.new.sound_offers import with_sound_offers
from groupwise.app.pages.new.taken_name import name_of_data, name_problems, offer_name_of_data
from groupwise.storage.checks import script
from groupwise.storage.checks.answer_unread import is_answer_read
from groupwise.storage.checks.reward_columns import without_column_problems
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.registry.messages.build import BuildQuestion
from groupwise.storage.registry.messages.call_rewards import (
    MOST_CALLED,
    CallRewardsQuestion,
    PlacedFunction,
)
from groupwise.storage.registry.messages.data_checks import CheckDataQuestion
from groupwise.storage.registry.messages.functions import Function
from groupwise.storage.registry.messages.message import FARTHEST, Ask
from groupwise.storage.registry.messages.model import ModelQuestion
from groupwise.storage.registry.messages.preview import PreviewQuestion
from groupwise.storage.spec.rows.number_text import scalars_by_path
from groupwise.storage.spec.spec import EMPTY, NO_MAPPING, DataSpec, RunSpec, placed_rewards
from groupwise.storage.spec.words.number_words import join_words
from groupwise.storage.spec.words.problem import BLOCKING, Problem, SpecError, line_of, without_advice_on_refused
from groupwise.storage.spec.words.setting_names import answered_places, without_answered
from groupwise.storage.spec.yaml.yaml_text import read_yaml, scalar_value

View = dict[str, Any]
CHOOSE = "Choose the data first."
UNREADABLE = "The data cannot be read as it is set."
BY_WORKER = (UNREADABLE, NO_ROWS)  # the worker said so, and is not asked anew for having said it
# What sentences are made with, also where no estimate waits for it.
COUNTED = ("data.limit", "data.holdout")
# Parts of a spec that the form holds as plain values rather than as one text each.
PLAIN = ("rewards", "data.examples", "data.filter", "data.columns", "data.parameters", "stages", "lora")


def describe_text(text: str, offer: Offer, known: Any = None, hidden: Collection[str] = ()) -> View:
    """Everything the page needs to know of this text. `known`: what the preview has found out (see known.py). `hidden`:
    what the page does not show now, and so is not made: “script”, “preflight”.

    A text that is no YAML mapping has only `unreadable` (a sentence, its line, all problems): the form keeps what it
    showed.
    """
    try:
        raw, _ = read_yaml(text)
    except SpecError as error:
        slips = launch.problems_of_unreadable(text, error, offer)
        return {"text": text, "unreadable": _say_unreadable(slips) | _once_read(text, offer)}
    if not isinstance(raw, dict):
        return {"text": text, "unreadable": _say_unreadable([EMPTY if raw is None else NO_MAPPING])}
    reading = launch.check_text(text, offer, known)
    spec, sound = reading.spec, reading.sound
    as_checked = reading.as_checked
    of_data = known_of(known, as_checked.data) if as_checked else Known()
    missing = _missing_data(as_checked, reading.problems, of_data) if as_checked else None
    told = "preflight" not in hidden and missing is None
    blamed, unread = _blocking_fields(reading.problems), launch.unread_settings(reading)
    about = launch.estimates(as_checked, offer, known, told=told, blamed=blamed, unread=unread) if as_checked else None
    out = reading.left_out
    otherwise = (*out.paths, *out.renamed)
    advised = [*out.problems_as_written(about.problems), *name_problems(as_checked)] if about and as_checked else []
    source = edits.value_at(raw, "data.source")
    found = offer_name_of_data(reading.problems, source) + advised
    if as_checked and of_data.unreadable:
        found = without_column_problems(found, as_checked, offer)
    said = without_advice_on_refused(without_answered(found))
    sound_ones = with_sound_offers(said, raw, offer, known)
    told_all = launch.say_all_at_once(sound_ones, raw, reading.lines, offer, known)
    problems = [_place_problem(one, raw, reading.lines) for one in told_all]
    seen = {
        "text": text,
        "shown": _as_typed(fields(raw), text),
        "plain": {path: _setting_at(raw, path) for path in PLAIN},
        "name_of_data": name_of_data(source),
        "reading": past_reading.reading_in(raw),
        "conditions": form_rows.condition_rows(_setting_at(raw, "data.filter")),
        "stages": form_rows.stage_rows(_setting_at(raw, "stages")),
        "empty": emptied_settings(raw),
        "problems": [problem.as_dict() for problem in problems],
        "answered": sorted(answered_places(found)),
        "blocked": any(problem.level == BLOCKING for problem in problems),
        "sentences": [missing] if missing else _say_what_happens(about, raw, as_checked) if about else [],
        "assumed": about.assumed if about else "",
        "figures": about.figures if about else [],
        "quickstart": text == presets.quickstart_text(),
        "name": str(raw.get("name") or "run"),
        "keys": keys(sound, as_checked, otherwise, with_data=missing in (None, *BY_WORKER)) if sound else {},
        "lines": reading.lines,
    }
    if "script" not in hidden:
        as_read = found_reading.known_reading(spec, known) if spec is not None else None
        seen["script"] = script.to_script(as_read) if as_read is not None else ""
    return json_value(seen)


def _say_what_happens(about: Report, raw: dict[str, Any], read: RunSpec | None) -> list[str]:
    """What will happen, and what that is reckoned without, as it cannot be read and nothing waits for it."""
    if read is None:
        return about.sentences
    known = read.model_dump(mode="json")
    given = [(path, _setting_at(raw, path)) for path in COUNTED if path not in about.awaited]
    out = [own_label(path) for path, value in given if value not in (None, yaml_edit.ABSENT, _setting_at(known, path))]
    without = [f"This is calculated without {join_words([f'“{label}”' for label in out])}."] if out else []
    return [*about.sentences, *without]


def _blocking_fields(problems: list[Problem]) -> set[str]:
    return {one.field for one in problems if one.level == BLOCKING}


def _missing_data(spec: RunSpec, problems: list[Problem], known: Known) -> str | None:
    """What is said in place of what will happen where there is no data to say it of: "" where that is a problem of its
    own, None where there is data."""
    if not is_chosen(spec.data):
        return CHOOSE
    if any(one.field == "data.source" and one.level == BLOCKING for one in problems):
        return ""
    return UNREADABLE if known.unreadable else NO_ROWS if known.rows == 0 else None


def _place_problem(problem: Problem, raw: dict[str, Any], lines: dict[str, int]) -> Problem:
    """A problem with its line, and only such buttons as do something."""
    fixes = tuple(fix for fix in problem.fixes if edits.changes_something(raw, fix))
    return replace(problem, line=problem.line or line_of(problem.field, lines), fixes=fixes)


def _say_unreadable(problems: list[Problem]) -> dict[str, Any]:
    """Why a text cannot be shown in the form, and its line; and all problems there are."""
    first = problems[0]
    return {"message": first.message, "line": first.line, "problems": [problem.as_dict() for problem in problems]}


def _once_read(text: str, offer: Offer) -> dict[str, Any]:
    """What the worker is asked about a text that cannot be read yet: `once`, what it is when its slips are put right,
    with the `keys` of the questions, the line of each field as it is written, and the places that a misspelt name
    offers its value for; nothing where that means no spec."""
    after = once_readable.text_once_read(text)
    reading = launch.read_form(after.text) if after is not None else None
    if after is None or reading is None or reading.sound is None or reading.as_checked is None:
        return {}
    out, checked = reading.left_out, reading.as_checked
    asked = keys(reading.sound, checked, (*out.paths, *out.renamed), with_data=is_chosen(checked.data))
    answered = sorted(answered_places(launch.check_text(after.text, offer).problems))
    lines = after.lines_as_written(reading.lines)
    once = {"text": after.text, "keys": asked, "lines": lines, "answered": answered}
    return {"once": json_value(once)}


def _setting_at(raw: dict[str, Any], path: str) -> Any:
    return yaml_edit.get_setting(raw, tuple(path.split(".")))


def fields(raw: dict[str, Any]) -> dict[str, str]:
    """What each field shows, by dotted path, for every setting that the text gives."""
    found: dict[str, str] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict) and path.count(".") < 1 and path not in PLAIN:
            for key, inner in value.items():
                walk(inner, f"{path}.{key}".lstrip("."))
        elif value is not None:
            found[path] = field_text(value)

    walk(raw, "")
    for path in ("lora", "data.parameters"):
        inner = _setting_at(raw, path)
        if isinstance(inner, dict):
            found |= {f"{path}.{key}": field_text(value) for key, value in inner.items() if value is not None}
    for number, stage in enumerate(form_rows.stage_rows(_setting_at(raw, "stages"))):
        found |= {
            f"stages.{number}.name": field_text(stage["name"]),
            f"stages.{number}.training": stage["training_text"],
        }
    for path, reward in form_rows.reward_places(raw):
        found |= {f"{path}.{name}": field_text(value) for name, value in _settings_of(reward) if value is not None}
    return found


def _as_typed(shown: dict[str, str], text: str) -> dict[str, str]:
    """What fields show, with a number that is too large for one as it stands in the text: 1e999, and not .inf."""
    endless = [path for path, value in shown.items() if value in (".inf", "-.inf")]
    written = scalars_by_path(text, lambda node: isinstance(scalar_value(node), float)) if endless else {}
    return shown | {path: written[path] for path in endless if path in written}


def _settings_of(reward: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The settings of a reward function that are one value each, by their paths below its own."""
    yield from ((name, reward[name]) for name in ("weight", "timeout") if name in reward)
    for part in ("parameters", "adapt"):
        inner = reward.get(part)
        yield from ((f"{part}.{name}", value) for name, value in (inner.items() if isinstance(inner, dict) else ()))
    points = reward.get("schedule")
    for number, point in enumerate(points if isinstance(points, list) else []):
        inner = point.items() if isinstance(point, dict) else ()
        yield from ((f"schedule.{number}.{name}", value) for name, value in inner)


def emptied_settings(raw: dict[str, Any]) -> dict[str, str | None]:
    """The settings that the text sets to null or to blank text, unlike those it leaves out: “no answer”, where the
    default is “answer”. A field cannot show it."""
    parts = [(part, raw.get(part)) for part in ("model", "data", "training", "kl", "launch")]
    said = {f"{part}.{key}": v for part, inner in parts if isinstance(inner, dict) for key, v in inner.items()}
    said["name"] = raw.get("name", "…")
    return {path: v for path, v in said.items() if v is None or (isinstance(v, str) and not v.strip())}


def keys(
    spec: RunSpec, as_checked: RunSpec | None = None, left_out: Collection[str] = (), *, with_data: bool = True
) -> dict[str, str]:
    """What each question to the worker depends on, in a few characters: asked again only when it changes. Without data
    that can be there is nothing to ask about it. `source`, `rows`, `reading`: which rows there are, which of them are
    used, and how their file is read. `as_checked`: the spec without the model that stands in for one to be chosen.
    `left_out`: what is not in the spec, or by another name, by which answers are placed in the text."""
    checked = as_checked or spec
    asked: list[Ask] = [about_build(checked), about_model(spec)]
    if with_data:
        asked += [about_data(spec), about_lengths(checked), *filter(None, [about_rewards(checked)])]
    beside = {"left_out": [*left_out]} if left_out else {}
    found = {one.kind: short_hash(one.as_dict() | beside) for one in asked}
    of_data = {"source": source_key(spec.data), "rows": rows_key(spec.data), "reading": reading_key(spec.data)}
    return {**found, **of_data}


def about_data(spec: RunSpec, row: int | None = None) -> PreviewQuestion:
    """The question to the worker about the data: what a row becomes; None: the first that the filter keeps."""
    return PreviewQuestion(data=spec.data, model=spec.model, row=None if row is None else min(row, FARTHEST))


def about_lengths(spec: RunSpec, *, every: bool = False) -> CheckDataQuestion:
    """About the lengths of prompts beside the longest completion, where it is a length: what else it is, is said at
    the setting."""
    longest = spec.training.get("max_completion_length")
    known = int(longest) if isinstance(longest, int) and longest >= 1 else None
    read = is_answer_read(spec, _own_code(spec))
    return CheckDataQuestion(data=spec.data, model=spec.model, longest_completion=known, all=every, answer_read=read)


def _own_code(spec: RunSpec) -> dict[str, str]:
    """The code of a person's own functions; none while the registry cannot be read just now."""
    with contextlib.suppress(sqlite3.Error):
        return library.own_code(spec)
    return {}


def about_build(spec: RunSpec) -> BuildQuestion:
    """The question whether TRL takes the settings: all but the data, what TRL's own configs are built from."""
    data = DataSpec(holdout=int(bool(spec.data.holdout)))  # evaluation needs held-out rows, however many
    return BuildQuestion(spec=spec.model_copy(update={"name": "run", "data": data}))


def about_rewards(spec: RunSpec) -> CallRewardsQuestion | None:
    """The question whether the functions of one's own score at all, with their code as it is saved now; None where
    there is none. One that may use the network is not called: a judge may cost money."""
    found = []
    for place, reward in placed_rewards(spec):
        with contextlib.suppress(library.LibraryError, sqlite3.Error):  # it ships, or is said not to be there
            kept = library.get_reward(reward.name, reward.version)
            function = Function(name=kept.name, code=kept.code, parameters=reward.parameters)
            if not kept.network:
                found.append(PlacedFunction(place=place, function=function, version=reward.version))
    if not found:
        return None
    return CallRewardsQuestion(data=spec.data, model=spec.model, functions=found[:MOST_CALLED])


def about_model(spec: RunSpec) -> ModelQuestion:
    """The question to the worker about the model."""
    return ModelQuestion(model=spec.model)


def json_value(value: Any) -> Any:
    """A value that JSON can say to a browser: numbers that it cannot hold as text, what is not there as null."""
    if value is yaml_edit.ABSENT:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return field_text(value)
    if isinstance(value, int) and abs(value) >= 2**53:
        return str(value)
    if isinstance(value, dict):
        return {str(key): json_value(inner) for key, inner in value.items()}
    return [json_value(inner) for inner in value] if isinstance(value, (list, tuple)) else value
