"""Why a person comes from a run to its reward functions: the verdict whose change leads here."""

from typing import Any

from groupwise.app.pages.run import doctor
from groupwise.app.ui.live import Payload, answer, record_of, run_of, text
from groupwise.app.ui.safe_text import visible_text
from groupwise.storage.analysis.doctor.examine import examine


@answer
def verdict_of_run(payload: Payload) -> dict[str, Any]:
    """The run's name with the title and the words of its `verdict` of this key, as its Overview has them, and what it
    proposes that needs no code (`without_code`); nothing where it has none by now."""
    run, key = run_of(payload), text(payload, "verdict", 40)
    record_of(run)  # where there is none that can be read, that is the answer
    evidence = doctor.evidence_of(run, doctor.how_it_failed(run))
    drawn = doctor.draw_report(run.id, examine(evidence), evidence.step)["verdicts"]
    told = next((one for one in drawn if one["key"] == key), None)
    if told is None:
        return {}
    title = told["title"] + ("" if told["title"].endswith("?") else ".")
    settings = [one for one in told["changes"] if one["to"] == "New run" and "choose" not in one]
    return {"run": visible_text(run.name), "title": title, "words": told["sentence"], "without_code": settings}
