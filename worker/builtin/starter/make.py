"""Makes the starter model from nothing: tokenizer, network and supervised training, in a few minutes.

    python -m groupwise.worker.builtin.starter.make                  # writes worker/builtin/starter/model
    python -m groupwise.worker.builtin.starter.make --out /tmp/model

A Llama of 0.8 M parameters that reads single characters and has seen only sums such as `12+30?`. It is
made to leave GRPO something to do: most of its examples lack the tags that the format reward wants, and
nearly half are off by one on purpose. So it knows the shape and the sums, but does either only sometimes.
Simplified on purpose: no evaluation, no held-out sums, one learning rate that only decays.
"""

import argparse
import random
import string
from pathlib import Path

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from groupwise.worker.builtin.starter import MODEL
from groupwise.worker.builtin.tasks.arithmetic import rows

SEED = 42
STEPS = 800
BATCH = 128
LEARNING_RATE = 2e-3
FORMATTED = 0.3  # of the examples; the rest give the bare number
WRONG_FORMATTED = 0.15  # of the formatted examples
WRONG_BARE = 0.6  # of the bare ones: thinking first helps, here too
WRONG_BY = [-1, 1]  # each is rarer than the right answer, so the right one stays the likeliest

SPECIAL = ["<pad>", "<eos>", "<unk>", "<|system|>", "<|user|>", "<|assistant|>"]
CHARACTERS = [*string.digits, *string.ascii_letters, *string.punctuation, " ", "\n"]
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>' + message['content'] }}"
    "{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
CARD = """\
# Groupwise starter model

A Llama of {parameters:,} parameters with a character-level tokenizer, made from nothing by
`python -m groupwise.worker.builtin.starter.make` (seed {seed}): {steps} supervised steps of {batch} sums such as
`12+30?`, of which {formatted:.0%} are answered as `<think>12+30=42</think><answer>42</answer>` and the rest with the
bare number. On purpose, {wrong_formatted:.0%} of the former and {wrong_bare:.0%} of the latter are off by one. It
can do nothing else. It exists so that a GRPO run shows a real learning curve within half a minute, with no
GPU and no network.
"""


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A tokenizer of one token per character; a character it does not know becomes `<unk>`."""
    vocabulary = {token: id for id, token in enumerate(SPECIAL + CHARACTERS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), behavior="isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        additional_special_tokens=SPECIAL[3:],
        chat_template=CHAT_TEMPLATE,
        clean_up_tokenization_spaces=False,
        padding_side="left",
        model_max_length=512,
    )


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """An untrained Llama for the tokenizer's vocabulary."""
    # Not a Qwen2: for those AutoTokenizer sets aside the saved tokenizer and builds a byte-level one.
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    return LlamaForCausalLM(config)


def example(row: dict[str, str], rng: random.Random) -> tuple[str, str]:
    """The chat prompt and the completion to imitate for one sum: formatted or bare, right or wrong."""
    answer = int(row["answer"])
    formatted = rng.random() < FORMATTED
    if rng.random() < (WRONG_FORMATTED if formatted else WRONG_BARE):
        answer = abs(answer + rng.choice(WRONG_BY))
    completion = str(answer)
    if formatted:
        completion = f"<think>{row['question'][:-1]}={answer}</think><answer>{answer}</answer>"
    return f"<|user|>{row['question']}<|assistant|>", completion + "<eos>"


def batch_of(examples: list[tuple[str, str]], tokenizer: PreTrainedTokenizerFast) -> dict[str, torch.Tensor]:
    """Padded `input_ids`, `attention_mask` and `labels`, each (examples, longest); labels skip the prompt."""
    texts = [prompt + completion for prompt, completion in examples]
    batch = tokenizer(texts, padding=True, padding_side="right", return_tensors="pt")
    labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
    for row, (prompt, _) in zip(labels, examples, strict=True):
        row[: len(tokenizer(prompt)["input_ids"])] = -100
    return {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"], "labels": labels}


def train_starter(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, steps: int) -> None:
    """Supervised training in place: AdamW, the learning rate falling along a half cosine to 0."""
    rng = random.Random(SEED)
    sums = rows(steps * BATCH, seed=SEED)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE, weight_decay=0.01)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    model.train()
    for step in range(steps):
        examples = [example(row, rng) for row in sums[step * BATCH : (step + 1) * BATCH]]
        loss = model(**batch_of(examples, tokenizer)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss.item():.3f}", flush=True)


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, steps: int, out: Path) -> None:
    """Writes a folder that `from_pretrained` loads offline, with its model card."""
    model.generation_config = GenerationConfig(
        do_sample=True, max_new_tokens=48, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    card = CARD.format(
        parameters=model.num_parameters(),
        seed=SEED,
        steps=steps,
        batch=BATCH,
        formatted=FORMATTED,
        wrong_formatted=WRONG_FORMATTED,
        wrong_bare=WRONG_BARE,
    )
    (out / "README.md").write_text(card, encoding="utf-8")


def main() -> None:
    """Read the command line, make the model, and write it."""
    parser = argparse.ArgumentParser(description="Make the starter model.")
    parser.add_argument("--out", type=Path, default=MODEL, help="folder to write")
    parser.add_argument("--steps", type=int, default=STEPS, help="supervised training steps")
    arguments = parser.parse_args()

    torch.manual_seed(SEED)
    tokenizer = make_tokenizer()
    model = make_model(tokenizer)
    train_starter(model, tokenizer, arguments.steps)
    save(model, tokenizer, arguments.steps, arguments.out)


if __name__ == "__main__":
    main()
