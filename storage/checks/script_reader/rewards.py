"""What a script says of its reward functions: names, weights, parameters, how the weights change, and their code."""

import ast
import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from groupwise.storage.checks.known_rewards import Known
from groupwise.storage.checks.script_reader.closures import Unclosed, callable_method, usual_name
from groupwise.storage.checks.script_reader.conditional_rewards import WRAPPERS, reward_where_unmet
from groupwise.storage.checks.script_reader.imported_rewards import imported_reward
from groupwise.storage.checks.script_reader.kept_parameters import keep_parameters, parameter_names, take_in_values
from groupwise.storage.checks.script_reader.members import class_member
from groupwise.storage.checks.script_reader.perhaps import as_list
from groupwise.storage.checks.script_reader.plain import Unknown
from groupwise.storage.checks.script_reader.reading import CONDITION, Reading, short_path
from groupwise.storage.checks.script_reader.repeated_rewards import (
    TWICE,
    add_to_same,
    copy_under,
    free_name,
    settings_words,
)
from groupwise.storage.checks.script_reader.reward_code import ScriptFunction, extract_function
from groupwise.storage.checks.script_reader.scopes import AllNames
from groupwise.storage.checks.script_reader.slow_objects import WITHOUT_NETWORK, slow_words
from groupwise.storage.checks.script_reader.training import config_values
from groupwise.storage.checks.script_reader.unsaid import list_names
from groupwise.storage.checks.script_reader.values import (
    Either,
    Function,
    Item,
    Items,
    Made,
    Mapping,
    Outer,
    Part,
    Perhaps,
    Plain,
    Value,
    plain_or,
    script_line,
    to_plain,
)
from groupwise.storage.library.rewards import defined, names, signature
from groupwise.storage.library.rewards.bodies import arguments
from groupwise.storage.spec.words.number_words import join_words

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")
WEIGHTS = "each reward's weight"
_UPDATES = ("update_wrapper", "wraps")


