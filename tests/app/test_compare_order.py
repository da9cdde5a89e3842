"""In which order the prompts that compared runs share are told."""

from __future__ import annotations

from pathlib import Path

from groupwise.app.pages.compare import prompts as compare_prompts
from tests.app.test_compare import asked, run_with


def test_prompts_on_which_runs_differ_most_come_first_where_that_is_asked(registry_home: Path) -> None:
    """By what each run came to at last: in training, or in its evaluations where it was only evaluated."""
    alike, apart, wide = "all alike?", "somewhat apart?", "once far apart?"
    one = run_with("one", [asked(1, alike, [1, 1]), asked(2, apart, [1, 1]), asked(3, wide, [0, 0])])
    two = run_with("two", [asked(1, alike, [1, 1]), asked(2, apart, [1, 0]), asked(3, wide, [0, 0]),
                           asked(4, wide, [1, 1]), asked(5, wide, [0, 0], mode="eval")])  # fmt: skip
    three = run_with("three", [asked(1, alike, [1, 1])])
    ids = [one, two, three]

    def told(**more: str) -> list[str]:
        return [row["prompt"] for row in compare_prompts.shared_prompts({"ids": ids, **more})["rows"]]

    assert told()[0] == alike and told(order="nonsense") == told()
    assert told(order="differ") == [wide, apart, alike]
    assert told(order="differ", words="a") == [wide, apart, alike] and told(order="differ", words="some") == [apart]


def test_where_a_run_cannot_say_what_is_right_the_mean_rewards_differ(registry_home: Path) -> None:
    results = [{"a": (None, 0.5), "b": (None, 2.0), "c": (1.0, 1.0)}, {"a": (1.0, 0.5), "b": (0.0, 0.5)}, {}]
    assert compare_prompts.widest_first(["a", "b", "c"], results) == ["b", "a", "c"]
    assert compare_prompts.widest_first(["a"], [{"a": (None, None)}, {"a": (None, None)}]) == ["a"]
