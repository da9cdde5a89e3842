"""Which rows of the data a script trains on: shuffle, select, take, skip, filter and train_test_split, each as a
setting of a spec or as a note."""

import re
from dataclasses import dataclass
from typing import Any

from groupwise.storage.checks.limits import USUAL_SEED
from groupwise.storage.checks.script_reader import conditions
from groupwise.storage.checks.script_reader.places import is_config
from groupwise.storage.checks.script_reader.reading import Reading, quote_code
from groupwise.storage.checks.script_reader.scopes import as_it_was
from groupwise.storage.checks.script_reader.values import (
    Function,
    Items,
    Made,
    Part,
    Row,
    Value,
    plain_or,
    script_line,
)
from groupwise.storage.spec.words.number_words import join_words

_SPLIT = re.compile(r"([A-Za-z_]\w*)(?:\[(\d*):(\d*)\])?")


Window = tuple[int, int | None]  # the first row, and the one after the last; None for all from there on


@dataclass
class Uncut:
    """Steps one after the other that leave out the first rows, which come along here. `window`: what all of them leave
    of the source, or of what there is after another step, in words."""

    steps: list[Made]
    window: Window
    of: str


class ChosenRows:
    """Takes the steps that choose rows. `taken`: the settings under data so far; `row`: what a row has by then;
    `split`: the train_test_split that the rows went through; `window`: which rows are left of the source, or since a
    step that gives other ones."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.taken: dict[str, Any] = {}
        self.row = Row(reading.script.tree, {})
        self.row_functions: list[Function] = []  # of the script, that get one row each
        self.split: Made | None = None
        self._done: list[str] = []  # filter, shuffle, limit, holdout, in the script's order
        self.window: Window = (0, None)
        self._uncut: list[Uncut] = []
        self._unseeded: list[Made] = []  # shuffles whose order no setting gives
        self._unseeded_split: tuple[Made, str] | None = None  # a split by an order that no setting gives, and why
        self._of = ""  # what the window is of, where that is not the source
        self._lost = ""  # the step that was not taken, after which rows that are chosen by their number are others

    def _order(self, name: str, step: Made, *before: str) -> None:
        """Note a step that the script does after what comes after it here."""
        late = [one for one in before if one in self._done]
        if late:
            limit = f"the limit of {self.taken.get('limit', 0):,}"
            words = {"limit": limit, "holdout": "the split", "shuffle": "shuffling"}[late[-1]]
            self.reading.note(f"{name}(…)", step, f"comes after {words} in the script, and before it here: other rows "
                              "may be chosen.")  # fmt: skip

    def _renumber(self, step: Made) -> None:
        """After this step the rows have other numbers."""
        self.window, self._of = (0, None), f" after {step.name}(…)"

    def _keep_cut(self, step: Made) -> None:
        """The first rows that a script chose before all else, as a slice of the split: there that is done first."""
        only_limit = set(self._done) == {"limit"} and "limit" in self.taken
        if not only_limit or self._lost or not self._slice(0, self.taken["limit"]):
            return
        del self.taken["limit"]
        self._done.clear()
        self.reading.unsaid.set("data.split", self.taken["split"], f"what {step.name} gets")

    def _slice(self, start: int, end: int | None) -> bool:
        """Let data.split be these rows of what it is; whether it can be."""
        found = _SPLIT.fullmatch(self.taken.get("split", "train"))
        if found is None or self.taken.get("streaming") or not self.taken.get("source", "").startswith("hub:"):
            return False
        begin, until = _within((int(found[2] or 0), int(found[3]) if found[3] else None), start, end)
        if until is not None and until <= begin:
            return False
        self.taken["split"] = f"{found[1]}[{begin or ''}:{'' if until is None else until}]"
        return True

    def _do_shuffle(self, step: Made) -> None:
        self._keep_cut(step)
        self._renumber(step)
        given = step_arguments(step, "seed")
        value = given.get("seed")
        seed = _seed_said(value)
        if "buffer_size" in given:
            self.reading.note("shuffle's buffer_size", step, "was not taken: a spec has no place for it.")
        if not _count(seed, 0):
            self._lost = self._lost or "shuffle"
            if plain_or(value, 0) is not None and value is not None:
                self.reading.note("shuffle(…)", step, "has a seed that could not be taken: set data.shuffle.")
            else:
                self._unseeded.append(step)
            return
        if "shuffle" in self._done:
            self._lost = self._lost or "shuffle"
            self.reading.note("A second shuffle(…)", step, "was not taken.")
            return
        self._order("shuffle", step, "limit", "holdout")
        self._done.append("shuffle")
        self.taken["shuffle"] = seed

    def _do_select(self, step: Made) -> None:
        value = step_arguments(step, "indices").get("indices")
        bounds = range_bounds(value)
        self.reading.account(value)
        if bounds is None:
            self._lost = self._lost or "select"
            which = f" ({quote_code(value.node)})" if value is not None else ""
            after = f"chooses rows in a way that a spec cannot{which}: set data.limit here."
            self.reading.note("select(…)", step, after)
        else:
            self._rows(step, *bounds)

    def _do_take(self, step: Made) -> None:
        count = plain_or(step_arguments(step, "n").get("n"))
        self._rows(step, 0, count) if _count(count, 1) else self.reading.note("take(…)", step, "could not be taken.")

    def _do_skip(self, step: Made) -> None:
        count = plain_or(step_arguments(step, "n").get("n"))
        self._rows(step, count, None) if _count(count, 0) else self.reading.note("skip(…)", step, "could not be taken.")

    def _rows(self, step: Made, start: int, end: int | None) -> None:
        """Rows from `start` on, up to `end`: the limit, or else a slice of the split, where nothing came before."""
        if start == 0 and end is None:
            return
        begin, until = _within(self.window, start, end)
        if start:
            self._keep_cut(step)
        if self._lost and (start or self._lost != "shuffle"):  # so many of rows in any order are taken as so many
            instead = ". Set data.limit, or a filter, here." if start else ": set data.limit here."
            after = f"was not taken, as {self._lost}(…) before it was not{instead}"
            self.reading.note(f"{step.name}(…)", step, after)
        elif until is not None and until <= begin:
            self.reading.note(f"{step.name}(…)", step, "leaves no rows: it was not taken.")
        else:
            self.window = begin, until
            self._cut(step, start, end)

    def _cut(self, step: Made, start: int, end: int | None) -> None:
        """Take a step that leaves the rows of `window`, which are those from `start` to `end` of what it gets."""
        begin, until = self.window
        if start == 0:
            assert until is not None
            self._order(step.name, step, "holdout")
            self.taken["limit"] = min(until - begin, self.taken.get("limit", until))
            self._done.append("limit")
        elif self._done or self.taken.get("streaming") or not self.taken.get("source", "").startswith("hub:"):
            self._leave_uncut(step)
        elif self._slice(start, end):
            self.reading.unsaid.set("data.split", self.taken["split"], f"what {step.name} leaves")
        else:
            self.reading.note(f"{step.name}(…)", step, "of a part of the split could not be taken.")

    def _leave_uncut(self, step: Made) -> None:
        before = self._uncut[-1] if self._uncut and self._uncut[-1].of == self._of else None
        if before is None:
            self._uncut.append(Uncut([step], self.window, self._of))
        else:
            before.steps.append(step)
            before.window = self.window

    def _note_all(self) -> None:
        """Note what is known once all steps were taken."""
        seed = self.taken.get("shuffle")
        after = f"rows are shuffled by data.shuffle, {seed}, here." if seed is not None else (
            "rows stay in the order of the source here. Set data.shuffle to shuffle them.")  # fmt: skip
        for step in self._unseeded:
            self.reading.note("shuffle(…)", step, f"has no seed: {after}")
        if self._unseeded_split is not None:
            split, why = self._unseeded_split
            order = "unshuffled" if seed is None else f"in the order of data.shuffle, {seed}"
            self.reading.note("train_test_split(…)", split, f"{why}: the first rows are held out here, {order}.")
        self._note_uncut()

    def _note_uncut(self) -> None:
        """Note the steps that a spec cannot take, with the rows that are used instead."""
        limit = self.taken.get("limit")
        for uncut in self._uncut:
            start, end = uncut.window
            kept = f"rows {start + 1:,} to {end:,}" if end is not None else f"rows from {start + 1:,} on"
            used = f"the first {limit:,} of all are used" if limit else f"all are used, the first {start:,} with them"
            names = self._step_names(uncut.steps)
            keep, was = ("keep", "were") if len(names) > 1 else ("keeps", "was")
            said = f"{keep} {kept}{uncut.of}, and {was} not taken: here {used}. Set data.limit, or a filter, here."
            self.reading.note(join_words(names), uncut.steps[-1], said)

    def _step_names(self, steps: list[Made]) -> list[str]:
        """Several steps by their names; those of other lines than the last, with their line."""
        last = script_line(steps[-1])
        lines = [(step.name, script_line(step)) for step in steps]
        said = [f"{name}(…)" + ("" if at == last else f" ({self.reading.place(at)})") for name, at in lines]
        return list(dict.fromkeys(said))

    def _do_train_test_split(self, step: Made) -> None:
        given = step_arguments(step, "test_size", "train_size", "shuffle", "stratify_by_column", "seed")
        self.split = step
        self._renumber(step)
        size = plain_or(given["test_size"]) if "test_size" in given else None if "train_size" in given else 0.25
        train = plain_or(given.get("train_size"))
        if size is None and isinstance(train, float) and 0 < train < 1:
            size = round(1 - train, 12)
        if _count(size, 0) or (isinstance(size, float) and 0 <= size < 1):
            self.taken["holdout"] = size
            if "test_size" not in given:
                self.reading.unsaid.set("data.holdout", size, "as train_test_split has it")
        else:
            self.reading.note("The size of train_test_split(…)", step, "could not be taken: set data.holdout.")
        self._split_seed(step, given)
        if "stratify_by_column" in given and plain_or(given["stratify_by_column"], 0) is not None:
            self.reading.note("train_test_split's stratify_by_column", step, "was not taken.")
        self._done.append("holdout")
        self.reading.account(*given.values())

    def _split_seed(self, step: Made, given: dict[str, Value]) -> None:
        """It shuffles, by its seed, before it splits: so does data.shuffle, but other rows are held out."""
        seed = _seed_said(given.get("seed"))
        if _count(seed, 0) and plain_or(given.get("shuffle")) is not False:
            self._keep_cut(step)
        if plain_or(given.get("shuffle")) is False:
            self.reading.note("train_test_split(…)", step, "holds out the last rows; here it is the first.")
        elif not _count(seed, 0):
            no_seed = plain_or(given.get("seed"), 0) is None or "seed" not in given
            self._unseeded_split = step, "has no seed" if no_seed else "has a seed that could not be taken"
        elif "shuffle" in self._done or "limit" in self._done:
            self.reading.note(f"train_test_split's seed {seed}", step, "was not taken: the first rows are held out "
                              "here.")  # fmt: skip
        else:
            self.taken["shuffle"] = seed
            self._done.append("shuffle")
            self.reading.note(f"train_test_split's seed {seed}", step, "was taken as data.shuffle: other rows are held "
                              "out than in the script.")  # fmt: skip

    def _do_filter(self, step: Made) -> None:
        self._renumber(step)
        given = step_arguments(step, "function")
        function, _ = without_partial(given.get("function"))
        self.reading.account(*given.values())
        found: list[str] | None = None
        if isinstance(function, Function):
            with as_it_was(step.names):
                found = conditions.conditions_of(self.reading, function, self.row, self.row_functions)
        self._keep_cut(step)  # of a filter that is not taken, too: whoever says it here gets it in this place
        self._order("filter", step, "shuffle", "limit", "holdout")
        self._done.append("filter")
        if found is not None:
            self.taken.setdefault("filter", []).extend(found)
            return
        after = f"was not taken: {conditions.keeps_words(self.reading, function)} Say which rows to keep here."
        self.reading.note("A filter", step, after)


def _within(window: Window, start: int, end: int | None) -> Window:
    """Some of the rows of a window, as rows of what that is of."""
    first, last = window
    ends = [one for one in (last, None if end is None else first + end) if one is not None]
    return first + start, min(ends, default=None)


def _seed_said(value: Value | None) -> Any:
    """A seed; also of `training_args.seed`, which has TRL's default where the script sets none."""
    if isinstance(value, Part) and value.name == "seed" and isinstance(value.of, Made) and is_config(value.of):
        return USUAL_SEED if not value.of.dark else None
    return plain_or(value)