class RewardReader:
    """Reads the functions that reach the trainer. `own`: those that the script defines, with their code;
    `needs_solution`: whether one compares with the column “solution”."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self._own: dict[tuple[int, str], ScriptFunction] = {}  # by what is called, and the name that it gets
        self._elsewhere: set[str] = set()  # functions that are imported, of which only the names are known
        self.needs_solution = False

    @property
    def answer_asked(self) -> str | None:
        """The column that the rewards compare with: “solution”, as TRL's own do, or the “answer” that one of the
        script's asks for."""
        if self.needs_solution:
            return "solution"
        return "answer" if "answer" in self.arguments_asked else None

    @property
    def arguments_asked(self) -> dict[str, str]:
        """What the script's own functions take by name, and the first of them that does."""
        found = (sig for one in reversed(self.own) for sig in signature.analyse(one.code, one.name).functions)
        return {name: sig.name for sig in found for name in sig.arguments}

    @property
    def own(self) -> list[ScriptFunction]:
        return list(self._own.values())

    def settings(self) -> list[dict[str, Any]] | None:
        """The reward functions by name, with their weights; None where the script says none that can be read."""
        value = self.reading.trainer.get("reward_funcs")
        if value is None or (isinstance(value, Plain) and value.value is None):
            return self._unnamed() if self.reading.made_trainer is None else None
        self.reading.account(value)
        value = as_list(value) or value
        if not isinstance(value, Items) and not isinstance(value, (Function, Outer, Made, Plain, Part)):
            if _looks_up(value):
                self.reading.note("reward_funcs", value, "are looked up by names known only when the script runs: "
                                  "choose them here.")  # fmt: skip
            else:
                self.reading.note_computed("reward_funcs", value)
            self._name_likely(value)
            return None
        values: list[Value] = value.items if isinstance(value, Items) else [value]
        if isinstance(value, Items) and value.more:
            self.reading.note("Some of reward_funcs", value, "come from what the script computes: add them here.")
        said = self.reading.trainer.get("changes")
        changes = said.items if isinstance(said, Items) and len(said.items) == len(values) else [None] * len(values)
        found: list[dict[str, Any]] = []
        for item, weight, change in zip(values, self._weights(values), changes, strict=True):
            each = reward_where_unmet(self.reading, item)
            named = self.of_function(each) if each is not None else None
            if named is None:
                continue
            reward = {**named, "weight": weight, **self.of_change(change)}
            if self.reading.own or (reward := self._once(found, reward, each or item)):
                self._note_place(reward["name"], len(found))
                found.append(reward)
        if not found:
            self.reading.unsaid.forget(WEIGHTS)
            self._name_likely(value)
        return found or None

    def _once(self, found: list[dict[str, Any]], reward: dict[str, Any], at: Value) -> dict[str, Any]:
        """A reward under a name that none of those before has; {}, and a note, where it needs no place or has none."""
        name, given = reward["name"], settings_words(reward)
        taken = {one["name"] for one in found}
        if name not in taken:
            return reward
        if add_to_same(self.reading, found, reward, at):
            return {}
        code = next((one for one in self.own if one.name == name), None)
        if code is None and name not in self._elsewhere:
            why = f"a run takes each built-in once: this one was not taken ({given})"
            self.reading.note(f"“{name}”", at, f"{TWICE}, and {why}. Copy it under Rewards, and choose the copy.")
            return {}
        other = free_name(name, taken | {one.name for one in self.own})
        if code is not None:
            self._own[(id(at), other)] = copy_under(code, other)
        how = f"imported as “{other}”." if code else f"taken as “{other}”. Save its code under that name, too."
        self.reading.note(f"“{name}”", at, f"{TWICE}: with {given} it was {how}")
        return {**reward, "name": other}

    def _name_likely(self, value: Value) -> None:
        """Where no reward was taken: which functions of the script look like rewards."""
        names = self.reading.script.module.names.values()
        likely = [one for one in names if isinstance(one, Function) and _looks_like_reward(one)]
        if not likely:
            return
        place = self.reading.place
        named = list_names([f"{one.name} ({place(script_line(one))})" for one in dict.fromkeys(likely)])
        self.reading.tell(
            f"None of reward_funcs ({place(script_line(value))}) was taken. Of the script's functions these take "
            f"completions, as rewards do: {named}. Save their code under Rewards, and choose them here.", value
        )  # fmt: skip

    def _note_place(self, name: str, place: int) -> None:
        for one in self.own:
            if one.name == name:
                one.places.append(place)

    def _unnamed(self) -> list[dict[str, Any]] | None:
        """Of a script without a trainer to name them: the functions that look like rewards."""
        likely = [one.name for one in defined.reward_functions(self.reading.script.tree) if _begins_as_reward(one)]
        values = [self.reading.script.module.look_up(name) for name in likely]
        named = [self.of_function(value) for value in values if isinstance(value, Function)]
        found = [one for one in named if one is not None]
        weights = self._weights([one for one in values if one is not None][: len(found)]) if found else []
        for place, one in enumerate(found):
            self._note_place(one["name"], place)
        if found:
            listed = ", ".join(f"“{one['name']}”" for one in found)
            what = "looks like a reward function and was" if len(found) == 1 else "look like reward functions and were"
            self.reading.tell(f"{listed} {what} taken: no trainer in the script names any.")
        return [{**one, "weight": weight} for one, weight in zip(found, weights, strict=True)] or None

    def of_function(self, value: Value, along: Collection[str] = ()) -> dict[str, Any] | None:
        """name, and parameters where the script gives some; None, and a note, for what cannot be taken. `along`: the
        parameters that are taken with it."""
        if isinstance(value, Made) and value.name in WRAPPERS:
            value = _by_name(value)
            if len(value.arguments) == 1:
                return self._with_parameters(value)
        if isinstance(value, Made) and value.name in _UPDATES and value.arguments:
            return self.of_function(value.arguments[0])
        if isinstance(value, (Made, Outer)) and (known := imported_reward(self.reading, value)) is not None:
            return self._known(known, value, self._called_with(value, known) if isinstance(value, Made) else {})
        if model := self._reward_model(value):
            return {"name": "reward_model", "parameters": {"models": [model]}}
        return self._by_name(value, along)

    def _by_name(self, value: Value, along: Collection[str]) -> dict[str, Any] | None:
        said = _name_said(value)
        value = callable_method(value) or value
        if isinstance(value, Function):
            return self._own_function(value, said)
        name = ""
        if isinstance(value, (Outer, Part)):
            name = value.path.rpartition(".")[2] if isinstance(value, Outer) else value.name
            self._note_elsewhere(name, value, along)
            self._elsewhere.add(name)
        if NAME.fullmatch(name):
            return {"name": name}
        self.reading.note("A reward", value, f"{_in_words(value)}, and was not taken: choose a reward here.")
        return None

    def _own_function(self, function: Function, said: Value | None = None) -> dict[str, Any] | None:
        """A function that the script defines: its code comes along. `said`: its __name__, where the script sets one."""
        wanted = self._name_given(said) or usual_name(function)
        known = (id(function.node) if function.top else id(function), wanted)
        if self.reading.own:
            return {"name": function.name}
        if known not in self._own:
            script = self.reading.script
            try:
                name, place = free_name(wanted, (one.name for one in self.own)), self.reading.place
                made = extract_function(self.reading.lines, script.tree, function, name, place)
            except Unclosed as error:
                self.reading.note(f"The reward “{function.name}”", function.made_by or function,
                                  f"was not taken: it uses {error}, which is known only while the script runs. Write "
                                  "it under Rewards.")  # fmt: skip
                return None
            if function.made_by is not None:
                made = take_in_values(made, function.made_by.keywords)
            self._own[known] = made
            if made.name != name:
                self.reading.note(f"The __name__ “{name}” of a reward", said or function, "was not taken: the code of "
                                  f"“{made.name}” uses that name for something else.")  # fmt: skip
            if not function.top:
                self._note_made(function, made)
            for token in made.stand_ins:
                what = f"The tokenizer's {token} in the reward “{made.name}”"
                why = "completions are scored without special tokens, so neither is ever found in them."
                self.reading.note(what, function, f'stands as the text "<{token}>": {why}')
        return {"name": self._own[known].name}

    def _name_given(self, said: Value | None) -> str:
        """The __name__ that a script sets, under which TRL logs a reward; "", and a note, where none can be had."""
        name = plain_or(said)
        if said is None or name is None:
            if said is not None:
                self.reading.note_computed("The __name__ of a reward", said)
            return ""
        if problem := names.problem_with(str(name)):
            self.reading.note(f"The __name__ “{name}” of a reward", said, f"was not taken. {problem}")
            return ""
        return str(name)

    def _note_made(self, function: Function, made: ScriptFunction) -> None:
        name, at = made.name, function.made_by or function
        how = "is defined in another function: it is imported with what it uses of that."
        if isinstance(function.owner, Made):
            what = "an object that is called" if function.name == "__call__" else "a method of an object"
            at, how = function.owner, f"is {what}: it is imported as a function that calls it."
            self._note_slow(function.owner, name)
        elif function.within is not None:
            how = f"is a method of {function.within.name}: it is imported as a function that calls it."
        elif function.made_by is not None:
            how = f"is made by {function.made_by.path}(…): it is imported with the values that it was made with"
            taken = [one for one in function.made_by.keywords if one in parameter_names(made)]
            how += f"; {join_words(taken)} can be set in each run." if taken else "."
        elif isinstance(function.node, ast.Lambda):
            how = "is a lambda: it is imported as a function of this name."
        self.reading.note(f"The reward “{name}”", at, how)

    def _note_slow(self, owner: Made, name: str) -> None:
        """Where an object whose method is a reward loads or trains something when it is made."""
        if owner.cls is not None and (found := slow_words(owner)) is not None:
            does, call = found
            of, when = (self.reading.place(script_line(one)) for one in (owner, call))
            said = f"“{name}” is a method of {owner.cls.name} ({of}), which {does} when it is made ({when})"
            self.reading.tell(f"{said}. {WITHOUT_NETWORK}", owner)

    def _note_elsewhere(self, name: str, value: Value, along: Collection[str]) -> None:
        """A function that is imported: its code is not in the script. `along`: the parameters that are taken."""
        if not self.reading.own:
            taken = f"{join_words(['name', *along])} {'were' if along else 'was'} taken"
            after = f"is not defined in the script: only its {taken}. Save its code under Rewards."
            self.reading.note(f"{name}", value, after)

    def _with_parameters(self, value: Made) -> dict[str, Any] | None:
        named = self._of_partial(value)
        if named is None:
            return None
        parameters: dict[str, Any] = {}
        for key, given in value.keywords.items():
            try:
                parameters[key] = to_plain(given)
            except Unknown:
                self.reading.note_computed(f"{named['name']}'s parameter {key}", given)
        parameters = self._kept_as_parameters(str(named["name"]), parameters, value)
        for part in value.dark:
            self.reading.note_computed(f"A parameter of {named['name']}", part)
        parameters = {**named.get("parameters", {}), **parameters}
        return {**named, **({"parameters": parameters} if parameters else {})}

    def _of_partial(self, value: Made) -> dict[str, Any] | None:
        """The function of a partial, under the __name__ that is set on the partial."""
        inner, said = value.arguments[0], _name_said(value)
        along = [key for key, given in value.keywords.items() if plain_or(given, Unknown) is not Unknown]
        if said is None:
            return self.of_function(inner, along)
        if isinstance(inner, Function):
            return self._own_function(inner, said)
        named = self.of_function(inner, along)
        if named is not None:
            after = f"was not taken: “{named['name']}” keeps its name."
            self.reading.note(f"The __name__ “{plain_or(said, '…')}” of a reward", said, after)
        return named

    def _kept_as_parameters(self, name: str, given: dict[str, Any], at: Made) -> dict[str, Any]:
        """Of what a partial gives a function whose code comes along what it then has as parameters. Those of its
        arguments become keyword-only in the code, as only these are parameters; a note on what else it is given."""
        found = next(((known, one) for known, one in self._own.items() if one.name == name), None)
        if found is None:
            return given
        known, one = found
        self._own[known] = changed = keep_parameters(one, given)
        kept = parameter_names(changed)
        for key in sorted(given.keys() - kept):
            self.reading.note(f"{name}'s parameter {key}", at, "was not taken: set it in the function's code.")
        return {key: value for key, value in given.items() if key in kept}

    def _called_with(self, call: Made, known: Known) -> dict[str, Any]:
        """The parameters that a factory is called with."""
        given = dict(zip(known.places, call.arguments, strict=False)) | call.keywords
        found = dict(known.usual)
        for name in known.usual.keys() - given.keys():
            self.reading.unsaid.set(f"{known.name}'s {name}", known.usual[name], "their default")
        for name, value in given.items():
            if name not in known.places:
                self.reading.note(f"{call.name}'s {name}", value, "was not taken: the built-in has no such parameter.")
                continue
            try:
                found[name] = to_plain(value)
            except Unknown:
                self.reading.note_computed(f"{call.name}'s {name}", value)
        return found

    def _known(self, known: Known, value: Outer | Made, parameters: dict[str, Any]) -> dict[str, Any] | None:
        name = value.path.rpartition(".")[2]
        if not known.name:
            self.reading.note(f"{name}", value, f"was not taken. {known.note}")
            return None
        self.needs_solution |= known.solution
        self.reading.note(f"{name}", value, known.sentence())
        parameters = {**known.parameters, **parameters}
        return {"name": known.name} | ({"parameters": parameters} if parameters else {})

    def _reward_model(self, value: Value) -> str | None:
        """The id of a reward model, said by its name or loaded."""
        said = plain_or(value)
        if isinstance(value, Made) and value.name == "from_pretrained" and "SequenceClassification" in value.path:
            said = plain_or(
                value.arguments[0] if value.arguments else value.keywords.get("pretrained_model_name_or_path")
            )
            extra = [name for name in value.keywords if name != "pretrained_model_name_or_path"]
            if extra:
                self.reading.note(f"The reward model's {', '.join(extra)}", value, "was not taken.")
        return said if isinstance(said, str) and said else None

    def of_change(self, value: Value | None) -> dict[str, Any]:
        """schedule and adapt of a function, as WeighingTrainer (storage.checks.script.rewards) takes them."""
        if value is None or (isinstance(value, Plain) and value.value is None):
            return {}
        said = plain_or(value)
        points = said.get("schedule", []) if isinstance(said, dict) else None
        if not isinstance(points, list) or not all(isinstance(point, list) and len(point) == 2 for point in points):
            self.reading.note("How a weight changes", value, "could not be taken: set it here.")
            return {}
        schedule = [{"step": step, "weight": weight} for step, weight in points]
        return {"schedule": schedule} | ({"adapt": said["adapt"]} if "adapt" in said else {})

    def _weights(self, rewards: list[Value]) -> list[float]:
        """A weight for each; those of which a condition decides may have none."""
        value = config_values(self.reading).get("reward_weights")
        given = plain_or(value)
        count = len(rewards)
        sure = [number for number, one in enumerate(rewards) if not isinstance(one, Perhaps) or one.unmet]
        numbers = given if isinstance(given, list) and all(type(one) in (int, float) for one in given) else []
        for places in ([*range(count)], sure):
            if numbers and len(numbers) == len(places):
                said = dict(zip(places, map(float, numbers), strict=True))
                return [said.get(number, 1.0) for number in range(count)]
        if value is not None and given is not None:
            words = f"does not have one number for each of the {count} rewards: each weighs 1."
            self.reading.note("reward_weights", value, words)
        elif value is not None and plain_or(value, 0) is not None:
            self.reading.note_computed("reward_weights", value)
        else:
            self.reading.unsaid.set(WEIGHTS, 1, "as TRL has it")
        return [1.0] * count


