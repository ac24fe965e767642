"""Clusters that never chain: a group belongs to the cluster of a representative it resembles."""

from collections.abc import Callable

from stream_dedup.events import ClusterReference
from stream_dedup.index.layout import Cluster, Group
from stream_dedup.matching import groups
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.verdicts import Found

_POSITIONS_KEPT = 100  # those that joined last


class Clusters:
    """The clusters that a batch changes; one of a single document has no row.

    A cluster is open as long as the group of its representative is living and can be named.
    """

    def __init__(self, overlay: Overlay, on_size: Callable[[int, int], None]) -> None:
        self._overlay = overlay
        self._on_size = on_size  # is told the representative's position and the new size

    def choose(self, found: list[Found], position: int) -> int:
        """Return the cluster of a new group: the best match that is a representative, or its own.

        Matches come best first.
        """
        for match in found:
            group = self._overlay.texts.get(match.position)
            if group is not None and group.cluster == group.position:
                return group.position
        return position

    def reopen(self, group: Group, horizon: int) -> None:
        """Let a group whose cluster is closed represent a new one."""
        representative = self._overlay.texts.get(group.cluster)
        if not (representative and representative.members and representative.last_seen >= horizon):
            group.cluster = group.position
            size = groups.living_members(group, horizon)
            self._put(group.position, Cluster(size, [group.position]))

    def enter(self, group: Group, is_new: bool) -> None:
        """Count one document more, in a group that is new or not."""
        if is_new and group.cluster == group.position:
            return
        cluster = self._get(group.cluster)
        positions = cluster.positions
        if is_new:
            positions = [*positions[1 - _POSITIONS_KEPT :], group.position]
        self._put(group.cluster, Cluster(cluster.size + 1, positions))

    def leave(self, group: Group, is_gone: bool) -> None:
        """Count one document less; the end of a representative is that of its cluster."""
        if is_gone and group.cluster == group.position:
            self._overlay.clusters.put(group.cluster, None)
        elif (cluster := self._overlay.clusters.get(group.cluster)) is not None:
            self._put(group.cluster, Cluster(cluster.size - 1, cluster.positions))

    def renew(self, group: Group) -> None:
        """Write the cluster of a representative that was sighted, for it lives as long."""
        cluster = self._overlay.clusters.get(group.position)
        if cluster is not None:
            self._put(group.position, cluster)

    def reference(self, group: Group, horizon: int) -> ClusterReference:
        """Return what a verdict says of the cluster."""
        representative = self._overlay.texts.get(group.cluster)
        assert representative is not None, "an open cluster has a living representative"
        first = groups.reported(representative, horizon, "any", "")
        member_id = representative.members[0].id if first is None else first.member.id
        return ClusterReference(id=member_id, size=self._get(group.cluster).size)

    def _get(self, position: int) -> Cluster:
        return self._overlay.clusters.get(position) or Cluster(1, [position])

    def _put(self, position: int, cluster: Cluster) -> None:
        self._overlay.clusters.put(position, cluster)
        self._on_size(position, cluster.size)
