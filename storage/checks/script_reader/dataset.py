"""What an ordinary script says of its data: load_dataset, what is done with it, the prompt that a function makes."""

import ast
import re
from typing import Any

from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.syntax import Script, dotted_name
from groupwise.storage.checks.script_reader.training import Reading

BUILDERS = {"json": (".jsonl", ".json"), "csv": (".csv",), "parquet": (".parquet",)}
MOVED = {"gsm8k": "openai/gsm8k"}  # old names that most tutorials still use
FIRST_ROWS = re.compile(r"(\w+)\[:(\d+)\]")  # load_dataset's split="train[:1000]"
AFTER_HASHES = r"####\s*(.+)"  # what the many functions that split GSM8K's answers at #### come to
COLUMN = re.compile(r"\{[^{}]+\}")


def data_settings(reading: Reading) -> dict[str, Any]:
    """The settings under data, as far as they are said."""
    script = reading.script
    loads = sorted(script.calls.get("load_dataset", []), key=lambda call: call.lineno)
    if not loads:
        reading.notes.append("The script loads no dataset by load_dataset: choose the data here.")
        return {}
    load = next((call for call in loads if not _for_testing(script, call)), loads[0])
    taken = source(reading, load) | _steps(reading)
    shaped = _prompt(reading)
    if shaped is not None:
        return taken | shaped
    # TRL takes the dataset's own prompt, and gives the rewards every column by its name.
    renamed = [
        [script.value_or(name) for name in call.args]
        for call in script.calls.get("rename_column", [])
        if len(call.args) == 2
    ]
    column = next((old for old, new in renamed if new == "prompt" and isinstance(old, str)), "prompt")
    return taken | {"prompt_column": column, "answer_column": None}


def _for_testing(script: Script, load: ast.Call) -> bool:
    split = script.value_or(script.arguments(load, "path", "name")[0].get("split"), "")
    return isinstance(split, str) and split.startswith(("test", "val", "eval"))


def source(reading: Reading, load: ast.Call) -> dict[str, Any]:
    """The settings of the data that a load_dataset call means."""
    script = reading.script
    found, _ = script.arguments(load, "path", "name")
    given = {name: script.value_or(node) for name, node in found.items()}
    path = given.get("path")
    if not isinstance(path, str) or not path:
        reading.note_computed("The dataset", found.get("path", load))
        return {}
    if path in BUILDERS:
        return _file(reading, load, given.get("data_files"))
    taken: dict[str, Any] = {"source": f"hub:{MOVED.get(path, path)}"}
    names = {"name": "config", "split": "split", "revision": "revision"}
    taken |= {field: given[name] for name, field in names.items() if isinstance(given.get(name), str) and given[name]}
    if given.get("streaming") is True:
        taken["streaming"] = True
    if "split" not in taken:
        taken |= _split_taken_later(script, load)
    cut = FIRST_ROWS.fullmatch(taken.get("split", ""))
    if cut and int(cut[2]):
        taken |= {"split": cut[1], "limit": int(cut[2])}
    for name, node in found.items():
        if name in ("data_files", "data_dir") or (
            name in names and given[name] is None and ast.unparse(node) != "None"
        ):
            reading.note(f"load_dataset's {name}", node, "could not be taken.")
    return taken


def _split_taken_later(script: Script, load: ast.Call) -> dict[str, Any]:
    """The split of load_dataset("…")["train"]; the train split where none is said."""
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Subscript) and node.value is load:
            key = script.value_or(node.slice)
            return {"split": key} if isinstance(key, str) and key else {}
    return {}


def _file(reading: Reading, load: ast.Call, given: Any) -> dict[str, Any]:
    """A local file, by its name: the file itself belongs into the home's data folder."""
    if isinstance(given, dict):
        given = given.get("train")
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    name = given.replace("\\", "/").rpartition("/")[2] if isinstance(given, str) else ""
    if not name:
        reading.note_computed("The data file", load)
        return {}
    reading.note(f"The file “{name}”", load, "is looked for among the uploaded files: upload it.")
    return {"source": f"file:{name}"}


