"""Why a person comes from a run to its reward functions: the verdict whose change leads here."""

from dataclasses import replace
from typing import Any

from groupwise.app.ui.live import Payload, answer, record_of, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.doctor import evidence_reader
from groupwise.storage.analysis.doctor.examine import examine
from groupwise.storage.analysis.outcome import published_surroundings
from groupwise.storage.record import run_files, states


@answer
def verdict_of_run(payload: Payload) -> dict[str, Any]:
    """The run's name with the title and the words of its `verdict` of this key, as its Overview has them; nothing where
    it has none by now."""
    run, key = run_of(payload), text(payload, "verdict", 40)
    evidence = evidence_reader.gather(record_of(run), run_files.spec_of(run.folder), published_surroundings())
    report = examine(replace(evidence, ended=run.state in states.ENDED))
    told = next((one for one in report.verdicts if one.key == key), None)
    if told is None:
        return {}
    title = told.title + ("" if told.title.endswith("?") else ".")
    return {"run": visible_text(run.name), "title": visible_text(title), "words": visible_text(told.sentence)}
