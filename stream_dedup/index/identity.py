"""What an index was made with: it answers for nothing else."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.errors import Refused
from stream_dedup.index import layout
from stream_dedup.similarity.scheme import scheme_fields

LAYOUT = "layout"
SCHEME = "scheme"
DECISIONS = "decisions"

_WAYS_OUT = (
    "Give the new settings a directory of their own (--index DIR), or make this one anew with "
    "them: stream-dedup index rebuild"
)


def identity(settings: Settings) -> dict[str, bytes]:
    """Return the entries of meta that say what an index was made with."""
    return {
        LAYOUT: str(layout.VERSION).encode(),
        SCHEME: _json(scheme_fields(settings)),
        DECISIONS: _json(decisions(settings)),
    }


def refuse_another(meta: Mapping[str, bytes], settings: Settings) -> None:
    """Refuse an index of another layout or settings fingerprint; one without rows is of none."""
    if not meta.keys() & {LAYOUT, SCHEME}:
        return
    version = meta.get(LAYOUT, b"none").decode()
    if version != str(layout.VERSION):
        raise Refused(
            f"the index has layout {version}, this version of stream-dedup reads {layout.VERSION}. "
            f"{_WAYS_OUT}"
        )
    stored = json.loads(meta[SCHEME])
    for name, value in json.loads(_json(scheme_fields(settings))).items():
        if stored.get(name) != value:
            raise Refused(
                f"the index was made with {name} = {stored.get(name)!r}, the settings say "
                f"{value!r}; signatures of the two cannot be compared. {_WAYS_OUT}"
            )


def changed_decisions(meta: Mapping[str, bytes], settings: Settings) -> list[str]:
    """Name the settings that decided otherwise when the index was written last."""
    stored = json.loads(meta.get(DECISIONS, b"{}"))
    present = json.loads(_json(decisions(settings)))
    return [
        f"{name}: {stored[name]} before, {value} now"
        for name, value in present.items()
        if name in stored and stored[name] != value
    ]


def stored_decisions(meta: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what decided when the index was written last; of a new one, nothing."""
    stored: dict[str, Any] = json.loads(meta.get(DECISIONS, b"{}"))
    return stored


def deciding_as(decisions: Mapping[str, Any], settings: Settings) -> Settings:
    """Return the settings with what decided before in their place, where they may differ."""
    for name, value in decisions.items():
        section, key = name.split(".")
        before = getattr(settings, section)
        kind = type(getattr(before, key))
        after = replace(before, **{key: kind("inf" if value == "none" else value)})
        settings = replace(settings, **{section: after})
    return settings


def decisions(settings: Settings) -> dict[str, Any]:
    """Return what verdicts depend on beside signatures; it may change from one run to the next."""
    index, matching = settings.index, settings.matching
    return {
        "similarity.threshold": settings.similarity.threshold,
        "similarity.verify": settings.similarity.verify,
        "index.window": float(index.window) if index.window < float("inf") else "none",
        "index.window_by": index.window_by,
        "index.bucket_size_max": index.bucket_size_max,
        "matching.scope": matching.scope,
        "matching.matches_max": matching.matches_max,
    }


def _json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()
