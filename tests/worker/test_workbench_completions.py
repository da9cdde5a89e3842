"""Completions to try reward functions on: of the model itself, of a run, typed, or made to find loopholes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.home import paths
from groupwise.storage.registry import registry
from groupwise.storage.registry.messages.facts import Gpu, Hardware
from groupwise.storage.registry.questions import COMPLETIONS
from groupwise.worker.builtin import models
from groupwise.worker.builtin.rewards import correctness, format
from groupwise.worker.questions.workbench import probes, sampling
from tests.support.runs import make_spec
from tests.support.workbench import SPEC, answered, run_with, stored


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> None:
    """A home for each of these tests."""


def ask(kind: str, spec: dict[str, Any] | None = None, **payload: Any) -> dict[str, Any]:
    """About the data, model and training settings of a whole spec."""
    parts = {part: spec[part] for part in SPEC} if spec else SPEC
    return answered(COMPLETIONS, {"spec": parts, "from": kind, **payload})


def test_the_model_writes_groups_as_its_training_would() -> None:
    found = ask("model", rows=3, size=4)
    assert [len(group["completions"]) for group in found["groups"]] == [4, 4, 4]
    assert found["groups"][0]["columns"].keys() == {"question", "answer"}
    tokenizer = models.load_tokenizer(str(models.install_starter()))
    for one in (one for group in found["groups"] for one in group["completions"]):
        assert one["tokens"] == len(one["ids"]) <= 8  # max_completion_length
        assert one["truncated"] == (one["ids"][-1] != tokenizer.eos_token_id)
        assert one["text"] == tokenizer.decode(one["ids"], skip_special_tokens=True) and one["probe"] is None
    assert "12 completions of starter" in found["sentence"]


def test_how_far_the_model_is_is_said_after_each_token() -> None:
    said: list[tuple[int, int, int, int]] = []
    spec = make_spec(training={"max_completion_length": 6})
    sampling.sample(
        sampling.load_once(spec.model), ["1+1?"] * 2, 2, spec.training, lambda *far: said.append(far)
    )  # fmt: skip
    assert said[0] == (0, 4, 0, 6)
    assert [tokens for _, _, tokens, _ in said] == list(range(len(said)))
    assert sorted(done for done, _, _, _ in said) == [done for done, _, _, _ in said]


def test_sampling_follows_the_settings_and_is_new_each_time() -> None:
    spec = make_spec(training={"max_completion_length": 40, "temperature": 1.5}).model_dump()
    texts = [
        [one["text"] for group in ask("model", rows=4, size=8, spec=spec)["groups"] for one in group["completions"]]
        for _ in range(2)
    ]
    assert texts[0] != texts[1] and len(set(texts[0])) > 4
    greedy = make_spec(training={"generation_kwargs": {"do_sample": False}}).model_dump()
    same = ask("model", rows=1, size=4, spec=greedy)["groups"][0]["completions"]
    assert len({one["text"] for one in same}) == 1


def test_it_samples_with_the_settings_that_a_trainer_would(tmp_path: Path) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    settings = {"temperature": 0.7, "top_p": 0.9, "top_k": 12, "min_p": 0.05, "repetition_penalty": 1.2,
                "max_completion_length": 17, "generation_kwargs": {"no_repeat_ngram_size": 3}}  # fmt: skip
    spec = make_spec()
    found = sampling.load_once(spec.model)
    config = GRPOConfig(str(tmp_path), use_cpu=True, bf16=False, report_to="none", per_device_train_batch_size=8,
                        **settings)  # fmt: skip
    model, tokenizer = models.load_model(spec.model, use_cpu=True)
    rows = Dataset.from_list([{"prompt": "1+1?"}])
    trainer = GRPOTrainer(model, format.format, config, rows, processing_class=tokenizer)
    assert sampling._config(found, sampling.generation(settings)) == trainer.generation_config


def test_what_was_done_otherwise_than_in_training_is_said() -> None:
    card = Gpu(name="A card", memory=8 << 30, free=8 << 30)
    registry.publish_fact(Hardware(gpus=[card], cores=2, memory=8 << 30, sentence="A card"))
    spec = make_spec(model={"quantization": "4bit"}, lora={"r": 4}).model_dump()
    said = ask("model", rows=1, size=2, spec=spec)["sentence"]
    assert "before training" in said and "graphics card is kept for training" in said
    assert "without quantisation" in said


def test_the_model_stays_loaded_until_another_is_asked() -> None:
    ask("model", rows=1, size=1)
    (first,) = sampling._warm.values()
    ask("model", rows=[5], size=2)
    assert next(iter(sampling._warm.values())) is first
    other = make_spec(model={"id": "starter", "dtype": "float32"})
    ask("model", rows=1, size=1, spec=other.model_dump())
    assert len(sampling._warm) == 1 and next(iter(sampling._warm.values())) is not first


def test_rows_are_those_of_the_preview_or_the_first_that_the_filter_keeps() -> None:
    (paths.data_folder() / "numbers.jsonl").write_text(
        "".join(json.dumps({"question": f"{n}+1?", "answer": str(n + 1)}) + "\n" for n in range(50))
    )
    spec = make_spec(data={"source": "file:numbers.jsonl", "filter": ["answer > 40"], "limit": None}).model_dump()
    assert [one["row"] for one in ask("probes", spec=spec, rows=2)["groups"]] == [40, 41]
    assert [one["columns"]["answer"] for one in ask("probes", spec=spec, rows=[7, 3])["groups"]] == ["8", "4"]
    none = make_spec(data={"source": "file:numbers.jsonl", "filter": ["answer > 400"], "limit": None}).model_dump()
    assert ask("probes", spec=none, rows=2)["field"] == "data.filter"


def test_probes_are_what_their_names_say() -> None:
    found = ask("probes", rows=[3])["groups"][0]
    texts = {one["probe"]: one["text"] for one in found["completions"]}
    right = found["columns"]["answer"]
    assert set(texts) == set(probes.PROBES)
    columns = {"answer": [right] * len(texts)}
    good = dict(zip(texts, correctness.correctness(list(texts.values()), **columns), strict=True))
    formed = dict(zip(texts, format.format(list(texts.values())), strict=True))
    assert {name for name, score in good.items() if score == 1} == {
        "correct", "answer_only", "wrong_format", "very_long", "other_language",
    }  # fmt: skip
    assert {name for name, score in formed.items() if score == 1} == {
        "correct", "wrong_answer", "very_long", "other_language",
    }  # fmt: skip
    assert texts["empty"] == "" and not texts["whitespace"].strip() and len(texts["very_long"]) > probes.LONG
    assert {one["expected"] for one in found["completions"]} == {"high", "low", "any"}


def test_no_endless_probe_is_longer_than_a_run_could_write_it() -> None:
    """As it was seen with a limit of 12: “Endless repetition earns 58.3”, for some 2,800 tokens."""
    spec = make_spec(training={"max_completion_length": 12}).model_dump()
    found = {one["probe"]: one for one in ask("probes", spec=spec, rows=[3])["groups"][0]["completions"]}
    for name in ("repetition", "tag_stuffing", "whitespace"):
        assert found[name]["text"] and 6 <= found[name]["tokens"] <= 12 and found[name]["truncated"], name
    assert found["very_long"]["tokens"] > 12 and not found["very_long"]["truncated"]
    assert found["very_long"]["about"].endswith(" longer than a run with these settings could write (12 tokens).")
    assert "longer than a run" not in found["answer_only"]["about"]
    unknown = {**spec, "training": {}}
    assert len(answered_text("repetition", unknown)) > 2000, "its limit is not known"


def answered_text(probe: str, spec: dict[str, Any]) -> str:
    made = ask("probes", spec=spec, rows=[3])["groups"][0]["completions"]
    return str(next(one["text"] for one in made if one["probe"] == probe))


def test_probes_use_the_tags_that_the_prompt_asks_for() -> None:
    asked = "Think in <reasoning>…</reasoning>, then answer in <final>…</final>. A line ends with <br>."
    spec = make_spec(data={"system_prompt": asked}).model_dump()
    text = ask("probes", spec=spec, rows=1)["groups"][0]["completions"][0]["text"]
    assert text.startswith("<reasoning>") and text.endswith("</final>")


def test_probes_use_the_tags_of_a_function_where_the_prompts_ask_for_none() -> None:
    text = ask("probes", rows=[3], tags=["SOLUTION"])["groups"][0]["completions"][0]["text"]
    assert text == "<SOLUTION>40</SOLUTION>"
    found = {one["probe"]: one for one in ask("probes", rows=[3], tags=["SOLUTION"])["groups"][0]["completions"]}
    assert found["very_long"]["text"].endswith(f"\n{text}") and len(found["very_long"]["text"]) > probes.LONG
    assert found["other_language"]["text"] != text
    spec = {**SPEC, "data": {**SPEC["data"], "system_prompt": "Write <a>…</a>."}}
    assert ask("probes", spec=spec, rows=[3], tags=["b"])["groups"][0]["completions"][0]["text"] == "<a>40</a>"


def test_what_marks_up_a_text_is_no_format() -> None:
    """Seen: probes in <b>…</b>, of a prompt that quoted an error in HTML."""
    spec = {**SPEC, "data": {**SPEC["data"], "system_prompt": "The page said <b>Error</b> and <P>no more</P>."}}
    text = ask("probes", spec=spec, rows=[3])["groups"][0]["completions"][0]["text"]
    assert text.startswith("<think>") and "<b>" not in text and "<P>" not in text


def test_a_row_without_an_answer_has_only_the_probes_that_need_none() -> None:
    spec = make_spec(data={"answer_column": None, "columns": []}).model_dump()
    found = ask("probes", spec=spec, rows=1)
    assert {one["probe"] for one in found["groups"][0]["completions"]} == {
        "empty", "whitespace", "repetition", "tag_stuffing",
    }  # fmt: skip
    assert "no answer" in found["sentence"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("42", "49"), ("-3", "4"), ("x = 1,000 km", "x = 1007 km"), ("0.5", "8.0"), ("Yes", "No"), ("A", "B"),
     ("C", "A"), ("Paris", "not Paris"), ("9" * 6000, None)],
)  # fmt: skip
def test_a_wrong_answer_is_of_the_same_kind(right: str, wrong: str | None) -> None:
    made = probes.wrong_answer(right)
    assert made != right and (wrong is None or made == wrong)


def test_typed_completions_come_in_groups_of_their_rows() -> None:
    typed = [{"row": 2, "text": "a"}, {"row": 0, "text": "b"}, {"row": 2, "text": "c"}, {"row": None, "text": "d"}]
    groups = ask("typed", typed=typed)["groups"]
    assert [(group["row"], [one["text"] for one in group["completions"]]) for group in groups] == [
        (2, ["a", "c"]), (0, ["b"]), (None, ["d"]),
    ]  # fmt: skip
    assert groups[2]["prompt"] == "" and groups[0]["completions"][0]["ids"]


def test_a_runs_completions_are_those_of_a_step_the_last_one_by_default() -> None:
    folder = run_with(stored([0.5, 1.0], [0.0, None]), stored([2.0, 3.0], step=2))
    last = ask("run", run=folder.id, step=None)["groups"]
    assert [[one["text"] for one in group["completions"]] for group in last] == [["2.0", "3.0"]]
    first = ask("run", run=folder.id, step=1)
    assert [one["text"] for one in first["groups"][1]["completions"]] == ["0.0", "none"]
    assert first["groups"][1]["columns"] == {"answer": "2"} and first["groups"][0]["step"] == 1
    one = first["groups"][0]["completions"][0]
    assert one["tokens"] == len(one["ids"]) == 3  # as many as the run counted
    assert ask("run", run=folder.id, step=9)["field"] == "step"


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({"from": "air"}, "from"), ({"from": None}, "from"), ({"from": "model", "spec": None}, "spec"),
        ({"from": "model", "spec": {**SPEC, "data": 7}}, "data"), ({"from": "model", "rows": 0}, "rows"),
        ({"from": "model", "rows": [1, -1]}, "rows"), ({"from": "model", "rows": []}, "rows"),
        ({"from": "model", "rows": True}, "rows"), ({"from": "model", "size": "8"}, "size"),
        ({"from": "model", "size": 65}, "size"), ({"from": "model", "rows": 64, "size": 64}, "size"),
        ({"from": "model", "rows": [10**9]}, "data.source"),
        ({"from": "model", "spec": {**SPEC, "model": {"id": "./nowhere"}}}, "model.id"),
        ({"from": "model", "spec": {**SPEC, "training": {"temperature": 0.0}}}, "training"),
        ({"from": "model", "spec": {**SPEC, "training": {"top_k": "x"}}}, "training"),
        ({"from": "model", "spec": {**SPEC, "training": [1]}}, "training"),
        ({"from": "probes", "spec": {**SPEC, "data": {"source": "file:none.jsonl"}}}, "data.source"),
        ({"from": "probes", "spec": {**SPEC, "data": {"prompt_template": "{nope}"}}}, "data.prompt_template"),
        ({"from": "typed"}, "typed"), ({"from": "typed", "typed": ["x"]}, "typed.0"),
        ({"from": "typed", "typed": [{"row": "1", "text": "x"}]}, "typed.0.row"),
        ({"from": "typed", "typed": [{"row": 1, "text": "x" * 100_001}]}, "typed.0"),
        ({"from": "run"}, "run"), ({"from": "run", "run": 7}, "run"), ({"from": "run", "run": "../../etc"}, "run"),
        ({"from": "run", "run": "20260101-0000-gone-abcd"}, "run"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_at_its_field(payload: dict[str, Any], field: str) -> None:
    found = answered(COMPLETIONS, {"spec": SPEC, **payload})
    assert found["error"].strip() and "Traceback" not in found["error"]
    assert found["field"].startswith(field)


def test_of_a_file_whose_rows_are_empty_nothing_else_is_said() -> None:
    (paths.data_folder() / "leer.csv").write_text("frage,antwort\n,\n,\n", encoding="utf-8")
    found = answered(COMPLETIONS, {"from": "probes", "spec": {**SPEC, "data": {"source": "file:leer.csv"}}})
    assert found["error"] == "leer.csv has a heading, and its 2 rows are empty."


def test_a_run_without_completions_says_so() -> None:
    assert ask("run", run=run_with().id)["field"] == "step"
