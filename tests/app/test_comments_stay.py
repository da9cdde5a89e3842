"""Whatever the form, a fix, the doctor or a stage changes: every comment and every other line stays as it was typed."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.tokens import ScalarToken

from groupwise.app.pages.new import edits, launch, presets, url_settings, yaml_edit
from groupwise.app.pages.new.edits import Edit
from groupwise.app.pages.new.yaml_edit import ABSENT
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.spec.spec import RunSpec
from groupwise.storage.spec.yaml import yaml_text
from tests.support import offer
from tests.support.strategies import any_texts, specs
from tests.support.yaml_styles import Writer

SHIPPED = {path.stem: path.read_text(encoding="utf-8") for path in sorted(presets.SHIPPED.glob("*.yaml"))}
SCALARS = [1, 0.5, -3, 1e-7, True, False, None, "text", "a, b: [c] # d", "1e-4", "two\nlines", " \n", "", float("inf")]
FEW = [0.5, "a, b: [c] # d", "two\nlines"]
# What the page sends beside single values, whole.
WHOLE: list[tuple[str, list[Any]]] = [
    ("lora", [None, {"r": 16, "lora_alpha": 32, "target_modules": "all-linear"}, {"r": 4, "target_modules": ["a"]}]),
    ("rewards", [[{"name": "format", "weight": 1.0}], [{"name": "a"}, {"name": "b", "parameters": {"c": [1]}}]]),
    ("data.filter", [[], ["level <= 3"], ["a is empty", "b > 2"]]),
    ("data.examples", [[], [{"prompt": "a\nb", "completion": "c"}]]),
    ("data.columns", [None, ["a", "b, c"]]),
    ("data.parameters", [{}, {"size": 3}]),
    ("training", [{}, {"beta": 0.5}]),
    ("stages", [[], [{"name": "one", "training": {"max_steps": 5}}, {"rewards": [{"name": "format"}]}]]),
]  # fmt: skip
MARK = re.compile(r"#[ '-]{0,3}(c\d+\.)")  # what tells a comment from all others; see tests.support.yaml_styles
NEW = [
    "name", "model.id", "model.revision", "model.quantization", "data.source", "data.limit", "data.system_prompt",
    "data.answer_pattern", "training.beta", "training.new_one", "training.max_steps", "lora.r", "launch.processes",
    "launch.reward_failures", "data.parameters.size",
]  # fmt: skip


def in_the_text(text: str) -> dict[str, int]:
    """The line of every setting and entry, from 0."""
    return {path: line - 1 for path, line in yaml_text.read_yaml(text)[1].items()}


def inside_texts(text: str) -> set[int]:
    """The lines of texts that are written in several, in which “#” is a sign like others."""
    scalars = [token for token in YAML().scan(text) if isinstance(token, ScalarToken) and token.style]
    return {line for each in scalars for line in range(each.start_mark.line + 1, each.end_mark.line)}


def owners(text: str) -> list[set[str]]:
    """Whose line each is: the settings that begin there, or else the one that goes on there; nobody's where it is blank
    or a comment."""
    begin: dict[int, set[str]] = {}
    for path, line in in_the_text(text).items():
        begin.setdefault(line, set()).add(path)
    within = inside_texts(text)
    found: list[set[str]] = []
    last: set[str] = set()
    for number, line in enumerate(text.splitlines()):
        last = begin.get(number, last)
        nobody = number not in begin and not (line if number in within else line.partition("#")[0]).strip()
        found.append(set() if nobody else last)
    return found


def touched(text: str, paths: list[str]) -> set[int]:
    """The lines that an edit of these settings may change: their own, those of a parent that stands in one line with
    them, and of one that they leave empty."""
    own, lines = owners(text), in_the_text(text)
    may: set[int] = set()
    for path in paths:
        parents = [path.rsplit(".", n)[0] for n in range(1, path.count(".") + 1)]
        for number, of in enumerate(own):
            for owner in of:
                inside = owner == path or owner.startswith(f"{path}.")
                children = [line for other, line in lines.items() if other.startswith(f"{owner}.")]
                single = owner in parents and all(line == lines[owner] for line in children)
                few = owner in parents and not [
                    other for other in lines if other.startswith(f"{owner}.") and not any(
                        other == one or other.startswith(f"{one}.") or one.startswith(f"{other}.") for one in paths)
                ]  # fmt: skip
                if inside or single or few:
                    may.add(number)
    return may


