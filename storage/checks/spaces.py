"""Names with a space too many at an end, which nothing is called: of models, datasets and what belongs to them."""

from collections.abc import Iterator

from groupwise.storage.checks.data import TO_CHOOSE
from groupwise.storage.library.models.model_files import model_folder
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.odd_spaces import trim_spaces, trimmed_fix, trimmed_words
from groupwise.storage.spec.words.problem import Problem

NAMES = {"model": ("id", "revision", "attn_implementation"), "data": ("source", "config", "split", "revision")}


def check_spaces(spec: RunSpec) -> Iterator[Problem]:
    """A problem for each such name with spaces around it."""
    folder = model_folder(spec.model.id)
    for part, names in NAMES.items():
        for name in names:
            value, path = getattr(getattr(spec, part), name), f"{part}.{name}"
            is_there = path == "model.id" and folder is not None and folder.is_dir()
            kind, _, source = trim_spaces(value or "").partition(":")
            is_chosen = path != "data.source" or (kind in TO_CHOOSE and source)  # else that is said
            if trimmed_words(value) and is_chosen and not is_there:
                message = f"should be “{trim_spaces(value)}”.{trimmed_words(value)}"
                yield Problem(path, message, fixes=trimmed_fix(path, value))
