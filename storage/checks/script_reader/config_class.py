"""What a script's own class of settings, which derives from GRPOConfig, sets by its defaults."""

import ast
from collections.abc import Iterator

from groupwise.storage.checks.script_reader.members import class_member
from groupwise.storage.checks.script_reader.reading import Reading
from groupwise.storage.checks.script_reader.values import Class, Function, Made, Value


def class_defaults(reading: Reading, config: Made) -> dict[str, Value]:
    """The settings of GRPOConfig that its class gives other defaults, the nearest class first; a note on the rest."""
    found: dict[str, Value] = {}
    for cls in _own_classes(config.cls):
        fields = _fields(cls)
        given = {name: value for name in fields if (value := class_member(cls, name)) is not None}
        found = {name: value for name, value in given.items() if reading.is_setting(name)} | found
        _note_own(reading, cls, [name for name in fields if not reading.is_setting(name)])
    return found


def _own_classes(cls: Class | None) -> Iterator[Class]:
    while cls is not None:
        yield cls
        cls = next((base for base in cls.bases if isinstance(base, Class)), None)


def _fields(cls: Class) -> list[str]:
    """What its objects get by default: of a class that is no dataclass itself, those it derives from decide that."""
    if not any("dataclass" in ast.unparse(one) for one in cls.node.decorator_list):
        return []
    return [
        one.target.id for one in cls.node.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    ]


def _note_own(reading: Reading, cls: Class, own: list[str]) -> None:
    """What a class adds that is no setting of TRL's, and what it does that only running it would tell."""
    fields = _fields(cls)
    done = [name for name, value in cls.members.items() if isinstance(value, Function) and not _makes(value)]
    idle = [
        name
        for name, value in cls.members.items()
        if name not in (*fields, *done) and not _makes(value) and not name.startswith("__")
    ]
    read = _read_names(reading.script.tree)
    unread, followed = [name for name in own if name not in read], [name for name in own if name in read]
    if unread:
        reading.note(cls.name, cls, f"has settings of its own, which were not taken: {', '.join(unread)[:300]}.")
    if followed:  # what they become stands in the spec or in another note
        names = ", ".join(followed)[:300]
        after = f"has settings of its own, whose defaults hold where the script reads them: {names}."
        reading.note(cls.name, cls, after)
    if done:
        reading.note(cls.name, cls, f"changes GRPOConfig ({', '.join(done)[:300]}), which was not taken.")
    if idle:
        after = f"is no dataclass, so what it sets changes no setting: {', '.join(idle)[:300]}."
        reading.note(cls.name, cls, after)


def _read_names(tree: ast.Module) -> set[str]:
    """The attributes that a script reads of any object but `self`, which is one of a class's own methods."""
    return {
        one.attr for one in ast.walk(tree)
        if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load)
        and not (isinstance(one.value, ast.Name) and one.value.id == "self")
    }  # fmt: skip


def _makes(value: Value) -> bool:
    """Whether a member is a method of the class itself, such as from_dict, which is followed where it is called."""
    decorators = getattr(value.node, "decorator_list", [])
    return any(ast.unparse(one) in ("classmethod", "staticmethod") for one in decorators)
