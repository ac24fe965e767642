"""The role `match`: signed records in, verdicts out, and an index that remembers.

Verdicts and the offset of the log are one transaction, and only then does the index remember what
led to them: a crash at any moment leaves it behind the log, from where it is read again. The one
instance that owns the log decides; the others follow it, to take over at once.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Event

from confluent_kafka import KafkaException, TopicPartition
from msgspec.structs import replace

from stream_dedup.config import Settings
from stream_dedup.engine import Matcher
from stream_dedup.errors import Refused
from stream_dedup.interfaces import Index
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.follower import Follower, Step
from stream_dedup.kafka.history import History
from stream_dedup.kafka.membership import Membership
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.offsets import Stamps, history
from stream_dedup.kafka.publishing import Publishing
from stream_dedup.kafka.replay import PARTITION, Replay
from stream_dedup.kafka.transactions import Transactions
from stream_dedup.kafka.vitals import Vitals
from stream_dedup.kafka.watermarks import watermarks
from stream_dedup.logs import fields
from stream_dedup.metrics import BEHIND, LAG_BYTES, PURGED, RESTORE_REMAINING, RESTORE_SECONDS
from stream_dedup.tracing import Link

_log = logging.getLogger(__name__)

_WAIT_SECONDS = 0.05
_STANDBY_SECONDS = 0.5
_PURGE_SECONDS = 10.0


class MatchStage:
    """Matches what is signed, batch after batch, or follows who does."""

    def __init__(
        self,
        clients: Clients,
        settings: Settings,
        topic_id: str,
        index: Index,
        vitals: Vitals,
        on_step: Callable[[str], None],
    ) -> None:
        kafka = settings.kafka
        self._clients, self._settings = clients, settings
        self._vitals, self._on_step = vitals, on_step
        self._topic = kafka.topics.signatures
        self._group = f"{kafka.application}-match"
        self._publishing = Publishing(settings)
        self._stamps = Stamps(settings, topic_id)
        self._index, self._topic_id = index, topic_id
        self._follower = Follower(
            index, Matcher.settings_before(index, settings), topic_id, on_step
        )
        self._told = self._own = History()  # by the group's offset; of what this instance decides
        self._transactions = Transactions(
            clients,
            f"{kafka.application}-match-{PARTITION}",
            self._group,
            vitals,
            on_step,
            goes_with_partition=True,
        )
        self._leave = ExitStack()
        self._leave.callback(self._transactions.close)
        self._is_live = False
        self._purged = 0
        self.lag_bytes = 0  # what is signed and not matched yet, about

    def run(self, stopped: Event) -> None:
        """Match until stopped."""
        replay = Replay(self._clients, self._settings, self._on_step)
        self._leave.callback(replay.close)
        topic = self._topic, self._topic_id
        member = Membership(self._clients, self._group, *topic, self._vitals, self._on_step)
        self._leave.callback(member.close)
        while not stopped.is_set():
            if PARTITION not in member.owned:
                self._is_live = False
                self._set_lag(0)
                self._stand_by(member, replay, stopped)
            elif not self._is_live:
                self._take_over(member, replay, stopped)
            else:
                self._turn(member)

    def close(self) -> None:
        """Leave the group, and let go of all clients."""
        self._leave.close()

    @property
    def matcher(self) -> Matcher:
        """Who decides now; another one after a takeover."""
        return self._follower.matcher

    def _following(self, settings: Settings) -> Follower:
        return Follower(self._index, settings, self._topic_id, self._on_step, self._follower)

    def _decide_as(self, settings: Settings) -> None:
        """Go on under these settings, and make no verdicts: nobody is told of them again."""
        quiet = replace(settings, events=replace(settings.events, emit="none"))
        if self._follower.settings != quiet:
            self._follower = self._following(quiet)

    def _stand_by(self, member: Membership, replay: Replay, stopped: Event) -> None:
        """Follow the log up to where its owner has committed."""
        member.receive(1, _STANDBY_SECONDS)
        for _ in self._led(replay, self._limit(member)):
            member.receive(1, 0)
            if stopped.is_set() or PARTITION in member.owned:
                return
        self._vitals.tell("standing by")

    def _take_over(self, member: Membership, replay: Replay, stopped: Event) -> None:
        """Fence off the owner before, read the log up to what it committed, and go live."""
        member.newly_owned()
        self._transactions.open()
        limit = self._limit(member)
        replay.check(self._follower.next_offset, limit)
        started, first = time.monotonic(), self._follower.next_offset
        for _ in self._led(replay, limit):
            member.receive(1, 0)
            self._vitals.put(RESTORE_SECONDS, time.monotonic() - started)
            if stopped.is_set() or PARTITION not in member.owned:
                return
        if limit > first:
            seconds = round(time.monotonic() - started, 1)
            self._vitals.put(RESTORE_SECONDS, seconds)
            self._vitals.restored()
            _log.info("index restored", extra=fields(begin=first, end=limit, seconds=seconds))
        self._follower = self._following(self._publishing.settings)
        self._own = self._told.followed(limit, Matcher.decisions(self._settings))
        replay.rest()
        member.begin({PARTITION: limit})
        self._is_live = True
        _log.info("matching", extra=fields(topic=self._topic, offset=limit))

    def _led(self, replay: Replay, limit: int) -> Iterator[None]:
        """Lead the index along the log, batch after batch: all is decided again as it was."""
        offset: float = self._follower.next_offset
        while offset < limit:
            end = min(limit, self._told.end(offset))
            decided = self._told.decisions(offset)
            self._decide_as(Matcher.settings_before(self._index, self._settings, decided))
            while not replay.advance(self._follower, end):
                self._tell_behind(limit - self._follower.next_offset)
                yield
            offset = end
        self._vitals.put(BEHIND, 0)
        self._vitals.put(RESTORE_REMAINING, 0)

    def _tell_behind(self, records: int) -> None:
        """Tell how far the index is behind; who stands by is so by a batch now and then."""
        self._vitals.put(BEHIND, records)
        if records > self._settings.kafka.batch_size_max:
            self._vitals.put(RESTORE_REMAINING, records)
            self._vitals.tell("restoring", f"{records:,} records of {self._topic} to go")

    def _limit(self, member: Membership) -> int:
        """Return the offset that the group has committed, where it begins if it never has."""
        found = member.committed([PARTITION])[PARTITION]
        self._stamps.check([found])
        self._told = history(found)
        if found.offset >= 0:
            return int(found.offset)
        low, _ = watermarks(self._clients, self._topic)[PARTITION]
        if low > 0 or self._follower.next_offset > 0:
            raise Refused(
                f"the group {self._group} has no offset, and it is not a first start: "
                f"{self._topic} begins at {low}, the index knows it up to "
                f"{self._follower.next_offset}. If the offset is lost, set it to the latter with "
                "kafka-consumer-groups --reset-offsets"
            )
        return 0

    def _turn(self, member: Membership) -> None:
        """Decide what has come, publish, remember."""
        self._vitals.tell("working")
        records = member.receive(self._settings.kafka.batch_size_max, _WAIT_SECONDS)
        if member.newly_owned():  # it went and came back at once
            self._is_live = False
        if not self._is_live or PARTITION not in member.owned:
            return
        self._measure_lag(member, records)
        if not records:
            return
        self._on_step("consumed")
        with self._vitals.traced(self._topic) as link:
            self._work(member, records, link)

    def _work(self, member: Membership, records: list[Incoming], link: Link) -> None:
        with self._vitals.timed("decide"):
            step = self._follower.decide(records)
        link([extra.headers for extra in step.extras])
        offsets = self._stamps.stamped(self._topic, {PARTITION: step.next_offset}, self._own)
        outgoing = self._publishing.records(step)
        if not self._transactions.commit(outgoing, offsets, member.consumer):
            limit = self._limit(member)
            # Beyond what the index has taken in it would have a hole: then it is led there first.
            self._is_live = limit == self._follower.next_offset
            if self._is_live:
                member.begin({PARTITION: limit})
            return
        with self._vitals.timed("remember"):
            self._follower.remember(step)
        self._vitals.matched(step)
        self._tell(step)
        self._purge()

    def _measure_lag(self, member: Membership, records: list[Incoming]) -> None:
        """Estimate how much is waiting, from what the records had that came last.

        Ends of transactions have offsets too, so nothing waits only once nothing comes.
        """
        try:
            _, high = member.consumer.get_watermark_offsets(
                TopicPartition(self._topic, PARTITION), cached=True
            )
        except KafkaException:
            return
        size = sum(len(record.value or b"") for record in records) / max(1, len(records))
        self._set_lag(int((high - records[-1].offset - 1) * size) if records else 0)

    def _set_lag(self, size: int) -> None:
        self.lag_bytes = size
        self._vitals.put(LAG_BYTES, size)

    def _tell(self, step: Step) -> None:
        if step.left_out:
            _log.warning("records left out", extra=fields(count=step.left_out))

    def _purge(self) -> None:
        """Delete the part of the log that nothing is remembered of any more."""
        below = self._follower.purgeable()
        if below <= self._purged:
            return
        self._on_step("purging")
        self._purged = below  # only once, whatever comes of it: more will be purged later
        admin = self._clients.admin()  # gone before its answer, it would not give one
        asked = admin.delete_records([TopicPartition(self._topic, PARTITION, below)])
        for future in asked.values():
            try:
                future.result(_PURGE_SECONDS)
            except (KafkaException, TimeoutError) as error:
                _log.warning("purge failed, it needs DELETE on %s: %s", self._topic, error)
                return
        self._vitals.put(PURGED, below)
        _log.info("log purged", extra=fields(topic=self._topic, below=below))
