"""Check an index against itself: every reference that one row makes to another, and all numbers.

A few sweeps, in which the rows that a thousand rows refer to are read together. Nothing that the
window has let go need be there, and nothing is asked of it beyond being readable.
"""

import struct
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import TypeVar

import msgspec
import zstandard

from stream_dedup.index import layout
from stream_dedup.index.layout import Cluster, ExactRow, Group, Sighting
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.matching.groups import counted
from stream_dedup.signing import Signer, decompressed
from stream_dedup.upkeep.bucket_check import BucketCheck
from stream_dedup.upkeep.joined_documents import JoinedDocuments
from stream_dedup.upkeep.row_check import cluster_problems, group_problems, sighting_problems
from stream_dedup.upkeep.signed_again import KeptText, SignedAgain
from stream_dedup.upkeep.standing import Standing, standing

UNREADABLE = (msgspec.MsgspecError, struct.error, ValueError, zstandard.ZstdError)

_BATCH = 1000
_FINGERPRINT_BYTES = 16

Row = tuple[bytes, bytes]
Decoded = TypeVar("Decoded")


def problems(index: Index, on_rows: Callable[[int], None] = lambda count: None) -> Iterator[str]:
    """Yield what is wrong, in words; nothing for an index that is sound.

    Tell `on_rows` of rows as they are looked at. Takes some thirty bytes of memory a text.
    """
    state = standing(index.meta())
    if state is None:
        for keyspace in Keyspace:
            if next(index.scan(keyspace), None) is not None:
                yield f"{keyspace}: there are rows, and meta says that nothing was written yet"
        return
    check = _Check(index, state, on_rows)
    yield from check.texts()
    yield from check.exact()
    yield from check.ids()
    yield from check.clusters()
    yield from check.buckets()
    yield from check.originals()


