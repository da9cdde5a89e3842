"""The hub of models and datasets, as this environment has it. All that is asked of it is whether it answers."""

import http.client
import os
import urllib.error
import urllib.request

from groupwise.app.cli.doctor.finding import NOTE, OK, Finding
from groupwise.app.core import format
from groupwise.storage.home import disk, file_system, secret_values
from groupwise.storage.library.models import hub_cache

TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE")
PATIENCE = 4.0  # seconds in which it should answer
LITTLE = 5 * 10**9  # bytes under which a model of a few billion parameters finds no room


def look_at_hub() -> list[Finding]:
    """Whether it may be asked, with which login, and where what it sends is kept."""
    return [_offline(), _cache(), _token()]


def _offline() -> Finding:
    named = ", ".join(f"{name}={os.environ[name]}" for name in OFFLINE if os.environ.get(name))
    if hub_cache.is_offline():
        says = f"Nothing is downloaded ({named}): only what is on this machine can be trained."
        return Finding(
            "Hub", NOTE, says, "Unset it where Groupwise is started, if models and data should be downloaded."
        )
    other = " HF_ENDPOINT names another hub." if os.environ.get("HF_ENDPOINT") else ""
    if fault := _why_unreached():
        says = f"The hub cannot be reached ({fault}): only what is on this machine can be trained.{other}"
        return Finding("Hub", NOTE, says, "Check the connection, and HTTPS_PROXY or HF_ENDPOINT where you need one.")
    return Finding("Hub", OK, f"Models and datasets may be downloaded{f' ({named})' if named else ''}.{other}")


def _why_unreached() -> str:
    """Why the hub does not answer; "" where it does, whatever its answer is."""
    address = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=PATIENCE).close()
    except urllib.error.HTTPError as answered:
        answered.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return str(getattr(error, "reason", error)) or type(error).__name__
    return ""


def _cache() -> Finding:
    place = hub_cache.folder()
    there = file_system.nearest_folder(place.absolute())
    free = disk.free_bytes(there)
    says = f"{place}{'' if place.is_dir() else ' (made at the first download)'}, {format.size(free)} free."
    if not os.access(there, os.W_OK | os.X_OK, effective_ids=True):
        return Finding("Hub cache", NOTE, f"{says} It cannot be written.", "Set HF_HOME to a folder that can be.")
    if free < LITTLE:
        return Finding(
            "Hub cache", NOTE, f"{says} That is little for models.", "Set HF_HOME to a folder on a larger disk."
        )
    return Finding("Hub cache", OK, says)


def _token() -> Finding:
    """Whether there is a login. What it is is nobody's business here."""
    named = [name for name in TOKENS if os.environ.get(name)]
    kept = [path for path in secret_values.login_files(os.environ)[:1] if os.path.isfile(path)]
    if named or kept:
        return Finding("Hub login", OK, f"There is a token ({', '.join([*named, *kept])}).")
    return Finding("Hub login", OK, "There is no token: what is public can be had without one.")
