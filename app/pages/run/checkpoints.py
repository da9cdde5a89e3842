"""The Checkpoints of a run: what was saved, what of it is still there, and the final model."""

from typing import Any

import gradio as gr

from groupwise.app.core import format
from groupwise.app.ui.live import Payload, Unanswerable, answer, has_record, live, run_of
from groupwise.app.ui.safe_text import escape, visible_text
from groupwise.storage.home import paths
from groupwise.storage.record import metrics, states
from groupwise.storage.registry import registry

HEAD = (
    '<tr><th scope="col">checkpoint</th><th scope="col">saved</th><th scope="col" class="n">size</th>'
    '<th scope="col">folder</th></tr>'
)


@answer
def list_checkpoints(payload: Payload) -> dict[str, Any]:
    """The table's rows as HTML and a sentence about the final model."""
    run = run_of(payload)
    folder = run.folder
    if not folder.path.is_dir():
        raise Unanswerable("The folder of this run was deleted, and its checkpoints with it.")
    rows = metrics.checkpoints(folder.db) if has_record(run) else []
    return {
        "rows": "".join(checkpoint_row(folder, saved) for saved in rows),
        "wait": "" if rows else nothing(run.state),
        "final": str(folder.final) if folder.final.is_dir() else "",
        "use": use(run),
    }


def use(run: registry.Run) -> str:
    """What final/ holds and how to go on with it: LoRA saves an adapter, which no run can begin from."""
    if not (run.folder.final / "adapter_config.json").is_file():
        return (
            "In Hugging Face form: load it with from_pretrained, or train on from it by giving this folder as the "
            "model of a new run."
        )
    base = str(paths.models_folder() / "starter") if run.model == "starter" else run.model
    return (
        f"A LoRA adapter, not a whole model: load the base model {visible_text(base)} with from_pretrained, then put "
        "this folder on top with PEFT's PeftModel.from_pretrained. It cannot be the model of a new run unless it is "
        "merged into its base (merge_and_unload) and saved as a whole model."
    )


def nothing(state: str) -> str:
    """What to say of a run in this state that has no checkpoint."""
    if state in states.ENDED:
        return "No checkpoint was saved by this run."
    return "No checkpoint has been saved yet: they come every save_steps steps, and when the run is stopped."


def checkpoint_row(folder: paths.RunFolder, saved: dict[str, Any]) -> str:
    """One checkpoint as a table row, with where it lies or that it is gone."""
    there = (folder.path / saved["path"]).is_dir()
    where = escape(saved["path"]) if there else "removed since, to make room for newer ones"
    return (
        f"<tr{'' if there else ' class=mut'}><td><b>step {format.count(saved['step'])}</b></td>"
        f'<td>{format.age(saved["at"])}</td><td class="n">{format.size(saved["bytes"])}</td>'
        f'<td class="{"mono" if there else ""}">{where}</td></tr>'
    )


def checkpoints() -> gr.HTML:
    """The Checkpoints part of a run's page."""
    template = (
        '<p class="s mut wait">Reading…</p><section class="panel final" hidden><h2>The trained model</h2>'
        '<p class="row"><code class="mono"></code><button class="btn s">Copy path</button></p>'
        '<p class="s mut use"></p></section>'
        f'<div class="panel flush scroll list" hidden><table><thead>{HEAD}</thead><tbody></tbody></table></div>'
    )
    return live(
        "pages/run/checkpoints",
        list_checkpoints,
        template=template,
        elem_id="part-checkpoints",
        elem_classes=["part", "part-checkpoints"],
    )
