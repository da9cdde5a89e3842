"""The table of runs as HTML: its head, and a row for each run. Pure."""

from collections.abc import Sequence

from groupwise.app.core import format, run_query
from groupwise.app.core.end_reason import reason_of, shorten_reason
from groupwise.app.pages.run_list.columns import FIXED, Row, column_of, draw_cell
from groupwise.app.ui.run_colours import NONE
from groupwise.app.ui.safe_text import escape, escape_value
from groupwise.app.ui.state_badge import pill
from groupwise.storage.registry.trash import KEPT

NAME = 70  # characters of a name that are shown
NOTE = 160
TAGS = 6


def table_head(keys: Sequence[str], sort: str) -> str:
    """The head: each column can be sorted by. `sort`: the key it is sorted by, “-” before it downwards."""
    return _head("".join(_head_cell(key, sort) for key in (*FIXED, *keys)))


def deleted_head(keys: Sequence[str]) -> str:
    """The head of the deleted runs, which stand in the order in which they were deleted."""
    titles = [column_of(key) for key in (*FIXED, *keys)]
    cells = [f'<th scope="col" class="{"n" if one.numeric else ""}">{escape(one.title)}</th>' for one in titles if one]
    more = '<th scope="col" class="n">deleted</th><th scope="col" class="n">gone in</th>'
    return _head(f'{"".join(cells)}{more}<th scope="col" class="act"><span class="unseen">actions</span></th>')


def _head(marks: str) -> str:
    box = '<input type="checkbox" class="all" aria-label="Choose all runs of this list">'
    return f'<tr><th class="pick">{box}</th>{marks}</tr>'


def _head_cell(key: str, sort: str) -> str:
    column = column_of(key)
    assert column is not None
    down, sorted_by = sort.startswith("-"), sort.removeprefix("-") == key
    way = "none" if not sorted_by else "descending" if down else "ascending"
    arrow = "" if not sorted_by else " ↓" if down else " ↑"
    title = f' title="{escape(column.about)}"' if column.about else ""
    return (
        f'<th scope="col" class="{"n" if column.numeric else ""}" aria-sort="{way}"><button type="button" class="sort" '
        f'data-sort="{escape(key)}"{title}><bdi>{escape(column.title)}</bdi>{arrow}</button></th>'
    )


def run_row(row: Row, keys: Sequence[str], colour: str) -> str:
    """One run as a table row."""
    return _row(row, colour, "".join(draw_cell(key, row, colour) for key in keys), editable=True)


def deleted_row(row: Row, keys: Sequence[str], at: float) -> str:
    """One deleted run as a table row. `at`: when it was deleted."""
    left = format.duration(max(0.0, at + KEPT - row.now), roughly=True)
    words = {"deleted": format.age(at, row.now), "gone in": left}
    cells = "".join(draw_cell(key, row, NONE) for key in keys)
    cells += "".join(f'<td class="n mut" data-label="{name}">{said}</td>' for name, said in words.items())
    label = f"Restore {_short_name(row)}"
    cells += f'<td class="act"><button type="button" class="btn s" aria-label="{label}">Restore</button></td>'
    return _row(row, NONE, cells, editable=False)


def _row(row: Row, colour: str, cells: str, *, editable: bool) -> str:
    run, name = row.run, _short_name(row)
    box = f'<input type="checkbox" aria-label="Choose {name}">'
    edited = {"name": run.name, "note": run.note, "tags": ", ".join(run.tags)}
    raw = " ".join(f'data-{name}="{escape_value(value)}"' for name, value in edited.items())
    return (
        f'<tr data-run="{escape(run.id)}" {raw}><td class="pick">{box}</td>'
        f"{_name_cell(row, name, colour, editable)}"
        f'<td class="state" data-label="state">{_state_pill(row)}{_reason(row)}</td>'
        f"{cells}</tr>"
    )


def _state_pill(row: Row) -> str:
    return pill(row.run.state, row.verdict, row.level, run_query.queue_words(row.place))


def _reason(row: Row) -> str:
    """Why it failed, was killed or interrupted."""
    why = reason_of(row.run)
    return f'<div class="why s" dir="auto" title="{escape(why)}">{escape(shorten_reason(why))}</div>' if why else ""


def _short_name(row: Row) -> str:
    return escape(format.shorten(row.run.name, NAME))


def _name_cell(row: Row, name: str, colour: str, editable: bool) -> str:
    run = row.run
    title = f"<bdi>{escape(run.name)}</bdi>"  # table.js cuts it in the middle where the column is narrow
    title = f'<a class="title" href="/run?id={escape(run.id)}" title="{escape(run.name)}">{title}</a>'
    pencils = {
        "name": _pencil("name", f"Rename {name}", "✎"),
        "tags": _pencil("tags", "Edit tags", "✎ tags" if run.tags else "+ tags"),
        "note": _pencil("note", "Edit note", "✎ note" if run.note else "+ note"),
    }
    edits = f'<span class="edits">{"".join(pencils.values())}</span>' if editable else ""
    below = f'<div class="said">{_said(run.note, run.tags)}</div>' if run.tags or run.note else ""
    dot = f'<span class="dot" style="background:var({colour})"></span>'
    return f'<td class="name"><div class="line">{dot}{title}{edits}</div>{below}</td>'


def _said(note: str, tags: Sequence[str]) -> str:
    """What people said of a run: its tags, which search for themselves, and its note."""
    chips = "".join(f'<button type="button" class="chip tag"><bdi>{escape(tag)}</bdi></button>' for tag in tags[:TAGS])
    chips += f'<span class="xs mut">+{len(tags) - TAGS}</span>' if len(tags) > TAGS else ""
    words = f'<bdi class="note" title="{escape(note)}">{escape(format.shorten(note, NOTE))}</bdi>' if note else ""
    return chips + words


def _pencil(what: str, label: str, words: str) -> str:
    return (
        f'<button type="button" class="edit" data-edit="{what}" aria-label="{label}" title="{label}">{words}</button>'
    )
