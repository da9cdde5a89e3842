"""What an import sets without the script saying so, and what it leaves out as nothing is lost by it, in a few
sentences."""

FOLDER = "each run has its own folder"
NO_CHANGE = "they change nothing here"
AS_HERE = "a run does the same"
BY_TRL = "TRL does them by itself"
FOR_THE_SHELL = "they are for the notebook or the shell"
FROM_SCRIPT, FROM_RECIPE = "from-script", "from-recipe"  # names of runs that are given none
_SECTIONS = ("name", "model", "data", "lora")
MOST = 100  # that are named in a sentence


class Unsaid:
    """Collects them. Each is named once, in the order in which it came."""

    def __init__(self) -> None:
        self._set: dict[str, str] = {}
        self._left: dict[str, dict[str, None]] = {}

    def set(self, setting: str, value: object, why: str = "") -> None:
        """A setting of the spec that the script does not say, with the value that the import gives it."""
        self._set[setting] = f"{setting} {value}" + (f" ({why})" if why else "")

    def forget(self, setting: str) -> None:
        """It was said after all."""
        self._set.pop(setting, None)

    def leave_out(self, what: str, why: str) -> None:
        """A thing that the script says and that was left out, for one of the reasons above."""
        self._left.setdefault(why, {})[what] = None

    def sentences(self) -> list[str]:
        """All that was collected, in a sentence for what was set and one for each reason."""
        in_order = [self._set[name] for name in sorted(self._set, key=_section)]
        found = [f"Set by the import: {list_names(in_order)}."] if self._set else []
        return found + [f"Left out, as {why}: {list_names(list(names))}." for why, names in self._left.items()]


def _section(setting: str) -> int:
    """Where a setting stands in a spec."""
    section = setting.partition(".")[0]
    return _SECTIONS.index(section) if section in _SECTIONS else len(_SECTIONS)


def list_names(names: list[str]) -> str:
    """Names in a sentence; of many how many more there are."""
    return ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
