"""What becomes of a script's data on its way to the trainer: each step is in the spec or noted."""

import ast
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.script_reader import joined, row_shape, source, table_file
from groupwise.storage.checks.script_reader.chosen_rows import ChosenRows, step_arguments, without_partial
from groupwise.storage.checks.script_reader.evaluated_rows import read_evaluated
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.reading import Reading, quote_code
from groupwise.storage.checks.script_reader.scopes import as_it_was
from groupwise.storage.checks.script_reader.values import (
    Column,
    Either,
    Function,
    Item,
    Items,
    Made,
    Mapping,
    Value,
    beginning,
    plain_or,
)

_NO_MATTER = {"with_format", "set_format", "flatten_indices", "cache", "to_iterable_dataset", "prefetch",
              "reset_index", "to_dict"}  # fmt: skip
_OTHER_ORDER = {"sort", "shard", "repeat", "batch"}


class DataReader(ChosenRows):
    """Follows the rows to the trainer. `taken`: the settings under data so far; `row`: what a row has by then."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self.mapped: Value | None = None  # the last step that made columns
        self._steps: list[Value] = []  # of the rows that are trained on

    def settings(self, answer_asked: str | None) -> dict[str, Any]:
        """The settings under data, as far as they are said. `answer_asked`: the column of the source that the rewards
        compare with, unless the script makes it."""
        value = self.reading.trainer.get("train_dataset")
        value = value if value is not None else self._unreached()
        if value is None:
            return {}
        self._follow(value)
        read_evaluated(self.reading, self.split, self._steps, self.taken.get("holdout"))
        if self.reading.datasets and "source" not in self.taken and self.mapped is None:
            return self.taken  # of which columns it is made is known with the dataset that is chosen
        shaped = row_shape.shape_settings(self.reading, self.row, self.mapped)
        made = answer_asked == "answer" and "answer" in self.row.columns  # in a way of which a note says more
        unset = shaped.get("answer_column") is None and not made
        if answer_asked and unset and not self._made_by_an_untaken_rename(answer_asked):
            shaped["answer_column"] = answer_asked
            self.reading.unsaid.set("data.answer_column", answer_asked, "which the rewards compare with")
        return self.taken | shaped

    def _made_by_an_untaken_rename(self, column: str) -> bool:
        """Whether the script gives a column of the same data this name by a step that was not taken: then the data that
        was taken may lack it."""
        calls = [call for call in self.reading.script.calls if call.name in ("rename_column", "rename_columns")]
        return any(
            column in _renames(call).values() and any(beginning(call) is beginning(step) for step in self._steps)
            for call in calls
            if not any(call is step for step in self._steps)
        )

    def _unreached(self) -> Value | None:
        """The rows of a script that makes no trainer: those of its only dataset."""
        loads = [call for call in self.reading.script.calls if source.is_source(call)]
        if not loads:
            self.reading.tell("The script loads no dataset by load_dataset: choose the data here.")
        if self.reading.made_trainer is not None or len(loads) != 1:
            return None
        last: Value = loads[0]
        for call in self.reading.script.calls:
            if call.receiver is last or (isinstance(call.receiver, Item) and call.receiver.of is last):
                last = call
        return last

    # ---- the steps ----
    def _follow(self, value: Value) -> None:
        steps: list[Value] = []
        value = self._without_doubt(value)
        while not source.is_source(value):
            part = joined.chosen_part(self.reading, value) or self._table_of(value) or self._part_of_dict(value, steps)
            inner = value.receiver if isinstance(value, Made) else value.of if isinstance(value, Item) else None
            if (part is None and inner is None) or len(steps) > 200:
                return self._no_source(value, steps)
            if part is None:
                steps.append(value)
            value = self._without_doubt(part or inner or value)
        assert isinstance(value, Made)
        self.taken |= source.source_settings(self.reading, self._one_split(value, steps))
        self._note_said_limit()
        self._take_steps(steps)
        return None

    def _take_steps(self, steps: list[Value]) -> None:
        self._steps = steps
        self.row_functions = [one for step in steps if (one := _row_function(step)) is not None]
        for step in reversed(steps):
            self._step(step)
        self._note_all()

    def _table_of(self, value: Value) -> Value | None:
        """The table that a dataset is made of, where that is a file's."""
        table = table_file.table_of(value)
        if table is not None and isinstance(value, Made):
            self.reading.account_one(value)
            for name, given in value.keywords.items():
                if given is not table and name != "preserve_index":
                    self.reading.note(f"{value.name}'s {name}", given, "could not be taken.")
                self.reading.account(*([given] if given is not table else []))
        return table

    def _part_of_dict(self, value: Value, steps: list[Value]) -> Value | None:
        """The part of DatasetDict({"train": …, "test": …}) that a later step names."""
        if not isinstance(value, Made) or value.name != "DatasetDict":
            return None
        given = value.arguments[0] if value.arguments else Mapping(value.node, dict(value.keywords))
        entries = given.entries if isinstance(given, Mapping) else {}
        for step in reversed(steps):
            if isinstance(step, Item) and isinstance(key := plain_or(step.key), str) and key in entries:
                steps.remove(step)
                self.reading.account_one(value, step)
                return entries[key]
        return None

    def _without_doubt(self, value: Value) -> Value:
        """Where a step is taken under a condition: the data as it is without that step."""
        options = value.options if isinstance(value, Either) else []
        for option in options:
            others = [other for other in options if other is not option]
            if others and all(_comes_from(other, option) for other in others):
                for other in others:
                    self.reading.note(f"{_step_name(other)}", other, "depends on a condition: it was not taken.")
                    self.reading.account_one(other)
                return option
        return value

    def _one_split(self, load: Made, steps: list[Value]) -> Made:
        """train, test = load_dataset(…, split=["train", "test"]): the one of its splits that is used."""
        split, first = load.keywords.get("split"), steps[-1] if steps else None
        if not isinstance(split, Items) or not isinstance(first, Item) or split.open:
            return load
        number = plain_or(first.key)
        if type(number) is not int or not 0 <= number < len(split.items):
            return load
        steps.pop()
        self.reading.account_one(load, first)
        return replace(load, keywords={**load.keywords, "split": split.items[number]})

    def _no_source(self, value: Value, steps: list[Value]) -> None:
        if isinstance(value, Either):
            self.reading.note_computed("The dataset", value)
        elif not self.reading.datasets:
            source.note_no_source(self.reading, value)
        self._take_steps(steps)

    def _note_said_limit(self) -> None:
        if "limit" in self.taken:
            self._done.append("limit")
            self.window = 0, self.taken["limit"]

    def _step(self, step: Value) -> None:
        self.reading.account_one(step)
        if isinstance(step, Item):
            return self._at(step)
        assert isinstance(step, Made)
        reader = getattr(self, f"_do_{step.name}", None)
        if reader is not None:
            reader(step)
        elif step.name not in _NO_MATTER:
            self._lost = self._lost or (step.name if step.name in _OTHER_ORDER else "")
            self.reading.note(f"{step.name}(…)", step, "on the data was not taken: it has no place in a spec.")
            self.reading.account(*step.arguments, *step.keywords.values())
        return None

    def _at(self, step: Item) -> None:
        """load_dataset(…)["train"], or a part of train_test_split(…)."""
        key = plain_or(step.key)
        if table_file.reads_file(beginning(step)) and not isinstance(key, str):
            self._of_table(step, key)
        elif plain_or(step.key, Unknown) is Unknown and not isinstance(getattr(step.key, "node", None), ast.Slice):
            self.reading.note("The split of the data", step, "is computed by the script: set data.split here.")
        elif not isinstance(key, str):
            self.reading.note("A part of the data", step, "could not be taken: set data.limit here.")
        elif self.split is not None and "holdout" in self._done:
            if key != "train":
                self.reading.note(f"“{key}” of train_test_split", step, "is trained on: here it is the other part.")
        elif key and "split" not in self.taken and self.taken.get("source", "").startswith("hub:"):
            self.taken["split"] = key
        elif key not in ("train", self.taken.get("split")) and not self.taken.get("source", "").startswith("file:"):
            self.reading.note(f"The part “{key}” of the data", step, "could not be taken.")

    def _of_table(self, step: Item, key: Any) -> None:
        """df[["question", "answer"]], or the rows that a condition chooses."""
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            self.taken["columns"] = [name for name in key if name not in ("prompt", *self.row.columns)]
        else:
            after = f"are chosen by {quote_code(step.key.node)}: set data.filter or data.limit here."
            self.reading.note("Rows of the table", step, after)
        self.reading.account(step.key)

    def _do_map(self, step: Made) -> None:
        given = step_arguments(step, "function")
        function, extra = without_partial(given.get("function"))
        self.mapped = step
        batched = plain_or(given.get("batched")) is True
        extra_arguments = sum(plain_or(given.get(name)) is True for name in ("with_indices", "with_rank"))
        if not isinstance(function, Function):
            self.reading.note("map(…)", step, "calls a function that is not in the script: set prompt and answer here.")
            self.reading.account(*given.values())
            return
        more = given.get("fn_kwargs")
        named = {**extra, **({str(k): v for k, v in more.entries.items()} if isinstance(more, Mapping) else {})}
        with as_it_was(step.names):
            result = row_shape.apply_function(self.reading, function, self.row, batched, named, step, extra_arguments)
        if result is None and batched:
            after = "makes rows of a batch in a way that was not followed: set prompt and answer here."
            self.reading.note("map(…, batched=True)", step, after)
        elif result is None:
            self.reading.note("map(…)", step, "makes rows in a way that was not followed: set prompt and answer here.")
        else:
            self.row.columns |= result
        for name, value in given.items():
            if name == "remove_columns":
                self._drop(step, value)
            self.reading.account(value)

    def _drop(self, step: Made, value: Value) -> None:
        self.reading.account(value)
        names = plain_or(value)
        if names == []:
            return
        for name in [names] if isinstance(names, str) else names if isinstance(names, list) else []:
            if name not in ("prompt",) and not (step.name == "map" and name in self.row.columns):
                self.row.columns.pop(str(name), None)
        self.reading.note("Removing columns", step, "was not taken: rewards get every column. data.columns says which.")

    def _do_add_column(self, step: Made) -> None:
        given = step_arguments(step, "name")
        name = plain_or(given.get("name"))
        reward = self.reading.asked.get(name) if isinstance(name, str) else None
        needed = f" {reward} takes {name}: put that column into the data." if reward else ""
        self.reading.note("add_column(…)", step, f"on the data was not taken: it has no place in a spec.{needed}")
        self.reading.account(*step.arguments, *step.keywords.values())

    def _do_remove_columns(self, step: Made) -> None:
        self._drop(step, step_arguments(step, "column_names").get("column_names", Value(step.node)))

    def _do_select_columns(self, step: Made) -> None:
        value = step_arguments(step, "column_names").get("column_names", Value(step.node))
        names = plain_or(value)
        names = [names] if isinstance(names, str) else names
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            self.taken["columns"] = [name for name in names if name not in ("prompt", *self.row.columns)]
        else:
            self.reading.note_computed("select_columns(…)", value)

    def _do_rename_column(self, step: Made) -> None:
        self._rename(step, _renames(step))

    _do_rename_columns = _do_rename_column

    def _do_rename(self, step: Made) -> None:
        """pandas' own."""
        of_columns = plain_or(step.keywords.get("axis")) in (1, "columns")
        given = step_arguments(step, "mapper").get("mapper" if of_columns else "columns")
        names = plain_or(given)
        self.reading.account(given)
        self._rename(step, names if isinstance(names, dict) else {None: None})

    def _rename(self, step: Made, names: dict[Any, Any]) -> None:
        if not all(isinstance(name, str) for pair in names.items() for name in pair):
            self.reading.note(f"{step.name}(…)", step, "is computed by the script: set the columns here.")
            return
        columns = self.row.columns
        found = {new: columns.pop(old) if old in columns else Column(step.node, old) for old, new in names.items()}
        columns |= found
        self.mapped = self.mapped or step


def _row_function(step: Value) -> Function | None:
    """The function that a map or a filter calls with one row each."""
    if not isinstance(step, Made) or step.name not in ("map", "filter"):
        return None
    given = step_arguments(step, "function")
    function, _ = without_partial(given.get("function"))
    return function if isinstance(function, Function) and plain_or(given.get("batched")) is not True else None


def _renames(step: Made) -> dict[Any, Any]:
    """The names that a rename_column or rename_columns gives, by the old ones; {None: None} where they are unknown."""
    if step.name == "rename_columns":
        names = plain_or(step_arguments(step, "column_mapping").get("column_mapping"))
        return names if isinstance(names, dict) else {None: None}
    given = step_arguments(step, "original_column_name", "new_column_name")
    old, new = (plain_or(given.get(name)) for name in ("original_column_name", "new_column_name"))
    return {old: new}


def _comes_from(value: Value, before: Value) -> bool:
    """Whether a value is what steps on another one give."""
    inner: Value | None = value
    for _ in range(50):
        inner = inner.receiver if isinstance(inner, Made) else inner.of if isinstance(inner, Item) else None
        if inner is before:
            return True
    return False


def _step_name(value: Value) -> str:
    return f"{value.name}(…)" if isinstance(value, Made) else "A step on the data"
