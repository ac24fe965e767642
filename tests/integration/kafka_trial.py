"""Trials of the service on Kafka: a stream goes in, processes die, and all is audited in the end.

What should come out is told by the oracle: from what was written to `documents`, in the order in
which the committed records of `signatures` have it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Protocol

import msgspec
from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec
from msgspec import Struct

from stream_dedup.config import EventsSettings, IndexSettings, Settings
from stream_dedup.events import Verdict
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.follower import Follower
from stream_dedup.kafka.messages import Incoming
from stream_dedup.kafka.service import no_step
from stream_dedup.kafka.topics import ensure, topic_id
from stream_dedup.kafka.transactions import committed
from stream_dedup.quantities import Duration
from stream_dedup.upkeep.standing import standing
from stream_dedup.upkeep.verification import problems
from tests import streams
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.index_views import living, rows
from tests.integration.service_process import DIED, REFUSED
from tests.oracles.engine import Event, Oracle
from tests.oracles.signed import Signed, read

SECONDS_MAX = 180.0  # what takes so long hangs, on a busy machine too
_BATCH = 40
_BATCHES = 5  # at least so many lie in a window, about


TRANSACTION_SECONDS = 3
Place = tuple[int, int]  # partition and offset of a document


class Alive(Protocol):
    """A service that runs."""

    def said(self) -> str:
        """Return what it has logged so far."""
        ...

    def assert_alive(self) -> None:
        """Fail if it has ended."""
        ...


class Running(NamedTuple):
    """A process of the service, and what it logs."""

    process: "subprocess.Popen[bytes]"
    log: Path

    def said(self) -> str:
        """Return what it has logged so far."""
        return self.log.read_text()

    def assert_alive(self) -> None:
        """Fail if it has ended."""
        assert self.process.poll() is None, self.said()

    def has_said(self, words: str) -> bool:
        """Tell whether it has logged these words, a regular expression."""
        return re.search(words, self.said()) is not None

    def ends_with(self, code: int) -> str:
        """Wait for its end, which has this code; return what it said."""
        assert self.process.wait(SECONDS_MAX) == code, self.said()
        return self.said()

    def is_frozen(self) -> bool:
        """Tell whether it has stopped for now, as it was told to."""
        options = os.WSTOPPED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, options) is not None

    def goes_on(self) -> None:
        """Let it go on from where it froze."""
        self.process.send_signal(signal.SIGCONT)

    def stops(self) -> None:
        """Stop it as a supervisor does."""
        self.process.send_signal(signal.SIGTERM)
        self.ends_with(0)


class Trial:
    """One application on a broker: its settings, its feed, its processes."""

    def __init__(
        self,
        broker: Broker,
        names: Names,
        folder: Path,
        seed: int = 0,
        routes: bool = False,
        index: Mapping[str, Any] | None = None,
        partitions: int = 1,
    ) -> None:
        """Make the topics, that of the documents with so many partitions."""
        self.broker, self.seed = broker, seed
        kafka = names.kafka(
            broker, routes, instance="one", batch_size_max=_BATCH, client=_client(broker)
        )
        chosen: Any = {"window": Duration("inf"), **(index or {})}
        self.settings = Settings(
            events=EventsSettings(emit="all", rejected_ratio_max=1.0),
            index=IndexSettings(directory=str(folder / "index"), **chosen),
            kafka=kafka,
        )
        self._folder = folder
        self._partitions = partitions
        self._events: dict[Place, Event] = {}  # in the order in which they were written
        self._log: dict[int, Incoming] = {}  # what was seen of `signatures`, by offset
        self._processes = 0
        if partitions > 1:
            create(broker, kafka.topics.documents, partitions)
        ensure(self.clients, self.settings)

    @property
    def clients(self) -> Clients:
        return Clients(self.settings.kafka)

    def feed(self, count: int, written: int = 0) -> None:
        """Write so many events of the stream to `documents`, those of an id to one partition.

        Their records say that they were written now, or when else, in milliseconds since 1970.
        """
        texts = streams.pool(self.seed)
        # Once only, also while the broker is away for a time.
        servers = self.broker.bootstrap_servers
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        topic = self.settings.kafka.topics.documents
        ends = Counter(partition for partition, _ in self._events)
        for event in self._next(count):
            partition = zlib.crc32(event.id.encode()) % self._partitions
            self._events[partition, ends[partition]] = event
            ends[partition] += 1
            headers: Any = [("namespace", event.namespace.encode())]
            value = None if event.text is None else _document(event, texts[event.text])
            if value is None and event.time is not None:
                headers.append(("published_at", _moment(event.time).encode()))
            key = event.id.encode()
            producer.produce(topic, value, key, partition, headers=headers, timestamp=written)
        assert producer.flush(SECONDS_MAX) == 0

    def _next(self, count: int) -> list[Event]:
        """Return the events of the stream that were not written yet."""
        drafts = streams.long_stream(self.seed, len(self._events) + count)
        window = self.settings.index.window / _BATCHES
        events = streams.timed(drafts, window)[len(self._events) :]
        return events if self._has_own_times else [event._replace(time=None) for event in events]

    @contextmanager
    def process(
        self,
        role: str = "all",
        settings: Settings | None = None,
        bug: str = "",
        **occasions: tuple[str, int],
    ) -> Iterator["Running"]:
        """Run the service, and kill it if it is still there at the end.

        An occasion is one of `service_process.OCCASIONS`, at a step that is reached so many times.
        """
        self._processes += 1
        path = self._folder / f"settings-{self._processes}.toml"
        path.write_text(_toml(settings or self.settings))
        command = [sys.executable, "-m", "tests.integration.service_process", str(path), role]
        for name, (step, count) in occasions.items():
            command += ["--at", step, str(count), name]
        command += ["--bug", bug] if bug else []
        log = path.with_suffix(".log")
        with log.open("w") as lines, subprocess.Popen(command, stderr=lines) as process:
            try:
                yield Running(process, log)
            finally:
                process.kill()

    def dies_at(self, step: str, count: int = 1, role: str = "all", bug: str = "") -> None:
        """Run the service until it dies at a step."""
        with self.process(role, bug=bug, death=(step, count)) as running:
            running.ends_with(DIED)

    def runs_to_the_end(self, role: str = "all") -> None:
        """Run the service until all is answered, and stop it."""
        with self.process(role) as running:
            self.await_said(running, "started")  # if all is answered it could be stopped before
            self.await_verdicts(running)
            running.stops()

    def is_refused(self, role: str = "all", settings: Settings | None = None) -> str:
        """Run the service, which is to be refused; return what it says."""
        with self.process(role, settings=settings) as running:
            return running.ends_with(REFUSED)

    def write(self, value: bytes | None, key: str, headers: Any = None) -> None:
        """Write one record to `documents`, of which nothing is expected."""
        self.write_to(self.settings.kafka.topics.documents, value, key.encode(), headers)

    def write_to(self, topic: str, value: bytes | None, key: bytes, headers: Any = None) -> None:
        """Write one record to any topic."""
        producer = Producer({"bootstrap.servers": self.broker.bootstrap_servers})
        producer.produce(topic, value, key, 0, headers=headers or [])
        assert producer.flush(SECONDS_MAX) == 0

    def verdicts(self) -> list[Verdict]:
        """Return all verdicts, in the order of the documents."""
        read = read_all(self.broker, self.settings.kafka.topics.matches)
        found = [msgspec.json.decode(record.value or b"", type=Verdict) for record in read]
        return sorted(found, key=_place)

    def set_offset(self, role: str, topic: str, offset: int) -> None:
        """Set what a group has committed, as an operator does."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        group = f"{self.settings.kafka.application}-{role}"
        wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, offset)])
        give_up = monotonic() + SECONDS_MAX
        while True:  # a broker that has just started refuses, partition by partition
            (answer,) = admin.alter_consumer_group_offsets([wanted]).values()
            errors = [
                found.error for found in answer.result(SECONDS_MAX).topic_partitions if found.error
            ]
            if not errors:
                return
            assert monotonic() < give_up, errors

    def forget_offsets(self, role: str) -> None:
        """Delete a group, as a broker does with one that nobody was in for a week."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        group = f"{self.settings.kafka.application}-{role}"
        admin.delete_consumer_groups([group])[group].result(SECONDS_MAX)

    def purge(self, topic: str, below: int) -> None:
        """Delete the records of a topic below an offset, as retention does."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        for deleted in admin.delete_records([TopicPartition(topic, 0, below)]).values():
            deleted.result(SECONDS_MAX)

    def await_verdicts(self, running: "Alive", count: int | None = None) -> None:
        """Wait until there are as many verdicts as events, or so many, while the process lives."""
        count = len(self._events) if count is None else count
        give_up = monotonic() + SECONDS_MAX
        reader = self.clients.reader(**{"auto.offset.reset": "earliest"})
        with closing(reader):
            topic = self.settings.kafka.topics.matches
            numbers = reader.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions
            reader.assign([TopicPartition(topic, number, 0) for number in numbers])
            found = 0
            while found < count:
                found += sum(not message.error() for message in reader.consume(1000, 0.1))
                running.assert_alive()
                assert monotonic() < give_up, self._standing(found, count) + running.said()

    def _standing(self, found: int, count: int) -> str:
        """Tell who of those that work one after the other got how far, where one hangs."""
        return (
            f"{found} of {count} verdicts came, {len(self.verdicts())} are there; sign has "
            f"committed {self.committed('sign')}, the log has {len(self.log())} records, "
            f"match has committed {self.committed('match')}:\n"
        )

    def sign_all(self) -> None:
        """Sign all that was fed, and take down the log before anything of it can be purged."""
        with self.process("sign") as running:
            self.await_signed(running)
            running.stops()
        self.log()

    def await_signed(self, running: "Running") -> None:
        """Wait until all that was fed was read."""
        self.await_that(running, lambda: self.committed("sign") == len(self._events))

    def await_the_end(self, running: "Running") -> None:
        """Wait until all that was fed was read, signed and read again, whatever came of it."""

        def is_through() -> bool:
            if self.committed("sign") != len(self._events):
                return False
            log = self.log()
            return bool(log) and self.committed("match") == log[-1].offset + 1

        self.await_that(running, is_through)

    def await_said(self, running: "Running", words: str) -> None:
        """Wait until the log of a process has these words, a regular expression."""
        self.await_that(running, lambda: running.has_said(words))

    def await_that(self, running: "Running", holds: Callable[[], bool]) -> None:
        """Wait until something holds, while the process lives."""
        give_up = monotonic() + SECONDS_MAX
        while not holds():
            assert running.process.poll() is None, running.said()
            assert monotonic() < give_up, running.said()
            with suppress(subprocess.TimeoutExpired):
                running.process.wait(0.1)

    def committed(self, role: str) -> int:
        """Return what a group has committed of its topic, of all partitions together."""
        topics = self.settings.kafka.topics
        group = f"{self.settings.kafka.application}-{role}"
        topic, count = (
            (topics.documents, self._partitions) if role == "sign" else (topics.signatures, 1)
        )
        asked = [TopicPartition(topic, number) for number in range(count)]
        return sum(max(0, found.offset) for found in committed(self.clients, group, asked))

    def members(self, role: str) -> list[str]:
        """Return who is in a group, by the names of their processes."""
        admin = AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})
        group = f"{self.settings.kafka.application}-{role}"
        described = admin.describe_consumer_groups([group])[group].result(SECONDS_MAX)
        return [member.client_id for member in described.members]

    def log(self) -> list[Incoming]:
        """Return all records of `signatures` that were there at this or an earlier call."""
        read = read_all(self.broker, self.settings.kafka.topics.signatures)
        self._log |= {record.offset: record for record in read}
        return [self._log[offset] for offset in sorted(self._log)]

    def log_begins_at(self) -> int:
        """Return the offset below which the log was purged."""
        return ends(self.broker, self.settings.kafka.topics.signatures, None)[0]

    def audit(self) -> None:
        """Check outputs, offsets, transactions and the index against what should be."""
        self.check_verdicts()
        self.check_offsets()
        self.check_index()

    def check_verdicts(self) -> None:
        """One verdict for each event, and it says what the oracle says."""
        verdicts = {_place(verdict): verdict for verdict in self.verdicts()}
        assert [_place(verdict) for verdict in self.verdicts()] == sorted(self._events)
        table = streams.table(self.seed, self.settings.similarity)
        oracle = Oracle(table, streams.rules(self.settings))
        signed = list(self._signed())
        check_signed(table, signed)
        assert len(signed) == len(self._events)
        for record, event in signed:
            verdict = verdicts[record.partition, record.offset]
            said = verdict if self._has_window else _undated(verdict)
            streams.assert_said(said, event, oracle.tell(event))

    @property
    def _has_window(self) -> bool:
        return self.settings.index.window < float("inf")

    @property
    def _has_own_times(self) -> bool:
        return self.settings.index.window_by == "published"

    def _signed(self) -> Iterator[tuple[Signed, Event]]:
        """Yield what is in the log, in its order: the first record of each event, and the event.

        Where the times count at which the log took its records, they are the events' times.
        """
        seen = set[Place]()
        for record in self.log():
            if record.offset in self.settings.matching.skip_positions:
                continue
            signed = read(record.value or b"")
            place = (signed.partition, signed.offset)
            if place not in seen:
                seen.add(place)
                event = self._events[place]
                is_dated = self._has_own_times or not self._has_window
                yield signed, event if is_dated else event._replace(time=record.timestamp)

    def check_offsets(self) -> None:
        """All that was written is committed, all that was signed is matched, nothing is open."""
        assert self.committed("sign") == len(self._events)
        assert self.committed("match") == self.log()[-1].offset + 1
        topics = self.settings.kafka.topics
        for topic in (topics.signatures, topics.matches, topics.rejected):
            committed, written = (
                ends(self.broker, topic, level)
                for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
            )
            assert committed == written, f"a transaction is open in {topic}"

    def check_index(self, limit: float = float("inf")) -> None:
        """The index holds what one that is made from the log holds, the whole or up to a limit."""
        fresh = self.led_along([record for record in self.log() if record.offset < limit])
        view = living if self._has_window else rows
        with closing(RocksIndex.open(self.settings.index.directory, self.settings.index)) as index:
            assert view(index) == view(fresh)
            ours, theirs = standing(index.meta()), standing(fresh.meta())
            assert ours is not None
            assert theirs is not None
            assert ours.tally == theirs.tally, (ours.tally, theirs.tally)
            assert ours.next_offset == theirs.next_offset
            assert not list(problems(index))

    def check_nothing_living_was_purged(self) -> None:
        """What is left of the log knows every document of the window, where matching has come."""
        limit = self.committed("match")
        begin = self.log_begins_at()
        whole = [record for record in self.log() if record.offset < limit]
        left = [record for record in whole if record.offset >= begin]
        assert 0 < len(left) < len(whole), "nothing was purged"
        known = [
            {key for key, _ in living(self.led_along(log))[Keyspace.IDS]} for log in (whole, left)
        ]
        assert known[0] == known[1]

    def topic_id(self) -> str:
        """Return the id of the log."""
        return topic_id(self.clients.admin(), self.settings.kafka.topics.signatures)

    def led_along(self, log: Sequence[Incoming]) -> Index:
        """Make an index of records of the log."""
        fresh = Follower(MemoryIndex(), self.settings, self.topic_id(), no_step)
        for start in range(0, len(log), 7):
            fresh.remember(fresh.decide(log[start : start + 7]))
        return fresh.index


