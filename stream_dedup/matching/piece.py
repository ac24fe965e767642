"""A piece of a batch: all that its documents may need, read and compared before any is decided.

What a document will need is foretold from the state before the piece: a text that no living group
has makes a new group and looks into buckets; any other joins its group. Where that turns out wrong,
because the group ended within the piece, the piece ends there and another one begins.
"""

from collections.abc import Iterable
from itertools import compress
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stream_dedup.index.layout import ExactRow
from stream_dedup.matching.buckets import Flags, Numbers, fetch, meet
from stream_dedup.matching.comparison import Texts, compared
from stream_dedup.matching.crowds import Crowds
from stream_dedup.matching.known import read_known
from stream_dedup.matching.overlay import Overlay
from stream_dedup.matching.verdicts import Previous
from stream_dedup.signing import SignedBatch, decompressed
from stream_dedup.similarity.ragged import Ragged, bounds_of
from stream_dedup.similarity.sketch import Sketcher


class Rules(NamedTuple):
    """What is looked for."""

    sketcher: Sketcher
    threshold: float
    bucket_size_max: int
    scoped: bool  # some members of a group may be out of a document's scope


class Agenda(NamedTuple):
    """A batch, and what follows for each of its events from the order of the log alone."""

    batch: SignedBatch
    id_keys: list[bytes]
    exact_keys: list[bytes]
    now: list[int]
    horizons: list[int]
    stretch: int  # of time, in which members that are only counted are not told apart
    has_text: list[bool]
    is_short: list[bool]  # its elements are kept
    generation_start: int
    sampled: frozenset[int]  # documents of which all that they meet is to be told


class Resemblance(NamedTuple):
    """A group that a document met and resembles."""

    group: int  # its number
    bands: int  # in which they meet
    similarity: float
    error: float
    containment: float
    kind: int  # index in `decide.KINDS`


class Survey(NamedTuple):
    """What the events that looked into buckets met there, for who measures; it decides nothing."""

    events: Numbers
    bucket_sizes: Numbers  # of all buckets of all bands
    candidates: Numbers  # groups that each event was compared with
    highest: NDArray[np.float64]  # the similarity of the most similar one, 0 for none
    matched: int  # comparisons that came out at the threshold or above
    look_up_seconds: float
    verify_seconds: float


