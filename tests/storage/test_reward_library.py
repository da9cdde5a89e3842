"""The library of one's own reward functions: versions, names, users, and what survives a damaged registry."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
from pathlib import Path

import pytest

from groupwise.storage.home import paths
from groupwise.storage.library import repair
from groupwise.storage.library.rewards import library, names, signature, templates
from groupwise.storage.library.rewards.library import LibraryError
from groupwise.storage.registry import registry
from tests.support.offer import publish_rewards

CODE = '''import re


def helper(text):
    return len(text)


def mine(completions, answer, *, most: int = 3, **kwargs):
    """Short ones.

    Args:
        most: The most.
    """
    return [float(helper(text) <= most) for text in completions]
'''


@pytest.fixture(autouse=True)
def prepared(registry_home: Path) -> Path:
    return registry_home


def test_what_is_saved_comes_back_byte_for_byte_under_the_hash_of_its_text():
    saved = library.save_reward("mine", CODE)
    assert saved.hash == hashlib.sha256(CODE.encode()).hexdigest()[:16] == library.hash_of(CODE)
    assert library.get_reward("mine") == library.get_reward("mine", saved.hash) == saved
    assert saved.code == CODE and not saved.network
    assert (paths.rewards_folder() / "mine" / f"{saved.hash}.py").read_bytes() == CODE.encode()


def test_line_ends_are_no_difference_and_nothing_else_is_changed():
    odd = "\t# tabs, trailing   \n\n" + CODE.replace("Short", "Größe ≤ 3 😀") + "# no end"
    first, second = (
        library.save_reward("mine", odd.replace("\n", "\r\n")),
        library.save_reward("mine", odd.replace("\n", "\r")),
    )
    assert first == second and first.code == odd


def test_saving_the_same_again_changes_nothing_and_other_code_is_another_version():
    first = library.save_reward("mine", CODE)
    assert library.save_reward("mine", CODE) == first
    second = library.save_reward("mine", CODE + "# more\n")
    assert [version.hash for version in library.versions("mine")] == [second.hash, first.hash]
    assert library.get_reward("mine") == second and library.newest_rewards() == [second]


def test_an_old_version_that_is_saved_again_is_the_newest():
    first, second = library.save_reward("mine", CODE), library.save_reward("mine", CODE + "#\n")
    again = library.save_reward("mine", CODE)
    assert again.hash == first.hash and again.at > second.at
    assert [version.hash for version in library.versions("mine")] == [first.hash, second.hash]


def test_leave_to_use_the_network_belongs_to_a_version():
    library.save_reward("mine", CODE, network=True)
    library.save_reward("mine", CODE + "#\n")
    assert library.may_use_network("mine", CODE) and not library.may_use_network("mine", CODE + "#\n")
    assert not library.may_use_network("mine", "never saved") and not library.may_use_network("other", CODE)
    library.save_reward("mine", CODE)  # taken back
    assert not library.may_use_network("mine", CODE) and not library.get_reward("mine").network


def test_what_is_deleted_is_out_of_the_library_and_findable_by_its_hash():
    saved = library.save_reward("mine", CODE)
    library.delete_reward("mine")
    assert library.newest_rewards() == [] and library.get_reward("mine", saved.hash) == saved
    with pytest.raises(LibraryError, match="has no function “mine”"):
        library.get_reward("mine")
    with pytest.raises(LibraryError, match="has no function “mine”"):
        library.delete_reward("mine")
    assert library.save_reward("mine", CODE).hash == saved.hash and len(library.newest_rewards()) == 1


def test_what_is_not_there_is_said():
    with pytest.raises(LibraryError, match="no function “nobody”"):
        library.get_reward("nobody")
    with pytest.raises(LibraryError, match="no function “mine” of the version 0000"):
        library.get_reward("mine", "0000")
    assert library.versions("nobody") == [] and library.users("nobody") == [] and library.users("../x") == []


BAD_NAMES = {
    "": "Give the function a name", "1st": "begin with a letter", "a-b": "has “-” in it.*such as “a_b”",
    "_own": "not begin with a letter.*such as “own”", "größe": "has “ö” in it.*, such as “groesse”",
    "a/../b": "has “/”",
    "x" * 65: "64 is the most", "class": "a word of Python", "None": "a word of Python", "报酬": "letter.$",
    "completions": "what TRL calls an argument", "log_metric": "what TRL calls an argument",
    "kwargs": "what TRL calls", "list": "would hide Python's own list", "correctness": "ships with Groupwise",
    "сorrectness": "its “с” only looks like c .Cyrillic small es.*, such as “correctness”",
    "ответ_x": "has “о” in it", "Correctness": "ships with Groupwise", "a\nb": "a character in it that cannot be seen",
}  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("Richtige Stückzahl", "richtige_stueckzahl"), ("höflich & richtig", "hoeflich_richtig"),
        ("My_Reward", "My_Reward"),
        ("2 richtig", "richtig"), ("class", "class"), ("报酬", "报酬"), ("", ""),
    ],
)  # fmt: skip
def test_a_name_as_people_say_it_is_written_out(typed: str, name: str):
    assert names.written_out(typed) == name


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_cannot_be_is_refused_in_words(name: str):
    with pytest.raises(LibraryError, match=BAD_NAMES[name]):
        library.save_reward(name, CODE.replace("mine", name), taken={"format", "correctness"})
    assert library.newest_rewards() == []


def test_the_names_of_built_in_functions_are_those_that_the_worker_published():
    publish_rewards({"mine": {"help": ""}})
    with pytest.raises(LibraryError, match="ships with Groupwise"):
        library.save_reward("mine", CODE)
    assert library.save_reward("mine", CODE, taken=()).name == "mine"


def test_names_that_differ_in_capitals_only_are_one_file_on_some_disks():
    library.save_reward("mine", CODE)
    with pytest.raises(LibraryError, match="You have had a function “mine”"):
        library.save_reward("Mine", CODE.replace("mine", "Mine"))


BAD_CODE = {
    "": "There is no function|does not define", "x = 1": "does not define a function “mine”",
    "def other(completions, **kw):\n    return [1 for _ in completions]": "does not define a function “mine”",
    "def mine(completions, **kw)": "Line 1: This is not Python", "mine = lambda completions: 1": "is a lambda",
    "%pip install x\n" + CODE: "Line 1: “%pip install x” is for the notebook",
    CODE + "#" * 64 * 1024: "bytes; 65,536 is the most", CODE + "# \ud800": "cannot be saved",
    CODE + "\0": "null bytes",
}  # fmt: skip


@pytest.mark.parametrize("code", BAD_CODE, ids=lambda code: repr(code[-40:]))
def test_code_that_cannot_be_kept_is_refused_in_words(code: str):
    with pytest.raises(LibraryError, match=BAD_CODE[code]):
        library.save_reward("mine", code)
    assert library.newest_rewards() == [] and not list(paths.rewards_folder().iterdir())


def test_a_draft_with_faults_that_only_a_call_would_show_is_kept():
    assert library.save_reward("mine", "def mine(completions):\n    return 1\n").name == "mine"


def names_in(code: str) -> list[str]:
    """The names of what looks like a reward function in a text, in its order."""
    return [function.name for function in signature.analyse(code).functions]


def test_the_functions_of_a_pasted_text_are_there_to_choose_from():
    code = (
        "%pip install x\n" + CODE + "async def other(completions, **kwargs):\n    return list(map(len, completions))\n"
    )
    assert names_in(code) == ["mine", "other"]
    assert names_in("nothing at all") == []


def test_the_runs_that_use_a_function_are_found_with_the_copy_they_keep():
    for run_id, code in (("run-a", CODE), ("run-b", CODE + "#\n"), ("run-c", None), (".draft-x", CODE)):
        folder = paths.runs_folder() / run_id / "rewards"
        folder.mkdir(parents=True)
        if code:
            (folder / "mine.py").write_text(code, encoding="utf-8")
    (paths.runs_folder() / "run-c" / "rewards" / "other.py").write_text(CODE, encoding="utf-8")
    (paths.runs_folder() / "run-d").mkdir()
    assert library.users("mine") == [("run-a", library.hash_of(CODE)), ("run-b", library.hash_of(CODE + "#\n"))]


def test_a_damaged_registry_loses_no_function():
    old, new = library.save_reward("mine", CODE, network=True), library.save_reward("mine", CODE + "#\n")
    back = library.save_reward("mine", CODE, network=True)  # the newest is not the one with the last name or file
    kept = library.save_reward("gone", CODE.replace("mine", "gone"))
    library.delete_reward("gone")
    paths.registry_path().write_bytes(b"not a database" * 100)
    repair.repair()
    assert library.newest_rewards() == [back] and back.hash == old.hash
    assert {version.hash: version for version in library.versions("mine")} == {back.hash: back, new.hash: new}
    assert library.get_reward("gone", kept.hash) == kept  # and stays deleted
    assert library.adopt_files() == 0


def test_files_that_were_touched_or_are_not_ours_hold_nothing_up():
    saved = library.save_reward("mine", CODE)
    folder = paths.rewards_folder()
    (folder / "mine" / f"{saved.hash}.py").write_text(CODE + "# by hand\n", encoding="utf-8")
    (folder / "mine" / "versions.json").write_text('{"versions": [1], "newest": {}}', encoding="utf-8")
    (folder / "mine" / "broken.py").write_bytes(b"\xff\xfe")
    (folder / "mine" / "folder.py").mkdir()
    (folder / "not-a-name").mkdir()
    (folder / "not-a-name" / "x.py").write_text(CODE, encoding="utf-8")
    (folder / "a file").write_text("x", encoding="utf-8")
    paths.registry_path().unlink()
    registry.open_registry()
    assert library.adopt_files() in (0, 1)
    (folder / "mine" / "versions.json").unlink()
    library.adopt_files()
    assert library.get_reward("mine").code == CODE + "# by hand\n"


def test_copied_files_are_taken_up_without_leave_to_use_the_network():
    saved = library.save_reward("mine", CODE, network=True)
    shutil.copytree(paths.rewards_folder() / "mine", paths.home() / "kept")
    (paths.home() / "kept" / "versions.json").unlink()
    paths.registry_path().unlink()
    shutil.rmtree(paths.rewards_folder() / "mine")
    registry.open_registry()
    (paths.home() / "kept").rename(paths.rewards_folder() / "mine")
    assert library.adopt_files() == 1
    assert library.get_reward("mine").hash == saved.hash and not library.get_reward("mine").network


def test_many_who_save_at_once_lose_nothing():
    codes = [CODE + f"# {number}\n" for number in range(8)]
    threads = [threading.Thread(target=library.save_reward, args=("mine", code)) for code in codes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {version.code for version in library.versions("mine")} == set(codes)
    card = json.loads((paths.rewards_folder() / "mine" / "versions.json").read_text(encoding="utf-8"))
    assert len(card["versions"]) == 8 and card["newest"] == library.get_reward("mine").hash


TEMPLATES = templates.templates()


def test_the_blank_template_comes_first_and_each_has_its_own_words():
    assert TEMPLATES[0]["name"] == "blank" and len(TEMPLATES) == 7
    assert all(each["title"] and each["sentence"].endswith(".") for each in TEMPLATES)
    assert len({each["title"] for each in TEMPLATES}) == len({names_in(t["code"])[0] for t in TEMPLATES}) == 7


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template["name"])
def test_a_template_is_a_reward_function_without_a_fault_and_can_be_saved(template: dict[str, str]):
    analysis = signature.analyse(template["code"])
    assert analysis.problems == [] and len(analysis.functions) == 1
    assert all(each["help"] and each["types"] for each in analysis.functions[0].parameters)
    assert library.save_reward(analysis.functions[0].name, template["code"]).code == template["code"]


def test_a_renamed_function_has_all_its_versions_in_which_the_code_says_the_new_name():
    first = library.save_reward("mine", CODE, network=True)
    second = library.save_reward("mine", CODE + "# mine\nassert mine([], [])\n")
    kept = library.rename_reward("mine", "yours")
    assert library.newest_rewards() == [kept] and kept.name == "yours"
    assert kept.code == CODE.replace("def mine", "def yours") + "# mine\nassert yours([], [])\n"
    old = library.versions("yours")[-1]
    assert [(one.at, one.network) for one in library.versions("yours")] == [(second.at, False), (first.at, True)]
    assert old.code == CODE.replace("def mine", "def yours") and old.hash == library.hash_of(old.code)
    assert library.get_reward("mine", first.hash) == first, "what a run or a spec names by its hash is there"
    assert library.may_use_network("mine", CODE), "a run that goes on has the leave it was launched with"
    with pytest.raises(LibraryError, match="no function “mine”"):
        library.get_reward("mine")
    paths.registry_path().unlink()
    repair.repair()
    assert library.newest_rewards() == [kept] and len(library.versions("yours")) == 2


def test_a_function_is_renamed_back_and_after_one_that_was_deleted():
    library.save_reward("mine", CODE)
    library.rename_reward("mine", "yours")
    assert library.rename_reward("yours", "mine").code == CODE and len(library.versions("mine")) == 1
    library.save_reward("third", CODE.replace("mine", "third") + "# later\n")
    library.delete_reward("third")
    kept = library.rename_reward("mine", "third")
    assert library.versions("third")[0] == kept == library.get_reward("third"), "the newest is the one that is used"


NOT_NAMES = {
    "other": "has another function “other”", "format": "ships with Groupwise", "1st": "begin with a letter",
    "": "Give the function a name", "Other": "You have had a function “other”",
    "helper": "something else is called “helper”", "most": "something else is called “most”",
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_name_that_a_function_cannot_have_changes_nothing(name: str):
    library.save_reward("mine", CODE)
    library.save_reward("other", CODE.replace("mine", "other"))
    before = library.all_versions(), library.newest_rewards(), sorted(paths.rewards_folder().rglob("*"))
    with pytest.raises(LibraryError, match=NOT_NAMES[name]):
        library.rename_reward("mine", name, taken={"format"})
    assert before == (library.all_versions(), library.newest_rewards(), sorted(paths.rewards_folder().rglob("*")))
    with pytest.raises(LibraryError, match="no function “nobody”"):
        library.rename_reward("nobody", "somebody")


def test_a_function_is_not_renamed_where_an_argument_is_called_as_it():
    library.save_reward("mine", CODE.replace("def helper(text)", "def helper(text, mine=0)"))
    with pytest.raises(LibraryError, match="Something else in the code is called “mine”, too"):
        library.rename_reward("mine", "yours")
