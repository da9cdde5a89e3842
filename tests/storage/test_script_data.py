"""The plain script of a run takes exactly the rows, prompts and answers that the run takes."""

from __future__ import annotations

import datetime
import gzip
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from datasets import Dataset

from groupwise.storage.checks.script import to_script
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.home import paths
from groupwise.storage.spec.spec import DataSpec, from_dict
from groupwise.worker.builtin import shipped
from groupwise.worker.data import data
from groupwise.worker.data.files.file_reading import with_found
from tests.support.runs import make_spec, queue

ROWS = [
    {
        "q": f"Was ist {n}?\u2028“{n}”",
        "solution": f"Weil.\n#### 0{n}",
        "level": n % 3,
        "note": ["", "NA", "null", "007", " x "][n % 5],
        "prompts": "TRL's own",
        "tags": ["a"] * (n % 2),
    }
    for n in range(10)
]
CHAT = [
    [{"role": "user", "content": "Hi"}],
    [{"role": "system", "content": "Own."}, {"role": "user", "content": "A"}, {"role": "assistant", "content": "B"}],
    [
        {"role": "user", "content": "A"},
        {"role": "assistant", "content": "B"},
        {"role": "user", "content": "C"},
        {"role": "assistant", "content": "D"},
        {"role": "assistant", "content": "E"},
    ],
]
EXAMPLES = [{"prompt": "1+1?", "completion": "2"}, {"prompt": "{q}", "completion": "\\"}]
MAPPED: dict[str, Any] = {"prompt_template": "{q} {{level}} {nope, no column}", "answer_column": "solution"}


def write() -> None:
    """Each kind of file, in this test's home."""
    folder = paths.data_folder()
    flat = [{name: cell for name, cell in row.items() if name != "tags"} for row in ROWS]
    (folder / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS))
    Dataset.from_list(ROWS).to_parquet(str(folder / "rows.parquet"))
    Dataset.from_list(flat).to_csv(str(folder / "rows.csv"))
    (folder / "Mine.CSV").write_text('\ufeffFrage Nr,Lösung,leer\r\n1+1?,2,\r\n"2+\n2?",NA,x\r\n3+3?,006\r\n', "utf-8")
    write_others(folder)
    (folder / "chat.jsonl").write_text("\n".join(json.dumps({"prompt": chat, "answer": "1"}) for chat in CHAT))
    (folder / "text.jsonl").write_text("\n".join(json.dumps({"prompt": text, "a": 1}) for text in ["x", None, "{a}"]))


GERMAN = 'Frage Nr.;Lösung {x};n\r\n"Wie viel; „äh“""?";58,0;1\r\nÜber?;1.234,5 €;2\r\n'


def write_others(folder: Path) -> None:
    """What people have beside: other separators, encodings, packed, a list, a workbook."""
    (folder / "de.csv").write_bytes(GERMAN.encode("cp1252"))
    (folder / "sep.csv").write_bytes(b"sep=;\r\n" + GERMAN.encode("cp1252"))
    (folder / "de.csv.gz").write_bytes(gzip.compress(GERMAN.encode("cp1252")))
    (folder / "unicode.txt").write_bytes(GERMAN.replace(";", "\t").encode("utf-16"))
    (folder / "single.csv").write_text("'q|r'|'a'\n'it''s'|'x|y'\n'x|y'|'58 kg'\n'z'|'z'\n")
    (folder / "bare.tsv").write_text('q\ta\n"5" a\t5\n"6" b\t6\n')
    (folder / "list.json").write_text(json.dumps(ROWS, indent=1))
    (folder / "latin.jsonl").write_bytes('{"q": "süß", "a": "58 Stück"}\n{"q": "größer", "a": 3}\n'.encode("cp1252"))
    (folder / "bare.csv").write_text("What is 1+1?,2\n\nWhat is 2+2?,04\n")
    (folder / "twice.csv").write_text("q,q,\nWhat is,1+1?,2\nWhat is,2+2?,04\n")
    (folder / "mixed.csv").write_bytes("q,a\nsüß,über\n".encode() + "größer,3 €\n".encode("cp1252"))
    (folder / "mixed.jsonl").write_bytes('{"q": "süß"}\n'.encode() + '{"q": "größer"}\n'.encode("cp1252"))
    (folder / "rows.jsonl.gz").write_bytes(gzip.compress((folder / "rows.jsonl").read_bytes()))
    book = openpyxl.Workbook()
    book.active.append(["Deckblatt"])
    sheet = book.create_sheet("Aufgaben")
    sheet.append(["Titel"])
    sheet.append(["Frage", "Lösung", None, "wann"])
    sheet.append(["a", 58.0, "x", datetime.date(2024, 3, 1)])
    sheet.append([None])
    sheet.append(["b\r\nc", 58.5, None, datetime.timedelta(hours=30)])
    sheet.append([True, "1.234", "", datetime.time(8, 5)])
    twice = book.create_sheet("Doppelt")  # more rows, under a heading that cannot be read
    for _ in range(9):
        twice.append(["A", "A"])
    book.save(folder / "rows.xlsx")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], dict[str, Any]]:
    """Loads a run folder's script as a module's names, and forgets what it imported from there."""
    monkeypatch.setenv("MODEL", "starter")  # which these homes have no copy of, and these tests do not load

    def load(path: Path) -> dict[str, Any]:
        for name in [name for name in sys.modules if name.split(".")[0] in ("rewards", "task")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "path", list(sys.path))
        return runpy.run_path(str(path), run_name="plain")

    return load


