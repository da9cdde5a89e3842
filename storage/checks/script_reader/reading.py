"""A script that was followed, and the bookkeeping: what of it was taken into the spec, and a sentence for all else."""

import ast
from collections.abc import Callable, Collection
from typing import Any

from groupwise.storage.checks.check import OWNED
from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.interpret import Interpreter
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.unsaid import FOLDER, NO_CHANGE, Unsaid, list_names
from groupwise.storage.checks.script_reader.values import (
    Deleted,
    Either,
    Given,
    Made,
    Outer,
    Part,
    Value,
    inner_values,
    origin,
    plain_or,
    script_line,
    to_plain,
)
from groupwise.storage.spec.words.setting_names import REMOVED, removed_words

FOLDERS = {"output_dir", "overwrite_output_dir", "logging_dir"}  # of GRPOConfig
_TAKEN_ELSEWHERE = {"model_init_kwargs", "reward_weights"}
NOTHING: tuple[Any, ...] = (None, False, "none", [], ["none"])  # what a setting says that changes nothing


class Reading:
    """A followed script with its notes. `trainer`: the arguments of the trainer that is trained, by their names."""

    def __init__(
        self,
        script: Interpreter,
        lines: list[str],
        place: Callable[[int], str] = "line {}".format,
        settings: Collection[str] = (),
    ) -> None:
        """`lines`: the script's own; `place`: how one is named; `settings`: TRL's, where they are known."""
        self.script = script
        self.lines = lines
        self.place = place
        self.known_settings = settings
        self.datasets: list[str] = []  # that are joined, by their names
        self.untaken: list[str] = []  # of what is joined and cannot be taken: why
        self.chosen = 0  # which of them is taken, from 1; 0 for none
        self.open_source = "hub:"  # where no data was found: where it is to be chosen
        self.makes_rows = False  # whether the script makes the rows that are trained on by itself
        self.own = False  # whether it is a script that Groupwise wrote
        # the script's name of the answer's column where it is another one, its value, and the column that it is made of
        self.answer: tuple[str, Value, str | None] | None = None
        self.text_prompt: Value | None = None  # the prompt where it is a text that the script puts together
        self.codes: list[str] = []  # of the rewards that come along, with all that they use
        self.asked: dict[str, str] = {}  # what the script's own rewards take by name, and the first that does
        self.trainer: dict[str, Value] = {}
        self.made_trainer: Made | None = None
        self.adapter: Made | None = None  # the call that LoRA was taken from
        self.joined: dict[int, Made] = {}  # configs of which a condition decides, as one
        self.unsaid = Unsaid()
        self._notes: dict[str, int] = {}
        self._said: set[int] = set()
        self._whole: set[int] = set()  # of these, also all that they are made of

    @property
    def notes(self) -> list[str]:
        """Every sentence, by line; then what no line says."""
        return self.line_notes if self.own else [*self.line_notes, *self.unsaid.sentences()]

    @property
    def line_notes(self) -> list[str]:
        """The sentences that a line says, by line."""
        return sorted(self._notes, key=self._notes.__getitem__)

    def note(self, before: str, at: Value | ast.AST, after: str) -> None:
        """Note once what was not taken, with its line."""
        line = script_line(at)
        self._notes.setdefault(f"{before} ({self.place(line)}) {after}", line)

    def leave_out(self, what: str, at: Value | ast.AST, why: str) -> None:
        """Remember what was left out without a note of its own (see unsaid)."""
        self.unsaid.leave_out(f"{what} ({self.place(script_line(at))})", why)

    def tell(self, sentence: str, at: Value | ast.AST | None = None) -> None:
        """Note a whole sentence; without a place it comes last."""
        self._notes.setdefault(sentence, script_line(at) if at is not None else 10**9)

    def note_computed(self, what: str, value: Value) -> None:
        """Note that only running the script would tell a value, and that this was said of all that it is made of."""
        self.note(what, value, f"{_why_unknown(value)}: set it here.")
        self.account(value)

    def note_dark(self, dark: list[Value], what: str) -> None:
        """Note what is spread into a call of which the names cannot be told."""
        for value in dark:
            self.note(f"Some of {what}", value, "come from what the script computes: set them here.")
            self.account(value)

    def is_setting(self, name: str) -> bool:
        """Whether TRL's config has a setting of this name, as far as that is known."""
        return not self.known_settings or name in self.known_settings or name in OWNED or name in REMOVED

    def account(self, *values: Value | None) -> None:
        """These, and all that they are made of, are taken or noted."""
        for value in values:
            if value is not None:
                found = {id(inner) for inner in inner_values(value, self._whole)}
                self._said |= found
                self._whole |= found

    def account_one(self, *values: Value | Setting) -> None:
        """These themselves are taken or noted, not what they are made of."""
        self._said |= {id(value) for value in values}

    def is_said(self, value: Value | Setting) -> bool:
        """Whether a value was taken or noted."""
        return id(value) in self._said

    def settings(self, section: str, given: dict[str, Value]) -> dict[str, Any]:
        """The plain values of settings; a note for each that is none, or that is not set here."""
        taken: dict[str, Any] = {}
        for name, value in given.items():
            self.account(value)
            if section == "training" and self._is_left_out(name, value):
                continue
            try:
                taken[name] = to_plain(value)
                if isinstance(taken[name], str) and "${" in taken[name] and not self.own:
                    self.note(name, value, f"refers to another setting, {taken.pop(name)}: set it here.")
            except Unknown:
                if section == "training" and name in REMOVED:
                    self.note(name, value, f"was not taken: it {removed_words(name)}")
                elif isinstance(value, Either) and (unmet := plain_or(value.unmet, ...)) is not ...:
                    taken[name] = unmet
                    self.note(name, value, _unmet_words(value, unmet))
                elif not (self.own and name == "use_cpu"):
                    self.note_computed(name, value)
        return taken

    def _is_left_out(self, name: str, value: Value) -> bool:
        """Whether a setting of GRPOConfig is none of a spec's; then that is said."""
        nothing = plain_or(value, ...) in NOTHING
        if name not in OWNED and not (name == "report_to" and nothing):
            return False
        if name in FOLDERS:
            self.leave_out(name, value, FOLDER)
        elif name not in _TAKEN_ELSEWHERE and nothing:
            self.leave_out(name, value, NO_CHANGE)
        elif name not in _TAKEN_ELSEWHERE:
            self.note(name, value, f"was left out: {OWNED[name]}")
        return True


