"""What is published of a home: by its worker, or by the dashboard where it is started. Each is stored under its
`key`, and read by storage.registry.registry.read_fact."""

import functools
import json
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from groupwise.storage.registry.messages.message import Message, Misfit, Plain

MOST_PORTS = 64  # that judges may have on this machine


class Fact(Message):
    """One thing that is published. `key` is its name in the registry."""

    key: ClassVar[str]

    @classmethod
    @functools.lru_cache(maxsize=16)  # each page reads them again and again, and the catalogue takes milliseconds
    def from_text(cls, text: str) -> Self | None:
        """What a stored text says; None where it is damaged, or of another form: an older version published it."""
        try:
            return cls.from_plain(json.loads(text))
        except (Misfit, ValueError, RecursionError):
            return None

    @functools.cached_property
    def plain(self) -> Plain:
        """As JSON holds it: made once, so that whoever reads it changes nothing in it."""
        return self.as_dict()


class Gpu(Message):
    """A device that a training sees, by its place in nvidia-smi's order. memory, free: bytes; capability: of computing,
    such as 9.0, where it is known."""

    name: str
    memory: int
    free: int
    index: int = 0
    uuid: str = ""
    capability: str | None = None


class Hardware(Fact):
    """What this machine has to train with. memory: bytes; sentence: all of it in words."""

    key: ClassVar[str] = "hardware"
    gpus: list[Gpu]
    cores: int
    memory: int
    sentence: str


class Setting(Message):
    """A field of a config, or a parameter: the kinds of value it takes (int, float, bool, str, list, dict, none), its
    default, all its values where it lists them, and what it is for. `booleans`: which of its values the library makes
    of “true” and “false”, where it takes them as well. `section` and `order`: where a form shows it."""

    types: list[str]
    default: Any
    choices: list[Any] | None = None
    booleans: dict[str, str] = {}
    help: str = ""
    section: str = ""
    order: int = 0


class GymTask(Message):
    """A task of reasoning-gym."""

    help: str
    parameters: dict[str, Setting]


class Catalogue(Fact):
    """What the installed libraries can be told: every field of GRPOConfig and LoraConfig, reasoning-gym's tasks (None:
    it is not installed), the kinds of text model that transformers loads. `versions`: of what it was read from. Where
    training and lora are None, nothing is known of them, and no setting is held against them."""

    key: ClassVar[str] = "catalogue"
    versions: dict[str, str]
    training: dict[str, Setting] | None = None
    lora: dict[str, Setting] | None = None
    gym: dict[str, GymTask] | None = None
    model_types: list[str] = []

    def defaults(self) -> dict[str, Any]:
        """GRPOConfig's defaults by name."""
        return {name: setting.default for name, setting in (self.training or {}).items()}


class Parameter(Message):
    """A keyword-only argument of a reward function. `adjustable`: whether a form can hold it."""

    name: str
    types: list[str]
    default: Any
    choices: list[Any] | None = None
    help: str = ""
    adjustable: bool = True


class BuiltIn(Message):
    """A reward function or task that ships. needs: optional packages; sandbox: whether it runs what a model wrote, and
    so cannot work without one; network: whether it cannot work without; given: lists of parameters of each of which
    one must be given; columns: parameters that name a column without which there is no score. Of a reward also:
    arguments that it asks for, and its parameters."""

    help: str
    code: str = ""
    needs: list[str] = []
    sandbox: bool = False
    network: bool = False
    given: list[list[str]] = []
    columns: list[str] = []
    arguments: list[str] = []
    parameters: list[Parameter] = []


class Shipped(Fact):
    """What ships with the installed Groupwise, and which optional packages are there: import name → version."""

    key: ClassVar[str] = "built_in"
    rewards: dict[str, BuiltIn]
    tasks: dict[str, BuiltIn]
    extras: dict[str, str] = {}


class Sandbox(Fact):
    """Which sandbox this machine can make: bubblewrap, landlock or none; a few words, and a sentence that says what it
    means. network: why functions with leave to use it cannot run, or nothing."""

    key: ClassVar[str] = "sandbox"
    name: str
    label: str
    sentence: str
    network: str = ""


class Worker(Fact):
    """The worker that this home has, or last had. version: Groupwise's ("": not known); environment: the folder of the
    Python that it runs in."""

    key: ClassVar[str] = "worker"
    version: str
    environment: str


class TrustRewardCode(Fact):
    """Whether people's own reward functions may run without a sandbox."""

    key: ClassVar[str] = "trust_reward_code"
    trusted: bool


class WarmStart(Fact):
    """Whether a spare training process may wait for the next run."""

    key: ClassVar[str] = "warm_start"
    wanted: bool


class JudgePorts(Fact):
    """The ports of this machine that functions with leave to use the network may reach."""

    key: ClassVar[str] = "judge_ports"
    ports: Annotated[list[Annotated[int, Field(ge=1, le=65535)]], Field(max_length=MOST_PORTS)]
