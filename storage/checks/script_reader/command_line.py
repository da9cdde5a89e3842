"""What a script reads from its command line: the defaults of argparse, click, typer and of the dataclasses of a parser;
and what Hydra reads from its files."""

import ast

from groupwise.storage.checks.script_reader.given_arguments import arguments_in_script, share_of, with_defaults
from groupwise.storage.checks.script_reader.members import Arguments
from groupwise.storage.checks.script_reader.values import (
    Class,
    Function,
    Given,
    Items,
    Made,
    Mapping,
    Outer,
    Plain,
    Value,
    plain_or,
)

PARSERS = {"TrlParser", "HfArgumentParser"}
PARSES = {"parse_args", "parse_known_args", "parse_args_and_config", "parse_args_into_dataclasses", "parse_yaml_file",
           "parse_json_file", "parse_dict"}  # fmt: skip


# What makes an object of a dataclass from the command line: tyro.cli(Settings).
PARSING = {"tyro.cli", "simple_parsing.parse", "draccus.parse", "pyrallis.parse", "datargs.parse"}


def parsed_object(kind: Class, node: ast.AST) -> Made:
    """An object of a dataclass with its defaults, as a parser makes it."""
    base = next((base.path for base in kind.bases if isinstance(base, Outer)), "")
    return Made(node, base or kind.name, [], {}, [], cls=kind, parsed=True)


def _asked(node: ast.AST, flag: str) -> Given:
    return Given(node, f"the command line ({flag})")


def decorated_options(function: Function, decorators: list[Value]) -> dict[str, Value]:
    """What each argument of a function gets where its decorators read it: @click.option(…), @hydra.main(…)."""
    found: dict[str, Value] = {}
    for value in decorators:
        if not isinstance(value, Made):
            continue
        if value.path in ("click.option", "click.argument", "option", "argument"):
            name, default = _click_option(value)
            found[name] = default
        elif value.path in ("hydra.main", "hydra_main") and function.node.args.args:
            names = [plain_or(value.keywords.get(part)) for part in ("config_path", "config_name")]
            where = "/".join(name for name in names if isinstance(name, str)) or "config"
            found[function.node.args.args[0].arg] = Given(value.node, f"Hydra's file ({where}.yaml)")
    return found


def _click_option(value: Made) -> tuple[str, Value]:
    """The argument that an option is for, and what it is where nobody gives it."""
    flags = [said for each in value.arguments if isinstance(said := plain_or(each), str)]
    named = next((flag for flag in flags if not flag.startswith("-")), "")
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    name = (named or long.partition("/")[0].lstrip("-")).replace("-", "_").lower()
    if "default" in value.keywords:
        return name, value.keywords["default"]
    if plain_or(value.keywords.get("is_flag")) is True or "/" in long:
        return name, Plain(value.node, False)
    asked = value.name == "argument" or plain_or(value.keywords.get("required")) is True
    return name, _asked(value.node, long or name) if asked else Plain(value.node, None)


def typer_default(value: Value) -> Value:
    """The default of an argument as it is, also where typer.Option(1e-5, …) says it."""
    if not isinstance(value, Made) or value.path not in ("typer.Option", "typer.Argument", "Option", "Argument"):
        return value
    found = value.arguments[0] if value.arguments else value.keywords.get("default")
    ellipsis = found is None or (isinstance(found.node, ast.Constant) and found.node.value is ...)
    return _asked(value.node, "an argument without a default") if ellipsis or found is None else found


def parsed_arguments(of: Value, name: str, call: Arguments, node: ast.AST) -> Value | None:
    """What a parser's methods give, each argument as its default; None where `of` is no parser, or it is another
    method."""
    if not isinstance(of, Made):
        return None
    given = arguments_in_script(name, call, node) if name in PARSES else None
    if of.name in PARSERS and name in PARSES:
        return _of_dataclasses(of, node, given)
    if of.name in ("ArgumentParser", "add_argument_group", "add_mutually_exclusive_group"):
        parser = of.receiver if of.name != "ArgumentParser" and isinstance(of.receiver, Made) else of
        if name == "add_argument":
            _add_argument(parser, call, node)
            return Plain(node, None)
        if name == "set_defaults":
            parser.later |= call.named
            return Plain(node, None)
        if name in ("parse_args", "parse_known_args"):
            said = {
                name: _like(parser.later.get(name), value) for name, value in (given or Mapping(node)).entries.items()
            }
            found = Made(node, "argparse.Namespace", [], {}, [], later=parser.later | said)
            return found if name == "parse_args" else Items(node, [found, Value(node)])
    return None


def _add_argument(parser: Made, call: Arguments, node: ast.AST) -> None:
    flags = [said for value in call.given if isinstance(said := plain_or(value), str)]
    long = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    name = plain_or(call.named.get("dest")) or long.lstrip("-").replace("-", "_")
    switch = {"store_true": False, "store_false": True}.get(str(plain_or(call.named.get("action"))))
    if "default" in call.named:
        parser.later[name] = call.named["default"]
    elif switch is not None:
        parser.later[name] = Plain(node, switch)
    elif not flags or not flags[0].startswith("-") or plain_or(call.named.get("required")) is True:
        parser.later[name] = _asked(node, long or name)
    else:
        parser.later[name] = Plain(node, None)


def _like(default: Value | None, said: Value) -> Value:
    """What a command line says of an argument; a number stays text where the default is text."""
    known = plain_or(said)
    if isinstance(plain_or(default), str) and isinstance(known, (int, float)) and not isinstance(known, bool):
        return Plain(said.node, f"{known}")
    return said


def _of_dataclasses(parser: Made, node: ast.AST, said: Mapping | None) -> Value:
    """An object of each dataclass, with its defaults, or with what is said of them in the script."""
    given = parser.arguments[0] if parser.arguments else parser.keywords.get("dataclass_types")
    types = given.items if isinstance(given, Items) else [given] if given is not None else []
    found: list[Value] = []
    for kind in types:
        if not isinstance(kind, (Class, Outer)):
            found.append(Value(node))
            continue
        made = parsed_object(kind, node) if isinstance(kind, Class) else Made(node, kind.path, [], {}, [], parsed=True)
        if said is not None:
            made.parsed = False
            made.keywords = with_defaults(kind, share_of(kind, types, said), node)
            made.dark = list(said.dark)
        found.append(made)
    return Items(node, found)
