"""What a script says of the model: where it is from, how it is loaded, and what becomes of it before the training."""

import ast
from typing import Any

from groupwise.storage.checks.script_reader.reading import Reading, short_path
from groupwise.storage.checks.script_reader.training import config_values
from groupwise.storage.checks.script_reader.unsaid import AS_HERE, NO_CHANGE
from groupwise.storage.checks.script_reader.values import Item, Made, Mapping, Outer, Part, Plain, Value, plain_or

DTYPES = ("auto", "float32", "bfloat16", "float16")
_MOVED = {"half": "float16", "float": "float32"}
_SAME_MODEL = {"to", "cuda", "cpu", "train", "eval", "requires_grad_", "prepare_model_for_kbit_training", "compile"}
_DTYPE_METHODS = {"half": "float16", "bfloat16": "bfloat16", "float": "float32"}
_TAKEN = {"pretrained_model_name_or_path", "model_name", "revision", "attn_implementation", "dtype", "torch_dtype",
          "quantization_config", "load_in_4bit", "load_in_8bit"}  # fmt: skip
_OWN_WAY = {
    "trust_remote_code": "was not taken: code from a model's repository is never run.",
    "token": "was not taken: tokens belong in the environment (HF_TOKEN).",
    "use_auth_token": "was not taken: tokens belong in the environment (HF_TOKEN).",
    "device_map": "was not taken: each process puts the model on its own device.",
    "max_seq_length": "was not taken: training.max_completion_length limits a completion here.",
    "fast_inference": "was not taken: training.use_vllm says here whether vLLM generates.",
    "gpu_memory_utilization": "was not taken: set training.vllm_gpu_memory_utilization, with use_vllm.",
    "max_lora_rank": "is Unsloth's own: lora.r says it here.",
    "use_cache": "was not taken: TRL decides that itself.",
    "full_finetuning": "was not taken: without lora, all weights are trained here.",
    "use_gradient_checkpointing": "is Unsloth's own: training.gradient_checkpointing says it here.",
}
_NOTHING = {"device_map", "use_cache", "trust_remote_code", "full_finetuning", "fast_inference", "token"}

# How 4-bit models are loaded here (worker.builtin.models), by the names of a BitsAndBytesConfig.
BITS = {"bnb_4bit_quant_type": "nf4", "bnb_4bit_use_double_quant": True}
BITS_WORDS = "4-bit models are nf4, quantised twice, here"
_BITS_OTHER = {
    "bnb_4bit_compute_dtype": "was not taken: 4-bit models compute in bfloat16 here, where the GPU has it, else in "
                              "float16.",
}  # fmt: skip


