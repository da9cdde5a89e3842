"""A run's name, tags and note in the head of its page, where they can be written as in Runs."""

from groupwise.storage.record.run_files import LONGEST_NOTE
from groupwise.storage.registry.registry import Run
from groupwise.storage.spec.spec import MOST_NAME

PENCIL = '<button class="pencil" type="button" aria-label="Name, tags and note" title="Name, tags and note">✎</button>'
SAID = '<p class="row s said" hidden><span class="row tags"></span><bdi class="mut about"></bdi></p>'
TYPED = '<p class="row s typed" hidden><span role="status"></span><button class="btn s" type="button">Edit</button></p>'
DIALOG = f"""<dialog class="labels" data-name="{MOST_NAME}" data-note="{LONGEST_NOTE}"><form>
<h2>Name, tags and note</h2>
<div class="fields"></div><div class="row end"><button class="btn cancel" type="button">Cancel</button><button
class="btn pri" type="submit">Save</button></div></form></dialog>"""


def labels_of(run: Run) -> dict[str, str]:
    """What people called a run and said of it, as they wrote it."""
    return {"name": run.name, "tags": ", ".join(run.tags), "note": run.note}