def _client(broker: Broker) -> dict[str, Any]:
    """Return settings with which the dead are missed soon."""
    return {
        "session.timeout.ms": 1000 * broker.session_seconds,
        "heartbeat.interval.ms": 500,
        "transaction.timeout.ms": 1000 * TRANSACTION_SECONDS,
    }


def _document(event: Event, text: str) -> bytes:
    fields = {"id": event.id, "text": text, "source": event.source, "namespace": event.namespace}
    if event.time is not None:
        fields["published_at"] = _moment(event.time)
    return json.dumps(fields).encode()


def _moment(time: int) -> str:
    return (datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=time)).isoformat()


def _place(verdict: Verdict) -> Place:
    return verdict.record.partition, verdict.record.offset


def check_signed(table: streams.Table, signed: Sequence[tuple[Signed, Event]]) -> None:
    """What was signed is what the oracle's table has: the events, signatures, texts and buckets.

    Keys have other names in the log. Where two texts share one there they do so in the table.
    """
    names: dict[Any, Any] = {}
    for record, event in signed:
        is_deletion, source = event.text is None, "" if event.text is None else event.source
        expected = (event.id, event.namespace, source, is_deletion)
        assert (record.id, record.namespace, record.source, record.is_deletion) == expected
        if event.text is None:
            continue
        assert record.signature == table.signature(event.text)
        for band, (own, key) in enumerate(zip(table.buckets(event.text), record.keys, strict=True)):
            _same(names, ("key", event.namespace, own), ("key", band, key))
        _same(names, ("text", table.normalised(event.text)), ("text", record.fingerprint))