def _name_said(value: Value) -> Value | None:
    """The __name__ that the script sets on a function, a partial or an object that is called; None for none."""
    if isinstance(value, Function):
        return value.given_name
    if not isinstance(value, Made):
        return None
    return value.later.get("__name__") or class_member(value.cls, "__name__")


def _by_name(partial: Made) -> Made:
    """A partial of a function of the script with what it is given by place given by name: partial(f, 0.5) as
    partial(f, low=0.5)."""
    inner, given = next(iter(partial.arguments), None), partial.arguments[1:]
    if not isinstance(inner, Function) or inner.owner is not None or not given:
        return partial
    places = [one.arg for one in inner.node.args.args]
    if inner.node.args.posonlyargs or len(given) > len(places) or partial.keywords.keys() & {*places[: len(given)]}:
        return partial
    keywords = dict(zip(places, given, strict=False)) | partial.keywords
    return replace(partial, arguments=[inner], keywords=keywords)


def _looks_like_reward(function: Function) -> bool:
    """Whether a function takes completions, as TRL calls a reward."""
    given = function.node.args
    return any(one.arg == "completions" for one in (*given.posonlyargs, *given.args, *given.kwonlyargs))


def _begins_as_reward(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether its first argument is completions, or prompts, with completions beside them."""
    names = [one.arg for one in arguments(function)]
    return names[:1] == ["completions"] or (names[:1] == ["prompts"] and "completions" in names)


def _in_words(value: Value) -> str:
    if isinstance(value, Made):
        return f"is made by calling {short_path(value)}"
    if isinstance(value.node, ast.Call):
        return f"is made by calling {ast.unparse(value.node.func)[:60]}, which cannot be followed"
    if isinstance(value, Item):
        return _item_words(value)
    if isinstance(value, Either):
        return CONDITION
    return "is a mapping" if isinstance(value, Mapping) else "is computed by the script"


def _item_words(value: Item) -> str:
    """Why what stands at a key is not known."""
    key = plain_or(value.key, ...)
    if key is ...:
        return "is looked up by a name known only when the script runs"
    if isinstance(value.of, AllNames):
        return f"is looked up by the name “{key}”, which the script does not define"
    return f"is an entry of {ast.unparse(value.of.node)[:60]}, which cannot be followed"


def _looks_up(value: Value) -> bool:
    """Whether a list is of what stands at names that nobody knows: [globals()[name] for name in chosen]."""
    each = value.node.elt if isinstance(value.node, ast.ListComp) else None
    return isinstance(each, ast.Subscript) and not isinstance(each.slice, ast.Constant)
