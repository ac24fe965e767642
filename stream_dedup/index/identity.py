"""What an index was made with: it answers for nothing else."""

import json
from collections.abc import Mapping

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
        DECISIONS: _json(_decisions(settings)),
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
    present = json.loads(_json(_decisions(settings)))
    return [
        f"{name}: {stored[name]} before, {value} now"
        for name, value in present.items()
        if name in stored and stored[name] != value
    ]


def with_stored_decisions(meta: Mapping[str, bytes], settings: Settings) -> Settings:
    """Return the settings that decided when the index was written last, where they may differ."""
    for name, value in json.loads(meta.get(DECISIONS, b"{}")).items():
        section, key = name.split(".")
        before = getattr(settings, section)
        kind = type(getattr(before, key))
        after = replace(before, **{key: kind("inf" if value == "none" else value)})
        settings = replace(settings, **{section: after})
    return settings


def _decisions(settings: Settings) -> dict[str, object]:
    """Return what verdicts depend on beside signatures; it may change from one run to the next."""
    index, matching = settings.index, settings.matching
    return {
        "similarity.threshold": settings.similarity.threshold,
        "similarity.verify": settings.similarity.verify,
        "index.window": index.window if index.window < float("inf") else "none",
        "index.window_by": index.window_by,
        "index.bucket_size_max": index.bucket_size_max,
        "matching.scope": matching.scope,
        "matching.matches_max": matching.matches_max,
    }


def _json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()
