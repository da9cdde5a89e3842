"""The words of pages, command, errors and documents: phrases that were given up for plainer ones do not come back."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.conftest import REPOSITORY

# Each was found on a page by a reader who did not know what it meant.
RETIRED = (
    r"bears? a gradient", r"nothing looks wrong", r"\ball (low|high)\b", r"groups with one\b", r"calls right\b",
    r"the doctor (looks as|needs)", r"punished or praised", r"learn nothing from those",
    r"nothing but the (highest|lowest)", r"fewer than two scores", r"it last said", r"that makes \S+ times",
    r"\bmend(ed|s|ing)?\b", r"is at it\b", r"what New run is at", r"off the queue", r"of one pass over",
    r"\ba like run\b", r"for granted", r"\"longest completion\"", r"told before every prompt",
    r"these columns look like", r"built-in task meanwhile", r"the dot means", r"may be too narrow",
    r"newer ones are there", r"down the steps", r"has come once", r"taken by its name", r"what this import means",
    r"say it (under|at|in|as)\b", r"left no word", r"nobody here sent", r"called that finished",
    r"so it was passed over", r"\"this is no regular expression", r"no part of this question",
    r"more surely", r"nothing is both", r"what is said (on top|above)", r"of this has been logged",
    r"<h2>finals", r"settings against finals", r"typed is back", r"asked, exactly",
    r"says? (nearly )?the same of every", r"so it teaches", r"groups teach nothing", r"a prompt cannot say",
    r"too large to mean",
    r"the rows asks anything", r"_HUB_OFFLINE forbids", r"tried on what it wrote", r"looks? at no column of the data",
    r"drowns the other", r"the model no tighter", r"answer_numbers says",
    r"state\.json said of", r"about length minds", r"server of anyone's",
    r"knows nothing of tcp", r"comes along (as|with)", r"\ba flood of", r"that failed so\b",
    r"finds no room in (memory|\{)",
    r"would refuse every completion", r"goes by length alone", r"the tags that it wants", r"is too hard to come by",
    r"hardly ever sees", r"pays for it", r"let it ask for", r"is no longer there since",
    r"transformers wants", r"“format” wants, which", r"blocks cannot say", r"waiting for the (worker|model)…",
    r"on their way\. until", r"which says nothing of what is right", r"number to reckon with\.\"", r"this is reckoned",
    r"hardly goes with", r"pulls at the weights", r"nothing (holds|anchors) the model (near|to)", r"one layer at work",
    r"positions that this model knows", r"until it says nothing", r"never gets where it is set", r"as yet[.;]",
    r"these very words", r"delete lets go", r"lay side by side", r"more than they deserve", r"it gives stands here",
    r"runs are the most that can", r"lists those that there are", r"other\.now}” meanwhile", r"\bbody did\b",
    r"asks for nothing by name", r"its numbers reach", r"looks after them\.", r"asks another computer",
    r"hears too little", r"thought of them", r"groups taught nothing", r"has not said (yet )?which",
)  # fmt: skip
SPOKEN = (".py", ".js", ".html", ".md")


def spoken_lines() -> list[tuple[str, str]]:
    """(file:line, text) of everything that a person could be shown, and of the documents."""
    listed = subprocess.run(
        ["git", "ls-files", "app", "storage", "worker", "docs", "README.md", "CONTRIBUTING.md"],
        cwd=REPOSITORY, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    files = [name for name in listed if name.endswith(SPOKEN)]
    assert len(files) > 300
    return [
        (f"{name}:{number}", line)
        for name in files
        for number, line in enumerate((REPOSITORY / name).read_text(encoding="utf-8").splitlines(), 1)
    ]


@pytest.fixture(scope="module")
def lines() -> list[tuple[str, str]]:
    return spoken_lines()


@pytest.mark.parametrize("phrase", RETIRED)
def test_a_phrase_that_was_given_up_is_not_used(lines: list[tuple[str, str]], phrase: str) -> None:
    found = [(place, line.strip()) for place, line in lines if re.search(phrase, line, re.IGNORECASE)]
    assert found == []
