"""What of a spec's model keeps a run from being launched, by the files on this machine: which model it is, and whether
it can be trained."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

from groupwise.storage.checks.loading import check_loading
from groupwise.storage.checks.model_names import near_model_words
from groupwise.storage.home import paths
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.models import hub_cache, model_files
from groupwise.storage.library.models.hub_models import COPY_IT
from groupwise.storage.library.models.model_files import ModelError, ModelFacts, model_folder
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING, Fix, Problem, nearest_name
from groupwise.storage.spec.words.word_quotes import QUOTES_ARE_LETTERS, inside_quotes

HUB_ID = re.compile(r"(?!.*(--|\.\.))[A-Za-z0-9][\w.-]*(?<![.-])(/[A-Za-z0-9][\w.-]*(?<![.-]))?")
HUB_PAGE = re.compile(r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([\w.-]+/[\w.-]+?)(?:/tree/[^/\s]+)?/?")
MAX_ID = 96  # the hub's own limit
STARTER = Fix("Use the starter model", {"model.id": "starter", "model.revision": None}, fallback=True)
CONVERT = "from transformers import AutoModelForCausalLM as M; M.from_pretrained(FOLDER).save_pretrained(FOLDER)"
FORMS = {"gguf": "GGUF", "h5": "TensorFlow’s", "msgpack": "Flax’s"}


def check_model(spec: RunSpec, offer: Offer) -> list[Problem]:
    """The model's problems, gravest first where one hides the others."""
    revision = spec.model.revision is not None
    return [_with_revision_out(problem, is_given=revision) for problem in _problems_of_model(spec, offer)]


def _with_revision_out(problem: Problem, *, is_given: bool) -> Problem:
    """A problem whose buttons take the revision out that is given, and write none where none is."""
    fixes = tuple(
        replace(
            fix, settings={path: value for path, value in fix.settings.items() if path != "model.revision"},
            removed=(*fix.removed, "model.revision") if is_given else fix.removed,
        )
        if "model.revision" in fix.settings else fix
        for fix in problem.fixes
    )  # fmt: skip
    return replace(problem, fixes=fixes)


def _problems_of_model(spec: RunSpec, offer: Offer) -> list[Problem]:
    found = _name(spec) or _revision(spec)
    if any(problem.level == BLOCKING for problem in found):
        return found + check_loading(spec, offer, None)
    folder = model_files.folder_of(spec.model)
    try:
        facts = model_files.facts(folder) if folder else None
    except ModelError as error:
        anew = " Delete that folder: a new copy is put there." if spec.model.id == "starter" else ""
        damaged = f"{model_files.as_written(str(error), spec.model.id)}{anew}"
        return [*found, model_problem(damaged, *([] if spec.model.id == "starter" else [STARTER]))]
    adapter = facts is not None and facts.adapter
    if _on_the_hub(spec) and (facts is None or facts.weights != "safetensors" or facts.missing) and not adapter:
        found.append(_download(spec))
    elif facts:
        found += _files(facts, model_files.as_written(facts.folder, spec.model.id))
    if facts and not facts.adapter:
        found += _kind(facts, offer) + _chat(spec, facts)
    return found + check_loading(spec, offer, facts)


def _on_the_hub(spec: RunSpec) -> bool:
    return spec.model.id != "starter" and model_folder(spec.model.id) is None


def _name(spec: RunSpec) -> list[Problem]:
    """Whether the id is the starter, a folder that is there, or what a hub id looks like."""
    name = spec.model.id
    folder = model_folder(name)
    if name == "starter":
        return []
    if folder is not None:
        return _folder(folder, name)
    if HUB_ID.fullmatch(name) and len(name) <= MAX_ID:
        return []
    plain = inside_quotes(name)
    if plain != name and (plain == "starter" or HUB_ID.fullmatch(plain) or model_folder(plain)):
        return [model_problem(QUOTES_ARE_LETTERS, Fix(f"Use {plain}", {"model.id": plain}))]
    page = HUB_PAGE.fullmatch(name)
    fix = Fix(f"Use {page[1]}", {"model.id": page[1]}) if page and HUB_ID.fullmatch(page[1]) else STARTER
    return [model_problem("should be starter, a folder (beginning with / or ~), or a hub id such as org/name.", fix)]


