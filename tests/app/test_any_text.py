"""Any Unicode, half characters, NUL, line separators and changes of direction among it, comes in by every way there is,
is kept, and can be sent to a page: nothing that text can hold ends a run, a question or a command."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from groupwise.app.__main__ import main as command
from groupwise.app.cli import check_file
from groupwise.app.pages.run.log import readable
from groupwise.app.server import exports
from groupwise.app.ui.live import _to_endpoint
from groupwise.storage.checks.check import check_spec
from groupwise.storage.home import files, paths
from groupwise.storage.home.redaction import redact
from groupwise.storage.library import presets
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.rewards import library
from groupwise.storage.record import find, find_text, groups, metrics
from groupwise.storage.record.attempts import drain
from groupwise.storage.record.find import Wanted
from groupwise.storage.record.record import RunWriter, spill_of
from groupwise.storage.record.step_record import Checkpoint, Completion, Event, Group
from groupwise.storage.registry import export, notes, questions, registry
from groupwise.storage.registry.messages.facts import Catalogue, Sandbox
from groupwise.storage.registry.messages.message import Progress
from groupwise.storage.registry.messages.preview import PreviewQuestion
from groupwise.storage.registry.messages.problem import Failed
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import SpecError
from groupwise.worker.data import preview
from groupwise.worker.data.files.data_error import DataError
from groupwise.worker.sandbox import client
from groupwise.worker.supervisor import Supervisor
from tests.support.asking import Warm, ask, put, warm_server
from tests.support.offer import publish_rewards
from tests.support.runs import ask_db, make_spec, queue
from tests.support.workbench import group

HALVES = ["\ud800", "a\udfffb", "\ud83d", "\ude00\ud83d", "\udc80\udcff"]
ODD = [
    *HALVES, "\0", "a\0b", "\u2028\u2029\x85", "\u202edesrever\u2066", "e" + "\u0301" * 500, "x" * 100_000, "\ufeff",
    "\uffff\U0010ffff", "\x1b[31m\x07\r\n\t", "\\ud800", "'\"`${}{{}}<script>", "", " ", "-", "🏳️‍🌈",
    *(HOMELESS := ["~\0", "~nobody-here/x"]),
]  # fmt: skip
any_text = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40), st.sampled_from(ODD),
    st.tuples(st.text(max_size=5), st.sampled_from(ODD), st.text(max_size=5)).map("".join),
)  # fmt: skip
# What a command can be given: any bytes but NUL.
arguments = st.binary(max_size=40).map(os.fsdecode).filter(lambda text: "\0" not in text) | any_text.map(
    lambda text: redact(text).replace("\0", "0")
)
often = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
seldom = settings(often, max_examples=15)


def sent(value: Any) -> Any:
    """As a page gets it."""
    return orjson.loads(orjson.dumps(value))


def odd(test: Any) -> Any:
    """With each half character in any case."""
    for text in (*HALVES, *HOMELESS, "\0", "x" * 100_000):
        test = example(text)(test)
    return test


TELLS = """
def tells(completions, given, way, log_extra, log_metric, **kwargs):
    text = given[0]
    if way[0] == "print":
        print(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")); print([text])
    if way[0] == "raise":
        raise ValueError(text)
    if way[0] == "log":
        log_extra(text, [text] * len(completions))
        log_metric(text, 1.0)
    return [text if way[0] == "return" else 1.0 for _ in completions]
"""


@pytest.fixture(scope="module")
def host() -> Iterator[client.Host]:
    with client.Host([client.Code("tells", TELLS)]) as found:
        yield found


@pytest.mark.parametrize("way", ["print", "raise", "log", "return"])
@odd
@seldom
@given(text=any_text)
def test_a_reward_function_can_say_anything(host: client.Host, way: str, text: str) -> None:
    result = host.score("tells", {"completions": ["c"] * 2, "given": [text] * 2, "way": [way] * 2})
    assert result.statuses == ["error" if way in ("raise", "return") else "ok"] * 2, result
    sent([result.out, result.extras, result.metrics, [[one.message, one.traceback] for one in result.failures]])
    assert way != "log" or (list(result.extras) and list(result.metrics))


@odd
@often
@given(text=any_text)
def test_a_record_keeps_anything_and_gives_it_back_to_every_page(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.db"
    for file in tmp_path.iterdir():
        file.unlink()
    completion = Completion(text, 3, False, 1.0, 0.5, [(1.0, "ok")], {text: text, "b": [text]})
    made = Group("train", 1, [{"role": "user", "content": text}], {text: {text: [text]}}, [completion] * 2)
    writer = RunWriter(path, 1, {"format": 1.0})
    event, saved = Event("warning", text, {"said": text}), Checkpoint(1, text, 5)
    writer.commit(1, metrics={text: 1.0, f"{text}b": 2.0}, groups=[made], events=[event], checkpoint=saved)
    writer.close()
    sent([metrics.read_metrics(path), metrics.marks(path), metrics.checkpoints(path)])
    sent([groups.at_step(path, 1), groups.read_group(path, 1)])
    functions = find.function_names(path)
    chosen = find.search_completions(path, Wanted(), most=10).ids("newest", 1, 10)
    rows = find.rows(path, chosen)
    assert len(sent(rows)) == 2 and rows[0]["text"] == redact(text)
    for regex in (False, True):
        with contextlib.suppress(find_text.BadPattern):
            find.search_completions(path, Wanted(text, regex=regex), most=10)
    columns = export.columns(functions)
    for write in (exports.jsonl, exports.csv_table, exports.parquet):
        flat = [{**export._flat("a", row, functions, None)} for row in rows]
        assert b"".join(write(columns, iter([flat])))


@odd
@seldom
@given(text=any_text)
def test_what_waits_beside_a_record_does_so_too(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.db"
    for file in tmp_path.iterdir():
        file.unlink()
    writer = RunWriter(path, 1, {"format": 1.0})
    writer._db.conn.execute("PRAGMA query_only = 1")  # as a full disk would have it: nothing can be written
    writer.commit(1, metrics={text: 1.0}, events=[Event("warning", text)])
    assert spill_of(path).exists()
    writer._db.close()
    drain(path)
    assert not spill_of(path).exists() and len(sent(metrics.read_metrics(path))["curves"]) == 1


@odd
@often
@given(text=any_text)
def test_the_registry_takes_anything(registry_home: Path, text: str) -> None:
    run_id = registry.create_run(f"# {text}\nname: a\n", name=text, model=text, data=text)
    registry.set_state(run_id, "failed", text)
    notes.annotate(run_id, 1, 0, text)
    registry.publish_fact(Sandbox(name=text, label=text, sentence=text))
    question = put("preview", {text: text}, topic=text)
    questions.set_progress(question, Progress(sentence=text))
    questions.answer_question(question, Failed(error=text, field=text))
    found = questions.get_question(question)
    assert found is not None
    sent([found.payload, found.progress, found.answer, registry.read_fact(Sandbox).as_dict()])  # type: ignore[union-attr]
    run = registry.get_run(run_id)
    assert run is not None and (run.name, run.sentence) == (redact(text), redact(text))
    sent([run.name, run.model, run.data, run.sentence, [note.words for note in notes.of_run(run_id)]])
    assert registry.get_run(text) is None and files.read_json(run.folder.state)["name"] == redact(text)
    assert redact(text) in run.folder.spec.read_bytes().decode()


@odd
@often
@given(text=any_text)
def test_a_spec_with_anything_in_it_is_read_or_refused_in_words(registry_home: Path, text: str) -> None:
    parts = {"name": text, "data": {"source": text, "system_prompt": text, "columns": [text]}, "model": {"id": text},
             "training": {text: text, "run_name": text}, "lora": {text: [text]},
             "rewards": [{"name": "format", "parameters": {text: text}}]}  # fmt: skip
    for whole in [parts, *({"name": "a", "rewards": parts["rewards"], name: parts[name]} for name in parts)]:
        try:
            read = spec.from_dict(whole)
        except SpecError as error:
            said = [problem.as_dict() for problem in error.problems]
        else:
            said = [problem.as_dict() for problem in check_spec(read, Offer({}, {}, {}, {}))]
            files.write_whole(registry_home / "spec.yaml", spec.to_yaml(read))
        for written in (json.dumps(whole), f"name: {text}\nrewards: [{{name: format}}]\n"):
            with contextlib.suppress(SpecError):
                spec.parse_spec(written)
        _page(said)
    with contextlib.suppress(presets.PresetError, SpecError):
        presets.save_preset(text, text, f"name: {text!r}\nrewards: [{{name: format}}]\n", registry_home, replace=True)
    with contextlib.suppress(library.LibraryError):
        library.save_reward("mine", f"# {text}\ndef mine(completions):\n    {ascii(text)}\n    return []\n", taken=())
    sent([[one.name, one.text] for one in presets.own_presets()])
    sent(library.offered_functions())


def _page(answer: Any) -> Any:
    """What a live part of a page is answered."""
    return orjson.loads(_to_endpoint(lambda _: {"answer": answer})().body)["answer"]


@odd
@seldom
@given(text=any_text)
def test_rows_with_anything_in_them_are_previewed_or_refused_in_words(registry_home: Path, text: str) -> None:
    rows = [{"question": text, "answer": text, text or "b": text}] * 3
    (paths.data_folder() / "odd.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    data = {"source": "file:odd.jsonl"}
    with contextlib.suppress(DataError):
        question = put("preview", {})
        questions.answer_question(question, preview.answer_preview(PreviewQuestion.from_plain({"data": data})))
        found = questions.get_question(question)
        assert found is not None and sent(found.answer)


@odd
@seldom
@given(text=any_text)
def test_a_log_shows_anything(tmp_path: Path, text: str) -> None:
    sent(readable(text.encode("utf-8", "surrogatepass")))
    sent(readable(text.encode("utf-16", "surrogatepass")))


@seldom
@example("\udcff\udc80")
@example("x" * 100_000)
@given(text=arguments)
def test_a_command_answers_anything_with_an_exit_code(
    registry_home: Path, no_worker: None, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(check_file, "SOON", 0.2)  # s: nothing here would answer later either
    folder = registry_home / "specs"
    folder.mkdir(exist_ok=True)
    (folder / "a.yaml").write_text("name: a\nrewards: [{name: no_such_function}]\n")
    registry.publish_fact(Catalogue(versions={}, training={}, lora={}))
    publish_rewards({"format": {"help": ""}})
    registry.create_run("name: a", name=text, model="starter", data="task:arithmetic")
    for arguments in (["stop", text], ["resume", text], ["launch", text], ["list"], ["list", "--json"],
                      ["launch", str(folder / "a.yaml"), "--name", text]):  # fmt: skip
        with contextlib.redirect_stdout(_Terminal()), contextlib.redirect_stderr(_Terminal("backslashreplace")):
            try:
                code = command(arguments)
            except SystemExit as refused:  # an argument that begins with “-”
                code = int(str(refused.code))
        assert code in (0, 1, 2), arguments


class _Terminal(io.TextIOWrapper):
    """As strict as a real one."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors=errors)


RAISES = """
def tells(completions, log_extra, log_metric, **kwargs):
    print("printed \\ud800")
    log_extra("column \\ud800", ["cell \\ud800"] * len(completions))
    log_metric("metric \\ud800", 1.0)
    if kwargs["trainer_state"].global_step:
        raise ValueError("because of \\ud800 and \\x00")
    return [1.0] * len(completions)
"""


def test_a_run_that_fails_with_half_a_character_has_its_reason(registry_home: Path) -> None:
    library.save_reward("tells", RAISES, taken=())
    folder = queue(make_spec(rewards=[{"name": "format"}, {"name": "tells"}], launch={"reward_failures": 1}))
    with folder.log.open("ab") as log:
        begun = subprocess.run(
            [sys.executable, "-m", "groupwise.worker.training.train", folder.id], stdout=log, stderr=log, timeout=120
        )
    record = files.read_json(folder.exit)
    assert begun.returncode == 1 and record["outcome"] == "failed", folder.log.read_text()
    assert "because of ?" in record["reason"] and "printed" in folder.log.read_text()
    assert ask_db(folder, "SELECT count(*) FROM metric_key WHERE name = 'metric ?'") == [(1,)]
    run = registry.get_run(folder.id)
    assert run is not None
    registry.set_state(folder.id, "starting", "")
    Supervisor().conclude(run, 1)
    ended = registry.get_run(folder.id)
    assert ended is not None and "because of ?" in ended.sentence and sent(ended.sentence)


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    payload = {"functions": [{"name": "format"}], "groups": [group("a")]}
    with warm_server(tmp_path_factory.mktemp("questions") / "home", questions.SCORE, payload) as found:
        yield found


def test_the_workbench_answers_half_a_character(living: subprocess.Popen[bytes]) -> None:
    code = RAISES.replace('kwargs["trainer_state"].global_step', 'completions[0][0]["content"] == "raise"')
    for text in ("a", "raise", "\ud800"):
        found = ask(questions.SCORE, {"functions": [{"name": "tells", "code": code}], "groups": [group(text)]})
        assert _page(found)["functions"][0]["name"] == "tells"