class Piece:
    """Some consecutive events of a batch, with all that they meet."""

    def __init__(self, agenda: Agenda, events: range, overlay: Overlay, rules: Rules) -> None:
        self.agenda, self.events = agenda, events
        self._overlay, self._rules = overlay, rules
        started = perf_counter()
        self._id_keys = agenda.id_keys[events.start : events.stop]
        overlay.ids.read(overlay.index, self._id_keys)
        self._sightings = overlay.ids.among(self._id_keys)
        self._foretell([index for index in events if agenda.has_text[index]])
        sketches = agenda.batch.sketches
        self.shelf = fetch(overlay.index, overlay.buckets, sketches.keys[self.looking])
        self.known = read_known(overlay, self._positions(), sketches.signatures)
        self.entries = self.known.numbers(self.shelf.positions)
        inserts = self.inserts[self.looking]
        self.meetings = meet(self.shelf, self.entries, self.known.rows, inserts)
        self.crowds = Crowds(
            self.shelf, self.entries, self.meetings, inserts, rules.bucket_size_max
        )
        looked_up = perf_counter()
        self._compare()
        verified = perf_counter()
        self._read_clusters()
        self._look_up_seconds = looked_up - started + perf_counter() - verified
        self._verify_seconds = verified - looked_up

    def _foretell(self, texts: list[int]) -> None:
        """Set what documents do: insert a new group, file theirs anew, look into buckets."""
        agenda, exact = self.agenda, self._overlay.exact
        keys = [agenda.exact_keys[index] for index in texts]
        exact.read(self._overlay.index, keys)
        known = exact.among(keys)
        self.inserts, self.files = np.zeros((2, agenda.batch.size), np.bool_)
        self._exact: dict[int, ExactRow] = {}  # of documents whose text the index knows
        met: set[bytes] = set()
        inserts, files = [], []
        for index, key in zip(texts, keys, strict=True):
            row = known.get(key)
            if row is not None:
                self._exact[index] = row
            if key not in met and (row is None or row.last_seen < agenda.horizons[index]):
                inserts.append(index)
            elif row is not None and row.last_seen <= agenda.generation_start:
                files.append(index)
            met.add(key)
        self.inserts[inserts] = self.files[files] = True
        looks = self.inserts | self.files
        if self._rules.scoped:
            looks[texts] = True
        self.looking = np.flatnonzero(looks)
        self.place = dict(zip(self.looking.tolist(), range(len(self.looking)), strict=True))

    def _positions(self) -> Numbers:
        """Name the rows of texts that matter: of candidates, copies, and what ids stood for."""
        named = {row.position for row in self._exact.values()}
        named.update(row.cluster for row in self._exact.values())
        named.update(sighting.position for sighting in self._sightings.values())
        entries = self.shelf.positions.values
        positions: Numbers = np.union1d(entries, np.array(list(named), np.int64))
        return positions

    def _compare(self) -> None:
        """Compare all that met, and what replaces something with what it replaces."""
        known, meetings = self.known.rows, self.meetings
        left = known + self.looking[meetings.documents]
        others = meetings.groups.copy()
        new = others >= known
        others[new] = known + self.looking[others[new] - known]
        replacing, replaced = self._replacements()
        always = np.arange(len(left), len(left) + len(replacing))
        found = compared(
            self._texts(),
            np.concatenate([left, known + replacing]),
            np.concatenate([others, replaced]),
            self._rules.sketcher,
            self._rules.threshold,
            always,
        )
        revisions = map(Previous, found.similarity[always].tolist(), found.error[always].tolist())
        self.previous = dict(zip(replacing.tolist(), revisions, strict=True))
        self._similarity = found.similarity[: len(left)]
        near = np.flatnonzero(self._similarity >= self._rules.threshold)
        columns = (meetings.groups, meetings.bands, *found)
        self._near = list(map(Resemblance, *(column[near].tolist() for column in columns)))
        self._near_groups = meetings.groups[near]
        places = np.arange(len(self.looking) + 1)
        self._near_bounds = np.searchsorted(meetings.documents[near], places).tolist()

    def near(self, place: int) -> list[Resemblance]:
        """Return the groups that a looking document met and resembles."""
        start, end = self._near_bounds[place : place + 2]
        return self._near[start:end]

    def met(self, place: int) -> Numbers:
        """Return all groups that a looking document met."""
        start, end = np.searchsorted(self.meetings.documents, [place, place + 1])
        return self.meetings.groups[start:end]

    def founders(self) -> Numbers:
        """Return documents that begin a group and resemble nothing, whatever comes before them."""
        alone = np.diff(self._near_bounds) == 0
        alone &= self.inserts[self.looking] & ~self.crowds.members
        others = self._named | self._exact.keys() | self.agenda.sampled
        chosen = [index for index in self.looking[alone].tolist() if index not in others]
        return np.array(chosen, np.int64)

    def survey(self, end: int) -> Survey:
        """Tell what the events before `end` met."""
        looking = int(np.searchsorted(self.looking, end))
        documents = self.meetings.documents
        met = int(np.searchsorted(documents, looking))
        highest = np.zeros(looking)
        np.maximum.at(highest, documents[:met], self._similarity[:met])
        return Survey(
            self.looking[:looking],
            self.shelf.positions.lengths[self.shelf.places[:looking]].ravel(),
            np.bincount(documents[:met], minlength=looking),
            highest,
            self._near_bounds[looking],
            self._look_up_seconds,
            self._verify_seconds,
        )

    def _read_clusters(self) -> None:
        """Read the clusters that may grow or shrink, and those that full buckets protect."""
        known = self.known
        crowded = self._representatives(self.crowds.groups())
        self.crowded_clusters = known.positions[crowded].tolist()
        chosen = np.concatenate([crowded, self._representatives(self._near_groups)])
        named = set(known.positions[chosen].tolist())
        named.update(row.cluster for row in self._exact.values())
        sightings = self._sightings.values()
        positions = np.array([sighting.position for sighting in sightings], np.int64)
        named.update(known.clusters[np.searchsorted(known.positions, positions)].tolist())
        self._overlay.clusters.read(self._overlay.index, named - {-1})

    def _representatives(self, groups: Numbers) -> Numbers:
        """Return those of the groups that the index knows as representatives."""
        known = self.known
        chosen: Numbers = np.unique(groups[groups < known.rows])
        ours: Flags = known.clusters[chosen] == known.positions[chosen]
        return chosen[ours]

    def _replacements(self) -> tuple[Numbers, Numbers]:
        """Return documents and the rows of texts that their ids stood for before."""
        agenda, keys = self.agenda, self._id_keys
        last: dict[bytes, int] = {}
        self._named: set[int] = set()  # whose ids stood for something, or may have
        replacing, replaced = [], []
        known, sighted = self.known.rows, self._sightings.get
        pairs: Iterable[tuple[int, bytes]] = zip(self.events, keys, strict=True)
        if len(set(keys)) == len(keys):  # as mostly: none comes again within the piece
            pairs = compress(pairs, [key in self._sightings for key in keys])
        for index, key in pairs:
            row = last.get(key)
            if row is None and (sighting := sighted(key)):
                row = int(np.searchsorted(self.known.positions, sighting.position))
            if row is not None:
                self._named.add(index)
            if not agenda.has_text[index]:
                last[key] = -1
                continue
            if row is not None and row >= 0:
                replacing.append(index)
                replaced.append(row)
            last[key] = known + index
        return np.array(replacing, np.int64), np.array(replaced, np.int64)

    def _texts(self) -> Texts:
        sketches = self.agenda.batch.sketches
        return Texts(
            np.concatenate([self.known.signatures, sketches.signatures]),
            np.concatenate([self.known.sizes, sketches.sizes]),
            np.concatenate([self.known.is_short, sketches.short.lengths > 0]),
            self._short,
            None if self.agenda.batch.originals is None else self._elements,
        )

    def _short(self, rows: Numbers) -> Ragged:
        short, known = self.agenda.batch.sketches.short, self.known.rows
        pieces = [
            self.known.short(row) if row < known else short.row(row - known)
            for row in rows.tolist()
        ]
        return Ragged(np.concatenate(pieces), bounds_of([len(piece) for piece in pieces]))

    def _elements(self, rows: Numbers) -> Ragged:
        """Return the elements of kept texts; of one that was not kept an empty row."""
        originals = self.agenda.batch.originals or []
        known, table = self.known.rows, self._overlay.originals
        table.read(self._overlay.index, self.known.positions[rows[rows < known]].tolist())
        texts = []
        for row in rows.tolist():
            position = int(self.known.positions[row]) if row < known else 0
            original = originals[row - known] if row >= known else table.get(position)
            texts.append(decompressed(original) if original else "")
        return self._rules.sketcher.elements(texts)
