"""Whether what a function rewards hardly fits into the limit of tokens, as the completions show. Pure."""

from groupwise.storage.analysis.doctor import changes
from groupwise.storage.analysis.doctor.by_prompt import CHANCE
from groupwise.storage.analysis.doctor.evidence import Evidence, Sample
from groupwise.storage.analysis.doctor.words import write_figure
from groupwise.storage.checks.tag_room import tags_wanted
from groupwise.storage.record import group_metrics
from groupwise.storage.spec.words.number_words import count_words

HARDLY = 0.05  # of a function's span: what is next to nothing
NEAR = 0.9  # of the limit: as long as what is cut off, or nearly
SOME, FEW = 3, 16  # completions that earn; that begin the form
HALF = 0.5  # of those that begin the form


def gives_nothing(e: Evidence, name: str) -> bool:
    """Whether a function has given 0 to every completion."""
    return e.functions[name].constant == 0 and not e.curve(f"rewards/{name}/mean").high > 0


def gives_hardly_anything(e: Evidence, name: str) -> bool:
    """Whether it has given next to nothing, at the start as now, though some completions earned from it."""
    curve, span = e.curve(f"rewards/{name}/mean"), e.range_of(name)
    if not len(curve) or span <= 0 or e.functions[name].weight <= 0 or name in group_metrics.OF_LENGTH:
        return False
    return max(curve.start, curve.early, curve.now, curve.late) <= _least(e, name) + HARDLY * span


def is_seen(e: Evidence, name: str) -> bool:
    """Whether the completions show that what it rewards hardly fits."""
    return _earn_near_limit(e, name) or _is_form_cut(e, name)


def say_seen(e: Evidence, name: str) -> str:
    """The same in words, after a colon; “” where they do not show it."""
    if _earn_near_limit(e, name):
        lengths = sorted(one.tokens for one in _earners(e, name))
        least, most = lengths[0], count_words(lengths[-1], "token")
        ends = most if least == lengths[-1] else f"{least:,} to {most}"
        return f"the only {count_words(len(lengths), 'completion')} of {e.steps_read} that earned from it had {ends}"
    if _is_form_cut(e, name):
        began = _began_form(e)
        were = sum(one.cut for one in began)
        begin = f"of {e.steps_read} that begin with “{_opening_tag(e)}”"
        many = count_words(len(began), "completion")
        return f"{'all' if were == len(began) else f'{were:,} of'} {many} {begin} were cut off"
    return ""


def say_given(e: Evidence, name: str) -> str:
    """What a function gave that gave nothing, or next to nothing: “has scored 0 every time”."""
    if gives_nothing(e, name):
        return f"“{name}” has scored 0 every time"
    now = write_figure(e.curve(f"rewards/{name}/mean").now)
    return f"“{name}” {'gave' if e.ended else 'gives'} next to nothing, {now} on average {e.at_now}"


def _earn_near_limit(e: Evidence, name: str) -> bool:
    """Whether all that earn from it are nearly as long as the limit, more often than chance would have it."""
    earned, scored = _earners(e, name), _scored(e, name)
    if len(earned) < SOME or not all(_is_near_limit(e, one) for one in earned):
        return False
    near = sum(_is_near_limit(e, one) for one in scored) / len(scored)
    return near ** len(earned) <= CHANCE


def _is_near_limit(e: Evidence, one: Sample) -> bool:
    return one.tokens >= NEAR * changes.longest(e)


def _earners(e: Evidence, name: str) -> list[Sample]:
    least = _least(e, name) + group_metrics.TIED
    return [one for one in _scored(e, name) if (one.scores[name] or 0.0) > least]


def _scored(e: Evidence, name: str) -> list[Sample]:
    return [one for group in e.groups for one in group if one.scores.get(name) is not None]


def _least(e: Evidence, name: str) -> float:
    """The least that a function gave, as far as is known."""
    told = e.functions[name]
    return min((end for end in (told.low, *(told.before or ())) if end is not None), default=0.0)


def _is_form_cut(e: Evidence, name: str) -> bool:
    """Whether most completions that begin with the tags that “format” wants were cut off."""
    if name != "format" or e.tags is None:
        return False
    began = _began_form(e)
    return len(began) >= FEW and sum(one.cut for one in began) >= HALF * len(began)


def _began_form(e: Evidence) -> list[Sample]:
    tag = _opening_tag(e)
    return [one for group in e.groups for one in group if tag and one.text.lstrip().startswith(tag)]


def _opening_tag(e: Evidence) -> str:
    tags = next((tags_wanted(reward.parameters) for reward in e.rewards if reward.name == "format"), [])
    return f"<{tags[0]}>" if tags else ""
