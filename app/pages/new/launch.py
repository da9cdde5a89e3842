"""From a spec's text to a queued run: the last check, the row, and a worker to take it."""

import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from groupwise.app.core import worker_process
from groupwise.app.core.errors import Unanswerable
from groupwise.app.pages.new import edits, form, found_reading, presets, said_later
from groupwise.app.pages.new.fixes_in_place import write_fixes_in_place
from groupwise.app.pages.new.known import NO_ROWS, Known, known_of
from groupwise.app.pages.new.left_out import LeftOut, is_at_or_inside, leave_out, read_by_meant_names
from groupwise.app.pages.new.once_readable import say_once_readable
from groupwise.app.pages.new.preflight.report import Report, report
from groupwise.app.pages.new.reward_subjects import with_subjects
from groupwise.app.pages.new.whole_in_braces import join_whole_numbers
from groupwise.storage.checks.check import examine_spec
from groupwise.storage.checks.reward_settings import say_no_parameter
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import model_files
from groupwise.storage.library.rewards import library
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec as specs
from groupwise.storage.spec.rows.as_written import say_as_written
from groupwise.storage.spec.rows.decimal_commas import offer_points_in_all
from groupwise.storage.spec.rows.number_remarks import keep_remarks
from groupwise.storage.spec.rows.number_text import ask_for_thousands
from groupwise.storage.spec.rows.numbers_in_place import write_in_place
from groupwise.storage.spec.spec import NO_MODEL, RunSpec
from groupwise.storage.spec.words.problem import (
    BLOCKING,
    Problem,
    SpecError,
    in_order_of_lines,
    is_of_unset,
    without_advice_on_refused,
)
from groupwise.storage.spec.words.reward_entries import below_filled_rewards
from groupwise.storage.spec.words.setting_names import answered_places, without_answered
from groupwise.storage.spec.yaml import yaml_text
from groupwise.storage.spec.yaml.repairs import BRACKET
from groupwise.storage.spec.yaml.slips import read_past_slips
from groupwise.storage.spec.yaml.twice import is_given_twice

ROUNDS = 8  # of reading a spec without what was wrong with it before
STAND_INS: dict[str, Any] = {"name": "…", "rewards": [{"name": "format"}]}  # for what a spec must have
TASK_TOKENS = 16  # of a built-in task's question, until the checks have counted them


@dataclass(frozen=True)
class Reading:
    """What a text means: the spec, where its form is right; else `sound`, the spec without what is wrong, where that
    is one; and everything there is to say about it. `lines`: that of each field; `raw`: what is given, as plain
    values; `left_out`: what `sound` is without, by which everything that is said of it has to be placed."""

    spec: RunSpec | None
    sound: RunSpec | None
    problems: list[Problem]
    lines: dict[str, int] = field(default_factory=dict)
    raw: Any = None
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def as_checked(self) -> RunSpec | None:
        """`sound` as it is checked: where no model is chosen, nothing is said of the one that stands in."""
        if self.sound is None or not any(problem.field == "model.id" for problem in self.problems):
            return self.sound
        return self.sound.model_copy(update={"model": self.sound.model.model_copy(update={"id": NO_MODEL})})


def read_form(text: str) -> Reading:
    """What a text means, with the problems of its form alone: nothing is checked against what is installed."""
    try:
        raw, lines = yaml_text.read_yaml(text)
    except SpecError as error:
        return Reading(None, None, error.problems)
    return _read_values(raw, lines)


def _read_values(raw: Any, lines: dict[str, int]) -> Reading:
    """What plain values mean. What is wrong is left out and the rest read again, as one problem can hide another."""
    found: list[Problem] = []
    out, rest = LeftOut(), raw
    for _ in range(ROUNDS):
        try:
            spec = specs.from_dict(rest, out.lines_of_rest(lines))
            return Reading(None if found else spec, spec, found, lines, raw, out)
        except SpecError as error:
            more = error.problems
        # A list whose wrong entries were left out here is not empty in the text, and a value that was is not missing.
        said = [other.field for other in found if other.field not in out.renamed]
        placed = out.problems_as_written(more)
        found += [one for one in placed if not any(is_at_or_inside(field, one.field) for field in said)]
        if not isinstance(raw, dict):
            break
        wrong = [out.path_as_written(one.field) for one in more]
        known, out = out.renamed, read_by_meant_names(raw, placed, out)
        out = leave_out(raw, [path for path in wrong if path in known or path not in out.renamed], out)
        rest = {**STAND_INS, **out.take_from(raw)}
    return Reading(None, None, found, lines, raw)


