"""The prompt as the model reads it: its own tokenizer and chat template, and no weights."""

import functools
import json
from pathlib import Path
from typing import Any

from groupwise.storage.library.models import model_files
from groupwise.storage.spec.spec import NO_MODEL, ModelSpec
from groupwise.worker.builtin import models
from groupwise.worker.data.files.data_error import DataError

# Characters that are counted of a text, a cell of megabytes would take as many seconds: as many times what a model can
# hold as a token seldom has, within these bounds.
TIMES, LEAST, MOST = 8, 2**16, 2**19
ABSURD = 2**30  # a tokenizer with no limit says something like 1e30


class Reader:
    """How one model reads a prompt. `chat`: whether it has a chat template. `context`: how many tokens it can hold,
    None where it does not say."""

    def __init__(self, folder: str) -> None:
        self._tokenizer = _tokenizer(folder)
        self.chat = self._tokenizer.chat_template is not None
        said = [_positions(Path(folder)), self._tokenizer.model_max_length]
        self.context = min((int(value) for value in said if value and value < ABSURD), default=None)
        self._counted = min(max(LEAST, TIMES * (self.context or MOST)), MOST)

    def text(self, prompt: Any) -> str:
        """The text that a prompt (messages, or text) becomes. Raises DataError where the chat template refuses it."""
        if isinstance(prompt, str):
            return prompt
        try:
            return str(self._tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True))
        except Exception as error:  # a template is a program of the model's makers: it can fail in any way
            reason = (str(error).splitlines() or [type(error).__name__])[0][:200].rstrip(".")
            raise DataError(
                f"the model's chat template cannot format this prompt: {reason}", "data.prompt_template"
            ) from error

    def counts(self, prompts: list[Any]) -> list[int]:
        """How many tokens each prompt is, as the trainer counts them: text gets the tokenizer's own marks, a chat has
        them in its template. A text that is longer than any model reads is estimated by its beginning."""
        chats = bool(prompts) and not isinstance(prompts[0], str)
        whole = [self.text(prompt) for prompt in prompts]
        texts = [text[: self._counted] for text in whole]
        encoded = self._tokenizer(text=texts, add_special_tokens=not chats, verbose=False)["input_ids"] if texts else []
        return [
            round(len(ids) * max(1.0, len(text) / self._counted)) for ids, text in zip(encoded, whole, strict=True)
        ]  # fmt: skip

    def ids(self, completions: list[str]) -> list[list[int]]:
        """The token ids of texts that a model could have written: without the tokenizer's own marks."""
        encoded = self._tokenizer(text=completions, add_special_tokens=False, verbose=False)["input_ids"]
        return [list(found) for found in encoded]


def reader(spec: ModelSpec) -> Reader:
    """The reader of a model. Raises DataError, at the model, where its tokenizer is not to be had."""
    if spec.id == NO_MODEL:
        raise DataError("no model is chosen", "model.id")
    try:
        folder = models.tokenizer_place(spec)
        return _load_reader(folder, Path(folder).stat().st_mtime)
    except Exception as error:  # a missing folder, no network, a damaged or foreign file: each library has its own
        reason = (str(error).splitlines() or [type(error).__name__])[0][:300].rstrip(".")
        raise DataError(f"the tokenizer of “{spec.id}” cannot be loaded: {reason}", "model.id") from error


def is_to_be_downloaded(spec: ModelSpec) -> bool:
    """Whether the model is one of the hub of which nothing is on this machine: that is said of the model itself, and
    why its tokenizer is missing as well."""
    return spec.id != "starter" and not model_files.model_folder(spec.id) and model_files.folder_of(spec) is None


@functools.lru_cache(maxsize=4)
def _load_reader(folder: str, _changed: float) -> Reader:
    return Reader(folder)


def _tokenizer(folder: str) -> Any:
    """The tokenizer, as AutoTokenizer gives it; without importing torch where a tokenizer says that it is a plain
    one, which is all that is needed here."""
    if _json(Path(folder) / "tokenizer_config.json").get("tokenizer_class") == "TokenizersBackend":
        from transformers import PreTrainedTokenizerFast

        return PreTrainedTokenizerFast.from_pretrained(folder)
    return models.load_tokenizer(folder)


def _positions(folder: Path) -> int | None:
    config = _json(folder / "config.json")
    for part in (config, config.get("text_config")):
        if isinstance(part, dict):
            found = next((part[name] for name in ("max_position_embeddings", "n_positions") if part.get(name)), None)
            if isinstance(found, int):
                return found
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
