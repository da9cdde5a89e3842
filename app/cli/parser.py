"""The groupwise command's words: its subcommands, their options and their help."""

import argparse
import os
import re
from collections.abc import Callable
from typing import Any

from groupwise.storage.home import redaction

EXIT_CODES = "Exit codes: 0 done, 1 it failed, 2 wrong input, 3 the run was stopped, 130 Ctrl-C."
SUMMARIES = {
    "serve": "Show the dashboard in the browser. This is what `groupwise` alone does.",
    "launch": "Start the run that a YAML file describes.",
    "list": "List runs, the newest first.",
    "stop": "Stop a run at its next step; a checkpoint is saved first.",
    "resume": "Go on with a stopped, failed or interrupted run from its last checkpoint.",
    "rename": "Give a run another name; its id stays.",
    "tag": "Add tags to runs, or remove them.",
    "delete": "Delete runs that have ended or wait in the queue; for a day they can be restored.",
    "restore": "Bring back runs that were deleted less than a day ago, or make a data home of a backup.",
    "backup": "Write the whole data home into one file, while runs go on.",
    "doctor": "Say whether runs can be trained here, and what to do where they cannot.",
    "repair": "Set a damaged registry aside and make a new one from the run folders.",
    "worker": "Run the worker in this terminal. Otherwise it starts by itself, in the background.",
}
STATES = ("queued", "starting", "running", "stopping", "finished", "stopped", "failed", "killed", "interrupted")
SORTS = ("name", "state", "reward", "step", "duration", "created")
RUN_HELP = "the run's id or name, or as much of the id's beginning as is unique"
WAIT_HELP = "follow the run until it ends; Ctrl-C ends the following and not the run"


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command; `command` in its result is the subcommand, None for `groupwise` alone."""
    parser = _parser(
        argparse.ArgumentParser, prog="groupwise",
        description="A dashboard to configure, launch, watch and understand TRL GRPO runs.",
        epilog=f"Runs are kept in $GROUPWISE_HOME (~/.groupwise). {EXIT_CODES}",
    )  # fmt: skip
    parser.add_argument("--version", action=_PrintVersion, help="show the versions of Groupwise and TRL, and exit")
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", required=False, parser_class=_Command
    )
    for name, summary in SUMMARIES.items():
        sub = _parser(commands.add_parser, name, help=summary, description=summary, epilog=EXIT_CODES)
        if name in _OPTIONS:
            _OPTIONS[name](sub)
    return parser


def _parser(make: Callable[..., argparse.ArgumentParser], *names: str, **options: Any) -> argparse.ArgumentParser:
    """A parser whose help has one width everywhere, so that the documentation can hold it."""
    return make(*names, formatter_class=_Help, allow_abbrev=False, **options)


class _Command(argparse.ArgumentParser):
    """The parser of a subcommand, which answers what it does not know with its own usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._say_unknown(unknown[0].split("=")[0]))
        return options, unknown

    def _say_unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"“{word[:80]}” is one argument too many."
        from groupwise.storage.spec.words.problem import did_you_mean  # here: a right word needs none

        return f"there is no option {word[:80]}.{did_you_mean(word, list(self._option_string_actions))}"


class _Help(argparse.HelpFormatter):
    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **{**options, "width": 96, "max_help_position": 28})


class _PrintVersion(argparse.Action):
    def __init__(self, option_strings: list[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        print(f"groupwise {_version_of('groupwise')}, TRL {_version_of('trl')}")
        parser.exit()


def _version_of(package: str) -> str:
    from importlib import metadata  # here: takes time, and no other option needs it

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "is not installed"


def _serve(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=_port, metavar="N", help="port to listen on (7860, or a free one)")
    parser.add_argument("--open", dest="open", action="store_true", default=None, help="open a browser")
    parser.add_argument("--no-open", dest="open", action="store_false", help="open no browser (on a desktop one opens)")
    parser.add_argument(
        "--token", metavar="auto|TEXT", default=None,
        help="require this token to log in; auto takes $GROUPWISE_TOKEN, or makes one and prints it once, in a link. "
        "$GROUPWISE_TOKEN alone does the same and is not seen by other users of this machine",
    )  # fmt: skip
    parser.add_argument(
        "--allow-host", dest="allow_hosts", action="append", default=[], metavar="NAME",
        help="a name or address by which browsers may call this machine, besides localhost; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--proxy",
        dest="proxies",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="trust the headers X-Forwarded-For, -Host and -Proto of the proxy at this address, or in this network "
        "(10.0.0.0/24); can be repeated. No other proxy is trusted",
    )
    parser.add_argument(
        "--trust-reward-code", dest="trusted", action="store_true",
        help="run people's own reward functions in the training process itself, with no sandbox: they can then do "
        "all that you can. It holds for this home until the dashboard is started without it",
    )  # fmt: skip
    parser.add_argument(
        "--no-warm-start", dest="warm_start", action="store_false",
        help="keep no training process ready for the next launch: that saves 0.4 GB of "
        "memory, and runs begin some seconds later. It holds for this home until the dashboard is started without it",
    )  # fmt: skip


def _launch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "spec", metavar="SPEC.yaml",
        help="what to run, or - for standard input; every problem in it is named by line and field",
    )  # fmt: skip
    parser.add_argument("--name", metavar="NAME", help="the run's name, instead of the file's")
    parser.add_argument("--strict", action="store_true", help="start nothing where there is a warning, either")
    parser.add_argument("--wait", action="store_true", help=WAIT_HELP)


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="every field, as JSON")
    parser.add_argument(
        "--state", dest="states", action="append", default=[], metavar="STATE", choices=STATES,
        help=f"only runs in this state; can be repeated: {', '.join(STATES)}",
    )  # fmt: skip
    parser.add_argument(
        "--text", default="", metavar="WORDS",
        help="only runs with these words in their name, id, state, model, data, note or tags",
    )  # fmt: skip
    parser.add_argument(
        "--sort", default="-created", metavar="KEY", type=_sort_key,
        help=f"the order: {', '.join(SORTS)}; a - before it reverses it, as in --sort=-reward",
    )  # fmt: skip
    parser.add_argument("--deleted", action="store_true", help="the deleted runs that can be restored, instead")


