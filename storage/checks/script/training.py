"""The training half of a run's plain script: the model, the stages, and main()."""

from typing import Any

from groupwise.storage.checks.script import rewards
from groupwise.storage.library.models import model_files
from groupwise.storage.spec.python_source import inline, keywords, literal
from groupwise.storage.spec.spec import ModelSpec, RunSpec

OUTPUT = "plain-output"  # beside the run's own checkpoints, which a script must not touch
ON_CPU = "not torch.accelerator.is_available()"


def model_constants(model: ModelSpec) -> str:
    """The lines that name the model and, where one is asked for, its revision."""
    lines = f"MODEL = {_model(model.id)}\n"
    return lines + (f"REVISION = {literal(model.revision)}\n" if has_revision(model) else "")


def has_revision(model: ModelSpec) -> bool:
    """Whether a revision is asked for, and the model is one that has revisions."""
    return bool(model.revision) and model.id != "starter" and model_files.model_folder(model.id) is None


def unused_model_settings(model: ModelSpec) -> list[str]:
    """The settings of the model that are given and that a script has no use for."""
    used = {"revision": has_revision(model), "attn_implementation": bool(model.attn_implementation)}
    return [name for name, use in used.items() if getattr(model, name) is not None and not use]


def _model(model_id: str) -> str:
    if model_id == "starter":
        return 'os.environ.get("MODEL") or str(folder_with("starter", "models") / "starter")'
    return f"str(Path({literal(model_id)}).expanduser())" if model_id.startswith("~") else literal(model_id)


def _model_there(model: ModelSpec) -> str:
    """A folder that is not there is said before anything is loaded: of a path, Transformers says that it is no name of
    a repository."""
    if model.id != "starter" and model_files.model_folder(model.id) is None:
        return ""
    return (
        '    if MODEL.startswith(("/", ".")) and not Path(MODEL).is_dir():\n'
        '        raise SystemExit(f"There is no model folder {MODEL}. Put it there, or change MODEL in train.py.")\n'
    )


def main(spec: RunSpec) -> str:
    """The script from its stages, if there are any, to its end."""
    parts = [
        _stage_constants(spec) if spec.stages else "",
        "\n\ndef main():\n",
        _model_there(spec.model),
        # The reference model is loaded from the same place by TRL itself, without the revision.
        '    folder = snapshot_download(MODEL, revision=REVISION, ignore_patterns=["*.bin", "*.pt", "*.pth"])\n'
        if has_revision(spec.model)
        else "",
        f"    tokenizer = AutoTokenizer.from_pretrained({'folder' if has_revision(spec.model) else 'MODEL'})\n",
        "    train, held_out = prompts(chat=tokenizer.chat_template is not None)\n",
        _quantization(spec),
        _stages(spec) if spec.stages else _single(spec),
        '\n\nif __name__ == "__main__":\n    main()\n',
    ]
    return "".join(parts)


def _single(spec: RunSpec) -> str:
    config = {"output_dir": OUTPUT, **spec.training}
    config["reward_weights"] = [reward.weight for reward in spec.rewards]
    on_cpu = "" if "use_cpu" in config else f"        use_cpu={ON_CPU},\n"
    functions = rewards.function_list(spec.rewards, 8)
    changes = [rewards.change(reward) for reward in spec.rewards]
    changing = f"        changes={literal(changes, 8, 9)},\n" if rewards.changing(spec) else ""
    lora = f"        peft_config=LoraConfig({_lora(spec.lora, 12)}),\n" if spec.lora is not None else ""
    return (
        f"    config = GRPOConfig(\n{keywords(config, 8)}{on_cpu}    )\n"
        f"    model = {_load(spec.model, 4)}\n"
        f"    trainer = {rewards.trainer(spec)}(\n{_trainer(functions, 8)}{lora}{changing}    )\n"
        f"    trainer.train()\n    trainer.save_model({literal(OUTPUT + '/final')})\n"
    )


def _trainer(functions: str, indent: int) -> str:
    arguments = {
        "model": "model", "reward_funcs": functions, "args": "config", "train_dataset": "train",
        "eval_dataset": "held_out", "processing_class": "tokenizer",
    }  # fmt: skip
    return "".join(f"{' ' * indent}{name}={value},\n" for name, value in arguments.items())


def _lora(values: dict[str, Any], indent: int) -> str:
    """LoraConfig's keywords. The task, which everyone needs and nobody asks for, is said another way than by people,
    so that it is known again."""
    task = "" if "task_type" in values else f"{' ' * indent}task_type=TaskType.CAUSAL_LM,\n"
    return f"\n{task}{keywords(values, indent)}{' ' * (indent - 4)}"


