"""Whole RunSpecs at random, for the properties that must hold for every one of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from groupwise.storage.checks.check import OWNED
from groupwise.storage.spec.spec import MOST_WEIGHT, RunSpec, from_dict

# What YAML takes as it is.
plain_texts = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff"), max_size=30).filter(
    lambda text: all(character.isprintable() or character in "\n\t" for character in text)
)
ODD = [
    "null", "1e-4", "{question}", "x" * 400, "word " * 60, "line\n" * 20, "\n\n", '"', "\\", '"""\nimport os\n"""',
    "'''", ": a GRPO run as a plain TRL script.", "--num_processes 7", "a\\", "{", "}}", "#", "ﬁ", "\u200b", "a\r\nb",
    "starter",
]  # fmt: skip


CONDITIONS = ["level <= 3", "a is empty", 'q matches "x.*"', "length of a > 2", "a = 1e999", 'zip = "007"', "a > b"]


@st.composite
def any_texts(draw: st.DrawFn) -> str:
    """Anything that is text: line separators, control characters, quotes, braces, what looks like code."""
    quoting = st.text("\"'\\\n\r\t\0{}#%$\u2028\u2029\x85\x0b\x0c\x1b\u202e a", max_size=20)
    return draw(st.one_of(st.text(max_size=30), quoting, st.sampled_from(ODD)))


names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)


def values(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """What a setting can be: anything that JSON can say, and infinity."""
    scalars = st.one_of(
        st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), texts
    )  # fmt: skip
    return st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


def _sources(texts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    known = ["task:arithmetic", "task:class", "task:Dataset", "task:", "gym:leg_counting", "gym:", "file:rows.jsonl",
             "file:My Data.CSV", "file:x.parquet", "file:x.txt", "file:", "hub:openai/gsm8k", "hub:json", "hub:", ":",
             "http://x", "hub:task:x"]  # fmt: skip
    named = st.tuples(st.sampled_from(["task", "gym", "file", "hub"]), texts).map(":".join)
    return st.sampled_from(known) | named | texts.filter(bool)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def _some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Mappings with any of these fields: all combinations of what is given and what is left to its default."""
    return st.fixed_dictionaries({}, optional=fields)


@st.composite
def specs(
    draw: st.DrawFn, texts: st.SearchStrategy[str] = plain_texts, *, keys: st.SearchStrategy[str] = names
) -> RunSpec:
    """RunSpecs of every form: each field given or not, with values that make sense and values that do not."""
    needed, more = draw(_parts(texts, keys))
    return from_dict({**needed, **more})


def _rewards(texts: st.SearchStrategy[str], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    finite = st.floats(allow_nan=False, allow_infinity=False)
    weight = st.floats(-MOST_WEIGHT, MOST_WEIGHT)
    above = st.floats(0, allow_infinity=False, exclude_min=True)
    share = st.floats(0, 1)
    adapt = _some(
        low=share, high=share, up=above, down=above, every=st.integers(1, 10**12), success=finite, least=weight,
        most=weight,
    )  # fmt: skip
    points = st.lists(st.fixed_dictionaries({"step": st.integers(0, 10**12), "weight": weight}), max_size=3)
    more = {
        "weight": weight,
        "version": _maybe(st.from_regex(r"[0-9a-f]{6,16}", fullmatch=True)),
        "parameters": st.dictionaries(keys, values(texts), max_size=3),
        "timeout": st.floats(0, 3600, exclude_min=True),
        "schedule": points,
        "adapt": _maybe(adapt),
    }
    # Most rewards are a name and a weight; those that say more say any of it.
    return st.fixed_dictionaries({"name": names}, optional={"weight": weight}) | st.fixed_dictionaries(
        {"name": names}, optional=more
    )


def _parts(texts: st.SearchStrategy[str], keys: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    filled = texts.filter(bool)
    settings = st.dictionaries(keys.filter(lambda key: key not in OWNED), values(texts), max_size=5)
    rewards = st.lists(_rewards(texts, keys), min_size=1, max_size=3)
    model = _some(
        id=st.sampled_from(["starter", "org/name", "/srv/model", "~/model", "./model", "~"]) | filled,
        revision=_maybe(texts),
        dtype=st.sampled_from(["auto", "float32", "bfloat16", "float16"]),
        attn_implementation=_maybe(texts),
        quantization=st.sampled_from([None, "8bit", "4bit"]),
    )
    data = _some(
        source=_sources(texts),
        config=_maybe(texts),
        split=filled,
        revision=_maybe(texts),
        streaming=st.booleans(),
        parameters=st.dictionaries(keys, values(texts), max_size=3),
        filter=st.lists(st.sampled_from(CONDITIONS) | texts, max_size=3),
        shuffle=_maybe(st.integers(0, 2**32 - 1)),
        limit=_maybe(st.integers(1, 10**9)),
        holdout=st.integers(0, 1000) | st.floats(0, 1, exclude_max=True),
        system_prompt=_maybe(texts),
        examples=st.lists(st.fixed_dictionaries({"prompt": filled, "completion": filled}), max_size=2),
        prompt_template=filled,
        prompt_column=_maybe(texts),
        answer_column=_maybe(texts),
        answer_pattern=_maybe(texts),
        columns=_maybe(st.lists(texts, max_size=3)),
    )
    weight = st.floats(0, 1000, exclude_min=True)
    title = filled.map(lambda text: text[:80])
    return st.tuples(
        st.fixed_dictionaries({"name": title, "rewards": rewards}),
        _some(
            model=model,
            lora=_maybe(settings),
            data=data,
            training=settings,
            kl=_some(target=_maybe(weight), rate=st.floats(0, 1, exclude_min=True), least=weight, most=weight),
            launch=_some(processes=st.integers(1, 64), reward_failures=st.integers(0, 10**6)),
            stages=st.lists(_some(name=_maybe(title), rewards=_maybe(rewards), training=settings), max_size=3),
        ),
    )