CONDITION = "depends on a condition"
_LONGEST = 100  # signs of code in a sentence
_FILES = ("yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "json.loads", "toml.load", "tomllib.load",
          "OmegaConf.load", "omegaconf.OmegaConf.load", "configparser.ConfigParser")  # fmt: skip


def _option_in_words(said: Any) -> str:
    if isinstance(said, str):
        return f"“{said}”" if said else ""
    return str(said) if isinstance(said, (int, float)) else ""


def _unmet_words(value: Either, taken: Any) -> str:
    """What was taken of a setting where its condition is not met, and what else it may be."""
    others = [plain_or(option, ...) for option in value.options if option is not value.unmet]
    known = list_names(list(dict.fromkeys(_quoted(one) for one in others if one is not ... and one != taken)))
    otherwise = "is computed by the script" if not known else f"is {known}" if len(others) == 1 else f"may be {known}"
    return f"{CONDITION}: {_quoted(taken)} was taken (condition not met). Otherwise it {otherwise}."


def _quoted(said: Any) -> str:
    return f"“{said}”" if isinstance(said, str) else str(said)


def _why_unknown(value: Value) -> str:
    """Why only running the script would tell a value."""
    if isinstance(value, Either):
        said = [_option_in_words(plain_or(one)) for one in value.options]
        return f"{CONDITION} (it may be {list_names([one for one in said if one])})" if any(said) else CONDITION
    if isinstance(value, Deleted):
        return "is deleted by the script"
    first = origin(value)
    if isinstance(value, Made) and isinstance(first, Made) and first is not value and first.name.endswith("Config"):
        return f"is what {short_path(value)}(…) makes of it, which cannot be followed"
    if isinstance(first, Made) and first.parsed and isinstance(value, Part):
        return f"is read from the command line or a recipe ({value.name})"
    if isinstance(first, Given):
        return f"is read from {first.source}"
    if isinstance(first, Made) and first.path in _FILES:
        return f"is read from a file ({ast.unparse(value.node)[:60]})"
    if isinstance(first, Outer) and first.path in ("os.environ", "environ"):
        return f"is read from the environment ({ast.unparse(value.node)[:60]})"
    return "is computed by the script"


def quote_code(node: ast.AST) -> str:
    """A piece of the script in a sentence, in one line."""
    said = " ".join(ast.unparse(node).split())
    return f"“{said if len(said) <= _LONGEST else f'{said[: _LONGEST - 1]}…'}”"


def short_path(value: Value) -> str:
    """What a call calls, as the script's readers know it: `AutoModelForCausalLM.from_pretrained`."""
    if not isinstance(value, Made):
        return value.path if isinstance(value, Outer) else "?"
    said = ast.unparse(value.node.func) if isinstance(value.node, ast.Call) else value.path
    said = said if all(part.isidentifier() for part in said.split(".")) else value.path.lstrip(".")
    return said[:60]
