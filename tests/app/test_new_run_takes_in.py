"""What the New run page takes in: settings of runs and presets, reward functions, data files, specs and scripts."""

from __future__ import annotations

import gzip
import io
import random
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from groupwise.app.pages.new import choices, launch, new_run, presets
from groupwise.storage.home import paths
from groupwise.storage.library.rewards import library
from groupwise.storage.record import states
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec as specs
from tests.support import offer
from tests.support.new_run import TEXT

DAMAGED = "is damaged: it cannot be unpacked. Pack it again."
NO_WORKBOOK = "cannot be read as a workbook. It may be damaged, or need a password."
PNG = b"\x89PNG\r\n\x1a\n"


def zipped(name: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(name, "text")
    return sink.getvalue()


def test_settings_of_a_run_or_a_preset_are_opened_and_anything_else_is_said(no_worker: None) -> None:
    run_id = launch.queue_run(TEXT)
    opened = new_run.open_new_run({"from": run_id})
    name = specs.parse_spec(TEXT).name
    assert opened["text"] == TEXT.replace(name, f"{name}-2", 1)
    assert opened["origin"] == f"From run “{name}”"
    assert opened["arrival"] == {
        "run": {"id": run_id, "name": name, "failed": "", "lost": ""}, "name": f"{name}-2", "changes": [],
        "data": "", "refused": "", "newer": [],
    }  # fmt: skip
    registry.set_state(run_id, states.FAILED, "Failed at step 0: there is no model “gpt5”. Check the name.")
    assert new_run.open_new_run({"from": run_id})["arrival"]["run"]["failed"] == "There is no model “gpt5”"
    kept = new_run.open_new_run({"from": run_id, "keep": "1"})  # for a preset of these settings, as they are
    assert (kept["text"], kept["arrival"]) == (TEXT, None)
    for asked in ({"from": "../../etc"}, {"from": "nope"}, {"from": "\0"}, {"from": "<script>"}, {"preset": "../x"}):
        opened = new_run.open_new_run({**asked, "set": ["training.beta=0.5"], "reward": "length"})
        assert opened["text"] == presets.quickstart_text(), "nothing is changed of what nobody asked for"
        assert (opened["origin"], opened["arrival"]) == ("Preset: Quickstart", None)
        [(kind, name)] = asked.items()
        what = "run" if kind == "from" else "preset"
        assert opened["missing"] == f"There is no {what} “{name}”. Nothing was taken from it or changed."


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (b"name: [[[{\n\x00", "The spec.yaml of “{}” cannot be read: it is not YAML"),
        (b"name: \xff", "The spec.yaml of “{}” cannot be read: it is not text in UTF-8"),
        (
            b"name: x\ntraining: [1, 2]\nrewards:\n- name: format\n",
            "The spec.yaml of “{}” is damaged (line 2: training "
            "should be a mapping of settings, one to a line, not [1, 2])",
        ),
        (None, "The folder of “{}” has no spec.yaml"),
    ],
)
def test_a_run_whose_spec_was_spoilt_is_not_said_to_be_missing(
    no_worker: None, written: bytes | None, why: str
) -> None:
    run_id = launch.queue_run(TEXT)
    spec_file = paths.run_folder(run_id).spec
    spec_file.unlink()
    if written is not None:
        spec_file.write_bytes(written)
    opened = new_run.open_new_run({"from": run_id})
    assert opened["missing"] == f"{why.format(run_id)}. Nothing was taken from it or changed."
    assert opened["text"] == presets.quickstart_text()


