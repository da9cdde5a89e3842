"""Checkpoints and logs as files: read back they are what lay there, and no address reaches anything else."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from groupwise.app.core import format
from groupwise.app.pages.run import checkpoints, equal_weights, log, trained_model
from groupwise.app.server import downloads
from groupwise.storage.home import paths
from groupwise.storage.home.paths import RunFolder
from groupwise.storage.record import checkpoint_files, log_notes, span_means, states
from groupwise.storage.registry import commands, registry
from groupwise.worker.training.checkpoints import latest_whole, set_newer_aside
from tests.support.homes import fresh_home
from tests.support.made_runs import made_run
from tests.support.records import seal_checkpoint


@pytest.fixture
def run() -> Iterator[registry.Run]:
    with fresh_home():
        found = registry.get_run(made_run("kept", 40, groups=1, size=2, state=states.STOPPED))
        assert found is not None
        yield found


@pytest.fixture(scope="module")
def client() -> TestClient:
    routes = [
        Route("/download", downloads.download_folder), Route("/log", downloads.download_log),
        Route("/file", downloads.download_file),
    ]  # fmt: skip
    return TestClient(Starlette(routes=routes), base_url="http://127.0.0.1")


def names_of(data: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {member.name: (tar.extractfile(member) or io.BytesIO()).read() for member in tar}


def test_a_checkpoint_comes_as_a_tar_of_its_files_and_of_nothing_behind_a_link(
    run: registry.Run, client: TestClient, tmp_path: Path
) -> None:
    place = seal_checkpoint(run.folder.checkpoints / "checkpoint-20")
    (place / ("long-" * 40)).write_bytes(b"x" * 1000)  # a name that takes a header of its own
    (tmp_path / "secret").write_text("secret")
    (place / "link").symlink_to(tmp_path / "secret")
    reply = client.get("/download", params={"id": run.id, "folder": "checkpoints/checkpoint-20"})
    assert reply.status_code == 200 and int(reply.headers["content-length"]) == len(reply.content)
    assert reply.headers["content-disposition"] == f'attachment; filename="{run.id}-checkpoint-20.tar"'
    found = names_of(reply.content)
    there = {path.name: path.read_bytes() for path in place.iterdir() if not path.is_symlink()}
    assert found == {f"{run.id}-checkpoint-20/{name}": data for name, data in there.items()}


@pytest.mark.parametrize(
    "folder", ["", ".", "..", "checkpoints", "checkpoints/../checkpoints/checkpoint-20", "../other", "/etc",
               "checkpoints/checkpoint-21", "checkpoints/linked", "rewards", "final"],
)  # fmt: skip
def test_no_other_folder_is_reached(run: registry.Run, client: TestClient, tmp_path: Path, folder: str) -> None:
    seal_checkpoint(run.folder.checkpoints / "checkpoint-20")
    (run.folder.checkpoints / "checkpoint-99").symlink_to(tmp_path)
    reply = client.get("/download", params={"id": run.id, "folder": folder})
    assert (reply.status_code, reply.text) == (
        404,
        "There is no such checkpoint (any more). The Checkpoints tab lists those that exist.\n",
    )
    assert client.get("/download", params={"id": run.id, "folder": "checkpoints/checkpoint-99"}).status_code == 404


def test_no_other_run_and_no_other_site(run: registry.Run, client: TestClient) -> None:
    for unknown in ("", "..", "no-such-run", "x" * 300):
        for path in ("/download", "/log", "/file"):
            reply = client.get(path, params={"id": unknown})
            assert (reply.status_code, reply.text) == (404, "This address names no run.\n")
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert client.get("/log", params={"id": run.id}, headers=elsewhere).status_code == 403
    assert (
        client.get("/log", params={"id": run.id}).text
        == "This run has printed nothing yet, or its folder is not where it was.\n"
    )


def test_settings_and_code_come_byte_for_byte_and_no_other_file(
    run: registry.Run, client: TestClient, tmp_path: Path
) -> None:
    run.folder.rewards.mkdir()
    code = "def mine(completions, **kwargs):\n    return [0.0] * len(completions)  # \u202e\r\n".encode()
    (run.folder.rewards / "mine.py").write_bytes(code)
    (tmp_path / "secret").write_text("secret")
    (run.folder.rewards / "linked.py").symlink_to(tmp_path / "secret")
    for name, content in (("spec.yaml", run.folder.spec.read_bytes()), ("rewards/mine.py", code)):
        reply = client.get("/file", params={"id": run.id, "name": name})
        assert (reply.status_code, reply.content) == (200, content)
        assert reply.headers["content-disposition"] == f'attachment; filename="{name.rpartition("/")[2]}"'
    for name in ("", "train.py", "run.db", "mine.py", "rewards/linked.py", "rewards/../spec.yaml", "/etc/passwd"):
        reply = client.get("/file", params={"id": run.id, "name": name})
        assert (reply.status_code, reply.text) == (
            404,
            "There is no such file (any more). The Config tab lists those that exist.\n",
        )


@pytest.mark.parametrize("name", ["é日本.py", 'a"; filename=b.exe; ".py', "line\r\nSet-Cookie: x.py"])
def test_a_file_of_any_name_comes_under_it_and_says_nothing_else_in_its_head(
    run: registry.Run, client: TestClient, name: str
) -> None:
    run.folder.rewards.mkdir()
    (run.folder.rewards / name).write_bytes(b"x = 1\n" * 400_000)  # more than is read at once
    reply = client.get("/file", params={"id": run.id, "name": f"rewards/{name}"})
    assert (reply.status_code, reply.content) == (200, b"x = 1\n" * 400_000)
    said = reply.headers["content-disposition"]
    assert said == f"attachment; filename*=UTF-8''{quote(name, safe='')}" and "set-cookie" not in reply.headers


def test_a_file_that_is_cut_meanwhile_breaks_the_download_off(run: registry.Run) -> None:
    place = seal_checkpoint(run.folder.checkpoints / "checkpoint-20")
    members = downloads.list_members(place, "name")
    (place / "optimizer.pt").write_bytes(b"")
    with pytest.raises(OSError, match=r"optimizer\.pt was changed while it was read"):
        list(downloads.write_tar(members))


def test_each_checkpoint_is_listed_with_what_it_scored_and_can_be_downloaded(
    run: registry.Run, client: TestClient
) -> None:
    from groupwise.storage.record.record import RunWriter
    from groupwise.storage.record.step_record import Checkpoint

    writer = RunWriter(run.folder.db, 1, {"format": 1.0, "correctness": 2.0})
    for step in (10, 20, 30):
        writer.commit(step, checkpoint=Checkpoint(step, f"checkpoints/checkpoint-{step}", 4000))
        seal_checkpoint(run.folder.checkpoints / f"checkpoint-{step}", adapter=step == 30)
    writer.close()
    (run.folder.checkpoints / "checkpoint-20" / "optimizer.pt").unlink()
    said = checkpoints.list_checkpoints({"run": run.id})
    assert said["columns"] == ["reward", "KL"] and said["resumable"]
    assert said["how"].endswith("does. “Resume from here” goes on with this run; “New run from it” begins another.")
    assert [(row["step"], row["state"], row["why"], row["whole"]) for row in said["rows"]] == [
        (30, "complete", "", True), (20, "incomplete", "it lacks optimizer.pt", False), (10, "complete", "", True),
    ]  # fmt: skip
    assert all(float(row["values"]["reward"]) > 0 for row in said["rows"])
    for row in said["rows"]:
        address = urlsplit(row["download"])
        assert client.get(f"{address.path}?{address.query}").status_code == 200
    assert "PeftModel.from_pretrained(base, " in said["rows"][0]["code"]
    assert f"AutoModelForCausalLM.from_pretrained({said['rows'][2]['path']!r})" in said["rows"][2]["code"]
    for row in said["rows"]:
        compile(row["code"], "snippet", "exec")


@pytest.mark.parametrize("by_chance", [False, True])
def test_a_weight_that_changed_makes_no_checkpoint_the_best(run: registry.Run, by_chance: bool) -> None:
    """“format” counted 1.0 at step 10 and 0.2 at step 30: both scores rose, and the held-out reward fell. `by_chance`:
    one of its two prompts did worse."""
    from groupwise.storage.record.record import RunWriter
    from groupwise.storage.record.step_record import Checkpoint, Completion, Group

    def group(step: int, scores: tuple[float, float], mode: str, prompt: str) -> Group:
        return Group(mode, step, prompt, {}, [Completion("x", 1, False, sum(scores), 0.0, [(s, "ok") for s in scores])])

    writer = RunWriter(run.folder.db, 2, {"format": 1.0, "correctness": 1.0})
    for step, weight, form, right in ((41, 1.0, 0.5, 0.5), (50, 1.0, 0.5, 0.5), (60, 0.2, 0.7, 0.6)):
        scored = {"eval_rewards/format/mean": form, "eval_rewards/correctness/mean": right}
        known = scored | {"eval_reward": weight * form + right, "rewards/format/weight": weight}
        saved = Checkpoint(step, f"checkpoints/checkpoint-{step}", 4000) if step > 41 else None
        writer.commit(step, metrics=dict(known), checkpoint=saved)
        if by_chance and step > 41:
            asked = [(form + off, right + off) for off in ((0.3, -0.3) if step == 60 else (0.0, 0.0))]
            groups = [group(step, scores, mode="eval", prompt=f"{n}") for n, scores in enumerate(asked)]
            writer.commit(step, groups=groups)
    writer.close()
    for step in (50, 60):
        seal_checkpoint(run.folder.checkpoints / f"checkpoint-{step}")
    if by_chance:
        chance = equal_weights.moved_by_chance(run.folder.db, 50, 60)
        said = trained_model.say_learned([(50, 1.0), (60, 0.74)], [], ["format"], chance)
        assert "1.00 after step 50, a difference that may be chance. The weight of" in said
        best = checkpoints.list_checkpoints({"run": run.id})["rows"][0]["best"]
        assert best == "highest held-out reward, may be chance"
        return
    told = checkpoints.list_checkpoints({"run": run.id})
    assert [(row["step"], row["best"], row["values"]["held-out reward"]) for row in told["rows"]] == [
        (60, "best held-out reward at equal weights", "0.74"), (50, "", "1.00"),
    ]  # fmt: skip
    assert "The weight of “format” changed in training: the best checkpoint is judged at" in told["how"]
    said = trained_model.say_learned([(50, 1.0), (60, 0.74)], told["rows"], ["format"])
    assert said.endswith("1.00 after step 50. The weight of “format” changed meanwhile, which moves it, too.")
    earlier = [told["rows"][1] | {"best": "best held-out reward at equal weights"}]
    said = trained_model.say_learned([(41, 1.0), (60, 0.74)], earlier)
    assert said.endswith("The checkpoint of step 50 did better at equal weights.")


def stages(folder: RunFolder) -> list[Path]:
    return [seal_checkpoint(folder.checkpoints / f"stage-{stage}" / f"checkpoint-{n}") for stage, n in ((1, 5), (2, 5))]


def test_a_resume_from_an_earlier_checkpoint_sets_the_later_ones_aside(run: registry.Run) -> None:
    folder = run.folder.checkpoints
    for step in (10, 20, 30):
        seal_checkpoint(folder / f"checkpoint-{step}")
    with pytest.raises(commands.Refused, match="There is no complete checkpoint of step 25 to resume from"):
        commands.ask_of_run(run.id, commands.RESUME, 25)
    with pytest.raises(commands.Refused, match="no complete checkpoint"):
        commands.ask_of_run(run.id, commands.STOP if run.state in states.LIVE else commands.RESUME, 0)
    commands.ask_of_run(run.id, commands.RESUME, 10)
    [asked] = commands.open_commands()
    assert (asked.action, asked.step) == (commands.RESUME, 10)
    assert commands.asked_at(run.id, run.attempt, commands.RESUME) is not None
    for _ in range(2):  # a supervisor that was killed in between does it once more
        assert set_newer_aside(folder, 10, 2)
        assert latest_whole(folder) == (folder / "checkpoint-10", [])
    aside = [point.relative_to(folder).as_posix() for point in checkpoint_files.set_aside_points(folder)]
    assert aside == ["before-attempt-2/checkpoint-30", "before-attempt-2/checkpoint-20"]
    assert not set_newer_aside(folder, 30, 3)
    told = checkpoints.list_checkpoints({"run": run.id})
    rows = told["rows"]
    assert told["removed"] == ""  # set aside is not removed
    assert {(row["state"], row["why"]) for row in rows} == {("set aside", "attempt 2 went on from an earlier step")}
    measured = span_means.means_of_spans(run.folder.db, ["reward"], [(21, 30), (1, 20)])
    assert [row["values"]["reward"] for row in rows] == [format.number(measured[n]["reward"].value) for n in (30, 20)]


def test_a_record_of_which_only_the_beginning_came_hides_no_checkpoint(run: registry.Run) -> None:
    for step in (10, 20):
        seal_checkpoint(run.folder.checkpoints / f"checkpoint-{step}")
    whole = run.folder.db.read_bytes()
    for share in (0.5, 0.9):
        run.folder.db.write_bytes(whole[: int(len(whole) * share)])
        told = checkpoints.list_checkpoints({"run": run.id})
        assert [(row["step"], row["state"]) for row in told["rows"]] == [(20, "complete"), (10, "complete")], share
        assert all(row["download"].startswith("/download?") for row in told["rows"])


def test_of_stages_the_later_ones_are_set_aside_as_they_lay(run: registry.Run) -> None:
    stages(run.folder)
    folder = run.folder.checkpoints
    assert set_newer_aside(folder, 5, 2)  # of the newest that is of this step
    assert latest_whole(folder)[0] == folder / "stage-2" / "checkpoint-5"


# ---- the log ----
def test_a_log_comes_whole_and_without_its_secrets(run: registry.Run, client: TestClient) -> None:
    run.folder.log.write_bytes(
        b"\x1b[31mred\x1b[0m\n 10%|#\r100%|##\napi_key=abcdef123456\n" + b"x\n" * 700_000 + b"end"
    )
    reply = client.get("/log", params={"id": run.id})
    assert reply.headers["content-disposition"] == f'attachment; filename="{run.id}-log.txt"'
    lines = reply.text.split("\n")
    assert lines[:3] == ["red", "100%|##", "api_key=…"] and lines[-2:] == ["end", ""] and len(lines) == 700_005


def test_metric_lines_are_known_and_nothing_else_is() -> None:
    assert log.metrics_of("{'loss': 0.01234, 'reward': '1.5', 'kl': nan, 'rewards/format/mean': -2e-05}") == [
        ["loss", "0.0123"], ["reward", "1.5"], ["kl", "–"], ["rewards/format/mean", "−2e-5"],
    ]  # fmt: skip
    assert log.metrics_of("{'num_tokens': 1.185e+05}") == [["num_tokens", "≈118,500"]], "it was 118,465"
    assert log.metrics_of("{'loss': 0.5, 'step': 1200}") == [["step", "1,200"], ["loss", "0.5"]]
    for other in (
        "{}",
        "{'loss': 1} x",
        "{'loss': 1, 'who': 'me'}",
        "{'a': __import__('os')}",
        "{'loss': [1]}",
        "loss",
        "{'prompt': [{'role': 'user', 'content': '1+1?'}], 'step': 3}",
        "{'epoch': 0.1, 'reward': None, 'step': 3} and more",
        "{'epoch': 0.1, 'reward': None, 'step': x}",
        "{'epoch': 0.1, 'reward': [, 'step': 3}",
        "{'epoch': 0.1, 'reward': ], 'step': 3}",
        "{" * 9000 + "'epoch': 1, 'step': 3}",
        "{'epoch': '" + "\\'" * 30_000 + ", 'step': 3}",
        "{'epoch': 1, 'step': " + "9" * 5000 + "x}",
    ):
        assert log.metrics_of(other) is None, other[:80]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("None", "–"), ("'None'", "–"), ("nan", "–"), ("'nan'", "–"), ("inf", "∞"), ("-0.5", "−0.5"),
        ("np.float64(0.25)", "0.25"), ("tensor(0.25, device='cuda:0')", "0.25"),
        ("array([0.1, 0.2])", "array([0.1, 0.2])"), ("[1, {'step': 2}]", "[1, {'step': 2}]"), ("{}", "{}"),
        ("{'a': ('b', \"c's\")}", "{'a': ('b', \"c's\")}"), ("'said: {\\'step\\': 1}'", "said: {\\'step\\': 1}"),
        ("\"it's, well\"", "it's, well"), ("<Odd a, b>", "<Odd a, b>"), ("True", "True"), ("''", ""),
        ("'<img src=x onerror=alert(1)>'", "<img src=x onerror=alert(1)>"),
    ],
)  # fmt: skip
def test_what_the_trainer_printed_is_told_apart_whatever_it_holds(printed: str, shown: str) -> None:
    """As it is known by the step that is put last, and by its epoch."""
    line = f"{{'loss': '0.5', 'mine': {printed}, 'epoch': '0.0032', 'step': 12}}"
    told = [["step", "12"], ["loss", "0.5"], ["mine", shown], ["epoch", "0.0032"]]
    assert log.metrics_of(line) == log.metrics_of(f"[rank 3] {line}") == told


def test_a_search_finds_what_is_shown_and_no_secret(run: registry.Run) -> None:
    path = run.folder.log
    path.write_bytes(b"One needle\nnothing\nNEEDLE api_key=abcdef123456\n\xc3\x9cber needle\nend needle")
    found = log.find_lines(path, "needle")
    assert found["hits"] == [0, 19, 47, 60] and not found["more"]
    assert len(found["heads"]) == 4 and all("needle" in head.lower() for head in found["heads"])
    assert log.find_lines(path, "\u00fcBER")["hits"] == [47]
    assert log.find_lines(path, "abcdef")["hits"] == []
    assert [line[:2] for line in log.read_around(path, 19)["lines"]][2] == [19, "NEEDLE api_key=…"]
    assert log.search_log({"run": run.id, "words": " "}) == {"hits": [], "heads": [], "more": ""}
    ranks = b"launcher\n[rank 0] loading\n[rank 1] loading\n[rank 10] {'loss': 0.5, 'reward': 1.0}\n"
    path.write_bytes(ranks)
    for rank, hits in {"": [9, 26], "1": [26], "10": [], "x": [9, 26]}.items():
        assert log.search_log({"run": run.id, "words": "LOAD", "rank": rank})["hits"] == hits
    *_, last = log.split_lines(ranks, 0)
    assert last[2] == [["loss", "0.5"], ["reward", "1"]]
    failed = log_notes.note_text("mine gave no score to 1 of 8 completions.", "reward")
    path.write_text(f"[rank 0] {log_notes.note_text('Loading ends.')}\n[rank 0] loading\n[rank 0] {failed}\n")
    assert log.find_lines(path, "load", 1)["hits"] == [0], "our own lines are among every rank's"
    assert [line[3] for line in log.read_from(path, 0)["lines"]] == ["note", "", "error"]


def test_metrics_are_found_as_they_are_shown_and_as_they_are_printed(run: registry.Run) -> None:
    path = run.folder.log
    first = "{'loss': '-0.01234', 'kl': '2.59649', 'step': 25}\n"
    path.write_text(f"{first}kl 2.60 in words\n[rank 1] {{'loss': 1e-06, 'kl': nan, 'step': 1250}}\n")
    second = len(first) + len("kl 2.60 in words\n")
    for words, hits in {
        "step 25": [0], "Step 1,250": [second], "step 1250": [second], "step 125": [second], "kl 2.596": [0],
        "2.596": [0], "'kl': '2.59649'": [0], "kl": [0, len(first), second], "loss \u22120.0123": [0],
        "kl \u2013": [second],
        "kl 2.6": [len(first)], "1e-06": [second], "kl in": [], "loss 0.0123 kl": [], "loss 9": [],
    }.items():  # fmt: skip
        assert log.find_lines(path, words)["hits"] == hits, words
    assert log.find_lines(path, "step 125", 0)["hits"] == []


def test_a_search_in_a_large_log_is_bounded(run: registry.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path, line = run.folder.log, b"a line of the log, as long as lines are\n"
    path.write_bytes(b"needle\n" + line * 300_000 + b"needle\n")
    assert log.find_lines(path, "needle")["hits"] == [0, 7 + len(line) * 300_000]
    many = log.find_lines(path, "as long")
    assert len(many["hits"]) == log.MOST_HITS and many["more"].startswith("from 11")
    monkeypatch.setattr(log, "LONGEST_SEARCH", 0.0)
    assert log.find_lines(path, "needle")["hits"] == [7 + len(line) * 300_000]


def test_a_folder_that_is_gone_is_said(run: registry.Run) -> None:
    assert paths.run_folder(run.id).path == run.folder.path
    run.folder.path.rename(run.folder.path.with_name("elsewhere"))
    assert "is not where it was" in log.search_log({"run": run.id, "words": "x"})["sentence"]
    assert "is not where it was" in log.log_around({"run": run.id})["sentence"]
