"""Secrets are hidden by value, in the usual encodings, cut and in pieces; what is none stays as it is."""

from __future__ import annotations

import base64
import json
import os
import random
import subprocess
import sys
import time
import timeit
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupwise.storage.checks.check import check_spec
from groupwise.storage.home import db, files, process_log, redaction, secret_values
from groupwise.storage.home.redaction import PART, Redactor, holds, redact, redact_all, to_json
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.presets import PresetError, save_preset
from groupwise.storage.library.rewards import library
from tests.conftest import Start
from tests.support import canaries
from tests.support.canaries import CANARIES, ENVIRONMENT, HUB_LOGIN
from tests.support.runs import make_spec

KEY = CANARIES["OPENAI_API_KEY"]
PROSE = "the model thinks <think>12 + 34 = 46</think> and answers <answer>46</answer>, with sk- and \\frac{a}{b} "


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """This process sees every canary."""
    with monkeypatch.context() as patch:
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        (tmp_path / "token").write_text(HUB_LOGIN)
        patch.setenv("HF_TOKEN_PATH", str(tmp_path / "token"))
        redaction.look_again()
        yield
    redaction.look_again()


@pytest.mark.parametrize("name", CANARIES)
def test_a_secret_is_found_wherever_in_a_text_it_stands_and_however_it_is_encoded(name: str, planted: None) -> None:
    for before in range(11):
        for what, form in canaries.forms(CANARIES[name]).items():
            if what != "UTF-16":
                said = redact("~" * before + form.decode() + "~after")
                assert not canaries.held(said.encode()), (what, before)
                assert said.endswith("~after") and said.startswith("~" * before)


@pytest.mark.parametrize(
    "written",
    [
        "machine api.wandb.ai\n  login user\n  password {key}\n",
        "machine a.example login b password {key} machine c.example login d password other-Passw0rd-1",
        'default login x password "{key}"\nmacdef init\n',
    ],
)
def test_passwords_in_netrc_are_hidden_as_that_of_wandb(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: str
) -> None:
    key = "0f3a9c" * 6 + "77d1"
    (tmp_path / ".netrc").write_text(written.format(key=key))
    for where in ("HOME", "NETRC"):
        with monkeypatch.context() as patch:
            patch.delenv("NETRC", raising=False)
            patch.setenv(where, str(tmp_path if where == "HOME" else tmp_path / ".netrc"))
            redaction.look_again()
            assert (
                redact(f"wandb: logged in with {key}, login user")
                == "wandb: logged in with (.netrc hidden), login user"
            )
    redaction.look_again()
    assert key in redact(f"wandb: logged in with {key}")  # where no file says that it is one


def test_each_line_of_one_of_several_processes_begins_with_its_name() -> None:
    program = """
import os, sys
from groupwise.storage.home import process_log
process_log.keep_secrets("[rank 1] ")
print("one", "two")
sys.stdout.write("10 %\\r20 %\\r30 %\\n\\nthree\\nfo")
sys.stdout.write("ur\\n")
print("x" * 20_000)
print("left over", end="")
"""
    environment = {**os.environ, "OPENAI_API_KEY": KEY}
    said = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, check=True).stdout
    lines = said.decode().split("\n")
    assert lines[:4] == ["[rank 1] one two", "[rank 1] 10 %\r[rank 1] 20 %\r[rank 1] 30 %", "", "[rank 1] three"]
    assert lines[4:] == ["[rank 1] four", f"[rank 1] {'x' * 20_000}", "[rank 1] left over"]


def test_a_text_in_which_there_are_many_is_left_as_it_is_around_them(planted: None) -> None:
    said = redact(f"a {KEY} b {KEY[3:30]} c {ENVIRONMENT['http_proxy']} d {KEY}{KEY} e {KEY[:12]} f")
    hidden = "(OPENAI_API_KEY hidden)"
    proxy = "http://(http_proxy hidden)@127.0.0.1:9"
    assert said == f"a {hidden} b {hidden} c {proxy} d {hidden}{hidden} e {KEY[:12]} f"


def test_what_was_cut_out_of_one_is_hidden_from_sixteen_characters_on(planted: None) -> None:
    for start in range(len(KEY) - PART + 1):
        assert redact(f"'{KEY[start : start + PART]}…") == "'(OPENAI_API_KEY hidden)…"
    encoded = base64.encodebytes(b"x" * 40 + KEY.encode() * 3).decode()  # in lines, as people's mail has it
    assert not canaries.held(redact(encoded).encode())