@pytest.mark.usefixtures("no_worker")
def test_a_reward_function_is_added_to_a_draft_or_it_is_said_why_not() -> None:
    offer.publish_installed()
    library.save_reward("short", "def short(completions, **kwargs):\n    return [1.0 for _ in completions]\n")
    added = new_run.add_reward({"text": TEXT, "reward": "short"})
    assert [reward.name for reward in specs.parse_spec(added["text"]).rewards] == ["format", "correctness", "short"]
    assert "max_steps: 60  # mine" in added["text"] and added["done"]
    assert added["words"] == "“short” was added to this draft’s rewards, with weight 1."
    assert added["stay"] == ["format", "correctness"]
    again = new_run.add_reward({"text": added["text"], "reward": "short"})
    assert again["text"] == added["text"] and again["words"] == "“short” is one of this draft’s rewards already."
    assert again["stay"] == []
    broken = new_run.add_reward({"text": "name: [", "reward": "short"})
    assert broken["unreadable"] and not broken["done"] and broken["text"] == "name: ["
    assert broken["words"] == "“short” was not added: the YAML of this draft cannot be read."
    unknown = new_run.add_reward({"text": TEXT, "reward": "nix"})
    assert unknown["text"] == TEXT and unknown["words"] == "There is no reward function “nix”, so none was added."
    assert "sentence" in new_run.add_reward({"reward": "short"})
    opened = new_run.open_new_run({"reward": "nix"})
    assert opened["text"] == presets.quickstart_text()
    assert opened["arrival"]["refused"] == unknown["words"]


def test_settings_of_a_run_are_there_while_the_registry_is_damaged(no_worker: None) -> None:
    run_id = launch.queue_run(TEXT)
    paths.registry_path().write_bytes(b"no database" * 100)
    opened = new_run.open_new_run({"from": run_id})
    name = specs.parse_spec(TEXT).name
    assert opened["text"] == TEXT.replace(name, f"{name}-2", 1)
    assert opened["origin"] == f"From run “{name}”"
    assert "damaged" in opened["sentence"]


@pytest.mark.parametrize(
    ("name", "taken", "new"),
    [
        ("sums", set(), "sums-2"),
        ("sums", {"sums", "sums-2"}, "sums-3"),
        ("sums-2", {"sums", "sums-2"}, "sums-3"),
        ("sums-3", {"sums", "sums-3", "other"}, "sums-4"),
        ("Matheübungen-4", {"Matheübungen", "Matheübungen-3", "Matheübungen-4", "renamed"}, "Matheübungen-5"),
        ("sums-2", {"sums", "sums-2", "sums-3"}, "sums-4"),
        ("sums-9", {"sums", "sums-9"}, "sums-9-2"),
        ("run-2024", {"run", "run-2024"}, "run-2024-2"),
        ("run-2024-2", {"run-2024", "run-2024-2"}, "run-2024-3"),
        ("lr-1e-5", {"lr-1e-5", "lr-1e-4"}, "lr-1e-5-2"),
        ("beta 0.02 2", {"beta 0.02 2"}, "beta 0.02 2-2"),
        ("seed-07", {"seed", "seed-07"}, "seed-07-2"),
        ("sums with LoRA", set(), "sums with LoRA-2"),
        ("sums with LoRA 2", {"sums with LoRA", "sums with LoRA 2"}, "sums with LoRA-3"),
        ("qwen2.5-0.5b", set(), "qwen2.5-0.5b-2"),
        ("7", set(), "7-2"),
        ("x" * 80, {"x" * 80, "x" * 78 + "-2"}, "x" * 78 + "-3"),
    ],
)
def test_a_run_that_begins_with_anothers_settings_has_a_name_of_its_own(name: str, taken: set[str], new: str) -> None:
    assert presets.next_name(name, taken) == new