def _load(model: ModelSpec, indent: int) -> str:
    place, pad = "folder" if has_revision(model) else "MODEL", " " * indent
    options = {"dtype": literal(model.dtype)}
    if model.attn_implementation:
        options["attn_implementation"] = literal(model.attn_implementation)
    if model.quantization:
        options |= {"quantization_config": "quantization", "device_map": '{"": device}'}
    if len(options) == 1:
        return f"AutoModelForCausalLM.from_pretrained({place}, {inline(options)})"
    lines = "".join(f"{pad}    {name}={value},\n" for name, value in options.items())
    return f"AutoModelForCausalLM.from_pretrained(\n{pad}    {place},\n{lines}{pad})"


def _quantization(spec: RunSpec) -> str:
    """A quantised model is put on its device while it is loaded: each of several processes on its own."""
    if not spec.model.quantization:
        return ""
    device = 'int(os.environ.get("LOCAL_RANK", "0")) if torch.accelerator.is_available() else "cpu"'
    device = f"    device = {literal('cpu') if spec.training.get('use_cpu') is True else device}\n"
    if spec.model.quantization == "8bit":
        return f"{device}    quantization = BitsAndBytesConfig(load_in_8bit=True)\n"
    return (
        f"{device}    dtype = torch.float32\n"
        "    if torch.cuda.is_available():\n"
        "        dtype = torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16\n"
        "    quantization = BitsAndBytesConfig(\n"
        '        load_in_4bit=True,\n        bnb_4bit_quant_type="nf4",\n        bnb_4bit_use_double_quant=True,\n'
        "        bnb_4bit_compute_dtype=dtype,\n    )\n"
    )


def _stage_constants(spec: RunSpec) -> str:
    """REWARDS and TRAINING of the run, and what each of its STAGES changes."""
    stages = ""
    for stage in spec.stages:
        given = {"name": literal(stage.name)} if stage.name is not None else {}
        if stage.rewards is not None:
            given["rewards"] = rewards.pairs(stage.rewards, 8, with_changes=rewards.changing(spec))
        if stage.training:
            given["training"] = literal(stage.training, 8, len("'training': ,"))
        inner = "".join(f"        {literal(name)}: {value},\n" for name, value in given.items())
        stages += f"    {{\n{inner}    }},\n" if inner else "    {},\n"
    own = rewards.pairs(spec.rewards, 0, with_changes=rewards.changing(spec))
    return (
        f"\n\n# The run's rewards with their weights, its training, and what each stage changes of them.\n"
        f"REWARDS = {own}\nTRAINING = {literal(spec.training, 0, 11)}\nSTAGES = [\n{stages}]\n"
    )


def _stages(spec: RunSpec) -> str:
    """main's loop. Each stage puts the weights of the one before into the model as it was loaded: so the reference,
    which TRL takes from there too, is the same for all."""
    lora = f"            peft_config=LoraConfig({_lora(spec.lora, 16)}),\n" if spec.lora is not None else ""
    changing, rest = rewards.changing(spec), ", _" if rewards.changing(spec) else ""
    changes = "            changes=[change for _, _, change in rewards],\n" if changing else ""
    return (
        "    weights = {}\n"
        "    for number, stage in enumerate(STAGES, 1):\n"
        '        rewards = stage.get("rewards", REWARDS)\n'
        f'        own = {{"output_dir": f"{OUTPUT}/stage-{{number}}"}}\n'
        f'        own["use_cpu"] = {ON_CPU}\n'
        '        settings = {**own, **TRAINING, **stage.get("training", {})}\n'
        f"        config = GRPOConfig(**settings, reward_weights=[weight for _, weight{rest} in rewards])\n"
        f"        model = {_load(spec.model, 8)}\n"
        f"        trainer = {rewards.trainer(spec)}(\n"
        f"{_trainer(f'[function for function, _{rest} in rewards]', 12)}{lora}{changes}        )\n"
        "        trainer.model.load_state_dict(weights, strict=False)\n"
        "        trainer.train()\n"
        "        trained = [(name, value) for name, value in trainer.model.named_parameters() if value.requires_grad]\n"
        '        weights = {name: value.detach().to("cpu", copy=True) for name, value in trained}\n'
        f"    trainer.save_model({literal(OUTPUT + '/final')})\n"
    )