SPECS: list[dict[str, Any]] = [
    {"source": "task:arithmetic"},
    {"source": "task:arithmetic", "limit": 70, "shuffle": 3, "holdout": 0.1, "columns": []},
    {
        "source": "task:arithmetic",
        "limit": 300,
        "filter": ["answer > 50", "question contains 1+", "answer < 1e999"],
        "holdout": 2,
    },
    *({"source": f"file:rows.{kind}", **MAPPED} for kind in ("jsonl", "csv", "parquet")),
    {"source": "file:rows.csv", **MAPPED, "filter": ["note is not empty", "level >= 1"], "answer_pattern": "#### (.+)"},
    {"source": "file:rows.jsonl", **MAPPED, "filter": ["level <= 1", 'q matches "[0-7]"'], "shuffle": 1, "limit": 4},
    {"source": "file:rows.jsonl", **MAPPED, "filter": ["tags is empty"], "columns": ["level", "solution", "level"]},
    {"source": "file:rows.jsonl", **MAPPED, "system_prompt": "Be\n“brief”.", "examples": EXAMPLES, "holdout": 0.35},
    {"source": "file:rows.parquet", **MAPPED, "answer_pattern": "(?m)^#+ 0(x)?|Weil", "columns": ["note"]},
    {"source": "file:rows.parquet", "prompt_template": "{note}", "answer_column": None, "shuffle": 0},
    {"source": "file:Mine.CSV", "prompt_template": "{Frage Nr} {leer}", "answer_column": "Lösung"},
    {"source": "file:chat.jsonl", "prompt_column": "prompt"},
    {"source": "file:chat.jsonl", "prompt_column": "prompt", "system_prompt": "Ours.", "examples": EXAMPLES},
    {"source": "file:chat.jsonl", "prompt_column": "prompt", "examples": EXAMPLES, "answer_column": None},
    {"source": "file:text.jsonl", "prompt_column": "prompt", "answer_column": "a", "system_prompt": "Ours."},
    {"source": "file:text.jsonl", "prompt_column": "prompt", "answer_column": "a"},
    *(
        {
            "source": f"file:{name}",
            "prompt_template": "{Frage Nr.}: {Lösung {x}}",
            "answer_column": "Lösung {x}",
            "answer_numbers": "comma",
        }
        for name in ("de.csv", "sep.csv", "de.csv.gz", "unicode.txt")
    ),
    {"source": "file:de.csv", "prompt_template": "{n}", "answer_column": "Lösung {x}", "encoding": "latin-1"},
    {"source": "file:single.csv", "prompt_template": "{q|r}", "answer_column": "a", "answer_numbers": "point"},
    {"source": "file:bare.tsv", "prompt_template": "{q}", "answer_column": "a"},
    {"source": "file:list.json", **MAPPED, "answer_pattern": "#### (.+)", "answer_numbers": "point"},
    {"source": "file:rows.jsonl.gz", **MAPPED},
    {"source": "file:latin.jsonl", "prompt_template": "{q}", "answer_column": None},
    {"source": "file:bare.csv", "prompt_template": "{Column 1}", "answer_column": "Column 2", "heading": "none"},
    {"source": "file:rows.xlsx", "prompt_template": "{Column 1}", "answer_column": "Column 2", "heading": "none"},
    {"source": "file:twice.csv", "prompt_template": "{q} {q_2}", "answer_column": "column_3", "heading": "numbered"},
    {
        "source": "file:rows.xlsx",
        "prompt_template": "{wann}",
        "answer_column": None,
        "skip_lines": 1,
        "heading": "numbered",
    },
    {"source": "file:mixed.csv", "prompt_template": "{q}", "answer_column": "a"},
    {"source": "file:mixed.jsonl", "prompt_template": "{q}", "answer_column": None},
    {
        "source": "file:rows.xlsx",
        "prompt_template": "{Frage} {Column 3}",
        "answer_column": "Lösung",
        "skip_lines": 1,
        "answer_numbers": "comma",
    },
    {
        "source": "file:rows.xlsx",
        "prompt_template": "{wann}",
        "answer_column": None,
        "skip_lines": 1,
        "sheet": "Aufgaben",
    },
]


