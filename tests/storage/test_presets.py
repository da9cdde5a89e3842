"""Presets: those that ship can all be launched (and train, where their model is at hand); one's own are kept whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupwise.storage.checks.check import examine_spec
from groupwise.storage.home import paths
from groupwise.storage.library import presets
from groupwise.storage.library.capabilities import Offer
from groupwise.storage.library.presets import PresetError, PresetExists
from groupwise.storage.record import metrics
from groupwise.storage.registry import registry
from groupwise.storage.spec import spec
from groupwise.storage.spec.words.problem import SpecError
from groupwise.worker.builtin import shipped
from groupwise.worker.builtin.tasks import arithmetic
from groupwise.worker.capabilities import catalogue, extras, hardware
from groupwise.worker.questions import build
from groupwise.worker.training import train
from tests.support.runs import ask_db, make_spec, queue

FOLDER = Path(__file__).parents[2] / "app" / "pages" / "new" / "shipped_presets"
SHIPPED = {preset.name: preset for preset in presets.shipped_presets(FOLDER)}
SPECS = {name: spec.parse_spec(preset.text) for name, preset in SHIPPED.items()}
TRAINABLE = sorted(name for name, run_spec in SPECS.items() if run_spec.model.id == "starter")
# What a preset may lack on a machine with neither a GPU nor the optional packages; each is said at these fields.
LACKING = {"training.use_vllm", "training.optim", "training.bf16", "model.id"}
QUICK = {"max_steps": 2, "per_device_train_batch_size": 8, "num_generations": 4, "save_strategy": "no",
         "eval_strategy": "no", "logging_steps": 1, "max_completion_length": 16}  # fmt: skip


@pytest.fixture(scope="module")
def offer() -> Offer:
    """What the worker of this installation publishes."""
    from peft import LoraConfig
    from trl import GRPOConfig

    built_in = shipped.describe_shipped({}).as_dict()
    return Offer(
        catalogue.fields_of(GRPOConfig), catalogue.fields_of(LoraConfig), built_in["rewards"], built_in["tasks"],
        extras=extras.installed_versions(), hardware=hardware.describe_hardware().as_dict(),
    )  # fmt: skip


def test_there_is_a_preset_for_each_way_to_begin() -> None:
    assert set(SHIPPED) == {
        "quickstart", "small-gpu", "large-gpu", "gsm8k", "format-then-correctness", "dapo", "dr-grpo", "gspo",
        "deepseek-grpo",
    }  # fmt: skip
    assert presets.shipped_presets(FOLDER)[0].name == "quickstart"
    assert len({preset.title for preset in SHIPPED.values()}) == len(SHIPPED)


@pytest.mark.parametrize("name", TRAINABLE)
def test_none_trains_on_what_it_holds_out(name: str) -> None:
    data = SPECS[name].data
    rows = arithmetic.rows(data.limit or 0)
    kept = 0 if isinstance(data.holdout, float) else data.holdout
    held_out, trained_on = ({row["question"] for row in part} for part in (rows[:kept], rows[kept:]))
    assert data.source == "task:arithmetic" and trained_on and not held_out & trained_on


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_each_says_in_a_title_and_a_sentence_what_it_is(name: str) -> None:
    preset = SHIPPED[name]
    assert 3 < len(preset.title) <= 40 and not preset.title.endswith(".")
    assert 40 < len(preset.sentence) <= 130 and preset.sentence.endswith(".")
    assert "#" not in preset.title + preset.sentence and not preset.own


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_each_can_be_launched_but_for_what_this_machine_lacks(registry_home: Path, offer: Offer, name: str) -> None:
    """Checked as the page does, then built as real GRPOConfigs, optimisers and LoraConfigs."""
    found = [*examine_spec(SPECS[name], offer), *build.settings_problems(SPECS[name], hardware.describe_hardware())]
    assert {problem.field for problem in found} <= (LACKING if name not in TRAINABLE else set())
    assert all(problem.fixes for problem in found if problem.level == "blocking")


@pytest.mark.parametrize("name", TRAINABLE)
def test_those_on_the_starter_model_train(registry_home: Path, keep_signal_handler: None, name: str) -> None:
    """Two steps a stage on small batches, with the settings that make the method what it is."""
    raw = SPECS[name].model_dump()
    for part in (raw, *raw["stages"]):
        part["training"] |= QUICK if part is raw else {"max_steps": 2}
    folder = queue(spec.from_dict(raw))
    assert train.main(folder.id) == 0
    steps = 2 * max(len(raw["stages"]), 1)
    assert ask_db(folder, "SELECT max(step) FROM acknowledged") == [(steps,)]
    assert ("kl" in metrics.read_metrics(folder.db)["curves"]) == bool(raw["training"]["beta"])
    generated = raw["training"].get("steps_per_generation") or 1
    trained = "SELECT count(*) FROM completion JOIN grp ON grp.id = grp WHERE mode = 'train'"
    assert ask_db(folder, trained) == [(8 * steps if generated == 1 else 8 * generated,)]


def test_the_methods_change_only_what_defines_them() -> None:
    """So that two of them can be compared: everything else is the quickstart's."""
    plain = SPECS["quickstart"].training
    defining = {
        "deepseek-grpo": {
            "loss_type", "scale_rewards", "beta", "use_bias_correction_kl", "epsilon", "num_iterations"
        },
        "dapo": {"loss_type", "epsilon", "epsilon_high", "mask_truncated_completions", "beta"},
        "dr-grpo": {"loss_type", "scale_rewards", "beta"},
        "gspo": {
            "importance_sampling_level", "loss_type", "epsilon", "epsilon_high", "steps_per_generation", "beta",
            "per_device_train_batch_size", "max_steps", "logging_steps", "save_steps", "eval_steps",
        },
    }  # fmt: skip
    for name, fields in defining.items():
        training = SPECS[name].training
        assert {key for key in {*plain, *training} if plain.get(key) != training.get(key)} == fields, name
        assert (SPECS[name].data, SPECS[name].rewards) == (SPECS["quickstart"].data, SPECS["quickstart"].rewards)
    generated = SPECS["gspo"].training["per_device_train_batch_size"] * SPECS["gspo"].training["steps_per_generation"]
    assert generated == plain["per_device_train_batch_size"]


