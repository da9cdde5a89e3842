"""Whether what is YAML has the shape of a spec at all: settings where settings belong, lists where lists do. What is
merely refused (a name that is not known any more, a number out of bounds) has it."""

from typing import Any

from pydantic import ValidationError

from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.misfits import in_words
from groupwise.storage.spec.words.problem import line_of

OF_PARTS = ("model_type", "dict_type", "list_type")  # what pydantic calls a value that has no parts and should


def shape_fault(settings: dict[str, Any], lines: dict[str, int]) -> str:
    """What is wrong with the shape of settings, as “line 3: model should be …”; "" where nothing is."""
    try:
        RunSpec.model_validate(settings)
    except ValidationError as error:
        for detail in error.errors():
            if _is_of_shape(detail):
                path = ".".join(map(str, detail["loc"]))
                return f"line {line_of(path, lines) or 1}: {path} {in_words(detail).rstrip('.')}"
    return ""


def _is_of_shape(detail: Any) -> bool:
    parts_for_a_word = detail["type"].endswith("_type") and isinstance(detail["input"], (list, dict))
    return detail["type"] in OF_PARTS or parts_for_a_word
