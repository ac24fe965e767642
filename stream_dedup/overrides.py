"""Lay file, environment and command line over the default settings.

The order is defaults < TOML file < environment < `--set` < options of the command; the later wins.
Every value is checked where it enters, so an error can say where it came from.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import inspect

from stream_dedup.config import ClientValue, Settings
from stream_dedup.errors import SettingsError
from stream_dedup.quantities import Duration, Size

ENVIRONMENT_PREFIX = "STREAM_DEDUP_"
CLIENT_SECTION = "kafka.client"
DEFAULT = "default"

_AnyStruct = TypeVar("_AnyStruct", bound=msgspec.Struct)


class Given(NamedTuple):
    """A value somebody gave: `similarity.threshold`, 0.9, from `--threshold`."""

    key: str
    value: object
    origin: str
    is_text: bool = False


class Loaded(NamedTuple):
    """The settings, and for each key where its value came from."""

    settings: Settings
    origins: Mapping[str, str]


def load(
    path: Path | None,
    environ: Mapping[str, str],
    overrides: Sequence[str] = (),
    options: Iterable[Given] = (),
) -> Loaded:
    """Read all sources in their order; raise SettingsError for whatever is not allowed."""
    values: dict[str, object] = {}
    origins = dict.fromkeys(KINDS, DEFAULT)
    for given in chain(
        _from_file(path) if path else (),
        _from_environment(environ),
        map(_from_override, overrides),
        options,
    ):
        values[given.key] = _checked(given)
        origins[given.key] = given.origin
    return Loaded(_build(Settings, "", values), origins)


def _kinds(section: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Name every key below `section` with its type."""
    for setting in msgspec.structs.fields(section):
        key = prefix + setting.name
        if isinstance(setting.type, type) and issubclass(setting.type, msgspec.Struct):
            yield from _kinds(setting.type, f"{key}.")
        else:
            yield key, setting.type


KINDS: Mapping[str, Any] = {key: kind for key, kind in _kinds(Settings) if key != CLIENT_SECTION}
_SECTIONS = {CLIENT_SECTION} | {
    key[:dot] for key in KINDS for dot, letter in enumerate(key) if letter == "."
}


def _from_file(path: Path) -> Iterator[Given]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {path}: {error.strerror}") from None
    except ValueError as error:  # of TOML or of UTF-8
        raise SettingsError(f"settings file {path}: {error}") from None
    for key, value in _flattened(table):
        yield Given(key, value, str(path))


def _flattened(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Write nested tables as dotted keys; a section whose lines are all comments says nothing."""
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, dict) and (value or key in _SECTIONS):
            yield from _flattened(value, f"{key}.")
        else:
            yield key, value


def _from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """Take the names with `__` only: platforms set other STREAM_DEDUP_… variables on their own."""
    for name in sorted(environ):
        key = name.removeprefix(ENVIRONMENT_PREFIX)
        if key != name and "__" in key:
            dotted = key.lower().replace("__", ".")
            yield Given(dotted, environ[name], f"environment {name}", is_text=True)


def _from_override(text: str) -> Given:
    key, equals, value = text.partition("=")
    if not equals:
        raise SettingsError(f"--set {text}: write --set section.key=value")
    return Given(key.strip(), value.strip(), f"--set {key.strip()}", is_text=True)


def _checked(given: Given) -> object:
    """Convert a given value to its setting's type."""
    is_client = given.key.startswith(f"{CLIENT_SECTION}.")
    kind = ClientValue if is_client else KINDS.get(given.key)
    if kind is None:
        raise SettingsError(f"unknown setting {given.key} ({given.origin}){_hint(given.key)}")
    for reading in _readings(given.value) if given.is_text else (given.value,):
        try:
            return msgspec.convert(reading, kind, strict=not given.is_text, dec_hook=_quantity)
        except msgspec.ValidationError:
            continue
    allowed = _allowed(inspect.type_info(kind))
    # What is passed to the client may be a secret.
    value = "" if is_client else f" = {given.value!r}"
    raise SettingsError(f"{given.key}{value} ({given.origin}): must be {allowed}")


def _readings(value: object) -> tuple[object, ...]:
    """Read text as it stands unless it is a quoted string, then as TOML, then as `a,b,c`."""
    text = str(value)
    try:
        toml = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        toml = text
    plain = toml if isinstance(toml, str) else text
    listed = toml if isinstance(toml, list) else [part.strip() for part in plain.split(",")]
    return (plain, toml, listed)


def _quantity(kind: type, value: object) -> object:
    if issubclass(kind, Size | Duration):
        return kind.parse(value)
    raise NotImplementedError


def _hint(key: str) -> str:
    """Name the nearest key there is, by its whole name or else by its last part."""
    by_last_part = {known.rpartition(".")[2]: known for known in KINDS}
    whole = get_close_matches(key, [*KINDS, f"{CLIENT_SECTION}.PROPERTY"], n=1)
    last = get_close_matches(key.rpartition(".")[2], by_last_part, n=1)
    nearest = whole or [by_last_part[name] for name in last]
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _allowed(kind: inspect.Type) -> str:
    """Say in words what a setting may be."""
    match kind:
        case inspect.UnionType(types):
            return " or ".join(_allowed(part) for part in types if part != inspect.NoneType())
        case inspect.LiteralType(values):
            return "one of " + ", ".join(map(str, values))
        case inspect.VarTupleType(item_type):
            return f"a list, each {_allowed(item_type)}"
        case inspect.CustomType(cls) if issubclass(cls, Size | Duration):
            return cls.written
        case inspect.StrType(min_length, _, pattern):
            words = "text, not empty" if min_length else "text"
            return words + (f", that matches {pattern}" if pattern else "")
        case _:
            return " ".join([_PLAIN_WORDS[type(kind)], *_bounds(kind)])


_PLAIN_WORDS: Mapping[type, str] = {
    inspect.BoolType: "true or false",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
}


def _bounds(kind: inspect.Type) -> list[str]:
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    bounds = {word: getattr(kind, name, None) for name, word in words.items()}
    return [f"{word} {bound}" for word, bound in bounds.items() if bound is not None]


def _build(section: type[_AnyStruct], prefix: str, values: Mapping[str, object]) -> _AnyStruct:
    """Make the section at `prefix` from the values given; relations are checked on the way."""
    parts: dict[str, object] = {}
    for setting in msgspec.structs.fields(section):
        key = prefix + setting.name
        if key == CLIENT_SECTION:
            start = f"{key}."
            parts[setting.name] = {
                name.removeprefix(start): values[name] for name in values if name.startswith(start)
            }
        elif isinstance(setting.type, type) and issubclass(setting.type, msgspec.Struct):
            parts[setting.name] = _build(setting.type, f"{key}.", values)
        elif key in values:
            parts[setting.name] = values[key]
    return section(**parts)
