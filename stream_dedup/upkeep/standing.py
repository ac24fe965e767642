"""Where an index stands: what its meta says of it, decoded. Pure."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from stream_dedup.config import EventsSettings, Settings, SimilaritySettings
from stream_dedup.engine import LOG_TIME, NEXT_OFFSET, TALLY, Tally, texts_kept_from
from stream_dedup.errors import Refused
from stream_dedup.index import layout
from stream_dedup.index.identity import DECISIONS, LAYOUT, SCHEME
from stream_dedup.index.layout import Group
from stream_dedup.matching.logtime import LogTime
from stream_dedup.similarity.scheme import scheme_fields

_WAYS_OUT = (
    "Put a snapshot in its place with `stream-dedup index restore`, or make it anew with "
    "`stream-dedup index rebuild --input FILE`"
)
# Of the fields of a scheme, those that are settings of similarity.
_SIMILARITY = {"measure", "unit", "size", "multiset", "seed", "hashes", "bands", "rows", "html"}


class Standing(NamedTuple):
    """What an index was made with, and how far it has come."""

    scheme: Mapping[str, Any]
    decisions: Mapping[str, Any]
    log_time: LogTime
    tally: Tally
    next_offset: int
    texts_kept_from: int | None  # the position, if they are and it is known

    @property
    def signature_bytes(self) -> int:
        """Bytes of a signature: two for each minimum, one for each bit."""
        return int(self.scheme["hashes"]) * (2 if self.scheme["measure"] == "jaccard" else 1)

    @property
    def bands(self) -> int:
        """The number of bands."""
        return int(self.scheme["bands"])

    @property
    def window_seconds(self) -> float | None:
        """The window under which it was written last; None is no window."""
        window = self.decisions["index.window"]
        return None if window == "none" else float(window)

    def is_living(self, seen: int) -> bool:
        """Tell whether what was seen then is within the window."""
        return seen >= self.log_time.horizon

    def group(self, key: bytes, value: bytes) -> Group:
        """Decode a row of texts."""
        return layout.decode_group(layout.position_of_key(key), value, self.signature_bytes)

    def signing_settings(self) -> Settings | None:
        """Return settings that sign as the index was signed; None if this program cannot."""
        chosen = {name: self.scheme[name] for name in _SIMILARITY}
        settings = Settings(
            similarity=SimilaritySettings(**chosen),
            events=EventsSettings(text_fields=tuple(self.scheme["text_fields"])),
        )
        return settings if scheme_fields(settings) == self.scheme else None


def standing(meta: Mapping[str, bytes]) -> Standing | None:
    """Decode meta, or return None for an index to which nothing was written yet."""
    if NEXT_OFFSET not in meta:
        return None
    version = meta.get(LAYOUT, b"none").decode(errors="replace")
    if version != str(layout.VERSION):
        raise Refused(
            f"the index has layout {version}, this version of stream-dedup reads {layout.VERSION}. "
            f"{_WAYS_OUT}"
        )
    try:
        return Standing(
            json.loads(meta[SCHEME]),
            json.loads(meta[DECISIONS]),
            msgspec.msgpack.decode(meta[LOG_TIME], type=LogTime),
            msgspec.msgpack.decode(meta[TALLY], type=Tally),
            msgspec.msgpack.decode(meta[NEXT_OFFSET], type=int),
            texts_kept_from(meta),
        )
    except (KeyError, ValueError) as error:  # of msgspec too
        raise Refused(f"the index does not say what it is ({error!r}). {_WAYS_OUT}") from None
