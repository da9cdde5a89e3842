"""What a script itself gives a parser: parse_dict({…}), parse_args(["--beta", "0.1"]); and which of the parser's
dataclasses takes it."""

import ast

from groupwise.storage.checks.script_reader.members import Arguments
from groupwise.storage.checks.script_reader.values import Class, Function, Items, Mapping, Outer, Plain, Value, plain_or

# Of TRL's ModelConfig and ScriptArguments, by the beginnings of their fields; a test compares them with what is there.
_OF_MODEL = ("model_", "dtype", "torch_dtype", "attn_implementation", "use_peft", "lora_", "load_in_", "bnb_",
             "use_bnb_", "use_rslora", "use_dora")  # fmt: skip
_OF_SCRIPT = ("dataset_", "datasets", "ignore_bias_buffers", "reward_funcs", "reward_model_name_or_path")


def arguments_in_script(name: str, call: Arguments, node: ast.AST) -> Mapping | None:
    """The settings that a parser's method is given in the script itself; None where they come from outside."""
    given = call.given[0] if call.given else call.named.get("args")
    if name == "parse_dict":
        return given if isinstance(given, Mapping) else None
    if name in ("parse_yaml_file", "parse_json_file") or not isinstance(given, Items) or given.open:
        return None
    words = [plain_or(item) for item in given.items]
    if not all(isinstance(word, str) for word in words):
        return None
    return Mapping(node, _flags_in([str(word) for word in words], given.items))


def _flags_in(words: list[str], at: list[Value]) -> dict[str, Value]:
    """--name value, --name=value and --name alone, as settings."""
    found: dict[str, Value] = {}
    flag = ""
    for word, value in zip(words, at, strict=True):
        if word.startswith("--"):
            flag, _, said = word[2:].replace("-", "_", word.partition("=")[0].count("-")).partition("=")
            found[flag] = Plain(value.node, _as_said(said) if said else True)
        elif flag and plain_or(found[flag]) is True:
            found[flag] = Plain(value.node, _as_said(word))
        elif flag:
            before = found[flag]
            items = before.items if isinstance(before, Items) else [before]
            found[flag] = Items(value.node, [*items, Plain(value.node, _as_said(word))])
    return found


def _as_said(word: str) -> str | int | float | bool:
    """A word of a command line as the value that it is for a setting."""
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


# What TRL's ModelConfig has where nothing is said, of what scripts load their model with; a test reads it from there.
MODEL_DEFAULTS = {
    "model_revision": "main", "attn_implementation": None, "dtype": "float32", "use_peft": False, "lora_r": 16,
}  # fmt: skip


def with_defaults(kind: Value, given: dict[str, Value], node: ast.AST) -> dict[str, Value]:
    """What a dataclass takes, with what a ModelConfig has by default."""
    usual = MODEL_DEFAULTS if _path_of_kind(kind).endswith("ModelConfig") else {}
    return {name: Plain(node, value) for name, value in usual.items()} | given


def share_of(kind: Value, kinds: list[Value], given: Mapping) -> dict[str, Value]:
    """What of the settings a dataclass of a parser takes."""
    own = {name for other in kinds for name in _fields_of(other)}
    if isinstance(kind, Class) and not any(isinstance(base, Outer) for base in kind.bases):
        return {name: value for name, value in given.entries.items() if name in _fields_of(kind)}
    taken = _fields_of(kind) if isinstance(kind, Class) else set()
    path = _path_of_kind(kind)
    found = {}
    for name, value in given.entries.items():
        place = (
            "ModelConfig" if name.startswith(_OF_MODEL) else "Arguments" if name.startswith(_OF_SCRIPT) else "Config"
        )
        fits = path.endswith(place) and not (place == "Config" and path.endswith("ModelConfig"))
        if name in taken or (fits and name not in own):
            found[str(name)] = value
    return found


def _path_of_kind(kind: Value) -> str:
    if isinstance(kind, Class):
        return next((base.path for base in kind.bases if isinstance(base, Outer)), kind.name)
    return kind.path if isinstance(kind, Outer) else ""


def _fields_of(kind: Value) -> set[str]:
    """The fields that a class of the script has by itself, and those it derives from in the script."""
    if not isinstance(kind, Class):
        return set()
    own = {name for name, value in kind.members.items() if not isinstance(value, Function)}
    own |= {
        one.target.id for one in kind.node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    return own.union(*(_fields_of(base) for base in kind.bases))
