"""The same run as a plain TRL script: RunSpec → Python that runs with no Groupwise installed.

It stands in the run's folder, beside the reward code it imports, and makes the same first steps at the same seed.
"""

from __future__ import annotations

import pprint
from typing import Any

from storage.check import model_folder
from storage.spec import RunSpec


def to_script(spec: RunSpec) -> str:
    """The text of the run folder's train.py."""
    config = {"output_dir": "plain-output", "report_to": "none", **spec.training}
    config["reward_weights"] = [reward.weight for reward in spec.rewards]
    on_cpu = "" if "use_cpu" in config else "        use_cpu=not torch.accelerator.is_available(),\n"
    load: dict[str, str] = {"dtype": spec.model.dtype}
    if spec.model.revision and model_folder(spec.model.id) is None:
        load["revision"] = spec.model.revision
    if spec.model.attn_implementation:
        load["attn_implementation"] = spec.model.attn_implementation
    names = [reward.name for reward in spec.rewards]
    parts = [
        f'"""{_plain(spec.name)}: a GRPO run as a plain TRL script. Run it in this folder: python train.py"""\n',
        *_imports(spec),
        "\nHERE = Path(__file__).resolve().parent\nsys.path.insert(0, str(HERE))\n",
        "".join(f"from rewards.{name} import {name}\n" for name in names),
        _prompts(spec),
        "\n\ndef main() -> None:\n",
        f"    model_id = {_model(spec)}\n",
        f"    tokenizer = AutoTokenizer.from_pretrained(model_id{_revision(load)})\n",
        "    train, held_out = prompts(chat=tokenizer.chat_template is not None)\n",
        f"    config = GRPOConfig(\n{_keywords(config, 8)}{on_cpu}    )\n",
        f"    model = AutoModelForCausalLM.from_pretrained(model_id, {_inline(load)})\n",
        "    trainer = GRPOTrainer(\n",
        "        model=model,\n",
        f"        reward_funcs=[{', '.join(names)}],\n",
        "        args=config,\n        train_dataset=train,\n        eval_dataset=held_out,\n",
        "        processing_class=tokenizer,\n",
        f"        peft_config=LoraConfig(\n{_keywords(spec.lora, 12)}        ),\n" if spec.lora is not None else "",
        "    )\n    trainer.train()\n",
        '\n\nif __name__ == "__main__":\n    main()\n',
    ]
    return "".join(parts)


def _imports(spec: RunSpec) -> list[str]:
    task = spec.data.source.startswith("task:")
    return [
        "import os\n" if spec.model.id == "starter" else "",
        "import re\nimport sys\nfrom pathlib import Path\n\n",
        "" if "use_cpu" in spec.training else "import torch\n",
        "from datasets import Dataset\n" if task else "from datasets import load_dataset\n",
        "from peft import LoraConfig\n" if spec.lora is not None else "",
        "from transformers import AutoModelForCausalLM, AutoTokenizer\n",
        "from trl import GRPOConfig, GRPOTrainer\n",
    ]


def _model(spec: RunSpec) -> str:
    if spec.model.id == "starter":
        return 'os.environ.get("MODEL") or str(HERE.parents[1] / "models" / "starter")'
    folder = model_folder(spec.model.id)
    return repr(str(folder) if folder else spec.model.id)


def _prompts(spec: RunSpec) -> str:
    """The function that makes the two datasets; the same steps as worker.data takes, written out."""
    data = spec.data
    kind, _, name = data.source.partition(":")
    if kind == "task":
        load = f"    from task import rows\n\n    data = Dataset.from_list(rows({data.limit or 4000}))\n"
    else:
        builder = {"jsonl": "json", "csv": "csv", "parquet": "parquet"}[name.rsplit(".", 1)[-1].lower()]
        load = (
            f'    path = HERE.parents[1] / "data" / {name!r}\n'
            f'    data = load_dataset({builder!r}, data_files=str(path), split="train")\n'
        )
        if data.limit:
            load += f"    data = data.select(range(min({data.limit}, len(data))))\n"
    system = f'[{{"role": "system", "content": {data.system_prompt!r}}}]' if data.system_prompt else "[]"
    plain = f"{data.system_prompt + chr(10) * 2!r} + text" if data.system_prompt else "text"
    shape = [
        "\n\ndef shape(row, chat):\n",
        '    """One row as the trainer wants it: the prompt (a chat where the model has a template), the answer, and\n'
        '    the other columns."""\n',
        f"    template = {data.prompt_template!r}\n",
        '    text = re.sub(r"\\{([^{}]+)\\}", lambda m: str(row[m[1]]) if m[1] in row else m[0], template)\n',
        f'    messages = {system} + [{{"role": "user", "content": text}}]\n',
        f'    out = {{"prompt": messages if chat else {plain}}}\n',
        _answer(spec),
        "    return out\n",
    ]
    split = (
        f"    return data.select(range({data.holdout}, len(data))), data.select(range({data.holdout}))\n"
        if data.holdout
        else "    return data, None\n"
    )
    return (
        "".join(shape)
        + f'\n\ndef prompts(chat):\n{load}    data = data.map(shape, fn_kwargs={{"chat": chat}})\n{split}'
    )


def _answer(spec: RunSpec) -> str:
    column, pattern = spec.data.answer_column, spec.data.answer_pattern
    if not column:
        return ""
    if not pattern:
        return f'    out["answer"] = row[{column!r}]\n'
    return (
        f"    found = re.search({pattern!r}, str(row[{column!r}]))\n"
        '    out["answer"] = found[found.re.groups and 1].strip() if found else None\n'
    )


def _keywords(values: dict[str, Any], indent: int) -> str:
    pad = " " * indent
    return "".join(
        f"{pad}{name}={pprint.pformat(value, width=100, sort_dicts=False).replace(chr(10), chr(10) + pad)},\n"
        for name, value in values.items()
    )


def _inline(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _revision(load: dict[str, Any]) -> str:
    return f", revision={load['revision']!r}" if "revision" in load else ""


def _plain(name: str) -> str:
    return name.replace("\\", " ").replace('"', "'").replace("\n", " ")
