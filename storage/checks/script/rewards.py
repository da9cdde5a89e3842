"""The reward functions of a run's plain script: their imports, their parameters, and the weights that change."""

from typing import Any

from groupwise.storage.spec.python_source import SCRIPT_WIDTH, flat_keywords, is_usable_name, keywords, literal
from groupwise.storage.spec.spec import KlSpec, RewardSpec, RunSpec

WITH_PARAMETERS = '''

def with_parameters(function, /, **parameters):
    """A reward function with these parameters, which win over columns of the same name."""

    @functools.wraps(function)
    def now(**batch):
        return function(**{**batch, **parameters})

    @functools.wraps(function)
    async def later(**batch):
        return await function(**{**batch, **parameters})

    return later if inspect.iscoroutinefunction(function) else now
'''
KL_TRAINER = '''

class AdaptiveKLGRPOTrainer(GRPOTrainer):
    """Moves beta, as a generation begins, so that the KL nears its target (Ziegler et al. 2019, arXiv 1909.08593)."""

    kl_seen = ()  # since beta last changed

    def _generate_and_score_completions(self, inputs):
        if self.model.training:
            if self.kl_seen:
                kl = sum(self.kl_seen) / len(self.kl_seen)
                error = min(max((kl - KL["target"]) / KL["target"], -0.2), 0.2)
                self.beta = min(max(self.beta * (1 + KL["rate"] * error), KL["least"]), KL["most"])
                self.kl_seen = ()
            self._metrics["train"]["beta"].append(self.beta)
        return super()._generate_and_score_completions(inputs)

    def _compute_loss(self, *batch):
        logged = len(self._metrics["train"]["kl"])
        loss = super()._compute_loss(*batch)
        if self.model.training:
            self.kl_seen = (*self.kl_seen, *self._metrics["train"]["kl"][logged:])
        return loss
'''
WEIGHING_TRAINER = '''

class WeighingTrainer(BASE):
    """Scores the completions of each step with the weights of that step."""

    def __init__(self, *, changes, **settings):
        """`changes`: for each function how its weight changes, or None."""
        super().__init__(**settings)
        self.changes = changes
        self.weights = list(self.args.reward_weights)
        self.seen = [[] for _ in changes]  # each function's scores since its weight last changed,
        self.since = [None for _ in changes]  # and the step of that

    def _calculate_rewards(self, *batch):
        if not self.model.training:
            return super()._calculate_rewards(*batch)
        for index, change in enumerate(self.changes):
            if change is not None:
                self.weights[index] = self.weight(index, **change)
        self.reward_weights = torch.tensor(self.weights, dtype=torch.float32)
        scores = super()._calculate_rewards(*batch)  # completions of all processes × functions; NaN for no score
        for index, column in enumerate(scores.T.tolist()):
            if "adapt" in (self.changes[index] or {}):
                self.seen[index] += [score for score in column if score == score]
        return scores

    def weight(self, index, schedule=None, adapt=None):
        """In straight lines between the (step, weight) points of a schedule; or, every so many steps, more when few
        completions succeeded, and less when many did."""
        step, seen, weight = self.state.global_step, self.seen[index], self.weights[index]
        if schedule is not None:
            return float(numpy.interp(step, *zip(*schedule, strict=True)))
        if self.since[index] is None:
            self.since[index] = step
        if step - self.since[index] < adapt["every"] or not seen:
            return weight
        rate = sum(score >= adapt["success"] for score in seen) / len(seen)
        self.seen[index], self.since[index] = [], step
        weight *= adapt["up"] if rate < adapt["low"] else adapt["down"] if rate > adapt["high"] else 1
        return min(max(weight, adapt["least"]), adapt["most"])
'''


def imports(spec: RunSpec) -> str:
    """One line per reward function. Each under a name of its own: `format` is also Python's, `model` main's."""
    names = dict.fromkeys(reward.name for reward in _all_rewards(spec))
    return "".join(
        f"from rewards.{name} import {name} as {alias(name)}\n"
        if is_usable_name(name)
        else f"{alias(name)} = getattr(import_module({literal(f'rewards.{name}')}), {literal(name)})\n"
        for name in names
    )


