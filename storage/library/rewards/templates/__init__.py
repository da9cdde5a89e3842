"""Reward functions to start from: one file each, whose first line is a comment “Title: sentence”."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent


def templates() -> list[dict[str, str]]:
    """The templates as {name, title, sentence, code}, the blank one first. They are read as text, never imported."""
    found = [_read_template(path) for path in sorted(FOLDER.glob("*.py")) if not path.stem.startswith("_")]
    return sorted(found, key=lambda template: template["name"] != "blank")


def _read_template(path: Path) -> dict[str, str]:
    first, _, code = path.read_text(encoding="utf-8").partition("\n")
    title, _, sentence = first.removeprefix("#").strip().partition(": ")
    return {"name": path.stem, "title": title, "sentence": sentence, "code": code}
