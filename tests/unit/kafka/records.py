"""Records for hypothesis: any bytes, any headers."""

from typing import Final

from hypothesis import strategies as st

from stream_dedup.kafka.messages import Headers, Incoming
from stream_dedup.matching.logtime import UNDATED

optional_bytes: Final = st.none() | st.binary(max_size=40)
_KNOWN: Final = (
    *("namespace", "source", "published_at", "traceparent"),
    *("__connect.errors.topic", "__connect.errors.offset"),
    *("stream-dedup-truncated-from", "stream-dedup-original-timestamp"),
)
names: Final = st.text(max_size=8) | st.sampled_from(_KNOWN)
headers: Final[st.SearchStrategy[Headers]] = st.lists(st.tuples(names, optional_bytes), max_size=6)


def incoming(
    values: st.SearchStrategy[bytes | None] = optional_bytes,
    headers: st.SearchStrategy[Headers] = headers,
) -> st.SearchStrategy[Incoming]:
    """Draw records as a consumer gives them."""
    return st.builds(
        Incoming,
        topic=st.sampled_from(["documents", "feed.é"]),
        partition=st.integers(0, 2**31 - 1),
        offset=st.integers(0, 2**63 - 1),
        timestamp=st.sampled_from([UNDATED, 0, -1, 1_700_000_000_000]),
        key=optional_bytes,
        value=values,
        headers=headers,
        unreadable=st.just(""),
    )
