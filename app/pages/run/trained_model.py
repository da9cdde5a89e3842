"""A model that a run saved, its last or one of its checkpoints: what it learned, what it answers, and how to go on."""

import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from groupwise.app.core import format
from groupwise.app.pages.run import checkpoint_figures, ending, equal_weights
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.home import files, paths
from groupwise.storage.record import checkpoint_files, metrics, states
from groupwise.storage.registry import registry

HELD_OUT = "eval_reward"
BEST = "best held-out reward"  # as a checkpoint's badge begins (checkpoint_figures.py)
FURTHER = "A new run begins from this model, with these settings: give it other data, or more steps."
UNMERGED = "No run begins from an adapter: merge it into its base model first (merge_and_unload), and save that whole."


def describe_model(run: registry.Run, place: Path) -> dict[str, str]:
    """Where a model lies, the address that downloads it, Python that loads it, and the address of a new run from it."""
    asked = {"id": run.id, "folder": place.relative_to(run.folder.path).as_posix()}
    return {
        "path": str(place),
        "download": f"/download?{urlencode(asked)}",
        "code": load_code(run, place),
        "start": start_from(run, place),
    }


def describe_final(
    run: registry.Run, checkpoints: Sequence[dict[str, Any]], moved: Sequence[str] = ()
) -> dict[str, Any]:
    """The trained model, and in words: what it `learned`, what it `answered` and where that is read (`answers`), how it
    is trained `further`, and what it is of `use` for. `checkpoints`: the rows of the run's; `moved`: the functions
    whose weights changed between them."""
    held_out = held_out_rewards(run)
    start = start_from(run, run.folder.final)
    return describe_model(run, run.folder.final) | {
        "learned": say_learned(held_out, checkpoints, moved, _may_be_chance(run, held_out)),
        "answered": "To each held-out prompt, as it was last evaluated, with every function's score."
        if held_out else "To the prompts of its last step, with every function's score.",
        "answers": answers_of(run, held_out[-1][0] if held_out else None),
        "further": FURTHER if start else UNMERGED,
        "use": say_use(run),
    }  # fmt: skip


def held_out_rewards(run: registry.Run) -> list[tuple[int, float]]:
    """Each evaluation's step and reward; nothing without a record that can be read."""
    try:
        curve = metrics.window(run.folder.db, [HELD_OUT], 0, run.step)["curves"].get(HELD_OUT, {"x": [], "y": []})
    except sqlite3.Error:
        return []
    return [(step, value) for step, value in zip(curve["x"], curve["y"], strict=True) if value is not None]


def _may_be_chance(run: registry.Run, held_out: Sequence[tuple[int, float]]) -> bool:
    """Whether its last evaluation differs from its first by no more than by chance."""
    if len(held_out) < 2:
        return False
    try:
        return equal_weights.moved_by_chance(run.folder.db, held_out[0][0], held_out[-1][0])
    except sqlite3.Error:
        return False


def say_learned(
    held_out: Sequence[tuple[int, float]], checkpoints: Sequence[dict[str, Any]], moved: Sequence[str] = (),
    chance: bool = False,
) -> str:  # fmt: skip
    """What its held-out reward became, and which checkpoint did better; "" where it was not evaluated twice. `chance`:
    whether that may be chance."""
    if len(held_out) < 2:
        return ""
    (first, before), (last, now) = held_out[0], held_out[-1]
    since = "before the first step" if first == 0 else f"after step {format.count(first)}"
    said = f"Held-out reward {format.number(now)} after step {format.count(last)}; {format.number(before)} {since}"
    said += ", a difference that may be chance." if chance and format.number(now) != format.number(before) else "."
    said += checkpoint_figures.say_moved_meanwhile(moved)
    best = next((row for row in checkpoints if row["best"].startswith(BEST)), None)
    if best is None or best["step"] == last:
        return said
    how = best["best"].removeprefix(BEST) or f": {best['values']['held-out reward']}"
    return f"{said} The checkpoint of {best['title']} did better{how}."


def answers_of(run: registry.Run, held_out: int | None = None, step: int | None = None) -> str:
    """The address of the completions of a step: of its evaluation, or of the groups trained on; the last without."""
    where = {"mode": "eval", "step": held_out} if held_out is not None else {"step": step} if step is not None else {}
    return f"/run?{urlencode({'id': run.id, 'tab': 'groups', **where})}"


def describe_answers(run: registry.Run, step: int, evaluated: Collection[int]) -> dict[str, str]:
    """Where a checkpoint's answers are read, and which those are: to the held-out prompts, if it was evaluated on them
    as it was saved."""
    if step in evaluated:
        return {"answers": answers_of(run, step), "which": f"What it answered to the held-out prompts at step {step:,}"}
    return {"answers": answers_of(run, step=step), "which": f"What it answered in training at step {step:,}"}


def start_from(run: registry.Run, place: Path, stage: int = 0) -> str:
    """The address of a new run with this run's settings that begins from this model; “” of an adapter, which cannot.
    `stage`: the first of the stages that it is to train, where those before it are done."""
    if checkpoint_files.is_adapter(place):
        return ""
    rest = [("stage", str(stage))] if stage > 1 else []
    return f"/new?{urlencode([('from', run.id), *rest, ('set', f'model.id={place}')])}"


def load_code(run: registry.Run, place: Path) -> str:
    """Python that loads a saved model with transformers; a LoRA adapter with PEFT, on top of its base model."""
    auto = "from transformers import AutoModelForCausalLM, AutoTokenizer\n"
    tokenizer = f"tokenizer = AutoTokenizer.from_pretrained({str(place)!r})\n"
    if not checkpoint_files.is_adapter(place):
        return f"{auto}\nmodel = AutoModelForCausalLM.from_pretrained({str(place)!r})\n{tokenizer}"
    base = f"base = AutoModelForCausalLM.from_pretrained({_base_model(run)!r})\n"
    model = f"model = PeftModel.from_pretrained(base, {str(place)!r})\n"
    return f"from peft import PeftModel\n{auto}\n{base}{model}{tokenizer}"


def _base_model(run: registry.Run) -> str:
    return str(paths.models_folder() / "starter") if run.model == "starter" else run.model


def say_use(run: registry.Run) -> str:
    """What final/ holds, and what takes it: LoRA saves an adapter, which lies on top of its base model."""
    if checkpoint_files.is_adapter(run.folder.final):
        return (
            f"A LoRA adapter, not a whole model: it goes on top of {visible_text(_base_model(run))}, with PEFT's "
            "PeftModel.from_pretrained. Download gives a .tar file: unpack it."
        )
    return (
        "Download gives a .tar file: unpack it. The folder is in Hugging Face form, as transformers and vLLM take it; "
        "LM Studio and Ollama take it once it is converted to GGUF."
    )


def _say_instead(run: registry.Run) -> str:
    """What can be done where a run ended without a trained model; “” for nothing."""
    ways = ["resume the run"] if ending.can_resume(run) else []
    ways += ["use one of its checkpoints"] if checkpoint_files.latest_sealed(run.folder.checkpoints) else []
    said = ", or ".join(ways)
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def why_no_final(run: registry.Run) -> str:
    """Where the trained model will be, or why it is not there; "" where it is, and where a run has saved nothing."""
    if files.is_folder(run.folder.final):
        return ""
    place = visible_text(str(run.folder.final))
    if run.state == states.FINISHED:
        return f"The trained model was in {place}, and is not there any more."
    if run.state in states.ENDED:
        return f"No trained model in {place}: the run ended before its last step, which writes it.{_say_instead(run)}"
    return f"The trained model will be in {place} when the run has done all its steps."