def hold(before: str, after: str, paths: list[str]) -> None:
    """The property itself."""
    marks = Counter(MARK.findall(before))
    assert Counter(MARK.findall(after)) >= marks, (marks, after)
    may, own = touched(before, paths), owners(before)
    low, high = (min(may), max(may)) if may else (0, -1)
    kept = [
        line
        for number, line in enumerate(before.splitlines())
        if number not in may and not (low < number < high and not own[number])
    ]
    left = iter(after.splitlines())
    for line in kept:
        assert line in left, (line, paths)  # each of them, in the same order


def change(text: str, made: list[Edit]) -> None:
    """Make the edits, and see that they mean what they should and change nothing else."""
    after = edits.apply(text, made)
    raw = yaml_edit.load(text)
    assert raw is not None
    for edit in made:
        edits._make_edit(raw, edit)
    now = yaml_edit.load(after)
    assert yaml_edit.is_written_alike(now, raw), (made, after)
    hold(text, after, [edit.path for edit in made])


def some_edits(text: str, picked: random.Random, count: int) -> list[Edit]:
    """Edits such as the page makes: of what stands in the text, and of what does not."""
    raw = yaml_edit.load(text) or {}
    there = [path for path in in_the_text(text) if edits.value_at(raw, path) is not ABSENT]
    found = []
    for _ in range(count):
        kind = picked.randrange(5)
        if kind == 0:
            path, whole = picked.choice(WHOLE)
            found.append(Edit(path, yaml_text.copy_plain(picked.choice(whole))))
        elif kind == 1:
            found.append(Edit(picked.choice(NEW), picked.choice(SCALARS)))
        elif kind == 2:
            place = picked.choice(["rewards", "stages", "data.filter"])
            number = len(given) if isinstance(given := edits.value_at(raw, place), list) else 0
            value = {"rewards": {"name": "new", "weight": 1.0}, "stages": {"training": {"beta": 1.0}}}.get(
                place, "a = 1"
            )
            found.append(Edit(f"{place}.{number}", value))
        else:
            path = picked.choice(there)
            found.append(Edit(path, ABSENT if kind == 3 else picked.choice(SCALARS)))
    return [edit for edit in found if edits._make_edit(yaml_text.copy_plain(raw), edit) and not among_equals(raw, edit)]


def among_equals(raw: dict[str, Any], edit: Edit) -> bool:
    """Whether an entry of a list goes that has its like there: which of the two it was cannot be told."""
    place = edit.path.rpartition(".")[0]
    listed = edits.value_at(raw, place) if place else None
    return edit.value is ABSENT and isinstance(listed, list) and len(set(map(repr, listed))) < len(listed)


@pytest.mark.parametrize("name", SHIPPED)
def test_in_a_shipped_preset(name: str) -> None:
    text = marked(SHIPPED[name])
    for path, whole in WHOLE:
        for value in whole:
            change(text, [Edit(path, value)])
    for path in NEW:
        for value in FEW:
            change(text, [Edit(path, value)])
    for path in in_the_text(text):
        for value in [ABSENT, *FEW]:
            change(text, [Edit(path, value)])
    for place in ("rewards.2", "rewards.3", "stages.0"):
        change(text, [Edit(place, {"name": "new"})])


def marked(text: str) -> str:
    """The text with a number in each of its comments, for them to be told apart."""
    numbers = iter(range(1, 10_000))
    return re.sub(r"(^|(?<=\s))# ", lambda found: f"{found[0]}c{next(numbers)}. ", text, flags=re.M)


@pytest.mark.parametrize("name", SHIPPED)
def test_with_a_fix_and_what_the_doctor_asks_for(name: str, registry_home: Path) -> None:
    offer.publish_installed()
    known = Offer.read_published()
    text = edits.apply(marked(SHIPPED[name]), [Edit("training.repetition_penalti", 1.1), Edit("training.beta", "much")])
    fixes = [fix for problem in launch.check_text(text, known).problems for fix in problem.fixes]
    assert len(fixes) > 2
    for fix in fixes:
        made = edits.read_edits([{"fix": asdict(fix)}], {})
        hold(text, edits.apply(text, made), [edit.path for edit in made])
    for asked in ("training.beta=0.04", "training.learning_rate=1e-6", "rewards.0.weight=2", "lora.r=8"):
        after, *_ = url_settings.change(text, [asked], known)
        assert asked.partition("=")[2] in after
        hold(text, after, [asked.partition("=")[0]])