class _Check:
    """The sweeps, one for each keyspace."""

    def __init__(self, index: Index, state: Standing, on_rows: Callable[[int], None]) -> None:
        self._index, self._state, self._on_rows = index, state, on_rows
        self._bucket_check = BucketCheck(state)
        self._joined = JoinedDocuments(state)
        self._unlisted: Counter[int] = Counter()  # living ids that their group does not list

    def texts(self) -> Iterator[str]:
        """Check groups, and what looks them up: exact rows, ids, clusters, originals."""
        for rows in self._batches(Keyspace.TEXTS):
            found: list[Group] = []
            for key, value in rows:
                name = f"texts {layout.position_of_key(key)}"
                group = yield from _read(name, self._state.group, key, value)
                if group is not None:
                    problems_found = group_problems(group, self._state)
                    yield from (f"{name}: {problem}" for problem in problems_found)
                    found.append(group)
            living = [group for group in found if self._is_living(group)]
            self._bucket_check.expect([group.position for group in living])
            self._joined.add(living)
            yield from self._lookups_of(living)
            yield from self._members_of(living)
            yield from self._clusters_of(living)
            kept_from = self._state.texts_kept_from
            if kept_from is not None:
                yield from self._originals_of([at for at in living if at.position >= kept_from])

    def exact(self) -> Iterator[str]:
        """Check that living texts are where they are looked up."""
        for rows in self._batches(Keyspace.EXACT):
            found: list[tuple[bytes, ExactRow]] = []
            for key, value in rows:
                row = yield from _read(f"exact {key.hex()}", _exact_row, key, value)
                if row is not None and self._state.is_living(row.last_seen):
                    found.append((key, row))
            groups = self._groups(row.position for _, row in found)
            for key, row in found:
                group = groups.get(row.position)
                if group is None:
                    yield f"exact {key.hex()}: there is no text {row.position}"
                elif layout.exact_key(group.fingerprint, group.namespace) != key:
                    yield f"exact {key.hex()}: text {row.position} is another one"

    def ids(self) -> Iterator[str]:
        """Check that each living document belongs to a living group that knows of it."""
        for rows in self._batches(Keyspace.IDS):
            found: list[tuple[str, str, Sighting]] = []
            for key, value in rows:
                names = yield from _read(f"ids {key.hex()}", _names, key)
                row = yield from _read(f"ids {key.hex()}", layout.decode_sighting, value)
                if names is not None and row is not None:
                    problems_found = sighting_problems(row, self._state)
                    yield from (f"ids {names[1]!r}: {problem}" for problem in problems_found)
                    if self._state.is_living(row.seen):
                        found.append((*names, row))
            groups = self._groups(row.position for *_, row in found)
            for namespace, document_id, row in found:
                group = groups.get(row.position)
                problem = self._membership(group, namespace, document_id, row)
                if problem:
                    yield f"ids {document_id!r}: {problem}"

    def clusters(self) -> Iterator[str]:
        """Check that open clusters are as large as their members say, and theirs."""
        for rows in self._batches(Keyspace.CLUSTERS, _BATCH // 50):
            found: dict[int, Cluster] = {}
            for key, value in rows:
                position = layout.position_of_key(key)
                row = yield from _read(f"clusters {position}", layout.decode_cluster, value)
                if row is not None:
                    found[position] = row
            named = [position for row in found.values() for position in row.positions]
            groups = self._groups([*found, *named])
            for position, row in found.items():
                joined = self._joined.of(position)
                for problem in cluster_problems(position, row, groups, joined, self._state):
                    yield f"clusters {position}: {problem}"

    def buckets(self) -> Iterator[str]:
        """Check entries, and that no living text is missing where nothing hides any."""
        for rows in self._batches(Keyspace.BUCKETS, 10 * _BATCH):
            yield from self._bucket_check.add(rows)
        yield from self._bucket_check.missing()

    def originals(self) -> Iterator[str]:
        """Check that kept texts belong to rows, and sign them again where this program can."""
        signer = _signer(self._state)
        for rows in self._batches(Keyspace.ORIGINALS, _BATCH // 5):
            groups = self._groups(layout.position_of_key(key) for key, _ in rows)
            kept: list[KeptText] = []
            for key, value in rows:
                position = layout.position_of_key(key)
                group = groups.get(position)
                if group is None:
                    # A rotation that was cut short has left a part of what it was to drop.
                    if not self._state.log_time.rotation_due:
                        yield f"originals {position}: the text is kept, its row is not there"
                    continue
                text = yield from _read(f"originals {position}", decompressed, value)
                if text is not None:
                    kept.append(KeptText(group, text))
            if signer is not None:
                signed = SignedAgain(signer, kept)
                yield from signed.problems()
                if self._bucket_check.nothing_is_hidden:
                    yield from signed.missing(self._index, self._is_living)

    def _lookups_of(self, living: list[Group]) -> Iterator[str]:
        keys = {layout.exact_key(group.fingerprint, group.namespace): group for group in living}
        for key, value in self._values(Keyspace.EXACT, keys):
            group = keys[key]
            row = ExactRow(group.position, group.last_seen, group.cluster)
            if value != layout.encode_exact(row):
                problem = "has no exact row" if value is None else "has another exact row"
                yield f"texts {group.position}: {problem}"
        if len(keys) < len(living):
            yield f"texts: two living ones near {living[0].position} are the same"

    def _members_of(self, living: list[Group]) -> Iterator[str]:
        members = {
            layout.id_key(group.namespace, member.id): (group, member)
            for group in living
            for member in group.members
            if self._state.is_living(member.seen)
        }
        for key, value in self._values(Keyspace.IDS, members):
            group, member = members[key]
            name = f"texts {group.position}: member {member.id!r}"
            if value is None:
                yield f"{name} has no row in ids"
                continue
            row = yield from _read(name, layout.decode_sighting, value)
            if row is not None and (row.position, row.seen) != (group.position, member.seen):
                yield f"{name} stands for text {row.position} seen at {row.seen}, by its row in ids"

    def _clusters_of(self, living: list[Group]) -> Iterator[str]:
        joined = [group for group in living if group.cluster != group.position]
        representatives = self._groups(group.cluster for group in joined)
        is_open = {
            position for position, group in representatives.items() if self._is_living(group)
        }
        keys = {layout.position_key(position) for position in is_open}
        rows = dict(self._values(Keyspace.CLUSTERS, keys))
        for group in joined:
            if group.cluster not in is_open:
                continue
            if representatives[group.cluster].cluster != group.cluster:
                yield f"texts {group.position}: {group.cluster} represents no cluster"
            elif rows[layout.position_key(group.cluster)] is None:
                yield f"texts {group.position}: its cluster {group.cluster} has no row"

    def _originals_of(self, kept: list[Group]) -> Iterator[str]:
        keys = [layout.position_key(group.position) for group in kept]
        for key, value in self._values(Keyspace.ORIGINALS, keys):
            if value is None:
                position = layout.position_of_key(key)
                yield f"texts {position}: the text is not kept, so nothing can match it exactly"

    def _membership(
        self, group: Group | None, namespace: str, document_id: str, row: Sighting
    ) -> str | None:
        """Say what is wrong with a living document's place in its group."""
        if group is None:
            return f"there is no text {row.position}"
        if group.namespace != namespace:
            return f"text {row.position} is of namespace {group.namespace!r}, not {namespace!r}"
        if group.last_seen < row.seen:
            return f"seen at {row.seen}, its text {row.position} last at {group.last_seen}"
        listed = {member.id: member.seen for member in group.members}
        if document_id in listed:
            seen = listed[document_id]
            return None if seen == row.seen else f"seen at {row.seen}, by its text at {seen}"
        self._unlisted[row.position] += 1
        if self._unlisted[row.position] > counted(group, self._state.log_time.horizon):
            return f"text {row.position} neither lists nor counts it"
        return None

    def _is_living(self, group: Group) -> bool:
        return self._state.is_living(group.last_seen)

    def _groups(self, positions: Iterable[int]) -> dict[int, Group]:
        """Read rows of texts; those that cannot be read are told by their own sweep."""
        keys = {layout.position_key(position) for position in positions}
        found = {}
        for key, value in self._values(Keyspace.TEXTS, keys):
            if value is not None:
                with suppress(*UNREADABLE):
                    found[layout.position_of_key(key)] = self._state.group(key, value)
        return found

    def _values(
        self, keyspace: Keyspace, keys: Iterable[bytes]
    ) -> Iterator[tuple[bytes, bytes | None]]:
        ordered = sorted(keys)
        return zip(ordered, self._index.read(keyspace, ordered), strict=True)

    def _batches(self, keyspace: Keyspace, size: int = _BATCH) -> Iterator[list[Row]]:
        rows = self._index.scan(keyspace)
        while batch := list(islice(rows, size)):
            yield batch
            self._on_rows(len(batch))


def _read(
    name: str, decode: Callable[..., Decoded], *parts: bytes
) -> Generator[str, None, Decoded | None]:
    """Return what was decoded, or yield that it cannot be read."""
    try:
        return decode(*parts)
    except UNREADABLE as error:
        yield f"{name}: cannot be read ({error})"
        return None


def _names(key: bytes) -> tuple[str, str]:
    names = layout.id_of_key(key)
    if layout.id_key(*names) != key:
        raise ValueError("a key of another form")
    return names


def _exact_row(key: bytes, value: bytes) -> ExactRow:
    if len(key) < _FINGERPRINT_BYTES:
        raise ValueError("a key of another form")
    return layout.decode_exact(value)


def _signer(state: Standing) -> Signer | None:
    settings = state.signing_settings()
    return None if settings is None else Signer(settings)
