"""What can be tried of our JavaScript without the dashboard: modules alone, in a real browser."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from playwright.sync_api import Page

from groupwise.app.core import format
from groupwise.storage.analysis.doctor.words import percent, percent_parts
from tests.browser.conftest import NO_DASHBOARD, bring

# --- numbers and text


def test_numbers_are_written_as_the_server_writes_them(bare_page: Page) -> None:
    rng = random.Random(1)
    halves = [1.125, -1.125, 0.125, 100.5, -100.5, 0.975, 0.97499996, 0.97500002, 0.99500000476837, 1.535, 100.49999996]
    some = [
        *halves,
        0,
        1,
        -1,
        0.5,
        9.994,
        9.996,
        99.96,
        100,
        999.5,
        1e3,
        12840,
        1e9,
        0.001,
        0.00099,
        1.2e-5,
        -0.042,
        None,
    ]
    values = some + [rng.choice((-1, 1)) * 10 ** rng.uniform(-6, 10) for _ in range(300)]
    written = bring(bare_page, "ui/number.js", "number").evaluate("values => values.map(number)", values)
    theirs = [format.number(value) for value in values]
    assert written == theirs


def test_durations_are_written_as_the_server_writes_them(bare_page: Page) -> None:
    values = [
        0.0,
        0.42,
        0.996,
        4.2,
        9.96,
        12,
        59.4,
        59.5,
        59.6,
        60,
        73,
        89.4,
        91,
        93.1,
        119.7,
        181,
        300,
        599.6,
        5399,
        5401,
        7201,
    ]
    values += [4.35, 0.985, 2.04999996, 9000, 172_000, 180_000, 1e6]
    values += [0.125, 0.625, 1.25, 4.25, 12.5, 14.5, 150, 5430, 9030, 181_800, 189_000]  # exact halves
    words = bring(bare_page, "ui/number.js", "seconds").evaluate("values => values.map(seconds)", values)
    assert words == [format.duration(value) for value in values]
    shares = [n / 400 for n in range(401)] + [n / 1000 for n in range(5, 1000, 10)]
    shares += [0.003, 0.9999, 0.12499996, 0.12499999996]
    written = bring(bare_page, "ui/number.js", "percent").evaluate("shares => shares.map(percent)", shares)
    assert written == [percent(share) for share in shares]


def test_a_few_of_many_are_not_none_of_them(bare_page: Page) -> None:
    """“0.0 %, 3 of 6,871”."""
    shares = [0, 3 / 6871, 0.0004, 0.0125, 0.5, 1]
    written = bring(bare_page, "ui/number.js", "finePercent").evaluate("shares => shares.map(finePercent)", shares)
    assert written == [f"{one}\u202f%" for one in ("0", "<0.1", "<0.1", "1.3", "50", "100")]


def test_parts_of_a_share_are_what_they_are_and_add_up_to_it_on_both_sides(bare_page: Page) -> None:
    """5 and 1 of 80 groups were “7 %” and “1 %” of “8 %”: each is itself, with a tenth where they would not add up."""
    rng = random.Random(7)
    told = [[rng.randint(0, 26) / 80 for _ in range(3)] for _ in range(300)]
    told += [[0.0, 0.0625, 0.0125], [0.0, 0.0, 0.0], [0.001, 0.0, 0.999], [0.0004, 0.0596, 0.015]]
    told += [[0.1125, 0.7625, 0.1125], [0.1125, 0.7625, 0.125], [0.0125, 0.1125, 0.0125]]
    both = [(sum(parts), parts) for parts in told]
    write = "both => both.map(([whole, parts]) => percentParts(whole, parts))"
    written = bring(bare_page, "ui/number.js", "percentParts").evaluate(write, both)
    assert written == [percent_parts(whole, parts) for whole, parts in both]
    for (whole, parts), words in zip(both, written, strict=True):
        numbers = [float(re.sub(r"[^\d.]", "", one.replace("<1", "0").replace(">99", "100"))) for one in words]
        assert all(abs(number - 100 * part) <= 0.51 for number, part in zip(numbers, parts, strict=True)), (
            parts,
            words,
        )
        assert abs(sum(numbers) - 100 * whole) <= 0.51, (whole, parts, words)
    assert percent_parts(0.075, told[300]) == ["0\u202f%", "6.3\u202f%", "1.3\u202f%"]
    assert percent_parts(0.0752, [0.0002, 0.0625, 0.0125])[0] == "<0.1\u202f%"
    assert percent_parts(0.5, [0.25, 0.125]) == [percent(0.25), percent(0.125)], "they are not all of it"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb", "a\nb"),
        ("\x00\x1b[31m\x7f", "␀␛[31m␡"),
        ("\u202egpj.exe", "⟨U+202E⟩gpj.exe"),
        ("<b>", "<b>"),
    ],
)
def test_what_models_wrote_is_shown_with_its_hidden_characters(bare_page: Page, text: str, shown: str) -> None:
    assert bring(bare_page, "pages/rewards/text.js", "plain").evaluate("text => plain(text)", text) == shown


def test_a_name_that_turns_text_round_turns_no_sentence_of_ours(bare_page: Page) -> None:
    page = bring(bare_page, "ui/dom.js", "el", "option", "setText")
    said = "made => { const it = made(); return [it.textContent, it.title, it.value]; }"
    page.evaluate(f"window.told = {said}; window.bad = '\u202egnp\u200b.csv'")
    shown = "Use “⟨U+202E⟩gnp⟨zero-width space⟩.csv”"
    assert page.evaluate("told(() => el('p', { title: `Use “${bad}”` }, `Use “${bad}”`))")[:2] == [shown, shown]
    assert page.evaluate("told(() => { const p = el('p'); setText(p, `Use “${bad}”`); return p; })")[0] == shown
    assert page.evaluate("told(() => option(bad))") == [shown[5:-1], "", "\u202egnp\u200b.csv"]  # chosen as it is


def test_a_prompt_is_one_text_whether_it_is_a_chat_or_not(bare_page: Page) -> None:
    page = bring(bare_page, "pages/rewards/text.js", "wordsOf", "plural", "seconds")
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2+2?"}]
    assert page.evaluate("chat => wordsOf(chat)", chat) == "system: Be brief.\nuser: 2+2?"
    assert page.evaluate("chat => wordsOf(chat)", chat[1:]) == "2+2?"
    assert page.evaluate("[wordsOf('x'), wordsOf(null)]") == ["x", ""]
    assert page.evaluate("[plural(1, 'row'), plural(1200, 'row'), seconds(0.25), seconds(2)]") == [
        "1 row",
        "1,200 rows",
        "250 ms",
        "2.00 s",
    ]


# --- the page's address


def test_the_address_keeps_what_is_set_and_loses_what_is_empty(bare_page: Page) -> None:
    page = bring(bare_page, "ui/address.js", "params", "setParams", "onAddress", "openGroup")
    page.evaluate("window.heard = 0, onAddress(() => { heard += 1; })")
    before = page.evaluate("history.length")
    page.evaluate("setParams({ id: 'a b', tab: 'groups', zoom: null })")
    assert page.url == f"{NO_DASHBOARD}/?id=a+b&tab=groups"
    page.evaluate("setParams({ tab: '' })")
    page.evaluate("setParams({ tab: null })")  # as it is: nobody hears of it
    assert (page.url, page.evaluate("heard")) == (f"{NO_DASHBOARD}/?id=a+b", 2)
    assert page.evaluate("history.length") == before
    page.evaluate("openGroup({ step: 3 })")
    assert page.evaluate("Object.fromEntries(params())") == {"id": "a b", "tab": "groups", "step": "3"}
    assert page.evaluate("history.length") == before + 1
    page.go_back()
    assert page.evaluate("heard") == 4 and page.url == f"{NO_DASHBOARD}/?id=a+b"


# --- the DOM


def test_what_is_placed_as_text_is_no_markup(bare_page: Page) -> None:
    page = bring(bare_page, "ui/dom.js", "el", "setText")
    made = "el('p', { title: 'a', hidden: true, id: null }, '<b>x</b>', null, el('i', {}, 'y')).outerHTML"
    assert page.evaluate(made) == '<p title="a" hidden="">&lt;b&gt;x&lt;/b&gt;<i>y</i></p>'
    assert page.evaluate("el('p.s.mut', { id: 'a' }, 'b').outerHTML") == '<p class="s mut" id="a">b</p>'
    page.evaluate("window.p = el('p', 'a'), window.text = p.firstChild, setText(p, 'a')")
    assert page.evaluate("text === p.firstChild"), "text that stays is not placed anew"


NAMES = [
    ("short", ["short", ""]), ("an experiment of arithmetic copy 2", ["an experiment of arithmetic ", "copy 2"]),
    ("experiment_of_arithmetic_seed-17", ["experiment_of_arithmetic", "_seed-17"]),
    ("a" * 40, ["a" * 28, "a" * 12]), ("👩‍🚀" * 30, ["👩‍🚀" * 18, "👩‍🚀" * 12]),
]  # fmt: skip


def test_a_long_name_loses_its_middle_and_keeps_its_end(bare_page: Page) -> None:
    page = bring(bare_page, "ui/name.js", "endApart", "nameOf")
    for name, parts in NAMES:
        assert page.evaluate("name => endApart(name)", name) == parts
        assert page.evaluate("name => nameOf(name).textContent", name) == name, "it is whole for whoever hears it"


def test_what_goes_hands_the_focus_on(bare_page: Page) -> None:
    page = bring(bare_page, "ui/dom.js", "el", "show")
    page.evaluate("document.body.append(el('p', {}, el('button', {}, 'a')), el('button', { id: 'next' }, 'b'))")
    page.evaluate("document.querySelector('p button').focus()")
    page.evaluate("show(document.querySelector('p'), false, document.getElementById('next'))")
    assert page.evaluate("[document.activeElement.id, document.querySelector('p').hidden]") == ["next", True]


# --- axes


def axis_of(page: Page, name: str, **curves: dict[str, list[Any]]) -> None:
    bring(page, "ui/charts/axis.js", "Axis")
    page.evaluate(
        "([name, curves]) => { window.axis = new Axis(name, { get: (key) => curves[key], lastStep: 9 }); }",
        [name, {key.replace("__", "/"): curve for key, curve in curves.items()}],
    )


def test_steps_are_tokens_and_back_between_what_was_logged(bare_page: Page) -> None:
    axis_of(bare_page, "tokens", num_tokens={"x": [2, 4, 5, 6], "y": [200, None, 500, 400]})
    assert bare_page.evaluate("[0, 1, 2, 3.5, 5].map((step) => axis.at(step))") == [0, 100, 200, 350, 500]
    assert bare_page.evaluate("[100, 350].map((place) => axis.step(place))") == [1, 3.5]
    assert bare_page.evaluate("axis.layout.tickformat") == "~s"


@pytest.mark.parametrize(("longest", "at", "suffix"), [(60, 60, " s"), (600, 10, " min"), (7200, 2, " h")])
def test_time_is_in_the_unit_of_the_longest(bare_page: Page, longest: int, at: float, suffix: str) -> None:
    axis_of(bare_page, "time", time__elapsed={"x": [10], "y": [longest]})
    assert bare_page.evaluate("[axis.at(10), axis.suffix]") == [at, suffix]


def test_axes_stand_still_while_what_comes_fits(bare_page: Page) -> None:
    page = bring(bare_page, "ui/charts/span.js", "Span")
    assert page.evaluate("Span.along(null, 100, 10)") == [0, 125]
    assert page.evaluate("Span.along([0, 125], 120, 12)") == [0, 125]
    assert page.evaluate("Span.along([0, 125], 126, 12)[1]") > 126
    assert page.evaluate("Span.upright([0, 1], [0.1, 0.9], false)") == [0, 1]
    assert page.evaluate("Span.upright([0, 1], [0.1, 0.5], false)") == pytest.approx([0.076, 0.524])
    found = page.evaluate("Span.of([{ x: [1, 2, 3], y: [5, null, -1] }], [1, 2], false)")
    assert found == {"x": [1, 1], "y": [5, 5]}


# --- the builder


def test_answers_of_the_model_that_all_score_the_same_are_noted_also_beside_a_right_example(bare_page: Page) -> None:
    page = bring(bare_page, "pages/rewards/alike_answers.js", "alikeNote")
    said = """(written) => alikeNote([{total: 0, text: "a"}, {total: 1, text: "b"}], String, true, written)
      .map((node) => node.textContent)"""
    note = "The model's answers here all score 0. A run learns only from scores that differ."
    assert page.evaluate(said, [{"total": 0}, {"total": 0}]) == [note]
    assert page.evaluate(said, [{"total": 0}, {"total": 1}]) == page.evaluate(said, []) == []


# --- the search among all settings


def test_a_setting_is_found_by_any_of_its_words_its_own_name_first(bare_page: Page) -> None:
    def setting(name: str, help_text: str) -> dict[str, str]:
        return {
            "name": name,
            "path": f"training.{name}",
            "label": "",
            "advice": "",
            "help": help_text,
        }

    some = [
        setting("lr_scheduler_type", "how beta moves"),
        setting("epsilon_beta", ""),
        setting("beta_two", ""),
        setting("beta", "weight of the KL"),
    ]
    page = bring(bare_page, "pages/new/setting_search.js", "matching")
    names = "([some, asked]) => matching(some, asked).map(({ name }) => name)"
    assert page.evaluate(names, [some, "beta"]) == ["beta", "beta_two", "epsilon_beta", "lr_scheduler_type"]
    assert page.evaluate(names, [some, "--beta"])[:2] == ["beta", "beta_two"]
    assert page.evaluate(names, [some, "WEIGHT kl"]) == ["beta"]
    assert page.evaluate(names, [some, "nothing"]) == page.evaluate(names, [some, "ves"]) == [], "within “moves”"
    assert page.evaluate(names, [some, "epsilon-be"]) == ["epsilon_beta"]
    assert page.evaluate(names, [some, "(kl"]) == []


# --- questions to the worker

SERVER = """() => {
  window.cancelled = [], window.answers = {}, window.asked = 0;
  window.questions = new WorkerQuestions({
    ask_worker: async ({ refuse }) => (refuse ? { sentence: "No." } : { question: ++asked }),
    read_answer: async ({ question }) => answers[question] ?? { waiting: "Reading…" },
    cancel_question: async ({ question }) => { cancelled.push(question); },
  });
  window.asks = (lane, question) => questions.lanes.get(lane)?.question === question;
}"""


def test_of_two_questions_in_a_lane_the_newer_is_answered_and_the_other_cancelled(bare_page: Page) -> None:
    page = bring(bare_page, "ui/worker_questions.js", "WorkerQuestions")
    page.evaluate(SERVER)
    page.evaluate("void (window.first = questions.ask('a', {}))")
    page.wait_for_function("asks('a', 1)")
    page.evaluate("void (window.second = questions.ask('a', {}, ({ waiting }) => { window.heard = waiting; }))")
    page.evaluate("void (window.other = questions.ask('b', {}))")
    page.wait_for_function("asks('a', 2) && asks('b', 3) && window.heard")
    page.evaluate("answers[2] = { answer: { rows: 1 } }, answers[3] = { answer: { rows: 2 } }")
    assert page.evaluate("first") is None
    assert page.evaluate("second") == {"answer": {"rows": 1}, "question": 2}
    assert page.evaluate("other") == {"answer": {"rows": 2}, "question": 3}
    assert page.evaluate("[cancelled, heard]") == [[1], "Reading…"]


def test_a_question_that_an_older_one_withdrew_is_asked_again(bare_page: Page) -> None:
    """The older one reached the server after it: of one topic the server keeps the last that came."""
    page = bring(bare_page, "ui/worker_questions.js", "WorkerQuestions")
    page.evaluate(SERVER)
    page.evaluate("void Object.assign(answers, { 1: { gone: true }, 2: { answer: { rows: 3 } } })")
    assert page.evaluate("questions.ask('a', {})") == {"answer": {"rows": 3}, "question": 2}
    page.evaluate("void (answers = { 3: { gone: true }, 4: { gone: true }, 5: { gone: true } })")
    assert page.evaluate("questions.ask('a', {})") == {"lost": True}
    assert page.evaluate("[asked, cancelled]") == [5, []]


LEAVE = """() => {
  window.gradio_config = { components: [{ id: 7, props: { server_fns: ["cancel_all"] } }] };
  navigator.sendBeacon = (_address, body) => void body.text().then((text) => (window.said = JSON.parse(text)));
  Object.assign(answers, { 1: { answer: { error: "Cancelled." } }, 2: { answer: { rows: 1 } } });
  dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
}"""


def test_a_page_that_is_left_takes_its_question_back_and_asks_again_once_it_is_there_again(bare_page: Page) -> None:
    page = bring(bare_page, "ui/worker_questions.js", "WorkerQuestions")
    page.evaluate(SERVER)
    page.evaluate("void (window.first = questions.ask('a', {}))")
    page.wait_for_function("asks('a', 1)")
    page.evaluate(LEAVE)
    page.wait_for_timeout(500)
    assert page.evaluate("asked") == 1, "what goes on of a page that is gone asks nothing"
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert page.evaluate("first") == {"answer": {"rows": 1}, "question": 2}
    topic = page.evaluate("questions.topic")
    assert page.evaluate("said") == {"component_id": 7, "fn_name": "cancel_all", "data": {"topic": topic}}


def test_what_the_server_refuses_or_does_not_answer_is_said(bare_page: Page) -> None:
    page = bring(bare_page, "ui/worker_questions.js", "WorkerQuestions")
    page.evaluate(SERVER)
    assert page.evaluate("questions.ask('a', { refuse: true })") == {"sentence": "No."}
    page.evaluate("void (questions.server.ask_worker = () => Promise.reject(new Error('offline')))")
    assert page.evaluate("questions.ask('a', {})") == {"lost": True}


def test_a_draft_that_was_launched_stays_so_until_something_else_is_typed(bare_page: Page) -> None:
    """An answer that comes while the run's page is on its way has the draft kept once more."""
    bring(bare_page, "ui/run_drafts.js", "storeDraft", "noteLaunched", "currentDraft")
    current = """([text, launch]) => {
      storeDraft("", { text, notes: [], pending: [], changed: true }, "a");
      if (launch) noteLaunched("");
      return currentDraft()?.text ?? null;
    }"""
    said = [bare_page.evaluate(current, [text, launch]) for text, launch in (("a", True), ("a", False), ("b", False))]
    assert said == [None, None, "b"]


