"""The form of a new run and the YAML beside it: the same settings twice, kept in step without losing what was typed.

Pure. A form is what its fields hold: texts, and for `rewards` a list of {name, weight} in the spec's order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from app.pages import yaml_edit
from app.pages.yaml_edit import ABSENT

Form = dict[str, Any]

# Fields that hold a text, or a number as text, and where in the spec they belong.
TEXTS = {"name": ("name",), "model": ("model", "id"), "source": ("data", "source")}
NUMBERS = {
    "rank": ("lora", "r"),
    "num_generations": ("training", "num_generations"),
    "per_device_train_batch_size": ("training", "per_device_train_batch_size"),
    "learning_rate": ("training", "learning_rate"),
    "max_completion_length": ("training", "max_completion_length"),
    "beta": ("training", "beta"),
    "max_steps": ("training", "max_steps"),
}
FULL, LORA = "all weights", "LoRA"
FIELDS = ["name", "model", "tune", "rank", "source", "rewards", *list(NUMBERS)[1:]]
USUAL_LORA = {"r": 16, "lora_alpha": 32}  # common practice


@dataclass(frozen=True)
class Memory:
    """What form and YAML last agreed on, and the LoRA settings that “all weights” put away. Kept in the page."""

    text: str
    lora: dict[str, Any] | None = None

    @classmethod
    def read(cls, kept: Any, text: str) -> Memory:
        """From the page, which may have sent anything; else from the text."""
        try:
            value = json.loads(kept)
            lora = value.get("lora")
            return cls(str(value["text"]), lora if isinstance(lora, dict) else None)
        except (TypeError, ValueError, KeyError, AttributeError):
            return cls(text)

    def write(self) -> str:
        return json.dumps({"text": self.text, "lora": self.lora})


def from_spec(raw: dict[str, Any]) -> Form:
    """What the fields show for these settings. Anything may be missing or of a wrong type."""
    form: Form = {field: _text(yaml_edit.get(raw, path)) for field, path in (TEXTS | NUMBERS).items()}
    form["tune"] = LORA if isinstance(raw.get("lora"), dict) else FULL
    listed = raw.get("rewards") if isinstance(raw.get("rewards"), list) else []
    form["rewards"] = [
        {"name": str(item["name"]), "weight": _text(item.get("weight", 1.0))}
        for item in listed or []
        if isinstance(item, dict) and "name" in item
    ]
    return form


def merge(text: str, memory: Memory, form: Form, *, newest: str) -> tuple[str, Form, Memory]:
    """Bring both together: the YAML with what was changed in the form, and the form with what was changed in the YAML.

    Where both changed one field since they last agreed, the `newest` (“form” or “yaml”) wins. While the YAML cannot be
    read, nothing is touched on either side, and both keep what was typed until it can.
    """
    raw = yaml_edit.load(text)
    if raw is None:
        return text, form, memory
    agreed, now = from_spec(yaml_edit.load(memory.text) or {}), from_spec(raw)
    edited = [field for field in FIELDS if field in form and not same(field, form[field], agreed[field])]
    if newest == "yaml":
        edited = [field for field in edited if same(field, now[field], agreed[field])]
    lora = raw["lora"] if isinstance(raw.get("lora"), dict) else memory.lora
    for field in edited:
        if not same(field, form[field], now[field]):
            text = _apply(text, field, form[field], lora)
    both = from_spec(yaml_edit.load(text) or {})
    for field in edited:
        if same(field, form[field], both[field]):
            both[field] = form[field]  # as it was typed
    return text, both, Memory(text, lora)


def same(field: str, one: Any, other: Any) -> bool:
    """Whether two contents of a field mean the same: 1e-4 is 0.0001."""
    if field == "rewards":
        return [(r["name"], _value(r["weight"])) for r in one] == [(r["name"], _value(r["weight"])) for r in other]
    if field in NUMBERS:
        return _value(one) == _value(other) and type(_value(one)) is type(_value(other))
    return one == other


def _apply(text: str, field: str, content: Any, lora: dict[str, Any] | None) -> str:
    """One field of the form, put into the YAML."""
    if field == "tune":
        return yaml_edit.put(text, ("lora",), (lora or USUAL_LORA) if content == LORA else None)
    if field == "rewards":
        return yaml_edit.put(text, ("rewards",), _rewards(text, content))
    if field in TEXTS:
        return yaml_edit.put(text, TEXTS[field], content)
    raw = yaml_edit.load(text) or {}
    if field == "rank" and not isinstance(raw.get("lora"), dict):
        return text
    value = _value(content)
    written = content.strip() if isinstance(value, (int, float)) else None
    return yaml_edit.put(text, NUMBERS[field], value, written)


def _rewards(text: str, content: list[dict[str, str]]) -> list[dict[str, Any]]:
    """The rewards as the form has them, with whatever else the YAML says of each."""
    raw = (yaml_edit.load(text) or {}).get("rewards")
    known = {item.get("name"): item for item in raw if isinstance(item, dict)} if isinstance(raw, list) else {}
    return [{**known.get(r["name"], {}), "name": r["name"], "weight": _weight(r["weight"])} for r in content]


def _weight(typed: str) -> Any:
    value = _value(typed)
    return 1.0 if value is ABSENT else float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _text(value: Any) -> str:
    """A setting as a field shows it."""
    if value is ABSENT or value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _value(typed: Any) -> Any:
    """What a typed number means: ABSENT for nothing, the text itself where it is none."""
    words = typed.strip() if isinstance(typed, str) else ""
    if not words:
        return ABSENT
    raw = yaml_edit.load(f"x: {words}")
    value = raw.get("x") if raw and len(raw) == 1 else words
    return value if isinstance(value, (int, float)) else words
