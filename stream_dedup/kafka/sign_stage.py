"""The role `sign`: documents in, one signed record out for each; what is no document is rejected.

It keeps nothing. Records, rejections and the offsets of what was read are one transaction.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event
from typing import NamedTuple

from stream_dedup.config import Settings
from stream_dedup.engine import Signer
from stream_dedup.errors import DocumentRejected, Refused
from stream_dedup.events import Deletion, Document, RecordReference
from stream_dedup.kafka.attempts import Attempts
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.dead_letters import dead_letter
from stream_dedup.kafka.documents import EventReader
from stream_dedup.kafka.membership import Membership
from stream_dedup.kafka.messages import Incoming, Outgoing
from stream_dedup.kafka.offsets import Stamps, next_offsets, start_offsets
from stream_dedup.kafka.replay import PARTITION
from stream_dedup.kafka.signed import Extra, Original, SignedCodec
from stream_dedup.kafka.transactions import Transactions
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.logs import fields
from stream_dedup.metrics import HELD_BACK
from stream_dedup.rejections import RejectedShare, Rejection
from stream_dedup.signing import Record, own_time

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.1


class Accepted(NamedTuple):
    """A record that is a document or a deletion."""

    incoming: Incoming
    event: Document | Deletion


class Rejected(NamedTuple):
    """A record that is neither, and why."""

    incoming: Incoming
    rejection: DocumentRejected


class SignStage:
    """Signs what comes, batch after batch."""

    def __init__(
        self,
        clients: Clients,
        settings: Settings,
        topic_id: str,
        is_held_back: Callable[[], bool],
        vitals: Vitals,
        on_step: Callable[[str], None],
    ) -> None:
        kafka = settings.kafka
        self._settings, self._topics = settings, kafka.topics
        self._topic_id = topic_id
        self._is_held_back = is_held_back
        self._vitals, self._on_step = vitals, on_step
        self._clients = clients
        self._reader = EventReader(settings.events)
        self._signer = Signer(settings)
        self._codec = SignedCodec.planned(settings.similarity)
        self._stamps = Stamps(settings, topic_id)
        self._share = RejectedShare(settings.events.rejected_ratio_max)
        self._attempts = Attempts(settings)
        # Where reading began, of partitions of which nothing was committed since.
        self._begun: dict[int, int] = {}
        self._group = f"{kafka.application}-sign"
        transactional_id = f"{kafka.application}-sign-{kafka.instance}"
        self._transactions = Transactions(clients, transactional_id, self._group, vitals, on_step)
        self._leave = ExitStack()
        self._leave.callback(self._transactions.close)

    def run(self, stopped: Event) -> None:
        """Sign until stopped."""
        topic = self._topics.documents, self._topic_id
        member = Membership(self._clients, self._group, *topic, self._vitals, self._on_step)
        self._leave.callback(member.close)
        # Whoever is fenced looks in the group for who took its name, so that has to be there first.
        while not stopped.is_set() and not member.is_known:
            member.receive(1, _WAIT_SECONDS)
        self._transactions.open()
        while not stopped.is_set():
            self._turn(member)

    def close(self) -> None:
        """Leave the group, and let go of all clients."""
        self._leave.close()

    def _turn(self, member: Membership) -> None:
        """Take what has come and commit what became of it."""
        is_held_back = self._is_held_back()
        member.pause(is_held_back)
        self._vitals.put(HELD_BACK, is_held_back)
        self._vitals.tell("working", "held back: match is behind" if is_held_back else "")
        records = member.receive(self._settings.kafka.batch_size_max, _WAIT_SECONDS)
        new = member.newly_owned()
        if new:
            starts = start_offsets(self._clients, self._settings, self._stamps, member, new)
            self._begun |= starts
            member.begin(starts)
        # What came of a new partition came before it was known where to begin.
        ours = member.owned.difference(new)
        records = [record for record in records if record.partition in ours]
        if not records:
            return
        self._on_step("consumed")
        with self._vitals.traced(self._topics.documents) as link:
            link([record.headers for record in records])
            self._work(member, records)

    def _work(self, member: Membership, records: Sequence[Incoming]) -> None:
        for part in self._attempts.portions(records):
            with self._attempts.trying(part):
                outgoing, rejected = self._outgoing(part)
            if not self._commit(member, part, outgoing):
                return
            self._vitals.signed(len(part), [rejection for _, rejection in rejected])

    def _commit(
        self, member: Membership, records: Sequence[Incoming], outgoing: list[Outgoing]
    ) -> bool:
        """Commit, or go back to what is committed."""
        offsets = self._stamps.stamped(self._topics.documents, next_offsets(records))
        if self._transactions.commit(outgoing, offsets, member.consumer):
            for offset in offsets:
                self._begun.pop(offset.partition, None)
            return True
        found = member.committed(member.owned)
        starts = {number: start for number, start in self._begun.items() if number in found}
        starts |= {number: at.offset for number, at in found.items() if at.offset >= 0}
        if len(starts) < len(found):
            raise Refused(f"the group {self._group} has lost its offsets; see UPGRADING.md")
        member.begin(starts)
        return False

    def _outgoing(self, records: Sequence[Incoming]) -> tuple[list[Outgoing], list[Rejected]]:
        """Return signed records and dead letters, in the order of what was read."""
        with self._vitals.timed("decode"):
            accepted, rejected = self._read(records)
        with self._vitals.timed("sign"):
            signed, failed = self._signed(accepted)
        rejected += failed
        self._watch(records, rejected)
        topic, limit = self._topics.rejected, self._settings.events.document_bytes_max
        letters = [
            dead_letter(record, rejection.reason, topic, limit) for record, rejection in rejected
        ]
        return signed + letters, rejected

    def _read(self, records: Sequence[Incoming]) -> tuple[list[Accepted], list[Rejected]]:
        accepted: list[Accepted] = []
        rejected: list[Rejected] = []
        for record in records:
            try:
                if self._attempts.is_exhausted(record):
                    told = "the process ended each time it was to be signed"
                    raise DocumentRejected(told, "not signable")
                accepted.append(Accepted(record, self._reader.read(record)))
            except DocumentRejected as rejection:
                rejected.append(Rejected(record, rejection))
        return accepted, rejected

    def _signed(self, accepted: Sequence[Accepted]) -> tuple[list[Outgoing], list[Rejected]]:
        """Sign; where that fails, halve the batch until the one record that does it is alone."""
        if not accepted:
            return [], []
        try:
            return self._sign(accepted), []
        except Exception as error:
            if len(accepted) == 1:
                reason = f"could not be signed: {type(error).__name__}: {error}"
                rejection = DocumentRejected(reason, "not signable")
                return [], [Rejected(accepted[0].incoming, rejection)]
        middle = len(accepted) // 2
        first, failed = self._signed(accepted[:middle])
        second, more_failed = self._signed(accepted[middle:])
        return first + second, failed + more_failed

    def _sign(self, accepted: Sequence[Accepted]) -> list[Outgoing]:
        batch = self._signer.sign(
            [Record(event, 0, own_time(event), _reference(record)) for record, event in accepted]
        )
        values = self._codec.encode(batch, [self._extra(*each) for each in accepted])
        keys = [id.encode("utf-8", "surrogatepass") for id in batch.ids]
        return [
            Outgoing(self._topics.signatures, key, value, partition=PARTITION)
            for key, value in zip(keys, values, strict=True)
        ]

    def _extra(self, record: Incoming, event: Document | Deletion) -> Extra:
        original = Original.of(record) if self._topics.has_routes else None
        times = (own_time(event), record.timestamp)
        return Extra(self._topic_id, record.headers, original, *times)

    def _watch(self, records: Sequence[Incoming], rejected: Sequence[Rejected]) -> None:
        """Refuse a feed of which too little are documents."""
        reasons = {id(record): rejection.reason for record, rejection in rejected}
        self._share.add(
            len(records) - len(rejected),
            {
                place: Rejection(record=_reference(record), reason=reasons[id(record)])
                for place, record in enumerate(records)
                if id(record) in reasons
            },
        )
        if rejected:
            last = rejected[-1].rejection.reason
            told = fields(count=len(rejected), of=len(records), last=last)
            _log.warning("records rejected", extra=told)


def _reference(record: Incoming) -> RecordReference:
    return RecordReference(topic=record.topic, partition=record.partition, offset=record.offset)
