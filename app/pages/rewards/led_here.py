"""Why a person comes from a run to its reward functions: the verdict whose change leads here."""

from typing import Any

from groupwise.app.pages.run import doctor
from groupwise.app.ui.live import Payload, answer, record_of, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.doctor.examine import examine


@answer
def verdict_of_run(payload: Payload) -> dict[str, Any]:
    """The run's name with the title and the words of its `verdict` of this key, as its Overview has them; nothing where
    it has none by now."""
    run, key = run_of(payload), text(payload, "verdict", 40)
    record_of(run)  # where there is none that can be read, that is the answer
    report = examine(doctor.evidence_of(run, doctor.how_it_failed(run)))
    told = next((one for one in report.verdicts if one.key == key), None)
    if told is None:
        return {}
    title = told.title + ("" if told.title.endswith("?") else ".")
    return {"run": visible_text(run.name), "title": visible_text(title), "words": visible_text(told.sentence)}
