"""A corpus of short real runs whose sickness is known, by which the doctor is measured.

    python -m bench.doctor_corpus make [HOW_MANY]   trains what is missing of it: half a minute a run on one core
    python -m bench.doctor_corpus judge             what the doctor says of each, and the table of docs/understand.md

What is kept is not trained again.
"""

from __future__ import annotations

import sys

from bench.doctor_corpus import judge, records


def show() -> None:
    """Print what is said of each run that is not told right, or is told something else first, and the table."""
    judged = judge.judge(records.all_kept())
    for one in judged:
        if not one.is_right or one.soonest and one.soonest[1] != one.cause:
            half = "held out" if one.is_held_out else "tuned by"
            said = {step: keys for step, keys in one.said.items() if keys}
            print(f"{'right' if one.is_right else 'WRONG'} {one.kind}-{one.number} ({half}): {said}")
    for name, held_out in (("tuned by", False), ("held out", True)):
        half_of = [one for one in judged if one.is_held_out == held_out]
        print(f"{name}: {judge.share_right(half_of):.1%} of the sick")
    print(judge.table(judged))


def main(arguments: list[str]) -> int:
    match arguments:
        case ["make", *count] if len(count) < 2 and all(one.isdigit() for one in count):
            from bench.doctor_corpus import make  # torch and TRL: seconds

            make.make(records.FOLDER, int(count[0]) if count else None)
        case ["judge"]:
            show()
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