def _same(names: dict[Any, Any], ours: Any, theirs: Any) -> None:
    assert names.setdefault(ours, theirs) == theirs
    assert names.setdefault(("back", theirs), ours) == ours


def _undated(verdict: Verdict) -> Verdict:
    """Return the verdict without the times at which the log took its records."""
    replace = msgspec.structs.replace
    matches = tuple(replace(match, seen_at=None) for match in verdict.matches)
    return replace(verdict, document=replace(verdict.document, seen_at=None), matches=matches)


def create(broker: Broker, topic: str, partitions: int, **config: str) -> None:
    """Create a topic, with settings whose names have `_` for dots."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    named = {name.replace("_", "."): value for name, value in config.items()}
    admin.create_topics([NewTopic(topic, partitions, config=named)])[topic].result(SECONDS_MAX)


def ends(broker: Broker, topic: str, level: IsolationLevel | None) -> dict[int, int]:
    """Return where each partition of a topic ends at this level; where it begins if none is."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    numbers = admin.list_topics(topic, timeout=SECONDS_MAX).topics[topic].partitions
    spec: Any = OffsetSpec
    wanted = spec.latest() if level else spec.earliest()
    level = level or IsolationLevel.READ_UNCOMMITTED
    asked = admin.list_offsets(
        {TopicPartition(topic, number): wanted for number in numbers}, isolation_level=level
    )
    return {at.partition: int(found.result(SECONDS_MAX).offset) for at, found in asked.items()}


