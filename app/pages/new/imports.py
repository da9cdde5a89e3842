"""Settings from a file: a spec's YAML as it is, or a TRL training script, which is read and never run."""

from pathlib import PurePath

from groupwise.app.core.errors import Unanswerable
from groupwise.storage.checks.script_reader import from_script
from groupwise.storage.spec import yaml_text
from groupwise.storage.spec.problem import SpecError


def spec_from(name: str, text: str) -> tuple[str, list[str]]:
    """The spec's text, and what of a script was not understood. Raises Unanswerable, in words."""
    short = PurePath(name).name[:80]
    try:
        if name.lower().endswith(".py"):
            raw, notes = from_script(text)
            return yaml_text.dump(raw), notes
        raw, _ = yaml_text.read_yaml(text)
    except SpecError as error:
        problem = error.problems[0]
        where = f", line {problem.line}" if problem.line else ""
        raise Unanswerable(f"“{short}”{where}: {problem.message}") from error
    if not isinstance(raw, dict):
        raise Unanswerable(f"“{short}” is neither a spec (a YAML mapping such as “name: my-run”) nor a Python script.")
    return text, []