def check_text(text: str, offer: Offer | None = None, known: Any = None) -> Reading:
    """Read and check a text. Where its form is wrong somewhere, the rest is checked all the same, so that problems do
    not come in waves. `known`: what the page's preview has found out (app.pages.new.known)."""
    reading = _check(read_form(text), offer, known)
    return replace(reading, problems=_say_of_text(reading.problems, text))


def _say_of_text(problems: list[Problem], text: str) -> list[Problem]:
    """The problems in the order of their lines, in words of what is written there, and their buttons likewise."""
    said = say_as_written(ask_for_thousands(problems, text), text)
    return in_order_of_lines(keep_remarks(offer_points_in_all(said, text), text))


def _examined(spec: RunSpec, offer: Offer, lines: dict[str, int], about: Known) -> list[Problem]:
    return examine_spec(spec, offer, lines, about.columns, about.rows, about.empty or ())


def _check(reading: Reading, offer: Offer | None, known: Any = None) -> Reading:
    if reading.as_checked is None:
        return reading
    about = known_of(known, reading.as_checked.data)
    offer = offer or Offer.read_published()
    out = reading.left_out
    lines = out.lines_of_rest(reading.lines)
    found = out.problems_as_written(_examined(reading.as_checked, offer, lines, about))
    named = {problem.field for problem in reading.problems} - out.renamed.keys()
    of_form = [_say_of_functions(one, reading.raw, offer) for one in reading.problems]
    found = [*of_form, *(one for one in found if one.field not in named and not _follows_from(named, one))]
    return replace(reading, problems=without_answered(found))


def _say_of_functions(problem: Problem, raw: dict[str, Any], offer: Offer) -> Problem:
    """A problem of the form of the rewards, by what is known of their functions."""
    entry = edits.value_at(raw, problem.field.rpartition(".")[0]) if "." in problem.field else None
    if isinstance(entry, dict) and isinstance(entry.get("name"), str):
        return say_no_parameter(problem, entry, offer.function(entry["name"], entry.get("version")))
    return below_filled_rewards(problem, raw, offer.rewards, RunSpec.model_fields)


def problems_of_values(raw: dict[str, Any], offer: Offer, known: Any = None) -> list[Problem]:
    """Everything there is to say of plain values without the worker."""
    reading = _check(_read_values(raw, {}), offer, known)
    unread = unread_settings(reading)
    about = estimates(reading.as_checked, offer, known, told=False, unread=unread) if reading.as_checked else None
    found = [*reading.problems, *(reading.left_out.problems_as_written(about.problems) if about else ())]
    return with_subjects(found, raw)


def say_all_at_once(
    problems: list[Problem], raw: dict[str, Any], lines: dict[str, int], offer: Offer, known: Any = None, *,
    unset: bool = True,
) -> list[Problem]:  # fmt: skip
    """The problems of plain values, and those that would come to sight once they are put right. `unset`: also those of
    defaults."""
    if not any(one.level == BLOCKING for one in problems):
        return problems
    types = form.types(offer) | form.reward_types(raw, offer)

    def judge(values: dict[str, Any]) -> list[Problem]:
        found = without_advice_on_refused(problems_of_values(values, offer, known))
        return [one for one in found if unset or not is_of_unset(one)]

    return said_later.say_what_follows(with_subjects(problems, raw), raw, lines, judge, types)


def _problems_of_raw(offer: Offer, unset: bool, raw: dict[str, Any], lines: dict[str, int]) -> list[Problem]:
    found = [one for one in problems_of_values(raw, offer) if unset or not is_of_unset(one)]
    return say_all_at_once(without_advice_on_refused(found), raw, lines, offer, unset=unset)


def unread_settings(reading: Reading) -> dict[str, str]:
    """The settings that are given and not in the sound spec, and where they are given: what is wrong with their form,
    and where they belong that stand under another name, but for what is read by the name that was meant."""
    named = [one for one in reading.problems if one.level == BLOCKING and one.field not in reading.left_out.renamed]
    return {path: path for path in reading.left_out.written} | answered_places(named)


def _follows_from(unread: Collection[str], problem: Problem) -> bool:
    """Whether a problem is that one of these settings is not set: it is, in a text that cannot be read yet."""
    setting = [path for fix in problem.fixes if problem.field not in fix.removed for path in fix.settings]
    return any(path in unread for path in setting)  # what a renaming sets is given, under another name


