"""From evidence to what the doctor says: one headline, and the verdicts, the most important first, one to a cause."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from groupwise.storage.analysis.doctor import expected, gradient, hacking, length, rewards, speed, stability
from groupwise.storage.analysis.doctor.evidence import Evidence
from groupwise.storage.analysis.doctor.verdict import CALM, LEVELS, Change, Verdict
from groupwise.storage.analysis.doctor.words import percent, short_number

Rule = Callable[[Evidence], Verdict | None]
RULES: tuple[Rule, ...] = (
    *rewards.RULES, *stability.RULES, *gradient.RULES, *length.RULES, *hacking.RULES, *speed.RULES, *expected.RULES,
)  # fmt: skip
WAIT = 10  # logged steps before anything is said of how it goes
# A verdict explains others: they would be said for the same cause.
EVERYTHING = {
    "learning_rate_high", "kl", "clipping", "spikes", "learning_rate_low", "flat", "held_out", "too_hard", "too_easy",
    "tied", "collapse", "entropy", "hacking_one", "constant", "dominating", "length", "loss_near_zero",
}  # fmt: skip
EXPLAINS: dict[str, set[str]] = {
    "not_finite": EVERYTHING,
    "failing": {"too_hard", "too_easy", "tied", "flat", "learning_rate_low", "constant", "dominating", "hacking_one",
                "collapse", "entropy", "learning_rate_high"},
    "learning_rate_high": {"kl", "clipping", "spikes", "entropy", "collapse", "tied", "too_hard", "hacking_one",
                           "length", "flat", "learning_rate_low"},
    "collapse": {"tied", "entropy", "flat", "learning_rate_low", "hacking_one"},
    "too_hard": {"tied", "flat", "learning_rate_low", "constant", "entropy", "collapse"},
    "too_easy": {"tied", "flat", "learning_rate_low", "constant", "entropy", "collapse", "learned"},
    "tied": {"flat", "learning_rate_low", "entropy"},
    "kl": {"spikes", "entropy", "clipping"},
    "hacking_repetition": {"length", "truncated"},
    "hacking_pattern": {"hacking_one", "length"},
    "truncated": {"length"},
    "length": {"flat"},
    "entropy": {"flat"},
    "dominating": {"hacking_one"},
    "constant": {"flat"},
}  # fmt: skip


OPENING = {"up": "Learning", "down": "Getting worse", "level": "Not learning so far"}


@dataclass(frozen=True)
class Report:
    """`kind` says how it stands: waiting, unclear, up, down, level. `verdicts` that are not calm come first; `calm` is
    apart."""

    kind: str
    headline: str
    verdicts: tuple[Verdict, ...]
    calm: tuple[Verdict, ...]


def examine(e: Evidence) -> Report:
    """What there is to say of this evidence."""
    found = [verdict for rule in RULES if (verdict := rule(e)) is not None]
    kept = [_in_their_stages(e, verdict) for verdict in one_to_a_cause(found)]
    grave = tuple(verdict for verdict in kept if verdict.level != CALM)
    kind, said = _summarise_reward(e)
    if kind != "waiting":
        said = f"{_opening(e, kind, grave) if grave else 'Nothing looks wrong so far'}: {said}."
    return Report(kind, said, grave, tuple(verdict for verdict in kept if verdict.level == CALM))


def _in_their_stages(e: Evidence, verdict: Verdict) -> Verdict:
    """With its changes where they take effect: what a stage sets itself is changed in the stage."""
    return replace(verdict, changes=tuple(_move(e, change) for change in verdict.changes)) if e.places else verdict


def _move(e: Evidence, change: Change) -> Change:
    def place(path: str) -> str:
        part, _, rest = path.partition(".")
        return e.places.get(path) or (f"{e.places[part]}.{rest}" if part in e.places else path)

    field = place(change.field) if change.field else ""
    return replace(change, settings={place(path): value for path, value in change.settings.items()}, field=field)


def _opening(e: Evidence, kind: str, grave: tuple[Verdict, ...]) -> str:
    """The headline's first words. Where hardly a group bears a gradient, what rose before rises no more."""
    if kind != "up":
        return OPENING[kind]
    if len(e.tied_share) >= gradient.POINTS and e.tied_share.now >= gradient.MOSTLY_TIED:
        return "No longer learning"
    worst = [verdict.level for verdict in grave if verdict.level == grave[0].level]
    return f"{OPENING[kind]}, with {f'{len(worst)} {worst[0]}s' if len(worst) > 1 else f'a {worst[0]}'}"


def one_to_a_cause(found: list[Verdict]) -> list[Verdict]:
    """Without those that another explains, each key once, the gravest first."""
    ranked = sorted(found, key=lambda verdict: LEVELS.index(verdict.level))
    explained = {key for verdict in ranked if verdict.level != CALM for key in EXPLAINS.get(verdict.key, ())}
    explained |= {key for verdict in ranked if verdict.key == "too_easy" for key in EXPLAINS["too_easy"]}
    kept: dict[str, Verdict] = {}
    for verdict in ranked:
        if verdict.key not in explained:
            kept.setdefault(verdict.key, verdict)
    return list(kept.values())


def _summarise_reward(e: Evidence) -> tuple[str, str]:
    """Is it learning? In a few words."""
    reward = e.reward
    if len(reward) < WAIT:
        return "waiting", (
            f"The doctor needs {WAIT} logged steps to say how it goes; "
            f"{len(reward)} {'is' if len(reward) == 1 else 'are'} there."
        )
    where = "since the start" if not e.since else f"since step {e.since:,}, where this stage began"
    moved = reward.direction(0, 2.0)
    kind = {1: "up", -1: "down", 0: "level"}[moved]
    said = {
        "up": f"reward is up {short_number(reward.rise)} {where} (now {short_number(reward.now)})",
        "down": f"reward is down {short_number(-reward.rise)} {where} (now {short_number(reward.now)})",
        "level": f"reward is about as it was at the start ({short_number(reward.now)})",
    }[kind]
    if len(e.tied_share):
        said += f", {percent(1 - e.tied_share.now)} of groups bear a gradient"
    return kind, said