def _folder(folder: Path, name: str) -> list[Problem]:
    """`name`: as it was written, by which it is called where that begins with ~."""
    called, beside = folder, folder.parent
    if name.startswith("~"):
        called = Path(name)
        beside = called.parent if len(called.parts) > 1 else beside
    if not folder.is_absolute() and name.startswith("~"):
        return [model_problem(f"there is no folder {called}: this machine has no user {called.parts[0][1:]}.", STARTER)]
    if not folder.is_absolute():
        kept = paths.models_folder() / folder.name
        fix = Fix(f"Use {kept}", {"model.id": str(kept)}) if _is_model(kept) else STARTER
        return [model_problem("should be the folder's whole path, beginning with / or ~.", fix)]
    try:
        if not str(folder).isprintable():
            raise ValueError
        if folder.is_dir():
            return _repository(folder, called)
        if folder.is_file():
            fix = Fix(f"Use {beside}", {"model.id": str(beside)}) if _is_model(folder.parent) else STARTER
            return [model_problem(f"{called} is a file: name the folder it lies in.", fix)]
    except (OSError, ValueError):
        return [model_problem(f"{str(called)[:200]!r} cannot be the path of a folder.", STARTER)]
    close = nearest_name(folder.name, _neighbours(folder.parent))
    path = str(beside / close) if close else ""
    meant = f" Did you mean {path}?" if close else ""
    fixes = (Fix(f"Use {path}", {"model.id": path}), STARTER) if close else (STARTER,)
    return [model_problem(f"there is no folder {called}.{meant}", *fixes)]


def _repository(folder: Path, called: Path) -> list[Problem]:
    """A folder of the hub client's cache holds the model only some folders further down."""
    name = folder.name.removeprefix("models--").replace("--", "/")
    if folder.name.startswith("models--") and (folder / "snapshots").is_dir() and HUB_ID.fullmatch(name):
        fix = Fix(f"Use {name}", {"model.id": name})
        return [model_problem(f"{called} is where the hub's client keeps {name}: write {name}.", fix)]
    return []