def _sort_key(text: str) -> str:
    if text.removeprefix("-") not in SORTS:
        raise argparse.ArgumentTypeError(f"runs can be sorted by {', '.join(SORTS)}, not by “{text[:40]}”")
    return text


def _stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--now", action="store_true", help="end it at once: nothing is saved since the last checkpoint")
    parser.add_argument("--wait", action="store_true", help="wait until it has ended")


def _resume(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument(
        "--from-step", dest="step", metavar="N", type=_step,
        help="go on from the checkpoint of this step, not from the last one; later ones are set aside",
    )  # fmt: skip
    parser.add_argument("--wait", action="store_true", help=WAIT_HELP)


def _rename(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help=RUN_HELP)
    parser.add_argument("name", metavar="NAME", help="its new name, at most 80 characters")


def _tag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tags", metavar="TAG[,TAG…]", help="tags, with commas between")
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)
    parser.add_argument("--remove", action="store_true", help="remove them")


def _delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="+", metavar="RUN", help=RUN_HELP)


def _doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="the same as JSON: name, state, says and do of each finding"
    )


def _restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs", nargs="+", metavar="RUN|FILE.tar.gz",
        help="the deleted run's id, or as much as is unique; or a file that `groupwise backup` made",
    )  # fmt: skip
    parser.add_argument(
        "--into", metavar="HOME",
        help="the new or empty folder that a backup is restored into, instead of $GROUPWISE_HOME",
    )  # fmt: skip


def _backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE.tar.gz", help="the file to write, outside of the home; .tar is not compressed"
    )
    parser.add_argument(
        "--run", dest="runs", action="append", default=[], metavar="RUN",
        help="only this run, and the data file it trains on; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--no-checkpoints", dest="checkpoints", action="store_false",
        help="leave out checkpoints and models: a small file, from which no run can be resumed where it was",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="replace a file of this name")


_OPTIONS = {
    "serve": _serve, "launch": _launch, "list": _list, "stop": _stop, "resume": _resume, "rename": _rename,
    "tag": _tag, "delete": _delete, "restore": _restore, "backup": _backup, "doctor": _doctor,
}  # fmt: skip


def _step(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise argparse.ArgumentTypeError(f"a step is a whole number, not “{text[:40]}”")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not “{text}”")
    return int(text)


def refuse_unknown(parser: argparse.ArgumentParser, command: str) -> None:
    """Say of a first word that is no command which one may be meant, before the list of all, and exit."""
    if command in SUMMARIES or command.startswith("-"):
        return
    from groupwise.storage.spec.words.problem import did_you_mean  # here: a right word needs none

    near = did_you_mean(command, list(SUMMARIES))
    if command.lower().endswith((".yaml", ".yml")):
        near = " `groupwise launch FILE` starts the run of a file."
    parser.error(f"there is no command “{command[:80]}”.{near} The commands: {', '.join(SUMMARIES)}.")


def names_backup(options: argparse.Namespace) -> bool:
    """Whether `restore` was given a backup's file, and no run's id."""
    return options.into is not None or any(name.endswith((".tar.gz", ".tgz", ".tar")) for name in options.runs)


def makes_token(option: str | None) -> bool:
    """Whether `token_from` makes a new token, which nobody knows until it is printed."""
    return option == "auto" and not os.environ.get("GROUPWISE_TOKEN")


def token_from(option: str | None) -> str | None:
    """The token that `--token` and $GROUPWISE_TOKEN mean together; None where neither was given."""
    made = makes_token(option)
    given = os.environ.pop("GROUPWISE_TOKEN", None) or None  # popped: no child of this process shall have it
    if made:
        from groupwise.app.server.login import new_token

        given = new_token()
    token = given if option in (None, "auto") else option
    if token is not None:
        redaction.learn(token, "GROUPWISE_TOKEN")
    return token
