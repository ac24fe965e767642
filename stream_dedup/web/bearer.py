"""The bearer token, and who may be served without one."""

from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from stream_dedup.config import HttpSettings
from stream_dedup.errors import SettingsError

# One `_` where names of settings have two: it is none of them, so nothing that lists settings can
# show it.
VARIABLE = "STREAM_DEDUP_HTTP_TOKEN"

# Fewer could be guessed at the rate that is let through.
_CHARACTERS_MIN = 16


def token_of(settings: HttpSettings, environ: Mapping[str, str]) -> str:
    """Return the token from the environment or its file, or nothing where none is asked for.

    Without one only this machine is served, unless the settings allow more.
    """
    given = environ.get(VARIABLE, "").strip()
    if given and settings.token_file:
        raise SettingsError(f"{VARIABLE} and http.token_file: give one of them")
    if given:
        return _checked(given, VARIABLE)
    if settings.token_file:
        return _checked(_read(settings.token_file), f"http.token_file {settings.token_file}")
    if not (settings.allow_open or is_this_machine(settings.host)):
        raise SettingsError(
            f"http.host = {settings.host}: whoever reaches it could read what is remembered. Give "
            f"a token with {VARIABLE} or http.token_file, or set http.allow_open = true"
        )
    return ""


def is_this_machine(host: str) -> bool:
    """Tell whether a name or address leads to this machine only, wherever it is looked up."""
    name = host.strip("[]").lower()
    with suppress(ValueError):
        return ip_address(name).is_loopback
    return name == "localhost"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(f"http.token_file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SettingsError(f"http.token_file {path}: not UTF-8") from None


def _checked(token: str, origin: str) -> str:
    """Refuse what no header can carry, or anyone could guess; never show it."""
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise SettingsError(f"{origin}: a token is one word of ASCII letters, digits and signs")
    if len(token) < _CHARACTERS_MIN:
        raise SettingsError(f"{origin}: a token has {_CHARACTERS_MIN} characters or more")
    return token
