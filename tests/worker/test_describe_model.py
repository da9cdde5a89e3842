"""What only the libraries and the hub can tell of a model: its tokenizer, its chat template, whether it may be had."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from groupwise.storage.registry.questions import MODEL
from groupwise.storage.spec.words.problem import ADVICE, BLOCKING, WARNING
from groupwise.worker.builtin import starter
from groupwise.worker.questions import server
from tests.conftest import REPOSITORY
from tests.storage.test_check_model import edit
from tests.support import tiny_models


@pytest.fixture(autouse=True)
def cache(registry_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    (tmp_path / "hub").mkdir()
    return tmp_path / "hub"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A whole model folder that a test may change."""
    tiny_models.make("llama", tmp_path / "model")
    return tmp_path / "model"


def answer(payload: dict[str, Any]) -> dict[str, Any]:
    return server.answer_question(MODEL, payload)


def described(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    said = json.loads(json.dumps(answer({"model": {"id": str(folder)}})))
    return said["facts"], said["problems"]


def test_the_starter_is_described():
    said = answer({"model": {"id": "starter"}})
    facts = said["facts"]
    assert said["problems"] == [] and facts["parameters"] == 800_640 and facts["weights"] == "safetensors"
    assert facts["chat"] and facts["system_role"] == "used" and facts["eos"] == "<eos>" and facts["tokens"] == 102
    assert facts["lora_targets"] == ["q_proj", "v_proj"] and json.loads(json.dumps(said)) is not None


@pytest.mark.parametrize("payload", [{}, {"model": None}, {"model": {"id": 5}}, {"model": {"nope": 1}}, {"model": []}])
def test_a_payload_that_is_no_model_is_an_error(payload: dict[str, Any]):
    found = answer(payload)
    assert found["field"].startswith("model") and f"“{found['field']}” " in found["error"]


@pytest.mark.parametrize(
    ("break_it", "words"),
    [
        (lambda f: (f / "tokenizer.json").write_text("{"), "tokenizer cannot be loaded"),
        (lambda f: (f / "tokenizer.json").write_text("[" * 10_000), "tokenizer cannot be loaded"),
        (lambda f: (f / "tokenizer.json").write_bytes(b"\xff\xfe"), "tokenizer cannot be loaded"),
        (lambda f: (f / "tokenizer.json").write_text('{"model": {"type": "Unknown"}}'), "tokenizer cannot be loaded"),
        (lambda f: edit(f / "tokenizer_config.json", eos_token=None), "no end-of-text token"),
        (lambda f: edit(f / "config.json", vocab_size=50), "do not belong together"),
        (lambda f: (f / "chat_template.jinja").write_text("{% if %}"), "chat template cannot be used"),
        (lambda f: (f / "chat_template.jinja").write_text("{{ raise_exception('no') }}"), "cannot be used: no"),
        (lambda f: (f / "chat_template.jinja").write_text("hello"), "leaves out the user's messages"),
        (lambda f: (f / "chat_template.jinja").write_text("{{ ''.__class__.__mro__ }}"), "cannot be used"),
        (lambda f: edit(f / "config.json", model_type="new", auto_map={"AutoConfig": "m.M"}), "code of its own"),
        (lambda f: edit(f / "config.json", model_type="new"), "supports no language model of type “new”"),
    ],
    ids=range(12),
)  # fmt: skip
def test_what_the_libraries_cannot_use_is_said(model: Path, break_it: Any, words: str):
    break_it(model)
    _, problems = described(model)
    blocking = [problem for problem in problems if problem["level"] == BLOCKING]
    assert blocking and words in blocking[0]["message"] and blocking[0]["field"] == "model.id", problems
    assert all(problem["fixes"] and "\n" not in problem["message"] for problem in blocking)


def test_code_in_a_models_folder_is_never_run(model: Path, tmp_path: Path):
    (model / "m.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass M: pass\n")
    for name in ("config.json", "tokenizer_config.json"):
        edit(
            model / name, auto_map={"AutoModelForCausalLM": "m.M", "AutoConfig": "m.M", "AutoTokenizer": ["m.M", "m.M"]}
        )
    edit(model / "config.json", model_type="new")
    assert any("never run" in problem["message"] for problem in described(model)[1])
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("template", "role"),
    [
        (
            "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no') }}{% endif %}"
            "{{ m.content }}{% endfor %}",
            "refused",
        ),
        ("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}", "ignored"),
    ],
)  # fmt: skip
def test_a_template_that_takes_no_system_prompt_is_said(model: Path, template: str, role: str):
    (model / "chat_template.jinja").write_text(template)
    facts, problems = described(model)
    assert facts["system_role"] == role
    assert [(p["field"], p["level"]) for p in problems] == [("data.system_prompt", ADVICE)]