def problems_of_unreadable(text: str, error: SpecError, offer: Offer | None = None) -> list[Problem]:
    """Everything that is wrong with a text that is no YAML as a whole, which `error` says: its slips, and what the rest
    means as it is read past them. Where a line cannot be read nothing is said of what is missing: it may stand there.
    Nor is anything of a line whose bracket is not closed: where its value ends is a guess; nor of a default, but for
    what follows once one of two settings of a name is kept, where that is all that is wrong: else what sets it may be
    what is misread. The slips come first. Of fixes those alone that change the text itself: there are no settings to
    edit yet. Of one that is too large nothing else is known."""
    if yaml_text.is_too_large(text):
        return error.problems
    past = read_past_slips(text)
    reading = _check(_read_values(past.values if past.whole else {**STAND_INS, **past.values}, past.lines), offer)
    guessed = {one.line for one in past.problems if one.message.endswith(BRACKET)}
    said = say_as_written(ask_for_thousands(reading.problems, past.text), past.text)
    slips, said = join_whole_numbers(past.problems, said)
    of_others = [
        one for one in said
        if one.line not in guessed
        and not is_of_unset(one)
        and (past.whole or (one.field in past.lines and one.field.split(".")[0] not in past.unread))
    ]  # fmt: skip
    offer = offer or Offer.read_published()
    listed = (*in_order_of_lines(slips), *in_order_of_lines(write_in_place(of_others, past.text, text)))
    found = [replace(one, fixes=tuple(fix for fix in one.fixes if fix.cut)) for one in listed]
    then = say_once_readable(text, found, partial(_problems_of_raw, offer, all(map(is_given_twice, past.problems))))
    types = form.types(offer) | form.reward_types(past.values, offer)
    return [*write_fixes_in_place(listed, past, text, types), *then]


def problems_of_text(text: str) -> list[Problem]:
    """Everything that keeps a text of any kind from being launched, as far as it is told without the worker: its form,
    and what the rest of it means. There need not be a home."""
    try:
        offer = Offer.read_published()
    except (sqlite3.Error, registry.RegistryError):
        offer = Offer()
    try:
        yaml_text.read_yaml(text)
        reading = check_text(text, offer)
        raw = reading.raw if isinstance(reading.raw, dict) else {}
        found = say_all_at_once(reading.problems, raw, reading.lines, offer) if raw else reading.problems
    except SpecError as error:
        found = problems_of_unreadable(text, error, offer)
    return [problem for problem in found if problem.level == BLOCKING]


def spec_and_problems(text: str, known: Any = None) -> tuple[RunSpec | None, list[Problem]]:
    """The spec that a text means (None where it means none) and everything that keeps it from running, of what can be
    told without the worker. `known`: what the page's preview has found out."""
    offer = Offer.read_published()
    reading = check_text(text, offer, known)
    about = estimates(reading.sound, offer, known, unread=unread_settings(reading)).problems if reading.sound else []
    found = without_answered([*reading.problems, *reading.left_out.problems_as_written(about)])
    if reading.sound and known_of(known, reading.sound.data).rows == 0:
        found.append(Problem("data.source", NO_ROWS))
    return reading.spec, [problem for problem in found if problem.level == BLOCKING]


def estimates(
    spec: RunSpec, offer: Offer, known: Any = None, *, told: bool = True, blamed: Collection[str] = (),
    unread: Mapping[str, str] | None = None,
) -> Report:  # fmt: skip
    """What the run will do and take. `told`: else only the problems, where nobody sees the rest. `blamed`: the fields
    that have a problem already; `unread`: the settings that are given and not in the spec, and where. Where no row is
    left nothing follows from that but what whoever counted them says: it is the cause."""
    about = known_of(known, spec.data)
    if about.rows == 0:
        about = Known()
    tokens = about.prompt_tokens
    if tokens is None and spec.data.source.startswith("task:"):
        tokens = TASK_TOKENS
    facts = model_files.facts_at_hand(spec.model)
    return report(
        spec, offer, facts, about.rows, tokens, told=told, blamed=blamed, unread=unread, sums=about.sums,
        point=about.point, tags=about.tags or (), columns=about.columns,
    )  # fmt: skip


def queue_run(text: str, known: Any = None) -> str:
    """Queue a run of this spec, as it is written, and with how its file was found to be read; its id. Raises SpecError
    with all problems, creating nothing."""
    spec, found = spec_and_problems(text, known)
    if spec is None or found:
        raise SpecError(found)
    text = found_reading.write_found_reading(text, spec, known)
    code = library.own_code(spec)
    run_id = registry.create_run(text, name=spec.name, model=spec.model.id, data=spec.data.source, code=code)
    worker_process.wake_worker()
    return run_id


def queue_quickstart() -> str:
    """Queue the quickstart; the run's id. Raises Unanswerable."""
    try:
        return queue_run(presets.quickstart_text())
    except SpecError as error:
        raise Unanswerable(f"The quickstart cannot run here: {error}") from error