def _steps(reading: Reading) -> dict[str, Any]:
    """Shuffling, limiting and holding out, where the script does it in the usual ways; a note on filters."""
    script = reading.script
    taken: dict[str, Any] = {}
    for call in script.calls.get("shuffle", []):
        seed = script.value_or(script.arguments(call, "seed")[0].get("seed"))
        if _count(seed, 0):
            taken.setdefault("shuffle", seed)
    for method in ("select", "take"):
        for call in script.calls.get(method, []):
            node = script.resolve(call.args[0]) if call.args else None
            if isinstance(node, ast.Call) and dotted_name(node.func) == "range" and len(node.args) == 1:
                node = node.args[0]
            count = script.value_or(node)
            if _count(count, 1):
                taken.setdefault("limit", count)
    for call in script.calls.get("train_test_split", []):
        size = script.value_or(script.arguments(call, "test_size")[0].get("test_size"))
        if _count(size, 0) or (isinstance(size, float) and 0 <= size < 1):
            taken.setdefault("holdout", size)
    for call in script.calls.get("filter", []):
        reading.note("A filter", call, "was not taken: say which rows to keep here.")
    return taken


def _count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**32


def _prompt(reading: Reading) -> dict[str, Any] | None:
    """The prompt and the answer, from the function that .map() calls; None where nothing makes a prompt."""
    for call in reading.script.calls.get("map", []):
        function = _function(reading.script, call.args[0]) if call.args else None
        entries = _row(function) if function is not None else {}
        if function is not None and "prompt" in entries:
            return _Shape(reading, function).read_entries(entries)
    return None


def _function(script: Script, node: ast.expr) -> ast.FunctionDef | ast.Lambda | None:
    node = script.resolve(node)
    if isinstance(node, ast.Lambda):
        return node
    name = node.id if isinstance(node, ast.Name) else ""
    defined = (part for part in ast.walk(script.tree) if isinstance(part, ast.FunctionDef) and part.name == name)
    return next(defined, None)


def _row(function: ast.FunctionDef | ast.Lambda) -> dict[str, ast.expr]:
    """What a function gives each row: the entries of the mapping it returns, and what it puts into the row."""
    returned: list[ast.expr | None] = [function.body] if isinstance(function, ast.Lambda) else []
    entries: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Return):
            returned.append(node.value)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                entries[key.value] = node.value
    for value in returned:
        pairs = zip(value.keys, value.values, strict=True) if isinstance(value, ast.Dict) else []
        entries |= {str(key.value): item for key, item in pairs if isinstance(key, ast.Constant)}
    return entries


