"""What a script tells a tracker (`wandb.init(…)`, `trackio.init(…)`, WANDB_PROJECT): what of it a spec says, too."""

from groupwise.storage.checks.script_reader.calling import Setting
from groupwise.storage.checks.script_reader.reading import Reading, short_path
from groupwise.storage.checks.script_reader.values import Made, Outer, Part, Value, plain_or
from groupwise.storage.checks.trackers import asked_trackers

# What its init is given → the setting under training that says it.
_SETTINGS = {
    "wandb": {"project": "project", "name": "run_name"},
    "trackio": {"project": "project", "name": "run_name", "space_id": "trackio_space_id",
                "bucket_id": "trackio_bucket_id", "private": "hub_private_repo"},
}  # fmt: skip
_FIRST = {"trackio": ["project", "name"], "wandb": []}
_VARIABLES = {
    "WANDB_PROJECT": ("wandb", "project"), "WANDB_NAME": ("wandb", "run_name"),
    "TRACKIO_PROJECT": ("trackio", "project"), "TRACKIO_SPACE_ID": ("trackio", "trackio_space_id"),
}  # fmt: skip
_AFTER = {
    "config": "was not taken: the run's own settings are sent.",
    **{name: f"was not taken: W&B reads WANDB_{variable} from the environment that Groupwise is started in."
       for name, variable in (("entity", "ENTITY"), ("group", "RUN_GROUP"), ("tags", "TAGS"), ("notes", "NOTES"),
                              ("mode", "MODE"), ("dir", "DIR"), ("job_type", "JOB_TYPE"))},
}  # fmt: skip
_LOGGED = "was not taken: every metric is recorded in the run's own file."


def tracker_settings(reading: Reading, given: dict[str, Value]) -> dict[str, Value]:
    """The settings under training that the script says to a tracker which the run reports to, and not to its config."""
    found: dict[str, Value] = {}
    for call in reading.script.calls:
        tracker = _begun(call)
        if tracker in _asked(given):
            for setting, value in _of_call(reading, tracker, call).items():
                _take(reading, given, found, f"{tracker}.init's {_argument(tracker, setting)}", setting, value)
    for variable in reading.script.settings:
        tracker, setting = _VARIABLES.get(variable.name or "", ("", ""))
        if tracker in _asked(given) and _is_environment(variable) and variable.value is not None:
            reading.account_one(variable)
            _take(reading, given, found, variable.name or "", setting, variable.value)
    return found


def note_variable(reading: Reading, variable: Setting) -> bool:
    """Say of a variable that a tracker reads which is not reported to what to set; whether it is one."""
    tracker, setting = _VARIABLES.get(variable.name or "", ("", ""))
    if tracker:
        to = f"Set training.report_to to {tracker}, and training.{setting}, to have them there, too."
        reading.note(variable.name or "", variable.node, f"{_LOGGED} {to}")
    return bool(tracker)


def note_tracker(reading: Reading, call: Made) -> bool:
    """Say of a call that begins the run of a tracker which is not reported to what to set; whether it is one."""
    tracker = _begun(call)
    if tracker:
        to = f"Set training.report_to to {tracker} to have them there, too."
        reading.note(f"{short_path(call)}(…)", call, f"{_LOGGED} {to}")
    return bool(tracker)


def _begun(call: Made) -> str:
    """The tracker whose run a call begins; “” where it is none."""
    tracker, _, last = call.path.partition(".")
    return tracker if call.receiver is None and last == "init" and tracker in _SETTINGS else ""


def _asked(given: dict[str, Value]) -> list[str]:
    return asked_trackers({"report_to": plain_or(given.get("report_to"))})


def _of_call(reading: Reading, tracker: str, call: Made) -> dict[str, Value]:
    """Setting under training → what the call says of it; what else it says is noted."""
    reading.account(call)
    said = dict(zip(_FIRST[tracker], call.arguments, strict=False)) | call.keywords
    for name, value in said.items():
        if name not in _SETTINGS[tracker] and plain_or(value, 0) is not None:
            own = _AFTER if tracker == "wandb" else {"config": _AFTER["config"]}
            reading.note(f"{tracker}.init's {name}", value, own.get(name, "was not taken."))
    reading.note_dark(call.dark, f"{tracker}.init's settings")
    return {_SETTINGS[tracker][name]: value for name, value in said.items() if name in _SETTINGS[tracker]}


def _argument(tracker: str, setting: str) -> str:
    return next(name for name, to in _SETTINGS[tracker].items() if to == setting)


def _take(
    reading: Reading, given: dict[str, Value], found: dict[str, Value], what: str, setting: str, value: Value
) -> None:
    """Take a value; where the config, or a call before, says another one, that one counts."""
    said = plain_or(value, ...)
    before = found.get(setting, given.get(setting))
    if said is None or before is value:
        return
    if before is None or plain_or(before, ...) is None:
        found[setting] = value
    elif plain_or(before, 0) != said:
        reading.note(what, value, f"was not taken: training.{setting} has another value already.")


def _is_environment(setting: Setting) -> bool:
    return (
        isinstance(setting.of, Part)
        and setting.of.name == "environ"
        or (isinstance(setting.of, Outer) and setting.of.path == "os.environ")
    )
