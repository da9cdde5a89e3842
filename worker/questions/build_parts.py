"""What fails only when training starts, tried at once on a handful of numbers: the real optimiser, schedule, sampling,
data loader, seed, compilation and checkpointing of a GRPOConfig."""

from collections.abc import Callable
from typing import Any

from groupwise.storage.spec.words.problem import Problem
from groupwise.worker.questions import find_bad_setting

Config = Callable[[dict[str, Any]], Any]  # settings → GRPOConfig

# The settings of GRPOConfig that each attempt reads: only they can be to blame.
_READS = {
    "optimizer": ("optim", "optim_args", "optim_target_modules", "learning_rate", "weight_decay", "adam_beta1",
                  "adam_beta2", "adam_epsilon"),
    "schedule": ("lr_scheduler_type", "lr_scheduler_kwargs", "warmup_steps", "learning_rate"),
    "sampling": ("temperature", "top_p", "top_k", "min_p", "repetition_penalty", "cache_implementation",
                 "generation_kwargs", "max_completion_length"),
    "loader": ("dataloader_num_workers", "dataloader_prefetch_factor", "dataloader_persistent_workers",
               "dataloader_multiprocessing_context"),
    "seed": ("seed", "data_seed"),
    "compilation": ("torch_compile", "torch_compile_backend", "torch_compile_mode"),
    "checkpointing": ("gradient_checkpointing_kwargs", "activation_checkpointing_kwargs"),
}  # fmt: skip


def part_problems(given: dict[str, Any], config: Config, fields: dict[str, dict[str, Any]]) -> list[Problem]:
    """What of the settings, with which a GRPOConfig can be built, would fail later."""
    attempts = {
        "optimizer": _optimizer, "schedule": _schedule, "sampling": _sampling, "loader": _loader, "seed": _set_seed,
        "compilation": _compilation, "checkpointing": _checkpointing,
    }  # fmt: skip
    found: list[Problem] = []
    for name, attempt in attempts.items():
        if not set(_READS[name]) & set(given):
            continue
        kept = tuple(setting for setting in given if setting not in _READS[name])

        def on_config(settings: dict[str, Any], attempt: Callable[[Any], Any] = attempt) -> Any:
            return attempt(config(settings))

        more, given = find_bad_setting.problems_by_setting("training", given, on_config, fields, kept)
        found += more
    return found


def _optimizer(args: Any) -> Any:
    import torch
    from transformers import Trainer

    if args.optim_target_modules:
        return None  # picks layers of the real model
    layer = torch.nn.Linear(2, 2)
    kind, settings = Trainer.get_optimizer_cls_and_kwargs(args, layer)
    return kind(layer.parameters(), **settings)


def _schedule(args: Any) -> Any:
    import torch
    from transformers import get_scheduler

    steps = args.max_steps if args.max_steps > 0 else 100
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=abs(args.learning_rate) or 1.0)
    warmup = args.get_warmup_steps(steps)
    return get_scheduler(
        args.lr_scheduler_type, optimizer=optimizer, num_warmup_steps=warmup, num_training_steps=steps,
        scheduler_specific_kwargs=dict(args.lr_scheduler_kwargs or {}),
    )  # fmt: skip


def _sampling(args: Any) -> None:
    """The samplers as transformers' generation puts them together."""
    from transformers import GenerationConfig
    from transformers.generation import logits_process as samplers

    GenerationConfig(max_new_tokens=args.max_completion_length, cache_implementation=args.cache_implementation)
    if isinstance(args.generation_kwargs, dict):
        GenerationConfig(**args.generation_kwargs)
    if args.temperature != 1.0:
        samplers.TemperatureLogitsWarper(args.temperature)
    if args.top_k is not None and args.top_k != 0:
        samplers.TopKLogitsWarper(args.top_k)
    samplers.TopPLogitsWarper(args.top_p)
    if args.min_p is not None:
        samplers.MinPLogitsWarper(args.min_p)
    if args.repetition_penalty != 1.0:
        samplers.RepetitionPenaltyLogitsProcessor(args.repetition_penalty)


def _loader(args: Any) -> Any:
    """Workers start only when it is read, which it never is."""
    from torch.utils.data import DataLoader

    return DataLoader(
        [0], num_workers=args.dataloader_num_workers, prefetch_factor=args.dataloader_prefetch_factor,
        persistent_workers=args.dataloader_persistent_workers,
        multiprocessing_context=args.dataloader_multiprocessing_context,
    )  # fmt: skip


def _set_seed(args: Any) -> None:
    from transformers import set_seed

    for seed in (args.seed, args.data_seed):
        if seed is not None:
            set_seed(seed)


def _compilation(args: Any) -> None:
    from accelerate.utils import TorchDynamoPlugin

    if args.torch_compile:
        TorchDynamoPlugin(backend=args.torch_compile_backend, mode=args.torch_compile_mode)


def _checkpointing(args: Any) -> None:
    import torch
    from torch.utils.checkpoint import checkpoint

    if args.gradient_checkpointing and args.gradient_checkpointing_kwargs:
        number = torch.zeros(1, requires_grad=True)
        checkpoint(torch.nn.Identity(), number, **{"use_reentrant": False, **args.gradient_checkpointing_kwargs})
