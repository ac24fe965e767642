"""The decisions on a piece, one event after the other, in the order of the log."""

from typing import Literal

from stream_dedup.decide import KINDS
from stream_dedup.events import ClusterReference
from stream_dedup.index.layout import ExactRow, Group, Member, Sighting, exact_key
from stream_dedup.matching import groups
from stream_dedup.matching.buckets import Numbers
from stream_dedup.matching.clusters import Clusters
from stream_dedup.matching.founders import founders, member, sighting
from stream_dedup.matching.logtime import NEVER
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.piece import Piece
from stream_dedup.matching.shelving import Shelving
from stream_dedup.matching.verdicts import Decision, Found, Previous, Type

Emit = Literal["matches", "all", "none"]

_UNIQUE = Decision("unique")


class Walk:
    """Goes through a piece and changes the overlay as it decides."""

    def __init__(self, piece: Piece, overlay: Overlay, scope: groups.Scope, emit: Emit) -> None:
        self._piece, self._overlay, self._scope = piece, overlay, scope
        self._emit = emit
        self._agenda, self._batch = piece.agenda, piece.agenda.batch
        self._shelving = Shelving(piece, overlay)
        self._clusters = Clusters(overlay, self._shelving.sized)
        self._founders = founders(piece)
        self._founders.begin(overlay)
        self._shelving.found(self._founders.places)
        self.met: dict[int, Numbers] = {}  # by sampled documents, as positions

    def decide(self) -> list[Decision]:
        """Decide as many events as were foretold rightly, at least one."""
        found = dict.fromkeys(self._founders.places, _UNIQUE)
        if self._emit == "all":
            found = {place: self._alone(place) for place in found}
        decisions: list[Decision] = []
        for index in self._piece.events:
            decision = found.get(index) or self._decide(index)
            if decision is None:
                self._founders.take_back(self._overlay, index)
                break
            decisions.append(decision)
        self._shelving.rewrite(self._piece.events.start + len(decisions))
        return decisions

    def _alone(self, index: int) -> Decision:
        """Decide a founder and name its cluster."""
        return Decision("unique", cluster=ClusterReference(id=self._batch.ids[index], size=1))

    def _decide(self, index: int) -> Decision | None:
        """Decide one event, or nothing if it has to look into buckets and has not."""
        known = self._living_sighting(index)
        if not self._agenda.has_text[index]:
            if known is not None:
                self._forget(index, known)
            return Decision("deleted" if self._batch.deleted[index] else "skipped")
        group = self._living_group(index)
        if group is None and not self._piece.inserts[index]:
            return None
        if known is not None and group is not None and known.position == group.position:
            return self._repeat(index, group, known)
        previous = None
        if known is not None:
            self._forget(index, known)
            previous = self._piece.previous[index]
        if group is None:
            return self._begin(index, previous)
        return self._join(index, group, previous)

    def _living_sighting(self, index: int) -> Sighting | None:
        """Return what the event's id stands for."""
        sighting = self._overlay.ids.get(self._agenda.id_keys[index])
        expired = sighting is not None and sighting.seen < self._agenda.horizons[index]
        return None if expired else sighting

    def _living_group(self, index: int) -> Group | None:
        """Return the group of the document's text."""
        row = self._overlay.exact.get(self._agenda.exact_keys[index])
        if row is None or row.last_seen < self._agenda.horizons[index]:
            return None
        return self._overlay.texts.get(row.position)

    def _forget(self, index: int, sighting: Sighting) -> None:
        """Let a document go that is deleted or replaced."""
        overlay = self._overlay
        overlay.ids.put(self._agenda.id_keys[index], None)
        group = overlay.texts.get(sighting.position)
        assert group is not None, "a living document has a group"
        is_gone = not groups.leave(group, self._batch.ids[index], sighting.seen)
        self._clusters.leave(group, is_gone)
        if not is_gone:
            self._put(group)
            return
        overlay.texts.put(group.position, None)
        overlay.exact.put(exact_key(group.fingerprint, group.namespace), None)
        overlay.originals.put(group.position, None)
        self._shelving.see(group.position, NEVER)

    def _repeat(self, index: int, group: Group, known: Sighting) -> Decision:
        """See a document again."""
        horizon = self._agenda.horizons[index]
        self._clusters.reopen(group, horizon)
        self._file_original(index, group)
        groups.renew(group, self._member(index), known.seen, horizon, self._agenda.stretch)
        self._clusters.renew(group)
        self._put(group)
        self._sight(index, group)
        return Decision("repeat", cluster=self._cluster(group, horizon, []))

    def _join(self, index: int, group: Group, previous: Previous | None) -> Decision:
        """Take a copy into its group: one look-up has found all there is to find."""
        horizon = self._agenda.horizons[index]
        found, capped = self._copied(index, group)
        self._clusters.reopen(group, horizon)
        self._file_original(index, group)
        groups.join(group, self._member(index), horizon, self._agenda.stretch)
        self._clusters.enter(group, is_new=False)
        self._put(group)
        self._sight(index, group)
        cluster = self._cluster(group, horizon, found)
        return Decision("duplicate" if found else "unique", found, cluster, previous, capped)

    def _copied(self, index: int, group: Group) -> tuple[list[Found], int]:
        """Return the group itself or, if nobody in it is in scope, what resembles it."""
        source, horizon = self._batch.sources[index], self._agenda.horizons[index]
        reported = groups.reported(group, horizon, self._scope, source)
        if reported is not None:
            bands = self._batch.sketches.keys.shape[1]
            return [Found(group.position, *reported, "exact", 1.0, 0.0, 1.0, bands)], 0
        return ([], 0) if self._scope == "any" else self._near(index)

    def _begin(self, index: int, previous: Previous | None) -> Decision:
        """Begin a group with a text that no living document has."""
        horizon, position = self._agenda.horizons[index], self._batch.positions[index]
        found, capped = self._near(index)
        if index in self._agenda.sampled:
            self.met[index] = self._shelving.met(index)
        group = self._new_group(index, self._clusters.choose(found, position))
        self._put(group)
        self._sight(index, group)
        if self._batch.originals is not None:
            self._overlay.originals.put(position, self._batch.originals[index])
        self._clusters.enter(group, is_new=True)
        evicted = self._shelving.insert(index, horizon)
        cluster = self._cluster(group, horizon, found)
        kind: Type = "duplicate" if found else "unique"
        return Decision(kind, found, cluster, previous, capped, evicted)

    def _near(self, index: int) -> tuple[list[Found], int]:
        """Return the groups that a document resembles, best first, and how many buckets hide."""
        horizon, source = self._agenda.horizons[index], self._batch.sources[index]
        near, capped = self._shelving.near(index, horizon)
        found = []
        for number, bands, similarity, error, containment, kind in near:
            group = self._overlay.texts.get(self._shelving.position(number))
            if group is None or group.namespace != self._batch.namespaces[index]:
                continue
            reported = groups.reported(group, horizon, self._scope, source)
            if reported is not None:
                member, documents = reported
                resembles = (KINDS[kind], similarity, error, containment, bands)
                found.append(Found(group.position, member, documents, *resembles))
        found.sort(key=lambda match: (-match.similarity, match.position))
        return found, capped

    def _cluster(self, group: Group, horizon: int, found: list[Found]) -> ClusterReference | None:
        """Return what the verdict says of the cluster, if there will be one."""
        is_told = self._emit == "all" or (found and self._emit == "matches")
        return self._clusters.reference(group, horizon) if is_told else None

    def _new_group(self, index: int, cluster: int) -> Group:
        sketches, member = self._batch.sketches, self._member(index)
        short = sketches.short.row(index) if self._agenda.is_short[index] else None
        return Group(
            position=self._batch.positions[index],
            fingerprint=self._agenda.exact_keys[index][:16],
            namespace=self._batch.namespaces[index],
            cluster=cluster,
            size=int(sketches.sizes[index]),
            first_seen=member.seen,
            last_seen=member.seen,
            members=[member],
            others=[],
            signature=sketches.signatures[index].tobytes(),
            short=b"" if short is None else short.astype("<u8").tobytes(),
        )

    def _member(self, index: int) -> Member:
        return member(self._agenda, index)

    def _file_original(self, index: int, group: Group) -> None:
        """Keep the text of a group with a sighting that files it in the current generation."""
        originals = self._batch.originals
        if originals is not None and group.last_seen <= self._agenda.generation_start:
            self._overlay.originals.put(group.position, originals[index])

    def _put(self, group: Group) -> None:
        """Write a group, and where its text is looked up what must be known of it there."""
        self._overlay.texts.put(group.position, group)
        row = ExactRow(group.position, group.last_seen, group.cluster)
        self._overlay.exact.put(exact_key(group.fingerprint, group.namespace), row)
        self._shelving.see(group.position, group.last_seen)

    def _sight(self, index: int, group: Group) -> None:
        """Note what the event's id stands for now."""
        seen = sighting(self._agenda, index, group.position)
        self._overlay.ids.put(self._agenda.id_keys[index], seen)