class ModelReader:
    """Follows the model from the trainer back to where it is loaded."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.wrapped: list[Made] = []  # the get_peft_model calls that it went through
        self.load: Made | None = None
        self.named: str | None = None  # the id under which it is loaded
        self._dtype: str | None = None
        self._by_name = False  # whether TRL loads it, with the config's model_init_kwargs

    def settings(self) -> dict[str, Any]:
        """id, revision, dtype, attn_implementation, quantization, as far as they are said."""
        taken = self._reached()
        self._note_unused_kwargs()
        return taken

    def _reached(self) -> dict[str, Any]:
        node = self.reading.trainer.get("model")
        if node is None:
            return self._unreached()
        value = self._source(node)
        if isinstance(value, Made) and value.name == "from_pretrained":
            return self._loaded(value)
        return self._named(value)

    def _unreached(self) -> dict[str, Any]:
        """A script without a trainer: the one model that it loads, if it is one."""
        loads = [call for call in self.reading.script.calls if call.name == "from_pretrained" and _is_model(call)]
        return self._loaded(loads[0]) if len(loads) == 1 and self.reading.made_trainer is None else {}

    def _source(self, value: Value) -> Value:
        """What the model is before it was wrapped, moved and cast; a note on what else it goes through."""
        for _ in range(32):
            if isinstance(value, Item) and plain_or(value.key) == 0 and isinstance(value.of, Made):
                value = value.of  # model, tokenizer = FastLanguageModel.from_pretrained(…)
            value = self._without_adapter(value)
            if not isinstance(value, Made) or value.name == "from_pretrained":
                break
            inner = self._inside(value)
            if inner is None:
                break
            value = inner
        return value

    def _without_adapter(self, value: Value) -> Value:
        """The model that PeftModel.from_pretrained(model, "an/adapter") puts an adapter on."""
        if not isinstance(value, Made) or value.name != "from_pretrained" or "PeftModel" not in value.path:
            return value
        base = value.arguments[0] if value.arguments else value.keywords.get("model")
        if base is None or not _is_loaded_model(base):
            return value
        after = "is put on the model: it was not taken. Merge it into a model's folder first."
        self.reading.note("A saved adapter", value, after)
        self.reading.account_one(value)
        return self._without_adapter(base)

    def _inside(self, call: Made) -> Value | None:
        """The model that a call is given, or whose method it is."""
        if call.receiver is not None and isinstance(call.receiver, (Made, Item)):
            self.reading.account_one(call)
            if call.name in _DTYPE_METHODS:
                self._dtype = _DTYPE_METHODS[call.name]
            elif call.name not in _SAME_MODEL:
                self.reading.note(f"{call.name}(…)", call, "of the model was not taken.")
            self._note_cast(call)
            return call.receiver
        given = call.arguments[0] if call.arguments else call.keywords.get("model")
        if given is None or not _is_loaded_model(given):
            return None
        if call.name == "get_peft_model":
            self.wrapped.append(call)
        elif call.name not in _SAME_MODEL:
            self.reading.account_one(call)
            self.reading.note(f"{short_path(call)}(…)", call, "which the model goes through, was not taken.")
        self.reading.account_one(call)
        return given

    def _note_cast(self, call: Made) -> None:
        for value in [*call.arguments, *call.keywords.values()] if call.name == "to" else []:
            said = value.path.rpartition(".")[2] if isinstance(value, Outer) else ""
            if said in DTYPES or said in _MOVED:
                self._dtype = _MOVED.get(said, said)

    def _loaded(self, load: Made) -> dict[str, Any]:
        reading, self.load = self.reading, load
        reading.account_one(load)
        found = dict(zip(["pretrained_model_name_or_path"], load.arguments, strict=False)) | load.keywords
        reading.note_dark(load.dark, "the settings under model")
        if load.path.startswith(("peft.", "PeftModel")) or "PeftModel" in load.path:
            reading.note("A saved adapter", load, "is loaded: it was not taken. Merge it into a model's folder first.")
        elif not _is_model(load):
            reading.note(f"{short_path(load)}(…)", load, "is read as the loading of a language model.")
        named = found.get("pretrained_model_name_or_path", found.get("model_name"))
        taken = self._named(named) if named is not None else {}
        unsloth = _is_unsloth(load)
        if unsloth and not {"load_in_4bit", "load_in_8bit", "full_finetuning", "load_in_16bit"} & set(found):
            reading.note("Unsloth", load, "loads in 4 bit where nothing else is said: so does the imported run.")
            found["load_in_4bit"] = Plain(load.node, True)
        self._note_rest(found)
        return taken | self._how(found)

    def _named(self, value: Value) -> dict[str, Any]:
        """A model by its name. TRL itself loads it, with model_init_kwargs, and else in float32."""
        reading = self.reading
        named, revision = model_id(value)
        if named is None:
            reading.note_computed("The model", value)
            return self._of_computed(value)
        reading.account(value)
        self.named = named
        taken: dict[str, Any] = {"id": named} | ({"revision": revision} if revision else {})
        if self.load is not None:
            return taken
        options, self._by_name = config_values(reading).get("model_init_kwargs"), True
        if options is None or plain_or(options, 0) is None:
            return self._in_float32(taken, self._how({}))
        if not isinstance(options, Mapping):
            reading.note_computed("model_init_kwargs", options)
            return taken
        reading.note_dark(options.dark, "model_init_kwargs")
        found = {str(name): value for name, value in options.entries.items()}
        self._note_rest(found)
        return self._in_float32(taken, self._how(found))

    def _of_computed(self, value: Value) -> dict[str, Any]:
        """What model_init_kwargs says of a model that may be passed by its name, which is not known."""
        options = config_values(self.reading).get("model_init_kwargs")
        if self.load is not None or isinstance(value, Made) or not isinstance(options, Mapping):
            return {}
        self._by_name = True
        self.reading.note_dark(options.dark, "model_init_kwargs")
        found = {str(name): inner for name, inner in options.entries.items()}
        self._note_rest(found)
        return self._how(found)

    def _note_unused_kwargs(self) -> None:
        """The config's model_init_kwargs, which TRL reads only where the model is passed by its name."""
        options = config_values(self.reading).get("model_init_kwargs")
        if self._by_name or options is None or self.reading.own:
            return
        self.reading.account(options)
        if plain_or(options, 0) in (None, {}):
            return
        after = "was not taken: TRL reads it only for a model that is passed by its name."
        self.reading.note("model_init_kwargs", options, after)

    def _in_float32(self, taken: dict[str, Any], how: dict[str, Any]) -> dict[str, Any]:
        """The settings of a model that TRL loads by its name: where no dtype is said, in float32."""
        if "dtype" not in how:
            self.reading.unsaid.set("model.dtype", "float32", "as TRL loads a model by its name")
        return {**taken, "dtype": "float32", **how}

    def _how(self, found: dict[str, Value]) -> dict[str, Any]:
        taken: dict[str, Any] = {}
        for field in ("revision", "attn_implementation"):
            given = plain_or(found.get(field))
            if isinstance(given, str):
                taken[field] = given
            elif field in found and plain_or(found[field], 0) is not None:
                self.reading.note_computed(f"The model's {field}", found[field])
        dtype = found.get("dtype", found.get("torch_dtype"))
        if dtype is not None:
            taken["dtype"] = self._read_dtype(dtype)
        if self._dtype is not None:
            taken["dtype"] = self._dtype
        quantized = self._quantization(found)
        return taken | ({"quantization": quantized} if quantized else {})

    def _read_dtype(self, value: Value) -> str:
        said = plain_or(value, "")
        if isinstance(value, (Outer, Part)):
            name = value.path.rpartition(".")[2] if isinstance(value, Outer) else value.name
            said = _MOVED.get(name, name)
        if said is None:
            return "auto"
        if said in DTYPES:
            return str(said)
        self.reading.note_computed("The model's dtype", value)
        return "auto"

    def _quantization(self, found: dict[str, Value]) -> str | None:
        """4bit or 8bit, said to the loader itself or in a BitsAndBytesConfig."""
        config = found.get("quantization_config", self.reading.trainer.get("quantization_config"))
        given = _bits_given(config)
        if config is not None and given is not None:
            self.reading.account_one(config)
            found = found | given
            self._note_bits(given)
            self.reading.note_dark(config.dark if isinstance(config, (Made, Mapping)) else [], "the quantization")
        for field, words in (("load_in_4bit", "4bit"), ("load_in_8bit", "8bit")):
            if plain_or(found.get(field)) is True:
                return words
            if field in found and plain_or(found[field], 0) not in (False, None):
                self.reading.note_computed(field, found[field])
        if config is not None and plain_or(config, 0) is not None:
            self.reading.note_computed("The quantization", config)
        return None

    def _note_bits(self, given: dict[str, Value]) -> None:
        """4-bit is nf4, quantised twice, here: what says otherwise is told, and what says so as well."""
        for name, value in given.items():
            said = _dtype_name(value) or plain_or(value, ...)
            if name in ("load_in_4bit", "load_in_8bit", "quant_method"):
                pass
            elif self.reading.own and name in _BITS_OTHER:
                pass  # a script of Groupwise's own chooses it by the GPU, as a run does
            elif said is None or (name in BITS and said == BITS[name]):
                self.reading.leave_out(name, value, AS_HERE if said is not None else NO_CHANGE)
            elif name in BITS:
                self.reading.note(name, value, f"was not taken: {BITS_WORDS}.")
            else:
                self.reading.note(name, value, _BITS_OTHER.get(name, "was not taken: a spec has no place for it."))
            self.reading.account(value)

    def _note_rest(self, found: dict[str, Value]) -> None:
        """What is said to the loader and has no place in a spec."""
        for name, value in found.items():
            self.reading.account(value)
            if name in _TAKEN:
                continue
            if name in _NOTHING and plain_or(value, 0) in (None, False):
                self.reading.leave_out(name, value, NO_CHANGE)
                continue
            after = _OWN_WAY.get(name, "was not taken: a spec's model has no such setting.")
            self.reading.note(f"The model's {name}", value, after)


