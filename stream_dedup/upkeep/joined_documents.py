"""How many documents have joined each cluster, going by the texts: twenty bytes a text."""

from collections.abc import Sequence

import numpy as np

from stream_dedup.index.layout import Group
from stream_dedup.upkeep.row_check import living_listed
from stream_dedup.upkeep.standing import Standing


class JoinedDocuments:
    """Counts documents in texts other than the one that represents their cluster."""

    def __init__(self, state: Standing) -> None:
        self._state = state
        self._added = [np.zeros((2, 0), np.int64)]  # clusters, documents
        self._clusters, self._sums = np.zeros((2, 0), np.int64)

    def add(self, living: Sequence[Group]) -> None:
        """Count those of some texts."""
        joined = [group for group in living if group.cluster != group.position]
        counts = [living_listed(group, self._state) for group in joined]
        self._added.append(np.array([[group.cluster for group in joined], counts], np.int64))

    def of(self, cluster: int) -> int:
        """Return how many there are, once all texts were added."""
        if self._added:
            clusters, counts = np.concatenate(self._added, axis=1)
            self._added = []
            self._clusters, places = np.unique(clusters, return_inverse=True)
            self._sums = np.bincount(places, counts, len(self._clusters)).astype(np.int64)
        place = int(np.searchsorted(self._clusters, cluster))
        found = place < len(self._clusters) and self._clusters[place] == cluster
        return int(self._sums[place]) if found else 0