def helpers(spec: RunSpec) -> str:
    """What the functions and their weights need, as far as they do."""
    wrapper = WITH_PARAMETERS if any(reward.parameters for reward in _all_rewards(spec)) else ""
    following = KL_TRAINER if follows_kl(spec) else ""
    return wrapper + following + (WEIGHING_TRAINER.replace("BASE", _base(spec)) if changing(spec) else "")


def _all_rewards(spec: RunSpec) -> list[RewardSpec]:
    return [reward for part in [spec, *spec.by_stage()] for reward in part.rewards]


def changing(spec: RunSpec) -> bool:
    """Whether any weight changes while it trains."""
    return any(change(reward) for reward in _all_rewards(spec))


def alias(name: str) -> str:
    """The name under which a script imports a reward function."""
    return f"{name}_reward"


def trainer(spec: RunSpec) -> str:
    """The trainer's class."""
    return "WeighingTrainer" if changing(spec) else _base(spec)


def _base(spec: RunSpec) -> str:
    return "AdaptiveKLGRPOTrainer" if follows_kl(spec) else "GRPOTrainer"


def follows_kl(spec: RunSpec) -> bool:
    """Whether beta follows the KL."""
    return spec.kl.target is not None


def kl_constant(spec: RunSpec) -> str:
    """The line that says how; none where nothing is said of it."""
    return "" if spec.kl == KlSpec() else f"KL = {literal(spec.kl.model_dump(), 0, len('KL = '))}\n"


def change(reward: RewardSpec) -> dict[str, Any] | None:
    """How a function's weight changes, as WeighingTrainer takes it."""
    points = [[point.step, point.weight] for point in reward.schedule]
    found = {"schedule": points} if points else {}
    return (found | ({"adapt": reward.adapt.model_dump()} if reward.adapt else {})) or None


def unused_reward_settings(rewards: list[RewardSpec]) -> dict[str, Any]:
    """What a script has no use for, by place and name: each function's version (its code lies beside the script) and
    the time that a call may take."""
    usual = RewardSpec(name="usual")
    return {
        f"{index}.{name}": getattr(reward, name)
        for index, reward in enumerate(rewards)
        for name in ("version", "timeout")
        if getattr(reward, name) != getattr(usual, name)
    }


def function_list(rewards: list[RewardSpec], indent: int) -> str:
    """The list of functions, on one line where none has parameters."""
    if not any(reward.parameters for reward in rewards):
        return f"[{', '.join(alias(reward.name) for reward in rewards)}]"
    pad = " " * indent
    return "[\n" + "".join(f"{pad}    {function(reward, indent + 4)},\n" for reward in rewards) + f"{pad}]"


def function(reward: RewardSpec, indent: int) -> str:
    """A function, with its parameters where it has some."""
    if not reward.parameters:
        return alias(reward.name)
    short = flat_keywords(reward.parameters, SCRIPT_WIDTH - indent - len(alias(reward.name)) - 20)
    if short is not None:
        return f"with_parameters({alias(reward.name)}, {short})"
    pad = " " * indent
    return f"with_parameters(\n{pad}    {alias(reward.name)},\n{keywords(reward.parameters, indent + 4)}{pad})"


def pairs(rewards: list[RewardSpec], indent: int, *, with_changes: bool) -> str:
    """[(function, weight), …] or, with_changes, [(function, weight, how it changes), …]; on one line if it is short."""
    pad = " " * (indent + 4)
    plain = not any(reward.parameters or change(reward) for reward in rewards)
    parts = [
        [function(reward, 0 if plain else indent + 4), literal(reward.weight)]
        + ([literal(change(reward), indent + 4)] if with_changes else [])
        for reward in rewards
    ]
    if plain:
        return "[" + ", ".join(f"({', '.join(each)})" for each in parts) + "]"
    return "[\n" + "".join(f"{pad}({', '.join(each)}),\n" for each in parts) + f"{' ' * indent}]"
