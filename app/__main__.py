"""The groupwise command: serve (the default), launch, list, stop, resume, backup, doctor, repair, worker."""

from __future__ import annotations

import argparse
import io
import os
import sqlite3
import sys
from dataclasses import replace

from groupwise.app.cli.parser import SUMMARIES, build_parser, makes_token, names_backup, refuse_unknown, token_from
from groupwise.app.core.command_errors import CANCELLED, DONE, FAILED, CommandError
from groupwise.app.core.terminal import OutputError, safe_output
from groupwise.storage.home import paths


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments say; the exit code. The one place where errors become sentences."""
    given = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr is: an argument may hold what no text can
    with safe_output():
        return _answer_arguments(given)


def _answer_arguments(given: list[str]) -> int:
    try:
        code = _parse_and_run(given)
        sys.stdout.flush()  # here, where a reader that has gone is understood
        return code
    except OutputError as error:
        return DONE if error.gone else _print_error(error)
    except (CommandError, paths.HomeError) as error:
        return _print_error(error, getattr(error, "code", FAILED))
    except sqlite3.Error as error:
        return _print_error(f"The registry {paths.registry_path()} could not be used: {error}.")
    except OSError as error:
        return _print_system_error(error)
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return CANCELLED


def _parse_and_run(given: list[str]) -> int:
    parser, arguments = build_parser(), _add_default_command(given)
    try:
        refuse_unknown(parser, arguments[0])
        options = parser.parse_args(arguments)
    except SystemExit as told:  # of help, and of wrong arguments
        return int(told.code or DONE)
    return _run_command(options)


def _add_default_command(arguments: list[str]) -> list[str]:
    """`groupwise --port 8000` means `groupwise serve --port 8000`."""
    if arguments and (arguments[0] in (*SUMMARIES, "-h", "--help", "--version") or arguments[0][0:1] != "-"):
        return arguments
    return ["serve", *arguments]


def _run_command(options: argparse.Namespace) -> int:
    """Each command imports what it needs, and no more: a list of runs need not wait for Gradio."""
    if options.command == "serve":
        return _serve(options)
    if options.command == "worker":
        return _become_worker()
    if options.command == "launch":
        from groupwise.app.cli import launch

        return launch.launch(options.spec, name=options.name, wait=options.wait, strict=options.strict)
    if options.command == "backup" or (options.command == "restore" and names_backup(options)):
        from groupwise.app.cli import backup

        return backup.restore_file(options) if options.command == "restore" else backup.backup(options)
    if options.command == "doctor":
        from groupwise.app.cli.doctor import examine

        return examine.print_findings(options)
    from groupwise.app.cli import runs

    return runs.COMMANDS[options.command](options)


def _serve(options: argparse.Namespace) -> int:
    from groupwise.app.server.server import Settings, serve

    made = makes_token(options.token)
    token = token_from(options.token)
    settings = Settings(options.host, options.port, token, options.allow_hosts, options.open, token_is_new=made)
    chosen = replace(settings, trusted=options.trusted, proxies=options.proxies, warm_start=options.warm_start)
    return serve(chosen)


def _become_worker() -> int:
    """Replace this process by the supervisor, so that it has the terminal, its signals and its exit code."""
    from groupwise.app.core.worker_process import ROOT, worker_lives

    os.environ["GROUPWISE_HOME"] = str(paths.prepare())
    if worker_lives():
        raise CommandError(f"A worker already runs for {paths.home()}.")
    os.chdir(ROOT)
    os.execv(sys.executable, [sys.executable, "-m", "groupwise.worker"])


def _print_error(sentence: object, code: int = FAILED) -> int:
    print(f"groupwise: {sentence}", file=sys.stderr)
    return code


def _print_system_error(error: OSError) -> int:
    place = f"{error.filename}: " if error.filename else ""
    return _print_error(f"{place}{error.strerror or error}.")


if __name__ == "__main__":
    sys.exit(main())