@pytest.mark.parametrize(
    ("called", "arrived", "kept", "words"),
    [
        ("Größe und Maß.csv", "Größe und Maß.csv", "Größe und Maß.csv", "Größe und Maß.csv is uploaded."),
        ("U\u0308bung.csv", "Ubung.csv", "Übung.csv", "Übung.csv is uploaded."),  # a Mac's letters
        ("sums (1).csv", "sums 1.csv", "sums 1.csv",
         "“sums (1).csv” is uploaded as sums 1.csv: its name has characters that names here cannot have."),
        ("ä" * 240 + ".csv", "a.csv", "ä" * 100 + ".csv", f"“{'ä' * 80}” is uploaded as {'ä' * 100}.csv: "
         "its name has 244 characters, more than fit here."),
        ("../../evil.csv", "evil.csv", "evil.csv", "evil.csv is uploaded."),
        ("evil.exe", "evil.csv", "evil.csv", "evil.csv is uploaded."),
    ],
)  # fmt: skip
def test_an_upload_keeps_the_name_that_it_had(
    registry_home: Path, called: str, arrived: str, kept: str, words: str
) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / arrived
    upload.write_text("a\n1\n")
    said = new_run.keep_data_file({"path": str(upload), "name": called})
    assert (said["name"], said["words"], paths.data_file(kept).read_text()) == (kept, words, "a\n1\n")
    assert not said["earlier"]
    assert new_run.keep_data_file({"path": str(upload), "name": called})["name"] == kept, "the same file again"
    upload.write_text("a\n2\n")
    said = new_run.keep_data_file({"path": str(upload), "name": called})
    second = kept.replace(".csv", "-2.csv")
    assert (said["name"], said["source"], said["earlier"]) == (
        second, f"file:{second}", "" if called == "evil.exe" else f"file:{kept}"
    )  # fmt: skip
    now, before = said["words"].split(" The earlier ")
    assert now == f"{second} is chosen: your upload, renamed."
    assert before == f"{kept} has other content, and is not used here.", "which of the two is used"


def test_an_upload_is_copied_under_a_plain_name_and_never_over_another(registry_home: Path) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / "..my data;$(x).JSONL"
    upload.write_text("{}\n")
    assert new_run.keep_data_file({"path": str(upload)})["source"] == "file:my data-x.jsonl"
    assert new_run.keep_data_file({"path": str(upload)})["name"] == "my data-x.jsonl"
    upload.write_text('{"other": 1}\n')
    said = new_run.keep_data_file({"path": str(upload)})
    assert said["name"] == "my data-x-2.jsonl"
    assert {"value": "file:my data-x.jsonl", "label": "my data-x.jsonl", "past": None} in said["files"]