def _given(section: Struct, *names: str) -> Iterator[str]:
    values = {name: getattr(section, name) for name in names}
    return (f"{name} = {value}" for name, value in values.items() if value is not None)


def _toml(settings: Settings) -> str:
    """Write what differs from the defaults."""
    kafka = settings.kafka
    lines = [
        f"[events]\nemit = '{settings.events.emit}'",
        f"rejected_ratio_max = {settings.events.rejected_ratio_max}",
        f"format = '{settings.events.format}'",
        f"[index]\ndirectory = '{settings.index.directory}'",
        f"window = '{_duration(settings.index.window)}'",
        f"window_by = '{settings.index.window_by}'",
        f"[kafka]\nbootstrap_servers = '{kafka.bootstrap_servers}'",
        f"application = '{kafka.application}'\ninstance = '{kafka.instance}'",
        f"batch_size_max = {kafka.batch_size_max}\nattempts_max = {kafka.attempts_max}",
        f"start = '{kafka.start}'",
        f"shutdown_timeout_seconds = '{_duration(kafka.shutdown_timeout_seconds)}'",
        "[similarity]",
        *_given(settings.similarity, "size", "threshold", "bands", "rows"),
        f"[matching]\nskip_positions = {list(settings.matching.skip_positions)}",
        "[kafka.topics]",
        *(f"{name} = '{value}'" for name, value in msgspec.to_builtins(kafka.topics).items()),
        "[kafka.client]",
        *(f"'{name}' = {json.dumps(value)}" for name, value in kafka.client.items()),
    ]
    return "\n".join(lines)


def _duration(seconds: float) -> str:
    return "none" if seconds == float("inf") else f"{seconds:.3f}s"
