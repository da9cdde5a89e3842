"""What takes memory in a GRPO step, part by part, in bytes: each formula with where it comes from. Pure.

Checked against torch's own record of allocations by `python -m bench memory`. What was read: trl 1.16
(trainer/grpo_trainer.py, kernels/chunked_logprob.py), transformers 5.23 (models/qwen2), peft 0.21, torch 2.13.
"""

from dataclasses import dataclass
from functools import cached_property

from groupwise.app.pages.new.preflight.settings import HUGE, PROMPT_TOKENS, Settings
from groupwise.app.pages.new.preflight.shape import DOWN, GATE, OUT, UP, K, Q, Shape, V, lora_parameters, lora_targets

BYTES = {"float64": 8, "float32": 4, "bfloat16": 2, "float16": 2}
TILE_TOKENS, TILE_VOCAB = 4096, 32768  # trl.kernels.chunked_logprob, trl.trainer.utils
# Bytes of optimiser state per trained parameter; a function of the parameter's own bytes where torch keeps the
# state in its dtype. bitsandbytes keeps 4 or 1 byte whatever the dtype, with a 4-byte scale for each block of 256.
BLOCK = 1 + 4 / 256
STATES = {
    "adamw_torch": lambda own: 2 * own, "adamw_torch_fused": lambda own: 2 * own, "stable_adamw": lambda own: 2 * own,
    "adamw_anyprecision": lambda own: 8.0, "adamw_torch_8bit": lambda own: 2 * BLOCK,
    "adamw_torch_4bit": lambda own: 1 + 2 * 4 / 128, "paged_adamw_32bit": lambda own: 8.0,
    "ademamix": lambda own: 12.0, "paged_ademamix_32bit": lambda own: 12.0,
    "adamw_8bit": lambda own: 2 * BLOCK, "adamw_bnb_8bit": lambda own: 2 * BLOCK,
    "paged_adamw_8bit": lambda own: 2 * BLOCK, "ademamix_8bit": lambda own: 3 * BLOCK,
    "paged_ademamix_8bit": lambda own: 3 * BLOCK, "lion_32bit": lambda own: 4.0, "paged_lion_32bit": lambda own: 4.0,
    "lion_8bit": lambda own: BLOCK, "paged_lion_8bit": lambda own: BLOCK, "rmsprop": lambda own: own,
    "rmsprop_bnb": lambda own: 4.0, "rmsprop_bnb_32bit": lambda own: 4.0, "rmsprop_bnb_8bit": lambda own: BLOCK,
    "adagrad": lambda own: own, "schedule_free_sgd": lambda own: own,
    # One number per row and column of a matrix, or none at all.
    "sgd": lambda own: 0.0, "adafactor": lambda own: 0.0, "lomo": lambda own: 0.0, "adalomo": lambda own: 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Parts:
    """The parts of one spec's step, on one device."""

    settings: Settings
    shape: Shape
    prompt_tokens: int = PROMPT_TOKENS

    @cached_property
    def weight(self) -> int:
        """Bytes of a weight as the worker loads it (worker/builtin/models.py): dtype auto is that of the file."""
        given = self.settings.spec.model.dtype
        return BYTES.get(self.shape.dtype if given == "auto" else given, 4)

    @cached_property
    def compute(self) -> int:
        """Bytes of a number in a matrix product."""
        return 2 if self.settings.autocast else self.weight

    @cached_property
    def lora(self) -> tuple[str, ...] | None:
        """The adapted parts of a layer; None when the whole model is trained."""
        return None if self.settings.spec.lora is None else lora_targets(self.settings.spec.lora, self.shape)

    @cached_property
    def trained_parameters(self) -> int:
        """Parameters that get a gradient."""
        lora = self.settings.spec.lora
        if lora is None:
            return self.shape.parameters
        asked = lora.get("r") or (self.settings.offer.lora or {}).get("r", {}).get("default")
        rank = asked if isinstance(asked, int) and 0 < asked < HUGE else 8
        return lora_parameters(lora, rank, self.shape)

    @cached_property
    def trained_bytes(self) -> int:
        """Bytes of a trained number: PEFT keeps adapters in float32, except that TRL makes them bfloat16 on a
        quantised model (grpo_trainer.py, “When using QLoRA”)."""
        if self.lora is None:
            return self.weight
        return 2 if self.settings.spec.model.quantization else 4

    @cached_property
    def on_gpu(self) -> bool:
        """Whether it trains on a GPU."""
        return bool(self.settings.gpus)

    @cached_property
    def completion(self) -> int:
        """Tokens of the longest completion."""
        return self.settings.count("max_completion_length") or 0

    @cached_property
    def batch(self) -> int:
        """Completions of one device in one forward and backward pass."""
        return self.settings.count("per_device_train_batch_size") or 1

    @cached_property
    def eval_batch(self) -> int:
        """Completions of one device at once in an evaluation."""
        return (self.settings.count("per_device_eval_batch_size") or 0) if self.settings.evaluates else 0

    @cached_property
    def accumulation(self) -> int:
        """Forward and backward passes of one update."""
        return self.settings.count("gradient_accumulation_steps") or 1

    @cached_property
    def completions_at_once(self) -> int:
        """Completions that one device generates at once: the whole generation batch."""
        given = self.settings.count("generation_batch_size")
        if given:
            return max(1, given // self.settings.spec.launch.processes)
        return max(self.batch * (self.settings.count("steps_per_generation") or self.accumulation), self.eval_batch)

    @cached_property
    def tokens(self) -> int:
        """Tokens of the longest sequence there can be, since TRL pads each batch to its longest."""
        return self.prompt_tokens + self.completion

    def weights(self) -> float:
        """Bytes of the model's weights: 4 bits are half a byte and a 4-byte scale for each block of 64, 8 bits a byte;
        the embedding and the head stay as they were (Dettmers et al. 2023; bitsandbytes' defaults)."""
        per = {"4bit": 0.5 + 4 / 64, "8bit": 1.0}.get(self.settings.spec.model.quantization or "")
        rest = (self.shape.parameters - self.shape.matrices) * self.weight
        # TRL makes the head float32 where it was asked to (cast_lm_head_to_fp32).
        rest += self.shape.head * (4 - self.weight) if self.settings.on("cast_lm_head_to_fp32") else 0
        return self.shape.matrices * (per or self.weight) + rest

    def adapters(self) -> float:
        """Bytes of the LoRA adapters; 0 where the whole model is trained."""
        return float(self.trained_parameters * self.trained_bytes) if self.lora is not None else 0.0

    def reference(self) -> float:
        """A second model, loaded when beta is not 0; with LoRA the adapter is switched off instead."""
        return self.weights() if self.settings.get("beta") and self.lora is None else 0.0

    def optimiser(self) -> float:
        """Adam's two moments for each trained parameter, or what other optimisers keep; torch keeps them in the
        parameter's dtype. An unknown optimiser counts like Adam in float32."""
        per = STATES.get(str(self.settings.get("optim")), lambda own: 8.0)
        eight = str(self.settings.get("optim")).endswith("8bit") and "torch" not in str(self.settings.get("optim"))
        # transformers keeps the moments of embeddings in 32 bits under bitsandbytes (trainer.py, GlobalOptimManager).
        wide = self.shape.head if eight and self.lora is None else 0
        return (self.trained_parameters - wide) * per(self.trained_bytes) + wide * per(self.trained_bytes) * 4 / BLOCK

    def optimiser_work(self) -> float:
        """What a step of the optimiser needs besides: on a GPU torch's AdamW that is not fused works on all
        parameters at once and makes a copy; one at a time, like Adafactor, it makes three of the largest matrix."""
        name = str(self.settings.get("optim"))
        largest = max(self.shape.head, self.shape.hidden * self.shape.mlp * max(1, self.shape.experts))
        largest = min(largest, self.trained_parameters)
        if name == "adamw_torch":
            return float(
                self.trained_parameters * self.trained_bytes if self.on_gpu else 3 * largest * self.trained_bytes
            )
        return 3.0 * largest * 4 if name == "adafactor" else 0.0

    def gradients(self) -> float:
        """Bytes of the gradients of all trained parameters."""
        return float(self.trained_parameters * self.trained_bytes)

    def buckets(self) -> float:
        """DistributedDataParallel keeps the gradients once more, in the buckets that it sends."""
        return self.gradients() if self.settings.spec.launch.processes > 1 else 0.0

    def copies(self) -> float:
        """Autocast keeps a 16-bit copy of each float32 matrix that it met, until the backward pass has used it."""
        return 2.0 * self.shape.matrices if self.settings.autocast and self._casts else 0.0

    @property
    def _casts(self) -> bool:
        return self.weight > 2 and not self.settings.spec.model.quantization

    def layer(self) -> float:
        """Bytes that one layer keeps of one token for its backward pass. Counted off transformers' code for a layer
        of the Llama kind (RMSNorm, rotary positions, SDPA or flash attention, gated MLP); after Korthikanti et al.
        2022, who counted GPT's.

        Norms: the residual in float32; the normalised when the norm's weight is trained. Matrices: what goes into
        those that are trained or adapted, once for each where it is cast on the way. Attention: queries, keys and
        values (repeated for every head) and what comes out. MLP: gate, its SiLU, up, and their product.
        """
        c, hidden, queries, mlp = self.compute, self.shape.hidden, self.shape.queries, self.shape.mlp
        residual = self.weight
        full = self.lora is None
        trained = (Q, K, V, OUT, GATE, UP, DOWN) if self.lora is None else self.lora
        cast = self.settings.autocast and self._casts if full else self.settings.autocast or self.weight != 4
        once = residual if not cast else 2 if self.settings.autocast else self.trained_bytes

        def into(*parts: str) -> int:
            readers = sum(part in trained for part in parts)
            return once * (readers if cast else min(readers, 1))

        norms = 2 * 4 * hidden + (2 * residual * hidden if full else 0)
        inputs = hidden * (into(Q, K, V) + into(GATE, UP))
        attention = 4 * queries * c + (0 if full or OUT not in trained or not cast else once * queries)
        product = (c if full else once if DOWN in trained else 0) * mlp
        return norms + inputs + attention + 3 * c * mlp + product + self._scores()

    def _scores(self) -> float:
        """Attention that is written out (“eager”) keeps every score of every head: the softmax in float32, and cast
        to 16 bits where that is what is multiplied."""
        if self.settings.spec.model.attn_implementation != "eager":
            return 0.0
        return self.shape.heads * self.tokens * (4 if self.compute == 4 else 6)

    def mask(self) -> float:
        """A byte for each pair of tokens of each sequence, and its form as numbers, where prompts are padded."""
        return float(self.batch * self.tokens**2 * (1 + self.compute))

    def held_activations(self) -> float:
        """Activations kept between the forward and the backward pass: of every layer, or with checkpointing only what
        went into each (Chen et al. 2016). And the last norm's."""
        each = self.shape.hidden * self.weight if self.settings.checkpointing else self.layer()
        return self.batch * self.tokens * (self.shape.layers * each + self.shape.hidden * (4 + 2 * self.weight))

    def working_layer(self) -> float:
        """What one layer needs besides while its gradient is taken: with checkpointing its activations, made again
        (and its matrices, cast again); and the gradients that flow through its MLP or its attention."""
        flow = max(3 * self.shape.mlp, 6 * self.shape.queries) * self.compute + 2 * self.shape.hidden * self.weight
        again = self.layer() if self.settings.checkpointing else 0.0
        cast = self.copies() / self.shape.layers if again else 0.0
        return self.batch * self.tokens * (again + flow) + cast + self.mask()

    def head_forward(self, batch: int) -> float:
        """Log-probabilities, without the logits of all tokens at once: TRL 1.16 makes them in tiles of 4,096 tokens ×
        32,768 words (ChunkedLogProbFunction; the tile is that wide for a small vocabulary too). On a GPU a Triton
        kernel reads the tile; elsewhere torch makes 3 float32 tensors of its size, and every token of the sequence is
        scored, not only the completion's."""
        return self._tile(batch) + (0 if self.on_gpu else 12 * self._tile_words(batch)) + self._head_copy()

    def head_backward(self) -> float:
        """The same tile again, with 7 float32 tensors and a mask of its size off a GPU; the gradients of the hidden
        states, and of the head itself in float32 where it is trained (and then cast to its dtype)."""
        work = 0.0 if self.on_gpu else 29.0 * self._tile_words(self.batch)
        trained = 4.0 * self.shape.head if self.lora is None else 0.0
        cast = self.weight * self.shape.head if self.lora is None and self.weight != 4 else 0
        rows = self._logit_bytes(self.batch)
        hidden = rows * self.shape.hidden * (4 + self.weight)
        return self._tile(self.batch) + max(work, cast) + trained + hidden + self._head_copy()

    def _logit_bytes(self, batch: int) -> int:
        return batch * (self.completion if self.on_gpu else self.tokens - 1)

    def _tile(self, batch: int) -> float:
        number = 4 if self.settings.on("cast_lm_head_to_fp32") else self.compute
        return float(min(self._logit_bytes(batch), TILE_TOKENS) * TILE_VOCAB * number)

    def _tile_words(self, batch: int) -> int:
        return min(self._logit_bytes(batch), TILE_TOKENS) * min(self.shape.vocab, TILE_VOCAB)

    def _head_copy(self) -> float:
        """The slice of the head that one tile needs, cast."""
        slice_ = min(self.shape.vocab, TILE_VOCAB) * self.shape.hidden
        return 2.0 * slice_ if self.settings.autocast and self._casts else 0.0

    def embedding_gradient(self) -> float:
        """The embedding's gradient is as large as the embedding, and made last, before it is added."""
        return float(self.shape.head * self.weight) if self.lora is None else 0.0

    def cache(self) -> float:
        """Keys and values of every token of every completion that is being generated. As wide as the weights: the
        rotated keys of a float32 model stay float32 under autocast, and transformers' DynamicLayer follows them."""
        return 2.0 * self.shape.layers * self.shape.keys * self.weight * self.completions_at_once * self.tokens

    def cache_growth(self) -> float:
        """Each new token copies one layer's keys, then its values (transformers' DynamicCache concatenates)."""
        return self.cache() / self.shape.layers

    def sampling(self) -> float:
        """The logits of the next token of every completion: as they come, in float32, as probabilities, and the
        random numbers to draw by (transformers' GenerationMixin._sample, torch.multinomial)."""
        return 4.0 * 4 * self.completions_at_once * self.shape.vocab

    def prefill(self) -> float:
        """Reading the prompts: what one layer needs at once, without anything kept."""
        one = self.shape.hidden * (2 * self.weight + 8) + max(3 * self.shape.mlp, 4 * self.shape.queries) * self.compute
        return float(self.completions_at_once * self.prompt_tokens * one)

    def generation_copies(self) -> float:
        """As `copies`, and the head's: whole where they are trained; frozen ones are cast one at a time."""
        if not (self.settings.autocast and self._casts):
            return 0.0
        return 2.0 * (self.shape.head + (self.shape.matrices if self.lora is None else 0))

    def vllm(self) -> float:
        """vLLM beside the trainer takes a fixed share of the device (vllm_gpu_memory_utilization), for its own copy
        of the weights and its cache."""
        if not (self.settings.on("use_vllm") and self.settings.get("vllm_mode") == "colocate" and self.on_gpu):
            return 0.0
        share = self.settings.number("vllm_gpu_memory_utilization") or 0.0
        return share * min(gpu["memory"] for gpu in self.settings.gpus)
