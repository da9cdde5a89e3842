"""New run (`/new`): a form, the YAML beside it, and what will happen. Both say the same; either can be edited."""

from __future__ import annotations

import functools
import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import gradio as gr

from app.components import rewards
from app.components.escaped import escaped
from app.components.live import escape
from app.components.topbar import topbar
from app.pages import choices, forecast, form, launch
from app.pages.form import FIELDS, FULL, LORA, Memory
from storage import home, registry
from storage.check import Offer
from storage.spec import Problem, SpecError

# To the run; or, where nothing was launched, to the first problem, for eyes and for the keyboard.
GO_OR_SHOW = """(url) => {
  if (url) { window.location.href = url; return; }
  const wrong = [...document.querySelectorAll(".field")].find((field) => field.querySelector(".field-problem"));
  (wrong ?? document.querySelector("#summary")).scrollIntoView({ block: "center" });
  wrong?.querySelector("input, textarea")?.focus();
}"""
Update = Any  # what Gradio takes as one output: a value, gr.update(…) or gr.skip()
Handler = Callable[..., list[Update]]
FAILURES = (sqlite3.Error, registry.RegistryError, OSError)
LABELS = {
    "name": "Name", "model": "Model", "tune": "Train", "rank": "LoRA rank", "source": "Prompts",
    "num_generations": "Group size", "per_device_train_batch_size": "Completions a step",
    "learning_rate": "Learning rate", "max_completion_length": "Longest completion", "beta": "KL weight",
    "max_steps": "Steps",
}  # fmt: skip


def unharmed(*, skipped: int, then: tuple[Update, ...] = ()) -> Callable[[Handler], Handler]:
    """Make a handler say in the summary what kept it from working (a damaged registry, a full disk), and touch nothing.

    The summary stands behind `skipped` outputs, which stay as they are, and before `then`.
    """

    def wrap(handler: Handler) -> Handler:
        @functools.wraps(handler)
        def handled(*arguments: Any) -> list[Update]:
            try:
                return handler(*arguments)
            except FAILURES as error:
                return [*[gr.skip()] * skipped, trouble(error), *then]

        return handled

    return wrap


def trouble(error: Exception) -> str:
    """The summary, as HTML, that says a failure of the registry or the disk. It is logged."""
    logging.getLogger("groupwise").error("the New run page could not do what was asked", exc_info=error)
    damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
    advice = " `groupwise repair` makes a new registry from the run folders." if damaged else ""
    words = f"the registry or the disk could not be used ({error}). Nothing was launched, and what you typed is kept."
    return forecast.summary(None, [Problem("", words + advice)], {})


def read_form(*contents: Any) -> form.Form:
    """The form's contents from what the page sent, in the order of FIELDS; nothing of a wrong type gets further."""
    values: form.Form = {}
    for field, content in zip(FIELDS, contents, strict=False):
        if field == "rewards":
            values[field] = rewards.chosen(content)
        else:
            values[field] = content[:500] if isinstance(content, str) else ""
    return values


@unharmed(skipped=2 + 2 * len(FIELDS))
def changed_form(text: str, kept: str, *contents: Any) -> list[Update]:
    """Something was edited in the form: the YAML follows."""
    return _sync(text, kept, read_form(*contents), newest="form")


@unharmed(skipped=2 + 2 * len(FIELDS))
def changed_yaml(text: str, kept: str, *contents: Any) -> list[Update]:
    """Something was edited in the YAML: the form follows."""
    return _sync(text, kept, read_form(*contents), newest="yaml")


def _sync(text: Any, kept: Any, typed: form.Form, *, newest: str) -> list[Update]:
    """YAML, memory, every field, every note, the summary; what is as it was is skipped."""
    text = text if isinstance(text, str) else ""
    merged, values, memory = form.merge(text, Memory.read(kept, text), typed, newest=newest)
    return [
        merged if merged != text else gr.skip(),
        memory.write(),
        *_fields(values, typed),
        *_said(merged),
    ]


