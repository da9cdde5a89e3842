"""What holds when: a run trains with what the trainer, its config and LoRA hold at the training that was taken. What a
script sets later, or once more for another training (in a loop, in a function that it calls again), is told apart."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.places import is_trainer
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.scopes import either, same
from groupwise.storage.checks.script_reader.values import Arm, Either, Made, Value, plain_or, script_line, where_unmet
from groupwise.storage.spec.python_source import literal

_LATER = "it was not taken."


@dataclass(frozen=True)
class Moment:
    """A point of the script as it is followed. `order`: the calls before it; `arms`: the branches that lead to it."""

    order: int
    arms: tuple[Arm, ...] = ()

    @classmethod
    def of(cls, call: Made) -> "Moment":
        """When a call happens."""
        return cls(call.order, call.arms)


def options_of(value: Value | None) -> list[Value]:
    """What a value may be, by conditions."""
    return value.options if isinstance(value, Either) else [value] if value is not None else []


def trains(reading: Reading, call: Made) -> bool:
    """Whether a call is a method of the trainer that was taken."""
    return reading.made_trainer is not None and reading.made_trainer in options_of(call.receiver)


def trainings(reading: Reading) -> list[Made]:
    """The calls that train the trainer that was taken."""
    return [call for call in reading.script.calls if call.path == ".train" and trains(reading, call)]


def trains_other(call: Made) -> bool:
    """Whether a call trains a GRPO trainer."""
    return call.path == ".train" and any(map(is_trainer, options_of(call.receiver)))


def training_moment(reading: Reading) -> Moment:
    """When the training begins that was taken; the script's end, where it cannot be told which trains."""
    trainer = reading.made_trainer
    made = trainer.order if trainer is not None else -1
    calls = [call for call in reading.script.calls if call.path == ".train" and call.order > made]
    first = next(iter(trainings(reading) or [call for call in calls if not trains_other(call)]), None)
    return Moment.of(first) if first is not None else Moment(sys.maxsize, trainer.arms if trainer is not None else ())


def making_moment(reading: Reading) -> Moment:
    """When the trainer is made that was taken."""
    return Moment.of(reading.made_trainer) if reading.made_trainer is not None else Moment(sys.maxsize)


def training_words(reading: Reading) -> str:
    """What the training is called that was taken, beside others of the script."""
    every = [call for call in reading.script.calls if trains_other(call)]
    if len(every) < 2:
        return "the training"
    return "the first training" if trains(reading, every[0]) else "the training that was taken"


def changes_of(reading: Reading, *of: Value) -> list[Setting]:
    """What the script sets on any of these, and on what may be one of them."""
    return [one for one in reading.script.settings if any(option in of for option in (one.of, *options_of(one.of)))]


def held_at(given: dict[str, Value], of: Made, changes: Iterable[Setting], moment: Moment) -> dict[str, Value]:
    """What something holds at a moment that is made with what it is `given`, and changed."""
    held = dict(given)
    for change in changes:
        if change.order <= moment.order:
            old, doubts = held.get(change.name), _doubts(change, of, moment)
            unmet = where_unmet(old) if all(arm.plain for arm in doubts) else None
            held[change.name] = either(change.node, old, change.value, unmet) if doubts else change.value
    return held


def _doubts(change: Setting, of: Made, moment: Moment) -> list[Arm]:
    """The branches that only the change stands in: it happens perhaps."""
    return [arm for arm in change.arms if arm not in moment.arms and arm not in of.arms]


def note_changes(
    reading: Reading, of: Made, changes: Iterable[Setting], moment: Moment, words: Callable[[Setting], str],
    subject: str = "{}", late: Callable[[Setting], str] = lambda change: "",
) -> None:  # fmt: skip
    """Say of each change what becomes of it, once a line. `words`: of one that holds at the moment, "" for none;
    `subject`: what its name is called; `late`: of one that is set too late, "" where that is after the training."""
    lines: dict[tuple[str, int], list[Setting]] = {}
    last: dict[str, Setting] = {}
    for change in changes:
        reading.account_one(change)
        lines.setdefault((change.name, script_line(change.node)), []).append(change)
        if change.order <= moment.order:
            last[change.name] = change
    for group in lines.values():
        here = [one for one in group if one.order <= moment.order]
        others = [one for one in group if one not in here and not (here and same(one.value, here[-1].value))]
        said = subject.format(group[0].name)
        if not here:
            after = late(group[0]) or f"is set after {training_words(reading)}: {_LATER}"
            reading.note(said, group[0].node, after)
        elif last[group[0].name] is not here[-1]:
            continue  # another line sets it again before it counts, and is told of
        elif others:
            reading.note(said, group[0].node, _set_again(reading, here[-1], len(here) + len(others)))
        elif _is_sure(here[-1], of, moment) and (holds := words(here[-1])):
            reading.note(said, group[0].node, holds)


def _is_sure(change: Setting, of: Made, moment: Moment) -> bool:
    """Whether it is known what a change sets: of another, Reading.settings says what was taken."""
    return plain_or(change.value, ...) is not ... and not _doubts(change, of, moment)


def _set_again(reading: Reading, change: Setting, times: int) -> str:
    """That a line sets something for several trainings, and what was taken of that."""
    known = plain_or(change.value, ...)
    which = f"its value in {training_words(reading)}"
    taken = f"{which} counts here." if known is ... else f"{literal(known)} was taken, {which}."
    return f"is set {times} times: {taken}"
