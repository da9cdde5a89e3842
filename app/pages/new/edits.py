"""Edits of a spec's text: each sets or removes one setting and leaves every other line as it was typed. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Any

from groupwise.app.pages.new import field_values, form_rows, yaml_edit
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.spec.words.problem import Fix
from groupwise.storage.spec.yaml import yaml_text

MOST = 200  # edits in one request
STAGE_SETTINGS = re.compile(r"stages\.[0-9]{1,4}\.training")  # typed as the YAML they are


@dataclass(frozen=True)
class Edit:
    """One setting by its dotted path (“data.filter”, “rewards.0.weight”) and its new value, or ABSENT."""

    path: str
    value: Any
    written: str | None = None


def read_edits(sent: Any, types: dict[str, list[str]]) -> list[Edit]:
    """What a page sent: {path, typed} for a text field (`types`: what each takes), {path, value}, {path, remove},
    {fix}, and the rows of app.pages.new.form_rows. Anything of another form is left out."""
    found = []
    for item in (sent if isinstance(sent, list) else [])[:MOST]:
        if isinstance(item, dict) and isinstance(item.get("fix"), dict):
            found += [_fit_to_types(edit, types) for edit in of_fix(item["fix"])]
        if not isinstance(item, dict) or not isinstance(item.get("path"), str) or not _is_path(item["path"]):
            continue
        path = item["path"]
        if isinstance(item.get("typed"), str) and STAGE_SETTINGS.fullmatch(path):
            found.append(Edit(path, form_rows.training_of(item["typed"])))
        elif isinstance(item.get("typed"), str):
            value = field_values.value_of(item["typed"], types.get(path, ["str"]))
            found.append(_fit_to_types(Edit(path, value, field_values.typed_number(item["typed"], value)), types))
        elif item.get("remove") is True:
            found.append(Edit(path, ABSENT))
        elif path == "data.filter" and "conditions" in item:
            found.append(Edit(path, form_rows.conditions_of(item["conditions"])))
        elif "value" in item:
            found.append(Edit(path, _with_decimal_weight(item["value"])))
    return found


def _with_decimal_weight(value: Any) -> Any:
    """A reward function, or points of its schedule, with the weight as presets write it: a browser says 1 of 1.0."""
    if isinstance(value, list):
        return [_with_decimal_weight(each) for each in value]
    if isinstance(value, dict) and type(value.get("weight")) is int and abs(value["weight"]) < 10**15:
        return value | {"weight": float(value["weight"])}
    return value


def _fit_to_types(edit: Edit, types: dict[str, list[str]]) -> Edit:
    """A whole number for a field of decimals, as a decimal: transformers refuses temperature 2, and a browser cannot
    say 2.0. (Fields that count steps take decimals only so that they may be shares.)"""
    whole = isinstance(edit.value, int) and not isinstance(edit.value, bool) and abs(edit.value) < 10**15
    if whole and types.get(edit.path) == ["float"] and not edit.path.endswith("_steps"):
        return Edit(edit.path, float(edit.value), None)
    return edit


def of_fix(fix: dict[str, Any]) -> list[Edit]:
    """A fix (storage.spec.words.problem.Fix, as a page was sent it) as edits: first what goes, from the end, so that
    places in a list stay right."""
    settings, removed = fix.get("settings"), fix.get("removed")
    gone = [path for path in (removed if isinstance(removed, list) else []) if isinstance(path, str) and _is_path(path)]
    given = settings.items() if isinstance(settings, dict) else []
    edits = [Edit(path, ABSENT) for path in sorted(gone, key=sort_key, reverse=True)]
    return [*edits, *(Edit(path, value) for path, value in given if isinstance(path, str) and _is_path(path))]


def without_overtaken(text: str, sent: Any) -> list[Any]:
    """What a page sent without the edits of settings that were typed in the text itself after they were made: `since`
    is the text as it was then, which others have not."""
    items = [item for item in (sent if isinstance(sent, list) else [])[:MOST] if isinstance(item, dict)]
    texts = {item["since"] for item in items if isinstance(item.get("since"), str)}
    now, then = (yaml_edit.load(text) or {}) if texts else {}, {each: yaml_edit.load(each) for each in texts}

    def is_overtaken(item: dict[str, Any]) -> bool:
        path, since = item.get("path"), item.get("since")
        before = then.get(since) if isinstance(since, str) else None
        if before is None or not isinstance(path, str):
            return False
        return not yaml_edit.is_written_alike(value_at(before, path), value_at(now, path))

    return [item for item in items if not is_overtaken(item)]


def cut_out(text: str, sent: Any) -> str:
    """The text with what the fixes (storage.spec.words.problem.Cut) that a page sent cut out of it and put there, as
    far as what is cut stands there still."""
    for item in (sent if isinstance(sent, list) else [])[:MOST]:
        fix = item.get("fix") if isinstance(item, dict) else None
        cut = fix.get("cut") if isinstance(fix, dict) else None
        text = _cut_one(text, cut) if isinstance(cut, dict) else text
    return text


def _cut_one(text: str, cut: dict[str, Any]) -> str:
    line, column, gone, put = (cut.get(name, "") for name in ("line", "column", "text", "put"))
    rows = text.splitlines(keepends=True)
    if type(line) is not int or type(column) is not int or not (isinstance(gone, str) and isinstance(put, str)):
        return text
    if not (0 < line <= len(rows) and 0 <= column <= len(rows[line - 1])):
        return text
    place = sum(map(len, rows[: line - 1])) + column
    newline = "\r\n" if "\r\n" in text else "\n"
    gone, put = (part.replace("\r\n", "\n").replace("\n", newline) for part in (gone, put))
    return text[:place] + put + text[place + len(gone) :] if text.startswith(gone, place) else text


def apply(text: str, edits: list[Edit]) -> str:
    """The text with the edits made, one after the other. A text that cannot be read stays as it is."""
    document = yaml_edit.mapping_of(text)
    if document is None:
        return text
    raw = yaml_text.copy_plain(document.values)
    written: dict[str, str] = {}
    taken: list[Any] = []
    for edit in edits:
        if edit.value is ABSENT:
            taken.append(value_at(raw, edit.path))
        else:
            edit = replace(edit, value=_as_typed(edit.value, taken, edit.path.rpartition(".")[2]))
        if _make_edit(raw, edit):
            written = {path: words for path, words in written.items() if not f"{path}.".startswith(f"{edit.path}.")}
            written |= {edit.path: edit.written} if edit.written is not None else {}
    return yaml_edit.rewrite(document, raw, written) if edits else text


def _as_typed(value: Any, taken: list[Any], name: str) -> Any:
    """A value as it was before it was taken from its place, or with its part by its `name`, where it is one of those: a
    browser says 1 of 1.0."""
    inner = [one[name] for one in taken if isinstance(one, dict) and name in one]
    all_taken = [one for one in (*inner, *taken) if one is not ABSENT]
    return next((one for one in all_taken if repr(_as_sent(one)) == repr(_as_sent(value))), value)


def _as_sent(value: Any) -> Any:
    """A value as a browser sends it back."""
    if isinstance(value, dict):
        return {key: _as_sent(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_sent(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _make_edit(raw: dict[str, Any], edit: Edit) -> bool:
    """Make an edit in plain values; whether it has a place there."""
    parts = edit.path.split(".")
    if edit.value is ABSENT and value_at(raw, edit.path) is ABSENT and _remove_by_odd_name(raw, parts):
        return True
    place = next((n for n, part in enumerate(parts) if is_place(part)), None)
    if place is None:
        if _passes_a_list(raw, parts):
            return False
        yaml_edit.set_setting(raw, tuple(parts), edit.value)
        return True
    given = yaml_edit.get_setting(raw, tuple(parts[:place]))
    first = given in (ABSENT, None) and parts[place:] == ["0"]
    listed = [] if first else yaml_text.copy_plain(given)
    if not isinstance(listed, list) or not set_value_in(listed, parts[place:], edit.value):
        return False
    yaml_edit.set_setting(raw, tuple(parts[:place]), listed)
    return True


def _remove_by_odd_name(container: Any, parts: list[str]) -> bool:
    """Remove a setting that is found only by a name with a dot in it, or by one that is a number; whether there is
    one."""
    if isinstance(container, list):
        return len(parts) > 1 and _remove_by_odd_name(_child_of(container, parts[0]), parts[1:])
    for n in range(len(parts), 0, -1) if isinstance(container, dict) else ():
        key = next((key for key in container if str(key) == ".".join(parts[:n])), ABSENT)
        if key is not ABSENT and n == len(parts):
            del container[key]
            return True
        if key is not ABSENT and _remove_by_odd_name(container[key], parts[n:]):
            return True
    return False


def changes_something(raw: dict[str, Any], fix: Fix) -> bool:
    """Whether a fix makes a difference to these settings: a button that does not is no help."""
    if fix.cut or fix.leads:
        return True
    after = after_edits(raw, of_fix({"settings": fix.settings, "removed": list(fix.removed)}))
    return not yaml_edit.is_written_alike(raw, after)


def after_edits(raw: dict[str, Any], edits: list[Edit]) -> dict[str, Any]:
    """What plain values are once the edits are made; they themselves stay as they are."""
    after: dict[str, Any] = yaml_text.copy_plain(raw)
    for edit in edits:
        _make_edit(after, edit)
    return after


def _passes_a_list(raw: dict[str, Any], parts: list[str]) -> bool:
    """Whether a path leads through a list, whose entries have no names: it would take the list's place."""
    return any(isinstance(yaml_edit.get_setting(raw, tuple(parts[:n])), list) for n in range(1, len(parts)))


