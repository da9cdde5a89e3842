"""A completion's text as HTML: all of it is there, escaped and well formed, whatever its tags and differences."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as some

from groupwise.app.ui.completion import FOLDED, HEAD, TAIL, text_html
from groupwise.app.ui.highlight import DEEPEST, MOST_TAGS, colour_tags, mark_text, tags
from groupwise.app.ui.word_diff import word_differences

PIECES = ["<think>", "</think>", "<answer>", "</answer>", "<b>", "</b>", "<br/>", "<|end|>", " word ", "x<y", "&", "\n"]
texts = some.lists(some.sampled_from(PIECES), max_size=14).map("".join)


class Read(HTMLParser):
    """The text of an HTML, its elements, and that each is closed in its turn."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.names, self.open, self.deepest = "", set[str](), list[str](), 0
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.names.add(tag)
        self.open.append(tag)
        self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@given(texts, texts)
def test_every_character_is_there_once_and_every_element_is_closed(text: str, other: str):
    read = Read(mark_text(text, word_differences(text, other).left))
    assert read.text == text and read.names <= {"span", "mark"}


@given(texts, some.integers(0, 40), some.integers(0, 40))
def test_a_part_of_a_text_has_what_stands_there(text: str, one: int, other: int):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    cut_through = any(tag.start < place < tag.end for tag in tags(text) for place in (start, end))
    read = Read(mark_text(text, (), (start, end)))
    assert cut_through or read.text == text[start:end]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<think>a</think>", [("think", 16, ""), ("think", None, "")]),
        ("<a><b></a></b>", [("a", 10, ""), ("b", None, ""), ("a", None, ""), ("b", None, "closes nothing")]),
        ("x<think>cut off", [("think", 15, "never closed")]),
        ("vector<int> x", [("int", None, "")]),
        ("<think><answer>1</think>", [("think", 24, ""), ("answer", 24, "never closed"), ("think", None, "")]),
        ("<br/><|end|>", [("br", None, ""), ("", None, "")]),
    ],
)
def test_what_a_tag_encloses(text: str, found: list[tuple[str, int | None, str]]):
    assert [(tag.name, tag.until, tag.wrong) for tag in tags(text)] == found


def test_a_tag_that_is_wrong_says_so():
    assert 'title="never closed"' in colour_tags("<answer>4")
    assert 'title="closes nothing"' in colour_tags("4</answer>")


@pytest.mark.parametrize("text", ["<a>" * 30_000, "<a>" * 200 + "</a>" * 200, "</a>" * 30_000, "<" * 90_000])
def test_many_tags_end_somewhere(text: str):
    html = colour_tags(text)
    assert Read(html).text == text
    assert Read(html).deepest <= DEEPEST + 1 and html.count("<span") <= 2 * MOST_TAGS


def test_differences_are_marked_inside_tags_and_regions():
    html = mark_text("<think>so 5</think>", word_differences("<think>so 5</think>", "<think>so 4</think>").left)
    assert html.count("<mark>") == 1 and "<mark>5</mark>" in html


def test_the_middle_of_a_long_text_is_folded():
    text = "<think>" + "b" * FOLDED + "the end</think>"
    html = text_html(text)
    assert f"… {len(text) - HEAD - TAIL:,} characters more: show all …" in html and "the end" in html
    assert len(Read(html).text) < len(text)
    assert Read(text_html(text, whole=True)).text == text
    assert "show all" not in text_html("b" * FOLDED)
