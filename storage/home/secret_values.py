"""Which secrets this process can see, and the forms in which one may turn up in a text."""

import base64
import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus, unquote, urlsplit

# Variables whose value is a secret, by the last word of their name: HF_TOKEN, OPENAI_API_KEY, DB_PASSWORD.
SECRET_NAME = re.compile(r"(?:^|_)(?:TOKEN|KEY|APIKEY|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)$", re.IGNORECASE)
# Variables whose value is an address that may hold a password: of a proxy, of a tracker's server.
ADDRESS_NAME = re.compile(r"^(?:(?:https?|all|ftp|socks)_proxy|MLFLOW_TRACKING_URI|WANDB_BASE_URL)$", re.IGNORECASE)
HUB_LOGIN = "hub login"
NETRC = ".netrc"
NETRC_PASSWORD = re.compile(r"\bpassword\s+(?:\"([^\"]*)\"|(\S+))")
MOST_READ = 64 * 1024  # characters of a file
SHORTEST = 8  # characters: whatever is shorter stands in ordinary text
SURELY = 16  # characters from which on a value is one secret, whatever it is made of


def known_secrets(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Every secret value that this process can see, with the name to call it by.

    Those of its environment (by the variable's name, and passwords in the addresses of proxies), the hub's own login,
    and the passwords in .netrc, where wandb keeps its key.
    """
    environment = os.environ if environment is None else environment
    found: dict[str, str] = {}
    for name, value in sorted(environment.items()):
        for secret in _of_variable(name, value):
            found.setdefault(secret, name)
    for secret in _hub_login(environment):
        found.setdefault(secret, HUB_LOGIN)
    for secret in _of_netrc(environment):
        found.setdefault(secret, NETRC)
    return found


def login_files(environment: Mapping[str, str]) -> tuple[str, str]:
    """Where the hub's own login keeps its tokens: the one in use, and all that were stored."""
    caches = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME") or "~", ".cache")
    base = environment.get("HF_HOME") or os.path.join(caches, "huggingface")
    token = environment.get("HF_TOKEN_PATH") or os.path.join(base, "token")
    stored = environment.get("HF_STORED_TOKENS_PATH") or os.path.join(os.path.dirname(token), "stored_tokens")
    return os.path.expanduser(token), os.path.expanduser(stored)


def is_secret(value: str) -> bool:
    """Whether a value can be told from ordinary text. People write “EMPTY” or “not-needed” where a key must be given
    and none is asked for: to hide such words would damage what is written. A path is where a secret lies, not one."""
    if len(value) < SHORTEST or value.isspace() or os.path.exists(value):
        return False
    return len(value) >= SURELY or (not value.isdigit() and any(one.isdigit() or one.isupper() for one in value))


def _of_variable(name: str, value: str) -> Iterator[str]:
    if ADDRESS_NAME.search(name):
        yield from _of_address(value)
    elif SECRET_NAME.search(name) and is_secret(value.strip()):
        yield value.strip()
        yield from (line.strip() for line in value.splitlines()[:200] if is_secret(line.strip()))  # a PEM key, say


def _of_address(address: str) -> Iterator[str]:
    """The password in an address, as it is written and as it is meant, also with the user: so it is sent (Basic)."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        user, password = parts.username or "", parts.password
    except ValueError:
        return
    if password:
        yield from filter(is_secret, (password, unquote(password)))
        pairs = f"{user}:{password}", f"{unquote(user)}:{unquote(password)}"  # no ordinary text, however short it is
        yield from (pair for pair in pairs if len(pair) >= SHORTEST)


def _hub_login(environment: Mapping[str, str]) -> Iterator[str]:
    for path in login_files(environment):
        lines = _text_of(path).splitlines()
        # one token alone, or lines such as “hf_token = hf_…” under the names of several
        yield from filter(is_secret, (line.rpartition("=")[2].strip() for line in lines if not line.startswith("[")))


def netrc_file(environment: Mapping[str, str]) -> str:
    """Where names and passwords of other machines are kept, in the way of curl, git and wandb."""
    return os.path.expanduser(environment.get("NETRC") or os.path.join(environment.get("HOME") or "~", ".netrc"))


def _of_netrc(environment: Mapping[str, str]) -> Iterator[str]:
    found = NETRC_PASSWORD.findall(_text_of(netrc_file(environment)))
    yield from filter(is_secret, (quoted or bare for quoted, bare in found))


def _text_of(path: str) -> str:
    """The beginning of a file; nothing where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MOST_READ)
    except OSError:
        return ""


def encodings(secret: str) -> set[bytes]:
    """A secret as it is, and in the usual encodings: of addresses, JSON, Python, HTML, hexadecimal, and base64
    wherever in a longer text it begins."""
    raw = secret.encode("utf-8", "surrogateescape")
    texts = {secret, repr(secret)[1:-1], html.escape(secret), html.escape(secret, quote=False)}
    for escaped in (json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
        texts |= {escaped, json.dumps(escaped)[1:-1], json.dumps(escaped, ensure_ascii=False)[1:-1]}
    quoted = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    texts |= quoted | {re.sub("%..", lambda code: code[0].lower(), text) for text in quoted}
    texts |= {raw.hex(), raw.hex().upper()}
    return {text.encode("utf-8", "surrogateescape") for text in texts} | set(_base64(raw))


def _base64(raw: bytes) -> Iterator[bytes]:
    """What stands in the base64 of any text that holds these bytes: three forms, by where in it they begin; in both
    alphabets."""
    for before in range(3):
        first, end = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        for alphabet in (base64.b64encode, base64.urlsafe_b64encode):
            yield alphabet(bytes(before) + raw)[first:end]