def value_at(raw: dict[str, Any], path: str) -> Any:
    """The value at a dotted path, through lists too, or ABSENT."""
    container: Any = raw
    for part in path.split("."):
        container = container.get(part, ABSENT) if isinstance(container, dict) else _child_of(container, part)
        if container is ABSENT or container is None:
            return ABSENT
    return container


def set_value_in(container: Any, parts: list[str], value: Any) -> bool:
    """Set (or, for ABSENT, remove) one value inside plain lists and dicts; whether there was such a place. A mapping
    that a value is put into need not be there yet; parameters that are left with nothing go too."""
    *way, last = parts
    before: Any = None
    for part in way:
        before, container = container, _child_of(container, part)
        if container is None and isinstance(before, dict) and part in ("parameters", "adapt") and value is not ABSENT:
            container = before[part] = {}
    if isinstance(container, list):
        if not is_place(last) or int(last) > len(container) or (value is ABSENT and int(last) == len(container)):
            return False
        if value is ABSENT:
            del container[int(last)]
        else:
            container[int(last) : int(last) + 1] = [value]  # the place behind the last one is there to be filled
        return True
    if not isinstance(container, dict):
        return False
    if value is ABSENT:
        for key in [key for key in container if str(key) == last]:
            del container[key]
        if not container and way[-1:] == ["parameters"]:
            before.pop("parameters")
    else:
        container[last] = value
    return True


def _child_of(container: Any, part: str) -> Any:
    if isinstance(container, list):
        return container[int(part)] if is_place(part) and int(part) < len(container) else None
    return container.get(part) if isinstance(container, dict) else None


def is_place(part: str) -> bool:
    """Whether a part of a path counts the entries of a list."""
    return part.isascii() and part.isdecimal() and len(part) < 6


def _is_path(path: str) -> bool:
    return 0 < len(path) <= 200 and all(path.split("."))


def sort_key(path: str) -> list[tuple[int, str]]:
    """Sorts rewards.10 behind rewards.9."""
    return [(int(part), "") if is_place(part) else (0, part) for part in path.split(".")]
