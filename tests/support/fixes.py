"""What a fix takes from a spec that its button does not say."""

from __future__ import annotations

import json
from dataclasses import asdict

from groupwise.app.core import field_labels
from groupwise.app.pages.new import edits, view, yaml_edit
from groupwise.storage.spec.words.problem import Fix, Problem


def lost_unsaid(text: str, problem: Problem, fix: Fix) -> dict[str, str]:
    """What the text set outside the problem's own field that is another or gone after a fix, and not on its button."""
    after = edits.apply(text, edits.of_fix(json.loads(json.dumps(asdict(fix)))))
    before, now = (view.fields(yaml_edit.load(each) or {}) for each in (text, after))
    gone = {path: value for path, value in before.items() if now.get(path) != value and value not in ("", "null")}
    moved = [path for path in gone if path not in now and gone[path] in now.values()]
    kept = {*view.PLAIN, *moved, *(path for path in gone if within(path, problem.field))}
    return {path: gone[path] for path in gone if path not in kept and not named(path, gone[path], fix.label)}


def within(path: str, field: str) -> bool:
    """Whether a path is what the problem is about; of a reward that is not there, all of it is."""
    if field.startswith("stages."):
        return path == ".".join(field.split(".")[:3])  # shown as one text
    place = field.removesuffix(".name") if field.startswith("rewards.") else field
    own = path in (f"{place}.weight", f"{place}.timeout")  # which another function can have as well
    return f"{path}.".startswith(f"{place}.") and not own


def named(path: str, value: str, label: str) -> bool:
    if path.startswith("data.") and "without the settings of this data" in label:
        return True
    if path.startswith("rewards.") and label.startswith("Remove"):
        return True  # all of it, which is what the button says
    name = path.rpartition(".")[2]
    words = [name, field_labels.SHORT.get(path, ("\0",))[0].lower(), value]
    return any(word.lower() in label.lower() for word in words)