def test_only_what_was_uploaded_is_taken_in_and_only_data_files(registry_home: Path, tmp_path: Path) -> None:
    uploads = paths.uploads_folder()
    uploads.mkdir()
    outside, empty, script, link = tmp_path / "rows.csv", uploads / "a.csv", uploads / "a.py", uploads / "l.csv"
    outside.write_text("a\n1\n")
    empty.touch()
    script.write_text("x")
    link.symlink_to(outside)
    way_out = f"{uploads}/../../{tmp_path.name}/rows.csv"
    for path in (outside, empty, script, link, uploads, way_out, "/etc/passwd", f"{uploads}/\0"):
        assert new_run.keep_data_file({"path": str(path)})["sentence"]
    assert list(paths.data_folder().iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content", "said", "kept"),
    [
        ("wrong.json", 'q,answer\n"1,\n1?",2\nx,3\n', "cannot be read as JSON. This looks like CSV.", "wrong.csv"),
        ("wrong.JSONL", "q;a\r\nx;1\r\n", "cannot be read as JSON lines. This looks like CSV.", "wrong.csv"),
        ("w.json", "q\ta\nü\t1\n".encode("utf-16"), "cannot be read as JSON. This looks like CSV.", "w.csv"),
        ("w.json", "hello\n", "cannot be read as JSON: it begins with no object, such as", None),
        ("w.csv", '{"q": "a, b"}\n{"q": "c"}\n', "cannot be read as CSV. This looks like JSON lines.", "w.jsonl"),
        ("w.tsv", '[\n  {"q": 1}]', "cannot be read as TSV. This looks like a JSON list.", "w.json"),
        ("noise.csv", random.Random(1).randbytes(300), "is not text: it is binary. Choose another file", None),
        ("noise.csv", random.Random(1).randbytes(90_000), "is not text: it is binary. Choose another file", None),
        ("noise.csv.gz", random.Random(1).randbytes(300), "cannot be read as CSV: it is no gzip file.", None),
        ("broken.csv.gz", b"\x1f\x8b" + random.Random(1).randbytes(300), DAMAGED, None),
        ("cut.csv.gz", gzip.compress(b"q,a\n1,2\n")[:-9], DAMAGED, None),
        ("end.csv.gz", gzip.compress(b"q,a\n" + b"1,2\n" * 9000)[:-9], DAMAGED, None),
        ("few.csv", bytes.fromhex("9c03e1f714ab0288cd5e91d006"), "is not text: it is binary.", None),
        ("zip.xlsx", b"PK\x03\x04 nothing", NO_WORKBOOK, None),
        ("zip.ods", zipped("any.txt"), NO_WORKBOOK, None),
        ("word.xlsx", zipped("word/document.xml"), "cannot be read as XLSX: it is a text document.", None),
        ("cut.parquet", b"PAR1" + bytes(90), "cannot be read as Parquet: its end is missing", None),
        ("short.parquet", b"PAR1" + bytes(90) + b"\xff\xff\0\0PAR1", "cannot be read as Parquet: it is shorter", None),
        ("p.csv.gz", gzip.compress(PNG + random.Random(1).randbytes(9000)), "cannot be read as CSV: it is a pic", None),
        ("noise.json.gz", gzip.compress(random.Random(1).randbytes(90_000)), "is not text: it is binary.", None),
        ("w.csv.gz", gzip.compress(b'{"q": 1}\n{"q": 2}\n'), "cannot be read as CSV. This looks like", "w.jsonl.gz"),
        ("w.xlsx", '[{"q": 1}]', "cannot be read as XLSX. This looks like a JSON list.", "w.json"),
        ("w.xlsx", '{"q": 1}\n', "cannot be read as XLSX. This looks like JSON lines.", "w.jsonl"),
        ("w.XLS", "q\ta\n1\t2\n", "cannot be read as XLS. This looks like CSV.", "w.csv"),
        ("w.xlsx", PNG, "cannot be read as XLSX: it is a picture.", None),
    ],
    ids=range(25),
)  # fmt: skip
def test_text_that_is_not_what_its_name_says_is_refused_and_offered_as_what_it_is(
    registry_home: Path, name: str, content: str | bytes, said: str, kept: str | None
) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / name
    upload.write_bytes(content if isinstance(content, bytes) else content.encode())
    asked = {"path": str(upload), "name": name}
    answer = new_run.keep_data_file(asked)
    assert answer["sentence"].startswith(f"{name} {said}") and list(paths.data_folder().iterdir()) == []
    assert bool(answer.get("offer")) == bool(kept)
    if kept:
        again = new_run.keep_data_file({**asked, "read_as": answer["read_as"]})
        assert (again["source"], again["words"]) == (f"file:{kept}", f"{kept} is uploaded.")
        assert paths.data_file(kept).read_bytes() == upload.read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '[{"q": 1}]'), ("a.jsonl", '\ufeff\n{"q": "a,b"}\n'), ("a.json", '{"q": 1}'.encode("utf-16")),
        ("a.csv", "q,a\n[1],{2}\n"), ("a.txt", '{"q"},a\n1,2\n'), ("a.csv", "q\n\a\b\f\v\n"),
        ("a.csv.gz", gzip.compress(b"q,a\n1,2\n")), ("a.csv.gz", gzip.compress(b"q\n" + b"word " * 99_999)),
        ("a.csv.gz", gzip.compress(b"q,a\n") + gzip.compress(random.Random(1).randbytes(99_000).hex().encode())),
        ("a.jsonl.gz", gzip.compress(b'{"q": 1}\n')),
        ("a.csv", "質問,答え\nあ,い\n".encode("shift-jis")), ("a.csv", "q,a\nü,1\n".encode("utf-16-le")),
    ],
    ids=range(12),
)  # fmt: skip
def test_text_that_may_be_what_its_name_says_is_kept(registry_home: Path, name: str, content: str | bytes) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / name
    upload.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert new_run.keep_data_file({"path": str(upload), "name": name}).get("source") == f"file:{name}"


