"""Writes each command's --help into docs/command.md, between its markers; with --check only says whether it differs.

make docs
"""

import re
import sys
from argparse import ArgumentParser, _SubParsersAction
from pathlib import Path

from groupwise.app.cli.parser import build_parser

PAGE = Path(__file__).with_name("command.md")
BLOCK = re.compile(r"(<!-- help: groupwise ?(\w*) -->\n).*?(<!-- end -->)", re.S)


def main() -> int:
    """0 where the page says what the command says (now)."""
    before = PAGE.read_text(encoding="utf-8")
    after = with_help(before)
    if "--check" in sys.argv:
        print("docs/command.md is as the command says." if before == after else "docs/command.md differs: make docs")
        return int(before != after)
    PAGE.write_text(after, encoding="utf-8")
    return 0


def with_help(text: str) -> str:
    """The page with every help text in its place. Raises ValueError where a command has no place."""
    parser = build_parser()
    commands = next(a.choices for a in parser._actions if isinstance(a, _SubParsersAction))
    helps: dict[str, ArgumentParser] = {"": parser, **commands}
    missing = helps.keys() - {name for _, name, _ in BLOCK.findall(text)}
    if missing:
        raise ValueError(f"docs/command.md has no place for: {', '.join(sorted(missing))}")
    return BLOCK.sub(lambda m: f"{m[1]}```\n{helps[m[2]].format_help().rstrip()}\n```\n{m[3]}", text)


if __name__ == "__main__":
    sys.exit(main())
