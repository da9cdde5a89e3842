"""TRL's trainer and its config among what a script makes: which calls make them, and what stands at which place."""

from groupwise.storage.checks.script_reader.values import Either, Item, Made, Part, Value, plain_or

# The arguments of GRPOTrainer in their order; a test reads them from what is installed.
PLACES = ("model", "reward_funcs", "args", "train_dataset", "eval_dataset", "processing_class",
          "reward_processing_classes", "callbacks", "optimizers", "quantization_config", "peft_config", "tools",
          "rollout_func", "environment_factory")  # fmt: skip


def is_trainer(value: Value | None) -> bool:
    """Whether a value is TRL's GRPO trainer, or one that derives from it."""
    return isinstance(value, Made) and value.receiver is None and value.name.endswith("GRPOTrainer")


def is_config(value: Value | None) -> bool:
    """Whether a value is a GRPOConfig, or one that derives from it."""
    return isinstance(value, Made) and value.receiver is None and value.name.endswith("GRPOConfig")


def configs_of(value: Value | None) -> list[Made]:
    """The config that a value is, or each that it may be; empty where it may be something else."""
    options = value.options if isinstance(value, Either) else [value]
    configs = [option for option in options if isinstance(option, Made) and is_config(option)]
    return configs if len(configs) == len(options) else []


def given_by_place(made: Made, name: str) -> Value | None:
    """What the trainer is given by place under this name: trainer.args of GRPOTrainer(model, rewards, args); and the
    model of ModelConfig("a/model")."""
    of_model = ("model_name_or_path",) if made.name == "ModelConfig" and made.receiver is None else ()
    places = (PLACES if is_trainer(made) else of_model)[: len(made.arguments)]
    return made.arguments[places.index(name)] if name in places else None


def owner_of_dict(value: Value | None) -> Made | None:
    """The trainer or config whose attributes a value is: `args.__dict__`, `vars(args)`."""
    owner: Value | None = None
    if isinstance(value, Part) and value.name == "__dict__":
        owner = value.of
    elif isinstance(value, Made) and value.path == "vars" and len(value.arguments) == 1:
        owner = value.arguments[0]
    return owner if isinstance(owner, Made) and (is_config(owner) or is_trainer(owner)) else None


def part_within(value: Value, of: Made, name: str) -> Item | None:
    """What stood at a key before, in a value that is made of it."""
    inner: Value | None = value
    for _ in range(50):
        if isinstance(inner, Item) and inner.of is of and plain_or(inner.key) == name:
            return inner
        inner = inner.receiver if isinstance(inner, Made) else inner.of if isinstance(inner, Item) else None
    return None
