"""Optional packages that TRL, transformers and Groupwise can use, and which of them are installed; none is imported."""

import importlib.metadata
import importlib.util

# import name → distribution name, where that is another
OPTIONAL = {
    "bitsandbytes": "bitsandbytes", "vllm": "vllm", "flash_attn": "flash-attn",
    "flash_attn_interface": "flash-attn-3", "liger_kernel": "liger-kernel",
    "reasoning_gym": "reasoning-gym", "deepspeed": "deepspeed", "math_verify": "math-verify", "kernels": "kernels",
    "apex": "apex", "galore_torch": "galore-torch", "apollo_torch": "apollo-torch", "lomo_optim": "lomo-optim",
    "grokadamw": "grokadamw", "torch_optimi": "torch-optimi", "schedulefree": "schedulefree", "torchao": "torchao",
    "torchdistx": "torchdistx", "scipy": "scipy", "wandb": "wandb", "trackio": "trackio",
    "tensorboard": "tensorboard", "tensorboardX": "tensorboardX", "mlflow": "mlflow",
}  # fmt: skip


def installed_versions() -> dict[str, str]:
    """Import name → version of those that are installed; "" where the version is not known."""
    return {name: _version(name) for name in OPTIONAL if is_installed(name)}


def is_installed(name: str) -> bool:
    """Whether a top-level package can be imported, without importing it."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(OPTIONAL[name])
    except importlib.metadata.PackageNotFoundError:
        return ""


def how_to_install(name: str) -> str:
    """The command that installs a package of the table."""
    return f"pip install {OPTIONAL.get(name, name)}"
