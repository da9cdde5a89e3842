"""Lists of which a condition that nobody can decide here makes one thing or another: what is in them whatever it says,
and what is there only where it is met, or only where it is not."""

import ast
from collections.abc import Collection

from groupwise.storage.checks.script_reader.values import Arm, Either, Items, Perhaps, Plain, Value, plain_or

MOST_ITEMS = 1000  # of a list that is looked at item by item


def as_list(value: Value) -> Items | None:
    """A value as one list; None where it is none. Of several that it may be: what is in all of them, in its order, and
    what is only in some, as that."""
    if isinstance(value, Items):
        return value
    options = value.options if isinstance(value, Either) else []
    lists = [one for one in map(as_list, options) if one is not None]
    if not lists:
        return None
    unmet = as_list(value.unmet) if isinstance(value, Either) and value.unmet is not None else None
    base = next((one for one in lists if one is unmet), lists[0])
    others = [one for one in lists if one is not base]
    left = [list(one.items) for one in others]
    items = [_item_of_several(base.node, item, left, unmet is base, len(lists) == len(options)) for item in base.items]
    for one, rest in zip(others, left, strict=True):
        items += [in_doubt(one.node, item) for item in rest if not _has(items, item)]
    return Items(value.node, items, len(lists) < len(options) or any(one.more for one in lists))


def join_lists(node: ast.AST, left: Value, right: Value, arms: tuple[Arm, ...]) -> Items | None:
    """Two lists one after the other, of which only one may be known; None where neither is one."""
    lists = [one for one in map(as_list, (left, right)) if one is not None]
    if not lists or isinstance(left, Plain) or isinstance(right, Plain):
        return None
    items = [item for one in lists for item in one.items]
    return Items(node, items[:MOST_ITEMS], len(lists) < 2 or any(one.more for one in lists), arms)


def replace_items(of: Items, key: Value, new: Items | None, node: ast.AST, doubtful: bool) -> None:
    """Put others in the place of one item of a list, or of several; `doubtful`: where a condition is met."""
    place = None if of.open else _place_of(key)
    if place is None or new is None or new.more:
        of.more = True
        return
    before = list(of.items)
    of.items[place] = new.items
    if doubtful:
        of.items = changed_in_doubt(before, of.items, node)


def _place_of(key: Value) -> slice | None:
    """Which items of a list a key names: list[0], list[1:]; None where that is not known."""
    if not isinstance(key.node, ast.Slice):
        at = plain_or(key)
        return slice(at, at + 1 or None) if type(at) is int else None
    try:
        bounds = [None if one is None else ast.literal_eval(one) for one in (key.node.lower, key.node.upper)]
    except ValueError:
        return None
    whole = key.node.step is None and all(one is None or type(one) is int for one in bounds)
    return slice(*bounds) if whole else None


def _item_of_several(node: ast.AST, item: Value, left: list[list[Value]], unmet: bool, only_lists: bool) -> Value:
    """An item of one of several lists; it is taken out of the others, each of which is left with what else it has."""
    everywhere = only_lists
    for rest in left:
        place = next((number for number, one in enumerate(rest) if one is item), None)
        if place is None:
            everywhere = False
        else:
            del rest[place]
    return item if everywhere else in_doubt(node, item, unmet)


def _has(items: list[Value], item: Value) -> bool:
    return any(isinstance(one, Perhaps) and not one.unmet and one.of is _inner(item) for one in items)


def _inner(item: Value) -> Value:
    return item.of if isinstance(item, Perhaps) else item


def in_doubt(node: ast.AST, item: Value, unmet: bool = False) -> Perhaps:
    """An item of a list that a condition puts there, or takes away (`unmet`)."""
    return item if isinstance(item, Perhaps) else Perhaps(node, item, unmet)


def changed_in_doubt(before: Collection[Value], now: list[Value], node: ast.AST) -> list[Value]:
    """The items of a list that was changed where a condition is met: what is new or gone is there perhaps."""
    kept = list(now)
    items: list[Value] = []
    for item in before:
        place = next((number for number, one in enumerate(kept) if one is item), None)
        if place is None:
            items.append(in_doubt(node, item, True))
            continue
        items += [in_doubt(node, one) for one in kept[:place]]
        items.append(item)
        del kept[: place + 1]
    return [*items, *(in_doubt(node, one) for one in kept)]