def _bits_given(config: Value | None) -> dict[str, Value] | None:
    """What a BitsAndBytesConfig, or a mapping in its place, is given by name; None of anything else."""
    if isinstance(config, Made):
        return dict(zip(("load_in_8bit", "load_in_4bit"), config.arguments, strict=False)) | config.keywords
    if isinstance(config, Mapping):
        return {str(name): value for name, value in config.entries.items()}
    return None


def _dtype_name(value: Value) -> str:
    """“bfloat16” of torch.bfloat16; “” of what is none."""
    name = value.path.rpartition(".")[2] if isinstance(value, Outer) else value.name if isinstance(value, Part) else ""
    return name if name in DTYPES or name in _MOVED else ""


def _is_loaded_model(value: Value) -> bool:
    """Whether a value comes from a from_pretrained of a model, through whatever else."""
    for _ in range(32):
        if isinstance(value, Item):
            value = value.of
        elif isinstance(value, Made) and value.name == "from_pretrained":
            return True
        elif isinstance(value, Made):
            inner = value.receiver if value.receiver is not None else next(iter(value.arguments), None)
            inner = inner if inner is not None else value.keywords.get("model")
            if inner is None:
                return False
            value = inner
        else:
            return False
    return False


def _is_unsloth(load: Made) -> bool:
    return "Fast" in load.path.rpartition(".")[0].rpartition(".")[2]


def _is_model(load: Made) -> bool:
    owner = load.path.rpartition(".")[0].rpartition(".")[2]
    return "Model" in owner or "ForCausalLM" in owner or "ForConditionalGeneration" in owner


def model_id(value: Value) -> tuple[str | None, str | None]:
    """(the id that a value means, its revision): a text, this product's own ways to write one, a snapshot of one."""
    given = plain_or(value)
    if isinstance(given, str) and given:
        return given, None
    constants = [part.value for part in ast.walk(value.node) if isinstance(part, ast.Constant)]
    if isinstance(value.node, ast.BoolOp):
        return ("starter", None) if "starter" in constants else (None, None)
    if not isinstance(value, Made):
        return None, None
    if value.path == "str" and "expanduser" in ast.unparse(value.node) and len(constants) == 1:
        return str(constants[0]), None
    if value.name == "snapshot_download":
        source = value.arguments[0] if value.arguments else value.keywords.get("repo_id")
        revision = plain_or(value.keywords.get("revision"))
        named = model_id(source)[0] if source is not None else None
        return named, revision if isinstance(revision, str) else None
    return None, None
