"""A value with a fallback, as the shell, Docker Compose and OmegaConf write it: ${SEED:-7}, ${oc.env:SEED,7}. A spec
reads no variables: what stands there for want of one is offered."""

import json
import re
from typing import Any

from groupwise.storage.spec.words.problem import Fix

_VARIABLE = re.compile(r"\$\{\s*(?:oc\.env:\s*)?[A-Za-z_]\w*\s*(?:(?::?[-=]|,)(?P<fallback>[^{}]*))?\}")
_SHOWN = 60  # characters on a button


def fallback_of(value: Any) -> Any:
    """What a text says to take where its variable is not set, as YAML reads it; None where it says none."""
    found = _VARIABLE.fullmatch(value.strip()) if isinstance(value, str) else None
    written = (found["fallback"] or "").strip() if found else ""
    try:
        return json.loads(written) if written else None
    except ValueError:
        return written.strip("'\"") or None


def fallback_fix(path: str, meant: Any) -> Fix:
    """The click that takes a fallback."""
    return Fix(f"Use {meant if isinstance(meant, str) else json.dumps(meant)}"[:_SHOWN], {path: meant})


def variable_words(value: Any) -> str:
    """“ Variables are not read here.” of a text that is one; nothing of any other."""
    return " Variables are not read here." if isinstance(value, str) and _VARIABLE.fullmatch(value.strip()) else ""