@pytest.mark.usefixtures("registry_home")
@pytest.mark.parametrize("where", ["while it is copied", "while it gets its name"])
def test_a_disk_that_fills_during_an_upload_leaves_no_part_of_it(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    paths.uploads_folder().mkdir()
    upload = paths.uploads_folder() / "rows.jsonl"
    upload.write_text("{}\n" * 100)

    def fills(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def half_a_copy(_: Path, target: Path) -> None:
        target.write_text("{}\n" * 50)
        fills()

    if where == "while it is copied":
        monkeypatch.setattr(shutil, "copyfile", half_a_copy)
    else:
        monkeypatch.setattr(Path, "replace", fills)
    assert "could not be kept: No space left on device." in new_run.keep_data_file({"path": str(upload)})["sentence"]
    assert list(paths.data_folder().iterdir()) == []


def test_the_limit_that_is_said_for_an_upload_is_the_one_that_is_kept() -> None:
    assert "at most 100 MB" in choices.upload_advice()
    assert choices.data_files.MAX_FILE == 100 * 1024**2


def take_script(config: str) -> dict[str, Any]:
    args = f", args={config}" if config else ""
    text = f"from trl import *\nGRPOTrainer('a/b', reward_funcs=[]{args}).train()"
    return new_run.take_import({"name": "", "text": text, "functions": []})


def test_a_spec_or_a_script_is_imported_and_anything_else_is_refused_in_words(registry_home: Path) -> None:
    from groupwise.storage.checks.script import to_script

    sent = {"name": "a.yaml", "text": TEXT, "functions": []}
    assert new_run.take_import(sent) == {"text": TEXT, "notes": [], "saved": [], "named": True}
    script = new_run.take_import({"name": "train.py", "text": to_script(specs.parse_spec(TEXT))})
    assert specs.parse_spec(script["text"]) == specs.parse_spec(TEXT) and script["notes"] == []
    assert script["named"] and not take_script("")["named"], "a name that we made up follows the data"
    assert take_script("GRPOConfig(run_name='mine')")["named"] and take_script("GRPOConfig(output_dir='o')")["named"]
    assert not new_run.take_import({"name": "", "text": "model_name_or_path: a/b\nreward_funcs: [accuracy]\n"})["named"]
    for name, text in (
        ("a.yaml", "name: ["),
        ("a.yaml", "- 1"),
        ("a.py", "def ("),
        ("a.yaml", "x: !!python/name:os.system"),
        ("a.ipynb", "{}"),
    ):
        assert f"“{name}”" in new_run.read_import({"name": name, "text": text})["sentence"]
        assert f"“{name}”" in new_run.take_import({"name": name, "text": text, "functions": ["x", 3]})["sentence"]
    broken = new_run.read_import({"name": "a.ipynb", "text": "{cells: [1]}"})["sentence"]
    assert broken == "“a.ipynb” is no notebook: it has no cells. It may be damaged, or cut off."


def test_a_scripts_functions_are_saved_under_free_names_and_never_over_others(registry_home: Path) -> None:
    mine = "def format(completions, **kwargs):\n    return [len(format.__name__) for _ in completions]\n"
    text = f"from trl import *\n{mine}GRPOTrainer('a/b', reward_funcs=[format, format]).train()"
    offer.publish_installed()
    (shown,) = new_run.read_import({"name": "", "text": text})["functions"]
    assert (shown["name"], shown["saved_as"]) == ("format", "my_format") and "ships with Groupwise" in shown["why"]
    assert library.newest_rewards() == []
    taken = new_run.take_import({"name": "", "text": text, "functions": ["format"]})
    assert taken["saved"] == ["my_format"] and [one["name"] for one in taken["rewards"] if one["own"]] == ["my_format"]
    assert "return [len(my_format.__name__)" in library.get_reward("my_format").code
    assert [(one.name, one.weight) for one in specs.parse_spec(taken["text"]).rewards] == [("my_format", 2.0)]
    again = new_run.take_import({"name": "", "text": text, "functions": ["format"]})
    assert again["saved"] == ["my_format"] and len(library.versions("my_format")) == 1  # the same code is the same
    other = new_run.take_import({"name": "", "text": text.replace("[len(", "[1 + len("), "functions": ["format"]})
    assert other["saved"] == ["my_format_2"]
    assert any("format was saved as my_format_2. " in one for one in other["notes"])
    assert len(library.versions("my_format")) == 1
