"""What is said of a line at a script's top level is said of it wherever it stands: in a loop, a condition, a function,
a class, or within another expression."""

from __future__ import annotations

import functools
import textwrap

import pytest

from groupwise.storage.checks.script_reader import read_script
from tests.storage.test_script_nothing_dropped import HEAD, read, script

MADE = """
args = GRPOConfig(output_dir='o', beta=0.1)
data = load_dataset('a/b', split='train')
model = AutoModelForCausalLM.from_pretrained('a/m')
tok = AutoTokenizer.from_pretrained('a/m')
trainer = GRPOTrainer(model, think_format_reward, args, data, processing_class=tok)
"""
EXPRESSIONS = [
    "trainer.train(resume_from_checkpoint=True)", "trainer.train(resume_from_checkpoint=newest())",
    "trainer.add_callback(Stop())", "trainer.save_model('x')", "trainer.evaluate()", "trainer.push_to_hub()",
    "set_seed(3)", "torch.manual_seed(3)", "login('hf')", "wandb.init(project='p')", "exec('x')", "os.system('x')",
    "os.environ.setdefault('FOO', '0')", "setattr(args, name, 3)", "delattr(args, 'beta')",
    "model.gradient_checkpointing_enable()", "tok.add_tokens(['x'])", "SFTTrainer(model=model).train()",
    "LoraConfig(r=4)",
]  # fmt: skip
STATEMENTS = [
    "os.environ['FOO'] = '0'", "del os.environ['FOO']", "del args.beta", "args.beta = rate()", "model.config.x = 1",
    "tok.chat_template = 'x'", "GRPOTrainer._x = mine", "trainer.optimizer = torch.optim.AdamW(model.parameters())",
    "data = data.map(make)", "data.select([1, 5])", "args.beta = 0.5",
]  # fmt: skip
# For a part of another expression: these have a sentence of their own, whatever is done with what they give.
TOLD_BY_NAME = [one for one in EXPRESSIONS if not one.startswith(("exec", "os.", "tok.", "setattr", "delattr"))]

DEF = "def main():\n    global data\n    HERE\n"
METHOD = "class A:\n    def {}:\n        global data\n        HERE\n"
AROUND = [
    "for one in (1,):\n    HERE", "for one in (1, 2, 3):\n    HERE", "for one in many():\n    HERE",
    "for one in (1, 2):\n    HERE\n    break", "for one in (1, 2):\n    if one:\n        break\nelse:\n    HERE",
    "while going():\n    HERE", "while True:\n    HERE\n    break", "while going():\n    pass\nelse:\n    HERE",
    "if __name__ == '__main__':\n    HERE", "if cond():\n    HERE", "if cond():\n    pass\nelse:\n    HERE",
    "match kind():\n    case 1:\n        HERE", "with thing() as it:\n    HERE",
    "try:\n    HERE\nfinally:\n    pass", "try:\n    pass\nexcept E:\n    pass\nelse:\n    HERE",
    "try:\n    pass\nfinally:\n    HERE", f"{DEF}main()", f"{DEF}for one in (1, 2, 3):\n    main()",
    f"{DEF}main()\nmain()", f"{DEF}if __name__ == '__main__':\n    raise SystemExit(main())", f"{DEF}assert main()",
    f"{DEF}def f(x=main()):\n    pass", f"async {DEF}asyncio.run(main())",
    f"{DEF}TABLE = {{'a': main, 'b': main}}\nTABLE[mode()]()",
    f"{DEF}def other():\n    pass\ngo = main if cond() else other\ngo()",
    "def main(k):\n    global data\n    HERE\nlist(map(main, (1, 2)))",
    "def main(k):\n    global data\n    HERE\n{k: main(k) for k in many()}",
    "def parts():\n    global data\n    HERE\n    yield 1\nfor part in parts():\n    pass",
    "@contextmanager\ndef parts():\n    yield\n    global data\n    HERE\nwith parts():\n    pass",
    METHOD.format("go(self)") + "A().go()", METHOD.format("__init__(self)") + "A()",
    METHOD.format("__enter__(self)") + "with A():\n    pass",
    METHOD.format("__exit__(self, *a)") + "with A():\n    pass",
    "@dataclass\n" + METHOD.format("__post_init__(self)") + "A()",
    METHOD.format("go(self)") + "class B(A):\n    def go(self):\n        super().go()\nB().go()",
]  # fmt: skip
WITHIN = [
    "x = HERE", "print(HERE)", "log(HERE)", "log(value=HERE)", "log(*HERE)", "HERE.metrics",
    "HERE.metrics.items().go()",
    "[HERE for k in many()]", "[HERE for k in (1, 2) if cond(k)]", "any(HERE for a in (1, 2) for b in (3, 4))",
    "cond() and HERE", "HERE if cond() else None", "raise Stop from HERE",
    "match 1:\n    case k if HERE:\n        pass",
    "assert HERE", "with log(HERE):\n    pass", "while HERE:\n    pass",
]  # fmt: skip


