"""The scripts of others that the pages draw and edit with: where they are, and how a page is told."""

import importlib.util
from pathlib import Path
from urllib.parse import quote

# What a page asks for by name (`load` in ui/libraries.js): the package that ships it, and its files, in the order in
# which they are loaded.
LIBRARIES = {
    "plotly": ("plotly", ("package_data/plotly.min.js",)),
    "ace": (
        "django_ace",
        tuple(
            f"static/django_ace/ace/{name}"
            for name in ("ace.js", "mode-python.js", "ext-language_tools.js", "ext-searchbox.js")
        ),
    ),
}


def script_files(library: str) -> list[Path]:
    """Where a library's files are, found without importing its package. Raises RuntimeError where it is missing."""
    package, names = LIBRARIES[library]
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"The {package} package is not installed.")
    return [Path(spec.origin).parent / name for name in names]


def static_paths() -> list[str]:
    """The files of all libraries, for Gradio to serve as they are."""
    return [str(path) for library in LIBRARIES for path in script_files(library)]


def addresses() -> dict[str, list[str]]:
    """Of each library, the addresses of its files."""
    return {name: [f"/gradio_api/file={quote(str(path))}" for path in script_files(name)] for name in LIBRARIES}
