"""What only the libraries or the hub can tell of a model: whether its tokenizer loads, its chat template renders, the
hub has it and lets it be downloaded."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from groupwise.storage.checks.model import STARTER, model_problem
from groupwise.storage.library.models import model_files
from groupwise.storage.library.models.model_files import ModelError, ModelFacts
from groupwise.storage.registry.messages.model import ModelAnswer, ModelQuestion
from groupwise.storage.registry.messages.problem import messages_of
from groupwise.storage.spec.spec import ModelSpec
from groupwise.storage.spec.words.problem import ADVICE, Fix, Problem
from groupwise.worker.builtin import models
from groupwise.worker.questions import hub

PATIENCE = 4.0  # seconds for the hub, and again for a chat template
MARK = "groupwise-looks-for-this"


def answer_model(question: ModelQuestion) -> ModelAnswer:
    """What the model's files say, and what only the libraries or the hub can tell."""
    spec = question.model
    facts: dict[str, Any] = {}
    problems: list[Problem] = []
    if _is_missing(spec):
        looked = hub.look(spec, PATIENCE)
        facts, problems = looked.facts, looked.problems
    try:
        folder = models.tokenizer_place(spec) if not _is_missing(spec, tokenizer=True) else None
        found = model_files.facts(Path(folder)) if folder else None
    except (ModelError, OSError) as error:
        first = str(error).strip().split("\n")[0]
        problems.append(model_problem(model_files.as_written(first, spec.id), STARTER))
        found = None
    if found:
        facts = {**asdict(found), **facts}
        problems += _kind(found, facts)
        if found.has_tokenizer and not found.adapter:
            problems += _tokenizer(found, facts)
    return ModelAnswer(facts=facts, problems=messages_of(problems))


def _is_missing(spec: ModelSpec, *, tokenizer: bool = False) -> bool:
    """Whether a hub id's files (or at least its tokenizer's) are not on this machine."""
    if spec.id == "starter" or model_files.model_folder(spec.id):
        return False
    folder = model_files.folder_of(spec)
    try:
        facts = model_files.facts(folder) if folder else None
    except ModelError:
        return False
    if facts is None or tokenizer:
        return facts is None or not facts.has_tokenizer
    return facts.weights != "safetensors" or bool(facts.missing)


def _kind(found: ModelFacts, facts: dict[str, Any]) -> list[Problem]:
    """Whether transformers knows this kind of model by itself and can write text with it."""
    from peft.utils.constants import TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING as TARGETS

    targets = TARGETS.get(found.model_type)
    facts["lora_targets"] = sorted(targets) if targets else None
    if found.adapter or found.causal is False or found.model_type in models.text_models():
        return []
    kind = found.architectures[0] if found.architectures else found.model_type or "unknown"
    if found.needs_code:
        message = f"its {kind} needs code of its own, and code from a model's repository is never run."
    else:
        message = f"the installed transformers supports no language model of type “{found.model_type or 'unknown'}”."
    return [model_problem(message, STARTER)]


def _tokenizer(found: ModelFacts, facts: dict[str, Any]) -> list[Problem]:
    """Load the tokenizer and look at what the trainer needs of it."""
    try:
        tokenizer = models.load_tokenizer(found.folder)
        ids = tokenizer.get_vocab().values()
    except Exception as error:  # whatever a broken or hostile tokenizer makes the libraries raise
        return [model_problem(f"its tokenizer cannot be loaded: {_first_line(error)}", STARTER)]
    facts |= {"tokens": len(tokenizer), "eos": tokenizer.eos_token, "pad": tokenizer.pad_token,
              "chat": tokenizer.chat_template is not None, "system_role": None}  # fmt: skip
    problems = []
    if tokenizer.eos_token_id is None:
        message = "its tokenizer has no end-of-text token, so no completion could end: set eos_token in its config."
        problems.append(model_problem(message, STARTER))
    if found.vocab and ids and max(ids) >= found.vocab:
        message = (
            f"its tokenizer has tokens up to {max(ids)}, the model only {found.vocab}: they do not belong together."
        )
        problems.append(model_problem(message, STARTER))
    return problems + (_template(tokenizer, facts) if tokenizer.chat_template is not None else [])


def _template(tokenizer: Any, facts: dict[str, Any]) -> list[Problem]:
    """Render the chat template, with and without a system prompt."""
    user, system = {"role": "user", "content": "How are you?"}, {"role": "system", "content": MARK}
    plain = hub.within(PATIENCE, lambda: _render(tokenizer, [user]))
    if not isinstance(plain, str):
        return [model_problem(f"its chat template cannot be used: {_first_line(plain)}", STARTER)]
    if user["content"] not in plain:
        return [model_problem("its chat template leaves out the user's messages.", STARTER)]
    full = hub.within(PATIENCE, lambda: _render(tokenizer, [system, user]))
    facts["system_role"] = "refused" if not isinstance(full, str) else "used" if MARK in full else "ignored"
    if facts["system_role"] == "used":
        return []
    what = "takes no" if facts["system_role"] == "refused" else "leaves out the"
    fix = Fix("Remove the system prompt", {"data.system_prompt": None})
    message = f"this model's chat template {what} system prompt: put it in the prompt template instead."
    return [Problem("data.system_prompt", message, level=ADVICE, fixes=(fix,))]


def _render(tokenizer: Any, messages: list[dict[str, str]]) -> str:
    return str(tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))


def _first_line(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0][:300] or type(error).__name__
    return text if text.endswith((".", "!", "?")) else f"{text}."
