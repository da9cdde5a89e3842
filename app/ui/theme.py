"""Gradio's theme, drawn from the tokens in tokens.css: no colour, size or font is decided here."""

import re
from pathlib import Path

import gradio as gr

TOKENS = Path(__file__).with_name("tokens.css")

# Gradio's variables → our tokens. The tokens themselves change with the theme, so light and dark are the same here.
VARIABLES = {
    "background_fill_primary": "panel",
    "background_fill_secondary": "sunken",
    "block_background_fill": "panel",
    "block_border_color": "line",
    "block_info_text_color": "ink-3",
    "block_label_background_fill": "panel",
    "block_label_border_color": "line",
    "block_label_text_color": "ink-2",
    "block_label_text_size": "t-s",
    "block_radius": "radius",
    "block_title_text_color": "ink",
    "block_title_text_size": "t-s",
    "body_text_color": "ink",
    "body_text_color_subdued": "ink-3",
    "body_text_size": "t-m",
    "border_color_accent": "accent",
    "border_color_primary": "line-strong",
    "code_background_fill": "sunken",
    "color_accent": "accent",
    "color_accent_soft": "accent-soft",
    "error_border_color": "bad",
    "error_text_color": "bad",
    "link_text_color": "accent",
    "loader_color": "accent",
    "panel_background_fill": "panel",
    "panel_border_color": "line",
}
PLAIN = {
    "block_border_width": "0px",
    "block_padding": "0px",
    "block_shadow": "none",
    "block_title_text_weight": "600",
    "body_text_weight": "400",
    "layout_gap": "var(--s3)",
    "form_gap_width": "0px",
    "section_header_text_weight": "600",
}


def token(name: str, *, dark: bool = False) -> str:
    """A token's value, as tokens.css has it."""
    light_part, _, dark_part = TOKENS.read_text(encoding="utf-8").partition(".dark")
    found = re.search(rf"--{re.escape(name)}:([^;]+);", dark_part if dark else light_part)
    if found is None:
        raise KeyError(name)
    return found[1].strip()


def theme() -> gr.themes.Base:
    """Base, with system fonts (nothing is fetched) and every colour from a token."""
    base = gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"])
    variables = {name: f"var(--{tok})" for name, tok in VARIABLES.items()} | PLAIN
    both = {f"{name}_dark": value for name, value in variables.items() if hasattr(base, f"{name}_dark")}
    # The page's background is painted before our sheets are there, so it gets the colours themselves.
    background = {"body_background_fill": token("bg"), "body_background_fill_dark": token("bg", dark=True)}
    return base.set(**variables, **both, **background)