class _Shape:
    """Reads a function's prompt as a template over the columns of its row."""

    def __init__(self, reading: Reading, function: ast.FunctionDef | ast.Lambda) -> None:
        self.reading, self.script, self.function = reading, reading.script, function
        self.row = function.args.args[0].arg if function.args.args else ""

    def read_entries(self, entries: dict[str, ast.expr]) -> dict[str, Any]:
        taken: dict[str, Any] = {"answer_column": None}
        try:
            taken |= self._messages(self.script.resolve(entries["prompt"]))
        except Unknown:
            self.reading.note("The prompt", entries["prompt"], "is made by the script: set its template here.")
        others = [name for name in ("answer", "solution", "ground_truth", "target", "label") if name in entries]
        if others:
            taken |= self._answer(others[0], entries[others[0]])
        if others and others[0] != "answer":
            self.reading.note(f"The column “{others[0]}”", entries[others[0]],
                              "is the answer, which rewards here are given as “answer”.")  # fmt: skip
        return taken

    def _messages(self, node: ast.expr) -> dict[str, Any]:
        """system, examples and template of a list of messages, or the template of a text."""
        if not isinstance(node, (ast.List, ast.Tuple)):
            return {"prompt_template": self._template(node)}
        said = [self._message(item) for item in node.elts]
        taken: dict[str, Any] = {}
        if said and said[0][0] == "system":
            taken["system_prompt"] = self._constant(said.pop(0)[1])
        *before, last = said or [("", ast.Constant(None))]
        pairs = list(zip(before[::2], before[1::2], strict=False))
        if last[0] != "user" or len(before) % 2 or any((a[0], b[0]) != ("user", "assistant") for a, b in pairs):
            raise Unknown
        if pairs:
            texts = [(self._constant(a[1]), self._constant(b[1])) for a, b in pairs]
            taken["examples"] = [{"prompt": prompt, "completion": completion} for prompt, completion in texts]
        return taken | {"prompt_template": self._template(last[1])}

    def _message(self, node: ast.expr) -> tuple[str, ast.expr]:
        found, dark = self.script.mapping_items(node)
        if dark or "content" not in found or "role" not in found:
            raise Unknown
        return str(self.script.value(found["role"])), found["content"]

    def _constant(self, node: ast.expr) -> str:
        given = self.script.value(node)
        if not isinstance(given, str) or not given:
            raise Unknown
        return given

    def _template(self, node: ast.expr) -> str:
        template = self._text(node, 0)
        if not COLUMN.search(template):
            raise Unknown
        return template

    def _text(self, node: ast.expr, depth: int) -> str:
        """A text with {column} where the row's columns stand."""
        node = self.script.resolve(node)
        column = self._column(node)
        if column is not None:
            return f"{{{column}}}"
        if depth > 200:
            raise Unknown
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._text(node.left, depth + 1) + self._text(node.right, depth + 1)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._text(part, depth + 1) for part in node.values)
        if isinstance(node, ast.FormattedValue) and node.conversion == -1 and node.format_spec is None:
            return self._text(node.value, depth + 1)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return self._from_format(node, node.func.value, depth)
        given = self.script.value(node)
        if not isinstance(given, str) or COLUMN.search(given):
            raise Unknown
        return given

    def _from_format(self, node: ast.Call, template: ast.expr, depth: int) -> str:
        """TEMPLATE.format(question=row["question"]): the template with the columns' own names."""
        given = self.script.value(template)
        if not isinstance(given, str) or node.args:
            raise Unknown
        said = {word.arg: self._text(word.value, depth + 1) for word in node.keywords if word.arg}
        names = set(re.findall(r"\{([^{}]*)\}", given))
        if "{{" in given or "}}" in given or not names <= set(said):
            raise Unknown
        return re.sub(r"\{([^{}]*)\}", lambda found: said[found[1]], given)

    def _column(self, node: ast.expr) -> str | None:
        """The column of row["column"]."""
        if isinstance(node, ast.Call) and dotted_name(node.func) == f"{self.row}.get" and node.args:
            key: ast.expr = node.args[0]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == self.row:
            key = node.slice
        else:
            return None
        name = self.script.value_or(key)
        return name if isinstance(name, str) and re.fullmatch(r"[^{}]+", name) else None

    def _answer(self, field: str, node: ast.expr) -> dict[str, Any]:
        """The column that an answer comes from, and the pattern where it is what follows GSM8K's ####."""
        column = self._column(self.script.resolve(node))
        if column is not None:
            return {"answer_column": column}
        columns = {self._column(part) for part in ast.walk(node) if isinstance(part, ast.expr)} - {None}
        if len(columns) != 1:
            self.reading.note(f"“{field}”", node, "is computed by the script: choose the answer column here.")
            return {}
        column = columns.pop()
        called = _function(self.script, node.func) if isinstance(node, ast.Call) else None
        parts = [*ast.walk(node), *(ast.walk(called) if called is not None else [])]
        texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if any("####" in text for text in texts):
            return {"answer_column": column, "answer_pattern": AFTER_HASHES}
        self.reading.note(f"“{field}”", node, f"is cut out of the column “{column}”: set the answer pattern here.")
        return {"answer_column": column}
