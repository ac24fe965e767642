"""What stories of one kind are made of."""

from typing import NamedTuple

from stream_dedup.feed.grammar import Patterns


class Topic(NamedTuple):
    """Patterns for the line on top, the first sentence and all others, in any order."""

    headlines: Patterns
    leads: Patterns
    body: Patterns
