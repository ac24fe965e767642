"""The feed in order of time, and what is true of it by construction."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from stream_dedup.events import Deletion, Document
from stream_dedup.feed.newsroom import Draft, Newsroom, Role

# Known again by their id: the one with another text, the other with the same.
SAME_ID = (Role.REVISION, Role.REPEAT)
COPIES = (
    *(Role.WIRE, Role.EDITED, Role.FOOTER, Role.CUT, Role.EXTENDED, Role.CORRECTION),
    *SAME_ID,
)
NO_COPIES = (Role.STORY, Role.FOLLOW_UP, Role.TRANSLATION, Role.FORM, Role.NOTICE, Role.LATE)


class Planted(NamedTuple):
    """An event of the feed, its role, and the ids of the earlier documents it is a copy of.

    Copies are documents made from the same story; those that were withdrawn do not count.
    """

    event: Document | Deletion
    role: Role
    copies: frozenset[str]


def news_feed(seed: int, documents: int) -> Iterator[Planted]:
    """Yield so many events in order of time; a seed and a number always give the same."""
    drafts = list(islice(Newsroom(Random(seed)).drafts(), documents))
    standing: defaultdict[int, set[str]] = defaultdict(set)
    ids: dict[tuple[int, int], str] = {}
    for number, draft in enumerate(sorted(drafts, key=lambda draft: draft.time), start=1):
        key = draft.lineage, draft.name
        identity = ids.setdefault(key, f"{draft.outlet.code}-{number:05d}")
        copies = standing[draft.lineage] - {identity}
        yield Planted(_event(draft, identity), draft.role, frozenset(copies))
        if draft.text is None:
            standing[draft.lineage].discard(identity)
        else:
            standing[draft.lineage].add(identity)


def _event(draft: Draft, identity: str) -> Document | Deletion:
    if draft.text is None:
        return Deletion(id=identity, published_at=draft.time)
    return Document(id=identity, text=draft.text, published_at=draft.time, source=draft.outlet.name)
