"""A few models of the Hugging Face Hub that answer questions and are small enough to begin with. All are Apache-2.0."""

from collections.abc import Collection
from dataclasses import dataclass

# What helps where the hub cannot be reached.
COPY_IT = "copy the model’s folder to this machine, and give its path as the model"


@dataclass(frozen=True)
class HubModel:
    """`download`: GB of what is fetched once. `gpu`: GB of GPU memory that are enough with LoRA and small batches, as
    the shipped presets have them."""

    id: str
    parameters: int
    download: float
    gpu: int

    @property
    def download_words(self) -> str:
        """How much is fetched, and from where."""
        return f"{self.download:g} GB from the Hugging Face Hub"

    @property
    def needs(self) -> str:
        """What it takes to train it, in words."""
        return f"with LoRA and small batches, a GPU with {self.gpu} GB is enough"


SUGGESTED = HubModel("Qwen/Qwen2.5-0.5B-Instruct", 494_032_768, 1, 8)
HUB_MODELS = (
    HubModel("HuggingFaceTB/SmolLM2-360M-Instruct", 361_821_120, 0.7, 8),
    SUGGESTED,
    HubModel("Qwen/Qwen2.5-1.5B-Instruct", 1_543_714_304, 3, 24),
)


def to_download(here: Collection[str]) -> list[HubModel]:
    """Those that are not on this machine. `here`: the ids, and the names of folders, of the models that are."""
    return [model for model in HUB_MODELS if not {model.id, model.id.rsplit("/", 1)[-1]} & set(here)]