def test_ones_own_is_kept_exactly_and_comes_first(registry_home: Path) -> None:
    text = "# why I chose this\n" + spec.to_yaml(make_spec())
    saved = presets.save_preset("  Nightly “sums” ", "For the\nnight. ", text, FOLDER)
    assert (saved.name, saved.title, saved.sentence, saved.own) == (
        "Nightly “sums”",
        "Nightly “sums”",
        "For the night.",
        True,
    )
    assert presets.all_presets(FOLDER)[0] == saved == presets.get_preset("Nightly “sums”", FOLDER)
    assert saved.text == text
    assert presets.get_preset("quickstart", FOLDER) == SHIPPED["quickstart"]


def test_saving_over_one_has_to_be_said(registry_home: Path) -> None:
    presets.save_preset("mine", "", spec.to_yaml(make_spec()), FOLDER)
    changed = spec.to_yaml(make_spec(training={"beta": 0.5}))
    with pytest.raises(PresetExists, match="already have a preset “mine”"):
        presets.save_preset("Mine", "", changed, FOLDER)
    assert "beta" not in presets.get_preset("mine", FOLDER).text
    presets.save_preset("Mine", "now with beta", changed, FOLDER, replace=True)
    assert [(preset.name, preset.text) for preset in presets.own_presets()] == [("Mine", changed)]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "Give the preset a name"),
        (" \t\n", "Give the preset a name"),
        ("x" * 81, "81 characters; 80 is the most"),
        ("two\nlines", "invisible characters"),
        ("nul\0", "invisible characters"),
        ("right\u202eleft", "invisible characters"),
        ("half\ud800", "invisible characters"),
        ("quickstart", "ships with Groupwise"),
        ("QuickStart", "ships with Groupwise"),
        ("dr. grpo", "ships with Groupwise"),
    ],
)
def test_a_name_that_cannot_be_is_refused(registry_home: Path, name: str, reason: str) -> None:
    with pytest.raises(PresetError, match=reason):
        presets.save_preset(name, "", spec.to_yaml(make_spec()), FOLDER)
    assert presets.own_presets() == []


def test_hostile_names_and_sentences_are_kept_as_the_text_they_are(registry_home: Path) -> None:
    """They are escaped where they are shown."""
    name, sentence = "<img src=x onerror=alert(1)>'; DROP TABLE preset;--", "../../${7*7} {{value}} </script>"
    presets.save_preset(name, sentence, spec.to_yaml(make_spec()), FOLDER)
    assert [(preset.name, preset.sentence) for preset in presets.own_presets()] == [(name, sentence)]
    with pytest.raises(PresetError, match="301 characters; 300 is the most"):
        presets.save_preset("long", "x" * 301, spec.to_yaml(make_spec()), FOLDER)
    with pytest.raises(PresetError, match="invisible characters"):
        presets.save_preset("strange", "a\u202eb", spec.to_yaml(make_spec()), FOLDER)


NO_SPECS = [
    "", "name: [", "just words", "name: x\nrewards: []\n", "name: x\nlerning: 1\n", "a: &a [*a]", "x" * 300_000,
    "name: \ud800", "!!python/object:os.system {}",
]  # fmt: skip


@pytest.mark.parametrize("text", NO_SPECS, ids=[text[:12].encode("unicode-escape").decode() for text in NO_SPECS])
def test_what_is_no_spec_is_kept_out(registry_home: Path, text: str) -> None:
    with pytest.raises(SpecError):
        presets.save_preset("broken", "", text, FOLDER)
    assert presets.own_presets() == []


@pytest.mark.parametrize("where", ["run", "stage"])
def test_a_token_is_kept_out(registry_home: Path, where: str) -> None:
    secret = {"hub_token": "hf_canary"}
    parts = {"training": secret} if where == "run" else {"stages": [{"training": secret}]}
    with pytest.raises(PresetError, match="A token is a secret"):
        presets.save_preset("secret", "", spec.to_yaml(make_spec(**parts)), FOLDER)
    assert b"hf_canary" not in paths.registry_path().read_bytes()


def test_deleting(registry_home: Path) -> None:
    presets.save_preset("mine", "", spec.to_yaml(make_spec()), FOLDER)
    presets.delete_preset("mine")
    assert presets.own_presets() == []
    for name in ("mine", "quickstart"):
        with pytest.raises(PresetError, match=f"no preset “{name}”"):
            presets.delete_preset(name)
    with pytest.raises(PresetError, match="There is no preset “mine”"):
        presets.get_preset("mine", FOLDER)


def test_a_text_that_was_damaged_on_the_disk_is_listed_all_the_same(registry_home: Path) -> None:
    """Who opens it reads what is wrong with it."""
    with registry.write_registry() as db:
        db.execute("INSERT INTO preset (name, sentence, spec, at) VALUES ('old', '', 'name: [', 0)")
    assert [preset.name for preset in presets.own_presets()] == ["old"]