def step_arguments(step: Made, *places: str) -> dict[str, Value]:
    """What a step is given, by name; `places`: the names of what is given by place."""
    return dict(zip(places, step.arguments, strict=False)) | step.keywords


def without_partial(value: Value | None) -> tuple[Value | None, dict[str, Value]]:
    """The function of partial(function, a=1), with what it is given."""
    if isinstance(value, Made) and value.name == "partial" and len(value.arguments) == 1:
        return value.arguments[0], value.keywords
    return value, {}


def range_bounds(value: Value | None) -> tuple[int, int] | None:
    """The first row of range(first, end), and the one after its last; of range(min(500, len(data))), too."""
    if isinstance(value, Items) and not value.open:
        numbers = [plain_or(item) for item in value.items]
        if all(type(number) is int for number in numbers) and numbers == list(
            range(numbers[0], numbers[0] + len(numbers))
        ):
            return (numbers[0], numbers[0] + len(numbers)) if numbers[0] >= 0 else None
    if not isinstance(value, Made) or value.path != "range" or value.keywords or not 1 <= len(value.arguments) <= 2:
        return None
    bounds = [_bound(argument) for argument in value.arguments]
    first, end = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    return (first, end) if _count(first, 0) and _count(end, 0) else None


def _bound(value: Value) -> Any:
    if isinstance(value, Made) and value.path == "min":
        known = [number for argument in value.arguments if type(number := plain_or(argument)) is int]
        return min(known) if known else None
    return plain_or(value)


def _count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**32
