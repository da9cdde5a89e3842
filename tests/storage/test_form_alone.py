"""Whether a reward function is seen to read nothing but what the model wrote."""

import pytest

from groupwise.storage.library.rewards.form_alone import looks_at_form_alone

READS = {
    "kwargs['answer']": True, "kwargs.get('answer')": True, "helper(**kwargs)": True, "eval('kwargs')": True,
    "sys._getframe().f_locals": True, "locals()": True, "len(completions)": False, "model.eval()": False,
}  # fmt: skip


@pytest.mark.parametrize("expression", READS)
def test_what_may_reach_a_column_is_taken_for_reading_it(expression: str) -> None:
    code = f"def mine(completions, **kwargs):\n    return [float(bool({expression})) for _ in completions]\n"
    assert looks_at_form_alone(code, "mine") is not READS[expression]


def test_what_wraps_a_function_may_read_for_it() -> None:
    plain = "def mine(completions, **kwargs):\n    return [1.0 for _ in completions]\n"
    assert looks_at_form_alone(plain, "mine") and not looks_at_form_alone(f"@with_answers\n{plain}", "mine")
    assert not looks_at_form_alone("mine = partial(other)\n", "mine") and not looks_at_form_alone("", "mine")