def test_a_draft_that_was_put_away_is_not_taken_up_again_by_a_late_answer(bare_page: Page) -> None:
    """It is offered instead; and whoever comes back to its page goes on with it."""
    names = ("storeDraft", "setAside", "currentDraft", "offeredDrafts")
    bring(bare_page, "ui/run_drafts.js", *names)
    said = bare_page.evaluate("""() => {
      const keep = () => storeDraft("from=r", { text: "a", notes: [], pending: [], changed: true }, "a");
      const told = () => [currentDraft()?.text ?? null, offeredDrafts("").length];
      keep();
      setAside("from=r");
      keep();
      const away = told();
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      keep();
      return [away, told()];
    }""")
    assert said == [[None, 1], ["a", 1]]


def test_ticks_of_a_log_scale_are_written_whole(bare_page: Page) -> None:
    made = bring(bare_page, "ui/charts/span.js", "Span")

    def texts(low: float, high: float) -> list[str]:
        ticks = made.evaluate("span => Span.logTicks(span)", [low, high])
        return [
            text
            for text, value in zip(ticks.get("ticktext", []), ticks.get("tickvals", []), strict=True)
            if low <= value <= high
        ]

    assert texts(0.3, 7) == ["0.5", "1", "2", "5"]
    assert texts(2e-6, 5e-5) == ["2.0e-6", "5.0e-6", "1.0e-5", "2.0e-5", "5.0e-5"]
    assert texts(0.001, 100) == ["0.001", "0.01", "0.1", "1", "10", "100"]
    assert texts(1e-12, 1e12) == [f"1.0e-{n}" for n in (10, 5)] + ["1", "100,000", "1.0e+10"]
    assert texts(3, 4) == [] == texts(0, 5), "left to Plotly"
    assert texts(20, 20) == ["20"], "a line that never changes is in the middle of a power"


def test_a_file_is_read_as_it_was_set_last_here_or_by_a_run(bare_page: Page) -> None:
    """And no page tells of what is set as it was anyway."""
    bring(bare_page, "ui/file_readings.js", "readingOf", "keepReading", "forgetReading")
    said = bare_page.evaluate("""() => {
      const run = { run: "a", at: 1, settings: { "data.skip_lines": 1 } };
      const later = { run: "b", at: 1e12, settings: {} };
      const file = { value: "file:a.csv", past: null };
      const of = (past) => readingOf({ ...file, past });
      const found = [of(null), of(run).settings];
      keepReading({ ...file, past: run }, { "data.skip_lines": 1 });
      found.push(of(null));
      keepReading(file, { "data.skip_lines": 2 });
      found.push(of(run).settings, of(later).past.run, readingOf({ value: "file:b.csv" }));
      forgetReading(file);
      return [...found, of(null)];
    }""")
    assert said == [None, {"data.skip_lines": 1}, None, {"data.skip_lines": 2}, "b", None, None]
