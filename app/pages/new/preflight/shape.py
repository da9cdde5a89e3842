"""A model's sizes as plain numbers, and how many of its matrices LoRA adapts. Pure."""

from dataclasses import dataclass
from typing import Any

from groupwise.storage.library.models.model_facts import ModelFacts

Q, K, V, OUT, GATE, UP, DOWN = "q", "k", "v", "o", "gate", "up", "down"
PARTS = (Q, K, V, OUT, GATE, UP, DOWN)
# What the families of models call the matrices of a layer; some keep several in one.
NAMES = {
    "q_proj": (Q,), "k_proj": (K,), "v_proj": (V,), "o_proj": (OUT,), "out_proj": (OUT,), "dense": (OUT,),
    "gate_proj": (GATE,), "up_proj": (UP,), "down_proj": (DOWN,), "fc1": (UP,), "fc2": (DOWN,), "c_fc": (UP,),
    "c_proj": (OUT, DOWN), "c_attn": (Q, K, V), "qkv_proj": (Q, K, V), "query_key_value": (Q, K, V), "Wqkv": (Q, K, V),
    "gate_up_proj": (GATE, UP), "dense_h_to_4h": (UP,), "dense_4h_to_h": (DOWN,),
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """A transformer's sizes. `mlp`: the width of what one token goes through in a layer's MLP (of all its experts).
    `queries` and `keys`: the width of all query heads, and of all key heads."""

    layers: int
    hidden: int
    mlp: int
    queries: int
    keys: int
    heads: int
    vocab: int
    parameters: int
    tied: bool
    experts: int
    dtype: str

    @property
    def head(self) -> int:
        """Parameters of the matrix that makes the logits (also the embedding, where they are tied)."""
        return self.vocab * self.hidden

    @property
    def matrices(self) -> int:
        """Parameters outside the embedding and the head: those of the layers."""
        return max(0, self.parameters - self.head * (1 if self.tied else 2))

    def sizes(self, part: str) -> tuple[int, int]:
        """(in, out) of one matrix of a layer."""
        return {
            Q: (self.hidden, self.queries), K: (self.hidden, self.keys), V: (self.hidden, self.keys),
            OUT: (self.queries, self.hidden), GATE: (self.hidden, self.mlp), UP: (self.hidden, self.mlp),
            DOWN: (self.mlp, self.hidden),
        }[part]  # fmt: skip


def shape_of(facts: ModelFacts) -> Shape | None:
    """The sizes that a model's files say; None where they do not say enough."""
    layers, hidden, heads, vocab = facts.layers, facts.hidden, facts.heads, facts.vocab
    parameters = facts.parameters
    if not (layers and hidden and heads and vocab and parameters):
        return None
    dim = facts.head_dim or hidden // heads
    shape = Shape(
        layers, hidden, facts.intermediate or 4 * hidden, heads * dim, (facts.kv_heads or heads) * dim, heads, vocab,
        parameters, facts.tied, facts.experts or 0, facts.dtype or "float32",
    )  # fmt: skip
    if not shape.experts:
        return shape
    # Three matrices per expert: what is left of the parameters after attention says how wide one is.
    attention = 2 * hidden * (shape.queries + shape.keys)
    width = max(1, (shape.matrices // layers - attention) // (3 * hidden * shape.experts))
    return Shape(**{**vars(shape), "mlp": width * (facts.experts_used or 1)})


def lora_targets(lora: dict[str, Any], shape: Shape) -> tuple[str, ...]:
    """The parts of each layer that LoRA adapts. PEFT's default is the queries and values of most models
    (peft.utils.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING); experts are no linear layers to it."""
    targets = lora.get("target_modules")
    inside = PARTS if not shape.experts else (Q, K, V, OUT)
    if targets is None:
        return (Q, V)
    if targets == "all-linear":
        return inside
    if isinstance(targets, str):  # a pattern, which is never run here, only looked through for the names we know
        known = [name for name in NAMES if name in targets]
    else:
        last = {str(target).rsplit(".", 1)[-1] for target in targets} if isinstance(targets, list) else set()
        known = [name for name in NAMES if name in last]
    named = {part for name in known for part in NAMES[name]}
    return tuple(part for part in inside if part in named) or inside


def lora_parameters(lora: dict[str, Any], rank: int, shape: Shape) -> int:
    """rank × (in + out) for each adapted matrix (Hu et al. 2021), and what is trained whole beside them."""
    each = sum(rank * sum(shape.sizes(part)) for part in lora_targets(lora, shape))
    whole = lora.get("modules_to_save") or []
    heads = sum(name in ("lm_head", "embed_tokens") for name in whole) if isinstance(whole, list) else 0
    return shape.layers * each + heads * shape.head