def _fields(values: form.Form, typed: form.Form) -> list[Update]:
    """The fields whose content is not what they show."""
    updates: list[Update] = []
    for field in FIELDS:
        differs = not form.same(field, values[field], typed[field])
        if field == "rewards":
            updates.append(rewards.rows(values[field], Offer.published().rewards) if differs else gr.skip())
        elif field == "rank":
            lora = values["tune"] == LORA
            updates.append(gr.update(visible=lora, **({"value": values[field]} if differs else {})))
        else:
            updates.append(values[field] if differs else gr.skip())
    return updates


def _said(text: str) -> list[str]:
    """The note of every field, and the summary."""
    spec, found = launch.problems(text)
    offer = Offer.published()
    defaults = {name: about.get("default") for name, about in (offer.training or {}).items()}
    return [*(forecast.note(field, found) for field in FIELDS), forecast.summary(spec, found, defaults)]


def first_look(request: gr.Request) -> list[Update]:
    """What the address asks for: a run's settings (`from`), a preset, or the quickstart."""
    text, origin = opened(str(request.query_params.get("from") or ""), str(request.query_params.get("preset") or ""))
    values = form.from_spec(form.yaml_edit.load(text) or {})
    try:
        offered, models, sources = Offer.published().rewards, choices.models(), choices.sources()
        said: list[Update] = [*_said(text)]
    except FAILURES as error:
        offered, models, sources = {}, [], []
        said = [*[gr.skip()] * len(FIELDS), trouble(error)]
    fields = [
        rewards.rows(values[field], offered) if field == "rewards"
        else gr.update(value=values[field], choices=models) if field == "model"
        else gr.update(value=values[field], choices=sources) if field == "source"
        else gr.update(value=values[field], visible=values["tune"] == LORA) if field == "rank"
        else values[field]
        for field in FIELDS
    ]  # fmt: skip
    return [text, Memory(text).write(), *fields, *said, origin]


def opened(run_id: str, preset: str) -> tuple[str, str]:
    """The YAML to begin with and where it is from, as HTML. What cannot be opened is said; the quickstart is there."""
    if run_id:
        try:
            text = home.run_folder(run_id).spec.read_text(encoding="utf-8")
            return text, f"The settings of <b>{escape(run_id)}</b>. Change what you like; that run stays as it is."
        except (OSError, ValueError):
            return (
                launch.preset(),
                f"There is no run “{escape(run_id[:80])}” to take settings from. This is the quickstart.",
            )
    try:
        return launch.preset(preset or "quickstart"), f"Preset: {escape(preset or 'quickstart')}"
    except KeyError:
        return launch.preset(), f"There is no preset “{escape(preset[:80])}”. This is the quickstart."


@unharmed(skipped=1 + len(FIELDS), then=("",))
def start(text: str, kept: str, *contents: Any) -> list[Update]:
    """Check once more, then queue the run. Outputs: YAML, every note, the summary, and where to go."""
    text = text if isinstance(text, str) else ""
    merged, _, _ = form.merge(text, Memory.read(kept, text), read_form(*contents), newest="form")
    try:
        run_id = launch.start(merged)
    except SpecError:
        return [merged, *_said(merged), ""]
    return [*[gr.skip()] * (len(FIELDS) + 2), f"/run?id={run_id}"]


@unharmed(skipped=2 + 2 * len(FIELDS), then=("",))
def add_file(upload: str | None, text: str, kept: str, *contents: Any) -> list[Update]:
    """Copy an uploaded file into the home and choose it. Outputs: as for the form, and a sentence."""
    typed = read_form(*contents)
    try:
        name = choices.keep(upload)
    except (ValueError, OSError) as error:
        words = f"The file could not be kept: {error.strerror or error}." if isinstance(error, OSError) else str(error)
        return [*[gr.skip()] * (2 + 2 * len(FIELDS) + 1), f'<p class="xs field-problem">◆ {escape(words)}</p>']
    typed["source"] = f"file:{name}"
    updates = _sync(text, kept, typed, newest="form")
    updates[2 + FIELDS.index("source")] = gr.update(value=typed["source"], choices=choices.sources())
    return [*updates, f'<p class="xs mut">{escape(name)} is in the home now.</p>']


