"""What happens in the buckets of a piece while it is decided."""

from collections.abc import Sequence

import numpy as np

from stream_dedup.matching.buckets import Numbers, rewritten
from stream_dedup.matching.logtime import NEVER
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.piece import Piece, Resemblance

# So many documents make a cluster whose representative is worth keeping in a full bucket.
_CLUSTER_SIZE = 2


class Shelving:
    """Which groups of a piece are living and representative by now, and what buckets show of them.

    Groups are numbered as `buckets` says.
    """

    def __init__(self, piece: Piece, overlay: Overlay) -> None:
        self._piece, self._overlay = piece, overlay
        self._crowds = piece.crowds
        looking = len(piece.looking)
        new = np.array(piece.agenda.batch.positions, np.int64)[piece.looking]
        self._positions = np.concatenate([piece.known.positions, new])
        self._numbers = dict(
            zip(self._positions.tolist(), range(len(self._positions)), strict=True)
        )
        self._seen = np.concatenate([piece.known.seen, np.full(looking, NEVER)])
        self._representative = np.zeros(len(self._positions), np.bool_)
        self._inserted = np.zeros(looking, np.bool_)
        for position in piece.crowded_clusters:
            cluster = overlay.clusters.get(position)
            self.sized(position, cluster.size if cluster else 1)

    def found(self, founders: Sequence[int]) -> None:
        """Put the groups that founders begin into their buckets, none of which is full."""
        self._inserted[[self._piece.place[index] for index in founders]] = True

    def position(self, number: int) -> int:
        """Return the position of a group."""
        return int(self._positions[number])

    def see(self, position: int, last_seen: int) -> None:
        """Note when a group was seen last; `NEVER` if it is gone."""
        number = self._numbers.get(position)
        if number is not None:
            self._seen[number] = last_seen

    def sized(self, position: int, size: int) -> None:
        """Note how many documents the cluster of this representative has."""
        number = self._numbers.get(position)
        if number is not None:
            self._representative[number] = size >= _CLUSTER_SIZE

    def near(self, index: int, horizon: int) -> tuple[list[Resemblance], int]:
        """Return what the document resembles and can see, and how many buckets hide others."""
        place = self._piece.place[index]
        near = self._piece.near(place)
        if not self._crowds.members[place]:
            return near, 0
        groups = np.array([resemblance.group for resemblance in near], np.int64)
        bands = self._crowds.look(place, groups, self._piece.known.rows)
        hiding = self._crowds.hiding(place, self._seen, horizon)
        seen = zip(near, bands.tolist(), strict=True)
        return [resemblance._replace(bands=count) for resemblance, count in seen if count], hiding

    def met(self, index: int) -> Numbers:
        """Return the positions of all groups that the document can see, similar or not."""
        place = self._piece.place[index]
        groups = self._piece.met(place)
        if self._crowds.members[place]:
            bands = self._crowds.look(place, groups, self._piece.known.rows)
            groups = groups[bands > 0]
        positions: Numbers = self._positions[groups]
        return positions

    def insert(self, index: int, horizon: int) -> int:
        """Put the document's new group into its buckets; return how often another had to go."""
        place = self._piece.place[index]
        group = self._piece.known.rows + place
        self._inserted[place] = True
        if not self._crowds.members[place]:
            return 0
        return self._crowds.insert(place, group, self._seen, horizon, self._representative)

    def rewrite(self, end: int) -> None:
        """Hand over all buckets that the documents before `end` have changed."""
        piece = self._piece
        decided = piece.looking < end
        filed = piece.files[piece.looking] & decided
        living = self._seen >= piece.agenda.horizons[end - 1]
        keys, values = rewritten(
            piece.shelf,
            piece.entries,
            self._crowds.lists,
            self._inserted & decided,
            filed,
            living,
            self._positions,
        )
        self._overlay.buckets.put(keys, values)