@pytest.mark.parametrize(
    "environment",
    [
        {"OPENAI_API_KEY": "EMPTY"}, {"OPENAI_API_KEY": "not-needed"}, {"HF_TOKEN": "       "}, {"A_TOKEN": "default"},
        {"SSH_KEY": "/etc/hostname"}, {"PIN_PASSWORD": "20261123"}, {"http_proxy": "http://proxy:3128"},
        {"https_proxy": "http://[bad:3"}, {"TOKENIZERS_PARALLELISM": "false0000A"}, {"DB_PASSWORD": "hunter2"},
    ],
)  # fmt: skip
def test_ordinary_words_and_paths_are_no_secrets(environment: dict[str, str]) -> None:
    assert secret_values.known_secrets({**environment, "HOME": "/nonexistent"}) == {}


def test_every_secret_has_the_name_of_where_it_stands(tmp_path: Path) -> None:
    (tmp_path / "stored_tokens").write_text(f"[mine]\nhf_token = {HUB_LOGIN}\n")
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nBAQEFAASCBKcwggSjAgEAAoIB\n"
    known = secret_values.known_secrets(
        {"HF_HOME": str(tmp_path), "MY_SECRET": "a1b2c3d4", "TLS_KEY": pem, "all_proxy": "socks5://me:p%40ssW0rd@h"}
    )
    assert known[HUB_LOGIN] == "hub login" and known["a1b2c3d4"] == "MY_SECRET"
    assert known["MIIEvQIBADANBgkqhkiG9w0"] == "TLS_KEY"
    assert {name for name, of in known.items() if of == "all_proxy"} == {
        "p%40ssW0rd", "p@ssW0rd", "me:p%40ssW0rd", "me:p@ssW0rd",
    }  # fmt: skip


def test_what_only_looks_like_a_key_is_hidden_as_well() -> None:
    for shape in ("hf_" + "aB3" * 11, "sk-ant-api03-" + "x1_" * 9, "ghp_" + "k9Z" * 12):
        assert redact(f"Bearer {shape}, he said") == "Bearer (secret hidden), he said"
    for none in (
        "hf_hub_download",
        "task-arithmetic-with-many-words-in-2026",
        "risk-averse",
        "sk-learn-and-other-words",
    ):
        assert redact(none) is none


def test_a_login_while_it_runs_is_noticed(planted: None, tmp_path: Path) -> None:
    new = "hf_" + "Zy9" * 11
    assert redact(f"({new[3:]})") == f"({new[3:]})"
    (tmp_path / "token").write_text(new)
    time.sleep(1.1)
    assert redact(f"({new[3:]})") == "((hub login hidden))"


def test_texts_inside_of_plain_values_are_hidden_and_nothing_too_deep_is_followed(planted: None) -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    found = redact_all({KEY: [KEY, 1.5, None, (True, {"a": KEY})], "deep": deep})
    hidden = "(OPENAI_API_KEY hidden)"
    assert {name: found[name] for name in found if name != "deep"} == {
        hidden: [hidden, 1.5, None, [True, {"a": hidden}]]
    }
    assert json.loads(to_json(found))[hidden][0] == hidden


def test_no_row_and_no_file_takes_one(planted: None, tmp_path: Path) -> None:
    database = db.open_writer(tmp_path / "a.db", journal="delete")
    database.execute("CREATE TABLE t (a TEXT, b TEXT) STRICT")
    with db.transaction(database):
        database.execute("INSERT INTO t VALUES (?, ?)", [KEY, "ok"])
        database.execute("INSERT INTO t VALUES (:a, :b)", {"a": f"x{KEY}", "b": None})
        database.table("t").insert({"a": KEY, "b": f"b{KEY}"})
        database.conn.executemany("INSERT INTO t VALUES (?, ?)", [(f"{number}", f"{KEY}") for number in range(3)])
    database.close()
    files.write_json(tmp_path / "a.json", {KEY: [KEY]})
    (tmp_path / "token").unlink()
    assert canaries.search(tmp_path) == {}


def test_the_lines_that_hold_a_secret_are_told(planted: None) -> None:
    token = f"hf_{'Ab1' * 12}"
    assert redaction.lines_that_hold(f"a\nb = {KEY!r}\nc\nd = '{token}'") == [2, 4]
    assert redaction.lines_that_hold("a\nb") == []


def test_a_secret_of_several_lines_is_told_where_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_learned", {})
    secret = "-----BEGIN\nabcdefghijkl1\nEND-----"
    redaction.learn(secret, "THE_KEY")
    assert redaction.lines_that_hold(f'a\n\nx = """{secret}"""\n') == [3]