def build(demo: gr.Blocks) -> None:
    gr.Navbar(visible=False)
    topbar("New run")
    with gr.Column(elem_classes="new-page"):
        with gr.Row(elem_classes="between"):
            escaped("<h1>New run</h1>", min_width=120)
            origin = escaped(elem_id="origin")
        with gr.Row(elem_classes="new-sides"):
            with gr.Column(elem_classes="new-form"):
                fields, notes, upload, upload_note = _lay_out_form()
            with gr.Column(elem_classes="new-side"):
                summary, go, text = _lay_out_side()
    kept, target = gr.Textbox(visible="hidden", elem_id="kept"), gr.Textbox(visible="hidden", elem_id="target")
    inputs = [text, kept, *(fields[name] for name in FIELDS)]
    outputs = [*inputs, *(notes[name] for name in FIELDS), summary]
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    # Not `change`: it also comes with our own updates, when only some of them are made.
    gr.on(
        [field.input for field in fields.values()], changed_form, inputs, outputs, trigger_mode="always_last", **quiet
    )
    text.input(changed_yaml, inputs, outputs, trigger_mode="always_last", **quiet)
    upload.upload(add_file, [upload, *inputs], [*outputs, upload_note], **quiet)
    said = [text, *(notes[name] for name in FIELDS), summary, target]
    go.click(start, inputs, said, **quiet).then(None, target, None, js=GO_OR_SHOW, **quiet)
    demo.load(first_look, None, [*outputs, origin], **quiet)


def _lay_out_form() -> tuple[dict[str, Any], dict[str, gr.HTML], gr.UploadButton, gr.HTML]:
    fields: dict[str, Any] = {}
    notes: dict[str, gr.HTML] = {}

    def field(name: str, make: Any = gr.Textbox, **options: Any) -> None:
        with gr.Column(elem_classes="field", min_width=150):
            fields[name] = make(label=LABELS[name], elem_id=f"f-{name}", **options)
            notes[name] = escaped()

    def section(title: str) -> gr.Column:
        column = gr.Column(elem_classes="panel new-section")
        with column:
            escaped(f"<h2>{title}</h2>")
        return column

    with section("Model"), gr.Row():
        field("name", max_lines=1)
        field("model", gr.Dropdown, choices=["starter"], value="starter", allow_custom_value=True)
        field("tune", gr.Radio, choices=[FULL, LORA], value=FULL)
        field("rank", visible=False, max_lines=1)
    with section("Data"), gr.Row():
        field("source", gr.Dropdown, choices=["task:arithmetic"], value="task:arithmetic", allow_custom_value=True)
        with gr.Column(elem_classes="field", min_width=150):
            upload = gr.UploadButton("Upload a file", size="sm", file_types=list(choices.SUFFIXES), elem_id="upload")
            upload_note = escaped(f'<p class="xs mut">{choices.ADVICE}</p>')
    with section("Rewards"):
        fields["rewards"] = rewards.picker()
        notes["rewards"] = escaped()
    with section("Training"):
        for names in (list(form.NUMBERS)[1:4], list(form.NUMBERS)[4:]):
            with gr.Row():
                for name in names:
                    field(name, max_lines=1)
    return fields, notes, upload, upload_note


def _lay_out_side() -> tuple[gr.HTML, gr.Button, gr.Code]:
    with gr.Column(elem_classes="panel new-section happening"):
        escaped("<h2>What will happen</h2>")
        summary = escaped(elem_id="summary")
        go = gr.Button("Launch", variant="primary", elem_id="launch")
    with gr.Column(elem_classes="panel new-section yaml"):
        escaped('<h2>YAML <span class="xs mut">the whole run; edit here or in the form</span></h2>')
        text = gr.Code(language="yaml", show_label=False, elem_id="yaml", container=False, buttons=["copy"])
    return summary, go, text