CASES = [
    pytest.param(fields, chat, id=" ".join([fields["source"], *list(fields)[1:], "" if chat else "as text"]).strip())
    for fields in SPECS
    for chat in (True, False)
    if chat or {"system_prompt", "prompt_column"} & set(fields)
]


@pytest.mark.parametrize(("fields", "chat"), CASES)
def test_the_script_takes_the_same_rows(
    registry_home: Path, script: Callable[[Path], dict[str, Any]], fields: dict[str, Any], chat: bool
):
    write()
    spec = make_spec(data={"limit": None, **fields})
    folder = queue(spec.model_copy(update={"data": with_found(spec.data)}))
    task = shipped.task_of(spec)
    expected = data.load_data(spec.data, chat=chat, task=shipped.load_task(folder, task) if task else None)
    assert_same(script(folder.script)["prompts"](chat), expected)


def assert_same(made: tuple[Dataset, Dataset | None], expected: tuple[Dataset, Dataset | None]) -> None:
    for mine, theirs in zip(made, expected, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None and theirs is not None:
            assert mine.to_list() == theirs.to_list()
            assert mine.features == theirs.features


def test_the_script_takes_the_same_rows_of_reasoning_gym(registry_home: Path, script: Callable[[Path], dict[str, Any]]):
    pytest.importorskip("reasoning_gym")
    for fields in (
        {},
        {"parameters": {"max_animals": 4, "seed": 5}, "filter": ["answer > 20"], "columns": ["metadata"]},
    ):
        spec = make_spec(data={"source": "gym:leg_counting", "limit": 20, **fields})
        assert "def fitted" not in to_script(spec)
        assert_same(script(queue(spec).script)["prompts"](True), data.load_data(spec.data, chat=True))


@pytest.mark.parametrize(
    ("task", "parameters"),
    [
        ("time_intervals", {"min_date": "2001-01-01", "max_date": "2001-12-31", "min_time": "08:30", "seed": 3}),
        ("composite", {"datasets": [{"name": "chain_sum", "weight": 1, "config": {"max_terms": 3}},
                                    {"name": "leg_counting", "weight": 2.5, "config": {}}]}),
        ("composite", {"datasets": [{"name": "time_intervals", "weight": 1, "config": {"min_date": "1999-01-01"}},
                                    {"name": "word_sorting", "weight": 1, "config": {"transformation": "uppercase"}}]}),
        ("polynomial_equations", {"operators": ["+"], "max_terms": 3}),
        ("word_sorting", {"transformation": "uppercase"}),
        ("arc_agi", {"board_format_opts": {"alphabet": list("abcdefghij"), "array_brackets": True}}),
        ("rearc", {"rng_difficulty_ranges": [[0.0, 0.5]], "rng_difficulty_weights": [1.0]}),
    ],
)  # fmt: skip
def test_the_script_understands_reasoning_gym_s_parameters_as_the_run_does(
    registry_home: Path, script: Callable[[Path], dict[str, Any]], task: str, parameters: dict[str, Any]
):
    pytest.importorskip("reasoning_gym")
    spec = make_spec(data={"source": f"gym:{task}", "limit": 12, "parameters": parameters})
    assert_same(script(queue(spec).script)["prompts"](True), data.load_data(spec.data, chat=True))
    assert from_dict(from_script(to_script(spec))[0]).data == spec.data


def test_the_script_streams_a_dataset_as_the_run_does(
    registry_home: Path, script: Callable[[Path], dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    """The hub is not asked in tests: load_dataset is given a folder that stands for the dataset."""
    from datasets import load_dataset

    write()

    def local(path: str, name: str | None, **options: Any) -> Any:
        assert (path, name, options.pop("revision", None)) == ("org/name", "main", "v1")
        return load_dataset("json", data_files=str(paths.data_folder() / "rows.jsonl"), **options)

    spec = make_spec(data={"source": "hub:org/name", "config": "main", "revision": "v1", "streaming": True, "limit": 5,
                           "shuffle": 2, "filter": ["level < 2"], "holdout": 1, **MAPPED})  # fmt: skip
    monkeypatch.setattr("groupwise.worker.data.sources.load_dataset", local)
    monkeypatch.setattr("datasets.load_dataset", local)
    assert_same(script(queue(spec).script)["prompts"](True), data.load_data(spec.data, chat=True))


def test_a_source_that_is_none_ends_the_script_with_a_sentence(
    script: Callable[[Path], dict[str, Any]], tmp_path: Path
):
    (tmp_path / "rewards").mkdir()
    for name in ("format", "correctness"):
        (tmp_path / "rewards" / f"{name}.py").write_text(f"def {name}(): pass")
    path = tmp_path / "train.py"
    for source in ("nowhere", "hub:/etc/passwd", "file:x.exe", "file:", "gym:", "task:no such"):
        path.write_text(to_script(make_spec(data=DataSpec(source=source).model_dump())), encoding="utf-8")
        with pytest.raises(SystemExit, match="There is no source of data"):
            script(path)["prompts"](True)