def test_a_setting_within_braces_that_gets_its_first_one() -> None:
    """Of one setting: in a list, YAML would do without its braces."""
    text = "name: a  # c1.\ndata: {source: task:x, parameters: {}}  # c2.\n"
    change(text, [Edit("data.parameters.size", 3)])
    assert "parameters: {size: 3}}  # c2." in edits.apply(text, [Edit("data.parameters.size", 3)])


def test_a_text_of_several_lines_above_a_line_of_spaces() -> None:
    """Below “|” the spaces would belong to the text."""
    text = "name: a  # c1.\n   \nrewards:\n- name: A  # c2.\n"
    change(text, [Edit("name", "two\nlines")])
    change("data:\n  source: a  # c1.\n     \nname: x  # c2.\n", [Edit("data.system_prompt", "two\nlines")])


def test_an_entry_that_stands_far_behind_its_dash_gets_other_settings() -> None:
    text = "name: a\nstages:  # c1.\n- name: b  # c2.\n-   training: {beta: 0.1}  # c3.\n"
    made = [Edit("stages", [{"name": "b"}, {"rewards": [{"name": "format"}, {"name": "length"}]}])]
    change(text, made)
    assert "\n-   rewards:\n    - name: format\n    - name: length" in edits.apply(text, made)


def test_what_looks_like_a_comment_in_a_text_of_several_lines_goes_with_it() -> None:
    change("name: |-\n   0\n   #\n   \nrewards:\n- name: A  # c1.\n", [Edit("name", " \n")])


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(specs(any_texts()), st.integers(0, 10**9))
def test_in_any_spec_however_it_is_written(spec: RunSpec, seed: int) -> None:
    text = Writer(seed).write(spec.model_dump(exclude_unset=True))
    raw = yaml_edit.load(text)
    assert raw is not None
    assert edits.apply(text, [Edit("name", raw["name"])]) == text
    picked = random.Random(seed)
    for edit in some_edits(text, picked, 8):
        change(text, [edit])
    several = some_edits(text, picked, 3)
    after = edits.apply(text, several)
    assert Counter(MARK.findall(after)) >= Counter(MARK.findall(text))


FLOW = "name: x   # c1.\nrewards: [\n  {name: format}, # c2.\n  # c3.\n  {name: length, weight: 1.0},  # c4.\n]\n"


@pytest.mark.parametrize(
    "edit",
    [Edit("rewards.0", ABSENT), Edit("rewards.1", ABSENT), Edit("rewards.2", {"name": "a"}), Edit("rewards", []),
     Edit("rewards.0.weight", 2.0), Edit("rewards.1.weight", ABSENT), Edit("rewards", None), Edit("lora", {"r": 1})],
)  # fmt: skip
def test_in_brackets_over_several_lines(edit: Edit) -> None:
    after = edits.apply(FLOW, [edit])
    assert [after.count(f"c{n}.") for n in range(1, 5)] == [1, 1, 1, 1]
    raw = yaml_edit.load(FLOW)
    assert raw is not None
    edits._make_edit(raw, edit)
    assert yaml_edit.is_written_alike(yaml_edit.load(after), raw)


def test_what_cannot_be_edited_in_its_place_is_written_anew_with_its_comments() -> None:
    assert edits.apply("{}   # c1.\n# c2.\n", [Edit("name", "z")]) == "# c1.\n# c2.\nname: z\n"


def test_an_address_removes_a_setting_that_need_not_be_there() -> None:
    """A prompt column goes where a template is to be used; typed out, “None” was a column of that name."""
    text = "data: {source: 'file:sums.csv', prompt_column: prompt}  # sums\n"
    asked = ["data.prompt_template={prompt}?", "data.prompt_column="]
    changed, made, refused = url_settings.change(text, asked, Offer())
    assert changed == "data: {source: 'file:sums.csv', prompt_template: '{prompt}?'}  # sums\n" and not refused
    assert [(one.before, one.after) for one in made][-1] == ("prompt", "not set")
    assert url_settings.change(text, ["data.source="], Offer())[0] == text, "there has to be one"