def test_a_spec_a_preset_or_a_function_with_a_secret_is_refused_not_changed(
    planted: None, registry_home: Path, tmp_path: Path
) -> None:
    found = check_spec(
        make_spec(data={"system_prompt": f"use {KEY}"}, training={"run_name": KEY}), Offer({}, {}, {}, {})
    )
    assert {problem.field for problem in found if "holds a secret" in problem.message} == {
        "data.system_prompt", "training.run_name",
    }  # fmt: skip
    code = f"def mine(completions, **kwargs):\n    key = {KEY!r}\n    return [1.0] * len(completions)\n"
    with pytest.raises(library.LibraryError, match="holds a secret"):
        library.save_reward("mine", code, taken=())
    with pytest.raises(PresetError, match="holds a secret"):
        save_preset("mine", "", f"name: a\n# {KEY}\nrewards: [{{name: format}}]\n", tmp_path)


PRINTS = """
import os, subprocess, sys, threading, warnings, logging
from groupwise.storage.home import process_log
process_log.keep_secrets()
key = os.environ["OPENAI_API_KEY"]
for character in key:
    print(character, end="", flush=True)
print()
print("half", end=" ")
print(key[:25], end=""); print(key[25:], "whole\\ud800", flush=True)
sys.stdout.buffer.write(key.encode())
logging.warning("logged %s", key)
warnings.warn(key)
thread = threading.Thread(target=lambda: 1 / len([]) if not key else {}[key]); thread.start(); thread.join()
if os.fork() == 0:
    print("child", key, flush=True)
    os._exit(0)
os.wait()
print("unended", key[:30], end="")
raise SystemExit(key)
"""


def run_code(start: Start, log: Path, code: str, **environment: str) -> str:
    with log.open("ab") as file:
        begun = start("-c", code, stdout=file, stderr=file, env={**os.environ, **ENVIRONMENT, **environment})
        begun.wait(60)
    return log.read_text(errors="surrogateescape")


def test_nothing_that_python_prints_shows_one_in_whatever_pieces_it_comes(start: Start, tmp_path: Path) -> None:
    said = run_code(start, tmp_path / "log.txt", PRINTS)
    assert not canaries.held(said.encode("utf-8", "surrogateescape")), said
    hidden = "(OPENAI_API_KEY hidden)"
    assert f"half {hidden} whole\\ud800\n" in said and f"child {hidden}\n" in said and f"unended {hidden}" in said
    assert f"logged {hidden}" in said and "KeyError" in said and "UserWarning" in said
    assert said.count(hidden) >= 9


def test_a_full_disk_takes_no_print_and_ends_nothing(start: Start, tmp_path: Path) -> None:
    code = (
        "import sys; from groupwise.storage.home import process_log; process_log.keep_secrets(); "
        "print('x' * 99999, flush=True); sys.exit(7)"
    )
    with Path("/dev/full").open("w") as full:
        assert start("-c", code, stdout=full, stderr=full).wait(60) == 7


def test_a_crash_leaves_no_memory_on_the_disk(start: Start, tmp_path: Path) -> None:
    code = (
        "import resource as r; from groupwise.storage.home import process_log; process_log.keep_secrets(); "
        "print(r.getrlimit(r.RLIMIT_CORE)[0])"
    )
    assert run_code(start, tmp_path / "log.txt", code) == "0\n"


def test_a_log_is_searched_once_nobody_writes_to_it_any_more(planted: None, tmp_path: Path) -> None:
    log, line = tmp_path / "log.txt", b"\xff step 1 of a program of its own\n"
    log.write_bytes(line * 60_000)
    assert not process_log.scrub(log) and log.read_bytes() == line * 60_000
    edge = (1 << 20) - 20  # over the border between two blocks
    log.write_bytes((line * 60_000)[:edge] + f" {KEY} ".encode() + line * 9 + KEY.encode())
    assert process_log.scrub(log) and not canaries.held(log.read_bytes())
    assert log.read_bytes().count(b"(OPENAI_API_KEY hidden)") == 2 and log.read_bytes().startswith(line * 30_000)


def test_a_step_of_completions_is_looked_through_in_a_moment(planted: None) -> None:
    """64 completions of 2 KB, with seven secrets to look for: 1 or 2 ms, where a step that makes so many takes seconds.
    The bound leaves room for a busy machine; one look for each form of each secret would be far beyond."""
    rng = random.Random(7)
    whole = "\n".join(" ".join(rng.choices(PROSE.split(), k=400))[:2000] for _ in range(64))
    took = min(timeit.repeat(lambda: redact(whole), number=1, repeat=50))
    assert redact(whole) is whole
    assert took < 0.008, f"{took * 1000:.2f} ms"


def test_with_no_secret_to_hide_nothing_is_changed() -> None:
    none = Redactor({})
    for data in (b"", b"short", KEY.encode()[8:], os.urandom(100_000).replace(b"hf_", b"").replace(b"sk-", b"")):
        assert none.clean(data) is data
    assert not holds("nothing") and sys.getsizeof(none) < 1000
