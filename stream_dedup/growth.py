"""Which clusters grow: how many documents joined each within the last minutes, in bounded memory.

Of the clusters those that grew last are kept. One that grows fast is never the one that grew
longest ago, however many others gain a document or two beside it.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from heapq import nlargest

from stream_dedup.snapshot import GrowingCluster

Cluster = tuple[str, str]  # its namespace, and the id of its representative

CLUSTERS_MAX = 5000
GROWING = 10
_SPAN_SECONDS = 5
_MINUTE = 60 // _SPAN_SECONDS
_SPANS = 3 * _MINUTE


class _Grown:
    """How large a cluster is, and what it gained in each span of time."""

    __slots__ = ("gained", "size")

    def __init__(self) -> None:
        self.size = 0
        self.gained: dict[int, int] = {}

    def since(self, span: int) -> int:
        return sum(count for number, count in self.gained.items() if number > span)


class Growth:
    """Counts what clusters gain; for one thread at a time."""

    def __init__(self) -> None:
        self._clusters: OrderedDict[Cluster, _Grown] = OrderedDict()  # that grew last at the end
        self._newest = 0

    def add(self, joined: Sequence[tuple[Cluster, int]], at: float) -> None:
        """Take in the cluster that each document joined, and how large it is now."""
        span = self._forget(at)
        clusters = self._clusters
        for name, size in joined:
            grown = clusters.get(name)
            if grown is None:
                grown = clusters[name] = _Grown()
            else:
                clusters.move_to_end(name)
            grown.size = size
            grown.gained[span] = grown.gained.get(span, 0) + 1
            if len(grown.gained) > _SPANS:
                del grown.gained[next(iter(grown.gained))]
        while len(clusters) > CLUSTERS_MAX:
            clusters.popitem(last=False)

    def largest(self, at: float) -> list[GrowingCluster]:
        """Return the clusters that gained most within three minutes, that one first."""
        span = self._forget(at)
        counted = ((grown.since(span - _SPANS), name) for name, grown in self._clusters.items())
        return [
            GrowingCluster(
                namespace=name[0],
                id=name[1],
                size=self._clusters[name].size,
                gained=gained,
                gained_last_minute=self._clusters[name].since(span - _MINUTE),
            )
            for gained, name in nlargest(GROWING, counted, key=lambda one: one[0])
        ]

    def most_in_a_minute(self, at: float) -> int:
        """Return what the cluster that grew most gained within the last minute."""
        span = self._forget(at)
        return max((grown.since(span - _MINUTE) for grown in self._latest(span)), default=0)

    def _latest(self, span: int) -> Iterator[_Grown]:
        """Yield those that grew within the last minute."""
        for grown in reversed(self._clusters.values()):
            if next(reversed(grown.gained)) <= span - _MINUTE:
                return
            yield grown

    def _forget(self, at: float) -> int:
        """Let go of what grew too long ago; a clock that was set back stands still."""
        self._newest = span = max(self._newest, int(at // _SPAN_SECONDS))
        while self._clusters:
            name, grown = next(iter(self._clusters.items()))
            if next(reversed(grown.gained)) > span - _SPANS:
                break
            del self._clusters[name]
        return span