@functools.cache
def _subjects(code: str) -> set[str]:
    """What the notes are about of a script with this in it: their words before the line; where it stands is no matter,
    nor is whether it comes before the training."""
    train = "" if "trainer.train(" in code else "\ntrainer.train()"
    notes = read_script(HEAD + MADE + code + train).notes
    return {note.split(" (line")[0] for note in notes} - _NOT_ABOUT


_NOT_ABOUT = {note.split(" (line")[0] for note in read_script(f"{HEAD}{MADE}trainer.train()").notes}


@pytest.mark.parametrize("around", AROUND)
def test_what_is_said_of_a_line_at_the_top_level_is_said_of_it_in_any_block(around: str) -> None:
    lines = [*EXPRESSIONS, *STATEMENTS]
    dropped = {line: lost for line in lines if (lost := _subjects(line) - _subjects(around.replace("HERE", line)))}
    assert not dropped


@pytest.mark.parametrize("around", WITHIN)
def test_what_is_said_of_a_call_is_said_of_it_within_another_expression(around: str) -> None:
    dropped = {one: lost for one in TOLD_BY_NAME if (lost := _subjects(one) - _subjects(around.replace("HERE", one)))}
    assert not dropped


@pytest.mark.parametrize(
    "around",
    [
        "for seed in (1, 2, 3):\n    HERE",
        "for seed in seeds():\n    HERE",
        "def go():\n    HERE\nfor n in (1, 2):\n    go()",
    ],
)
@pytest.mark.parametrize("line", EXPRESSIONS)
def test_where_all_of_a_script_stands_in_a_loop_each_line_is_said(line: str, around: str) -> None:
    train = "" if "trainer.train(" in line else "\ntrainer.train()"
    whole = around.replace("HERE", textwrap.indent(f"{MADE.strip()}\n{line}{train}", "    ").lstrip())
    found = {note.split(" (line")[0] for note in read_script(HEAD + whole).notes}
    assert _subjects(line) <= found


def test_every_line_of_the_table_is_said_at_the_top_level() -> None:
    assert not [line for line in (*EXPRESSIONS, *STATEMENTS[:-1]) if not _subjects(line)]


def test_what_a_script_does_where_something_fails_is_said() -> None:
    code = "try:\n    pass\nexcept OSError:\n    set_seed(4)\n    args.beta = 0.4\n    logger.log('x')"
    raw, said = read(script(code))
    assert raw["training"] == {"beta": 0.1} and "set_seed(…) (line 14) is called where something fails" in said
    assert "“args.beta” (line 15) is set where something fails: it was not taken." in said and "logger" not in said


def test_what_a_generator_sets_is_not_taken_for_certain() -> None:
    rates = "args.learning_rate = 4e-6\n    yield\n    args.learning_rate = 1e-6"
    code = f"def parts():\n    {rates}\nwith parts():\n    trainer.train()"
    raw, said = read(script().replace("trainer.train()", code))
    assert "learning_rate" not in raw["training"] and "depends on a condition" in said


def test_a_class_of_the_script_sets_what_its_own_way_of_making_it_does() -> None:
    made = "@dataclass\nclass S:\n    rate: float = 0.4\n    def __post_init__(self):\n        self.rate = 0.6\n"
    raw, said = read(script(f"{made}args.beta = S().rate"))
    assert raw["training"]["beta"] == 0.6 and said == ""
    base = "class A:\n    def __init__(self, rate):\n        self.rate = rate\n"
    derived = "class B(A):\n    def __init__(self):\n        super().__init__(0.7)\n"
    raw, said = read(script(f"{base}{derived}args.beta = B().rate"))
    assert raw["training"]["beta"] == 0.7 and said == ""


@pytest.mark.parametrize("value", ["None", "False", "args.resume_from_checkpoint"])
def test_a_training_that_begins_anew_is_not_said_to_resume(value: str) -> None:
    assert read(script().replace(".train()", f".train(resume_from_checkpoint={value})"))[1] == ""