def _is_model(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _neighbours(parent: Path) -> list[str]:
    """The names of the model folders beside the one that is not there."""
    try:
        names = [path.name for path, _ in zip(parent.iterdir(), range(1000), strict=False)]
    except OSError:
        return []
    return [name for name in names if _is_model(parent / name)]


def _revision(spec: RunSpec) -> list[Problem]:
    revision, fix = spec.model.revision, Fix("Remove the revision", {"model.revision": None})
    if revision is None:
        return []
    if not _on_the_hub(spec):
        return [
            Problem("model.revision", "only models of the hub have revisions: ignored.", level=ADVICE, fixes=(fix,))
        ]
    if hub_cache.REVISION.fullmatch(revision) and ".." not in revision and len(revision) <= 200:
        return []
    return [Problem("model.revision", "should be a branch, a tag or a commit of the model's repository.", fixes=(fix,))]


def _download(spec: RunSpec) -> Problem:
    kept = paths.models_folder() / spec.model.id.rsplit("/", 1)[-1]
    meant, fixes = near_model_words(spec.model.id)
    if _is_model(kept):
        meant, fixes = "", (Fix(f"Use {kept}", {"model.id": str(kept), "model.revision": None}),)
    missing = f"“{spec.model.id}” is not on this machine"
    if hub_cache.is_offline():
        message = f"{missing}, and HF_HUB_OFFLINE is set, so it cannot be downloaded: unset it, or {COPY_IT}.{meant}"
        return model_problem(message, *(fixes or (STARTER,)), level=WARNING)
    if meant:
        return model_problem(f"{missing}.{meant} Otherwise it is downloaded from the hub.", *fixes, level=WARNING)
    return model_problem(f"{missing}: it is downloaded from the hub when the run starts.", *fixes, level=ADVICE)


def _files(facts: ModelFacts, folder: str) -> list[Problem]:
    """What the folder lacks. `folder`: what it is called."""
    if facts.adapter:
        return [_adapter_problem(facts, folder)]
    found = []
    if not facts.has_tokenizer:
        message = f"{folder} has no tokenizer: copy tokenizer.json and tokenizer_config.json there."
        found.append(model_problem(message, STARTER))
    if facts.missing:
        names = ", ".join(facts.missing[:3]) + (f" and {len(facts.missing) - 3} more" if len(facts.missing) > 3 else "")
        found.append(model_problem(f"{folder} lacks {names}: download or copy the rest of the weights.", STARTER))
    elif facts.only_bin:
        how = shlex.join(["python", "-c", CONVERT.replace("FOLDER", repr(facts.folder))])
        message = (
            f"{folder} has its weights only as .bin, which can hold code and is never loaded. Convert it once: {how}"
        )
        found.append(model_problem(message, STARTER))
    elif facts.weights != "safetensors":
        form = f"only in {FORMS[facts.weights]} form" if facts.weights in FORMS else "nowhere"
        found.append(model_problem(f"{folder} has its weights {form}: they are needed as model.safetensors.", STARTER))
    return found


def _adapter_problem(facts: ModelFacts, folder: str) -> Problem:
    base = facts.base or ""
    usable = bool(HUB_ID.fullmatch(base)) or (base.startswith("/") and _is_model(Path(base)))
    fixes = (Fix(f"Use {base}", {"model.id": base, "model.revision": None}), STARTER) if usable else (STARTER,)
    belongs = f" It belongs to {base}: train that model," if base else " Train its model,"
    return model_problem(f"{folder} is a LoRA adapter, not a model.{belongs} or one it was merged into.", *fixes)


def _kind(facts: ModelFacts, offer: Offer) -> list[Problem]:
    """Whether this kind of model can be trained with GRPO at all."""
    known = offer.model_types  # the types that the installed transformers can write text with
    kind = facts.architectures[0] if facts.architectures else facts.model_type or "unknown"
    if facts.causal is False:
        return [model_problem(f"a {kind} does not generate text: GRPO needs a causal language model.", STARTER)]
    if known and facts.model_type not in known:
        if facts.needs_code:
            return [_needs_code(kind, BLOCKING)]
        message = f"the installed transformers supports no language model of type “{facts.model_type or 'unknown'}”."
        return [model_problem(message, STARTER)]
    return [_needs_code(kind, WARNING)] if facts.needs_code and not known else []


def _needs_code(kind: str, level: str) -> Problem:
    unless = "" if level == BLOCKING else " It can be used only if transformers supports this kind of model itself."
    message = f"its {kind} brings code of its own, and code from a model's repository is never run.{unless}"
    return model_problem(message, STARTER, level=level)


def _chat(spec: RunSpec, facts: ModelFacts) -> list[Problem]:
    """How a system prompt and examples reach a model that knows no chat."""
    if facts.has_chat_template or not facts.has_tokenizer or not (spec.data.system_prompt or spec.data.examples):
        return []
    field = "data.system_prompt" if spec.data.system_prompt else "data.examples"
    both = spec.data.system_prompt and spec.data.examples
    what = (
        "system prompt and examples stand" if both else "system prompt stands" if field[5] == "s" else "examples stand"
    )
    message = f"this model has no chat template: the {what} before the prompt as plain text, with blank lines between."
    return [Problem(field, message, level=ADVICE)]


def model_problem(message: str, *fixes: Fix, level: str = BLOCKING) -> Problem:
    """Something about which model it is."""
    return Problem("model.id", message, level=level, fixes=fixes)