def test_a_template_that_never_ends_is_left_behind(model: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("groupwise.worker.questions.describe_model.PATIENCE", 0.3)
    loop = "{% for a in range(9000) %}{% for b in range(9000) %}{% for c in range(99) %}" + "{% endfor %}" * 3
    (model / "chat_template.jinja").write_text(loop + "{{ messages[0].content }}")
    begun = time.monotonic()
    _, problems = described(model)
    assert "it takes longer than" in problems[0]["message"] and time.monotonic() - begun < 30


def test_without_a_template_the_model_is_plain(model: Path):
    (model / "chat_template.jinja").unlink()
    facts, problems = described(model)
    assert problems == [] and facts["chat"] is False and facts["system_role"] is None


class Hub(BaseHTTPRequestHandler):
    """The few answers of a model hub that its client asks for, of a few made-up repositories."""

    files = {path.name: path.read_bytes() for path in starter.MODEL.iterdir()}
    asked: list[str] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        parts = self.path.split("?")[0].strip("/").split("/")
        api = parts[0] == "api"
        name = parts[3] if api else parts[1]
        if name == "slow":
            time.sleep(8)
        if name in ("none", "slow"):
            return self.reply(401, {"error": "no"}, {"X-Error-Code": "RepoNotFound"})
        if name == "gated" and parts[-1] == "auth-check":
            return self.reply(403, {"error": "Access is restricted"}, {"X-Error-Code": "GatedRepo"})
        if "nope" in parts:
            return self.reply(404, {"error": "no"}, {"X-Error-Code": "RevisionNotFound"})
        if api and "tree" in parts:
            rows = [{"type": "file", "path": n, "size": len(c), "oid": "0" * 40} for n, c in self.files.items()]
            return self.reply(200, rows, {})
        if api:
            kept = {"bin": ["config.json", "pytorch_model.bin"]}.get(name, list(self.files))
            siblings = [{"rfilename": one, "size": len(self.files.get(one, b"12345"))} for one in kept]
            info = {"id": f"org/{name}", "sha": tiny_models.COMMIT, "siblings": siblings, "private": False,
                    "gated": "manual" if name == "gated" else False, "tags": [], "downloads": 0}  # fmt: skip
            return self.reply(200, info, {})
        content = self.files.get(parts[-1], b"{}")
        self.reply(200, content, {"ETag": f'"{hash(parts[-1]) & 0xFFFF:040x}"', "X-Repo-Commit": tiny_models.COMMIT})

    do_HEAD = do_GET

    def reply(self, status: int, content: Any, headers: dict[str, str]) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Nothing: the test says what went wrong."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


ASK = """
import json, sys, time
from groupwise.worker.questions import describe_model, server
server.answer_question("model", {"model": {"id": "starter"}})  # warm: the imports are not what is timed
describe_model.PATIENCE = 3
for model in json.loads(sys.argv[1]):
    begun = time.monotonic()
    answer = server.answer_question("model", {"model": model})
    print(json.dumps(answer | {"seconds": time.monotonic() - begun}), flush=True)
"""


def ask(models: list[dict[str, Any]], **environment: str) -> list[dict[str, Any]]:
    """Answers of a process of its own: the hub's client reads its settings when it is imported."""
    env = {**os.environ, **environment, "NO_PROXY": "127.0.0.1"}
    env.pop("HF_TOKEN", None)
    done = subprocess.run(
        [sys.executable, "-c", ASK, json.dumps(models)],
        env=env, cwd=REPOSITORY, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_hub_is_asked_about_a_model_that_is_not_here(hub: str, cache: Path):
    names = ["none", "gated", "bin", "good", "good", "slow"]
    asked = [{"id": f"org/{name}"} for name in names] + [{"id": "org/other", "revision": "nope"}]
    none, gated, bin_only, good, again, slow, revision = ask(asked, HF_ENDPOINT=hub, HF_HUB_DISABLE_XET="1")

    def only(said: dict[str, Any]) -> tuple[str, str, str]:
        assert len(said["problems"]) == 1, said
        problem = said["problems"][0]
        assert problem["fixes"]
        return problem["field"], problem["level"], problem["message"]

    assert only(none)[:2] == ("model.id", BLOCKING) and "hf auth login" in only(none)[2]
    assert only(gated)[1] == BLOCKING and "gated" in only(gated)[2] and "HF_TOKEN" in only(gated)[2]
    assert gated["facts"]["gated"] is True
    assert only(bin_only)[1] == BLOCKING and "only as .bin" in only(bin_only)[2]
    assert only(revision)[0] == "model.revision" and "no revision “nope”" in only(revision)[2]
    assert good["problems"] == [] and good["facts"]["download"] > 3_000_000
    assert good["facts"]["layers"] == 4 and good["facts"]["tokens"] == 102 and good["facts"]["weights"] == ""
    assert good["facts"]["parameters"] == pytest.approx(800_640, rel=0.01)  # from the config: no weights were fetched
    assert not list((cache / "models--org--good").rglob("*.safetensors")) and again["facts"]["tokens"] == 102
    assert only(slow)[1] == WARNING and "took too long" in only(slow)[2] and slow["seconds"] < 5


def test_offline_is_a_sentence_and_no_hang(monkeypatch: pytest.MonkeyPatch):
    said = ask([{"id": "org/name"}], HF_ENDPOINT="http://127.0.0.1:9")[0]  # nobody listens there
    assert [problem["level"] for problem in said["problems"]] == [WARNING] and said["seconds"] < 5
    assert "could not be looked up" in said["problems"][0]["message"]
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    problems = answer({"model": {"id": "org/name"}})["problems"]
    assert [problem["level"] for problem in problems] == [WARNING]
    assert "HF_HUB_OFFLINE is set" in problems[0]["message"]
