"""What a person who does not code meets on the pages has a hint or plain words."""

from __future__ import annotations

from pathlib import Path

from groupwise.app.pages import rewards
from groupwise.app.pages.compare.compare import CURATED
from groupwise.app.pages.run import statistics
from groupwise.app.ui.figures import stability_panels


def test_each_curated_chart_and_that_of_the_gradient_says_what_it_shows() -> None:
    assert all(note for name, _, note, _ in CURATED if name != "groups/solved"), "what that is, each run says"
    (gradient,) = [one for one in stability_panels(no_kl=False) if one["title"] == "gradient norm"]
    assert gradient["note"].startswith("how large the gradient is")


def test_what_counts_as_right_and_leave_to_use_the_network_are_in_plain_words() -> None:
    assert "A completion is right if" in statistics.template() and "gives at least" in statistics.template()
    page = (Path(str(rewards.__file__)).parent / "page.html").read_text(encoding="utf-8")
    assert "may use the network (to call a judge)" in page and "such as a model that judges answers" in page
