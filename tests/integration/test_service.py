"""The service on Kafka: what it does with records, and how it gets over what goes wrong."""

import gc
import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import NamedTuple

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace

from stream_dedup.errors import Unavailable
from stream_dedup.kafka.dead_letters import read_dead_letter
from stream_dedup.kafka.messages import ORIGINAL_TIMESTAMP
from stream_dedup.kafka.watermarks import watermarks
from stream_dedup.metrics import READY, WAITING
from stream_dedup.panel import Panel
from stream_dedup.quantities import Duration
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.kafka_trial import SECONDS_MAX, Trial
from tests.integration.service_process import BROKEN, DEADLY, DIED, HANGS
from tests.integration.threads import WAIT_SECONDS_MAX, Steps, service

PLAIN_TEXTS_MAX = 100
TEXT = "The harbour of the old town was closed on Monday after a ship had lost its cargo of timber."


@pytest.fixture
def trial(broker: Broker, names: Names, tmp_path: Path) -> Trial:
    """An application of its own."""
    return Trial(broker, names, tmp_path)


def document(name: str, text: str = TEXT) -> bytes:
    return json.dumps({"id": name, "text": text}).encode()


def answered(trial: Trial, count: int) -> None:
    """Run the service until there are so many verdicts, and stop it."""
    with trial.process() as running:
        trial.await_verdicts(running, count)
        running.stops()


def test_headers_and_originals_travel(broker: Broker, names: Names, tmp_path: Path) -> None:
    """A verdict has its document's headers and time; a route forwards the record as it came."""
    trial = Trial(broker, names, tmp_path, routes=True)
    routed = trial.settings.kafka.topics
    trace = [("traceparent", b"00-1-2-01"), ("empty", None)]
    trial.write(document("a"), "k1", trace)
    trial.write(document("b"), "k2", trace)
    trial.write(document("a"), "k3", trace)
    answered(trial, 3)

    verdicts = read_all(trial.broker, routed.matches)
    unique, duplicates = (
        read_all(trial.broker, name) for name in (routed.unique, routed.duplicates)
    )
    arrived = [
        (ORIGINAL_TIMESTAMP, str(record.timestamp).encode())
        for record in read_all(trial.broker, routed.documents)
    ]
    assert [record.headers for record in verdicts] == [[*trace, time] for time in arrived]
    assert [(record.key, record.value) for record in unique] == [(b"k1", document("a"))]
    assert [record.key for record in duplicates] == [b"k2", b"k3"]
    assert dict(unique[0].headers)["stream-dedup-type"] == b"unique"
    assert dict(duplicates[0].headers) == {
        **dict([*trace, arrived[1]]),
        "stream-dedup-type": b"duplicate",
        "stream-dedup-match-id": b"a",
        "stream-dedup-similarity": b"1.0",
    }


def test_what_is_no_document_is_set_aside(trial: Trial) -> None:
    """A record that cannot be read is rejected with its reason, and those around it pass."""
    trial.write(document("a"), "a")
    trial.write(b"{broken", "b", [("h", b"1")])
    trial.write(document("c"), "c")
    answered(trial, 2)

    (record,) = read_all(trial.broker, trial.settings.kafka.topics.rejected)
    letter = read_dead_letter(record)
    assert (letter.offset, record.key, record.value) == (1, b"b", b"{broken")
    assert letter.reason
    assert [verdict.document.id for verdict in trial.verdicts()] == ["a", "c"]


def test_one_text_that_signing_fails_on_is_set_aside(trial: Trial) -> None:
    """Where a batch fails the one document that does it is rejected, the others are answered."""
    for number in range(7):
        text = f"{TEXT} {BROKEN}" if number == 4 else TEXT
        trial.write(document(f"d{number}", text), str(number))
    answered(trial, 6)

    (record,) = read_all(trial.broker, trial.settings.kafka.topics.rejected)
    assert read_dead_letter(record).offset == 4
    assert "ZeroDivisionError" in (read_dead_letter(record).reason or "")


def test_a_text_that_ends_the_process_is_set_aside(trial: Trial) -> None:
    """A document that kills whoever signs it is rejected when it has done so often enough."""
    for number in range(5):
        text = f"{TEXT} {DEADLY}" if number == 2 else TEXT
        trial.write(document(f"d{number}", text), str(number))
    for _ in range(1 + trial.settings.kafka.attempts_max):
        with trial.process() as running:
            running.ends_with(DIED)
    answered(trial, 4)

    (record,) = read_all(trial.broker, trial.settings.kafka.topics.rejected)
    assert read_dead_letter(record).offset == 2


def test_an_old_index_catches_up(trial: Trial, tmp_path: Path) -> None:
    """An index from a snapshot is led along the log to where the group is."""
    trial.feed(80)
    trial.runs_to_the_end()
    shutil.copytree(tmp_path / "index", tmp_path / "old")
    trial.feed(80)
    trial.runs_to_the_end()
    shutil.rmtree(tmp_path / "index")
    (tmp_path / "old").rename(tmp_path / "index")
    trial.feed(80)
    trial.runs_to_the_end()
    trial.audit()


def test_documents_read_twice_are_answered_once(trial: Trial) -> None:
    """Offsets of documents that are set back make nothing match itself."""
    trial.feed(80)
    trial.runs_to_the_end()
    trial.set_offset("sign", trial.settings.kafka.topics.documents, 0)
    trial.feed(40)
    trial.runs_to_the_end()
    trial.audit()


def test_an_index_ahead_of_its_group_is_refused(trial: Trial) -> None:
    """Offsets of the log that are set back are told, and nothing is published twice."""
    trial.feed(40)
    trial.runs_to_the_end()
    trial.set_offset("match", trial.settings.kafka.topics.signatures, 1)

    assert "the group has committed 1" in trial.is_refused()
    assert len(trial.verdicts()) == 40


def test_a_log_that_was_purged_before_it_was_matched_is_refused(trial: Trial) -> None:
    """What nobody has matched is not passed over in silence, nor taken for a first start."""
    trial.feed(40)
    trial.runs_to_the_end()
    trial.feed(40)
    trial.sign_all()
    trial.purge(trial.settings.kafka.topics.signatures, trial.log()[-1].offset)
    assert "records were deleted before they were matched" in trial.is_refused("match")

    trial.forget_offsets("match")
    assert "it is not a first start" in trial.is_refused("match")
    assert len(trial.verdicts()) == 40


def test_a_first_start_that_was_taken_back_is_followed_by_another(trial: Trial) -> None:
    """A transaction that was aborted leaves offsets in the log, and no record."""
    signatures = trial.settings.kafka.topics.signatures
    servers = trial.broker.bootstrap_servers
    producer = Producer({"bootstrap.servers": servers, "transactional.id": signatures})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(signatures, b"taken back", partition=0)
    producer.flush()
    producer.abort_transaction()

    trial.feed(40)
    trial.runs_to_the_end()
    trial.audit()

    trial.forget_offsets("sign")
    assert "is not empty: it is not a first start" in trial.is_refused("sign")


def test_documents_that_were_purged_before_they_were_signed_are_refused(trial: Trial) -> None:
    """What nobody has signed is not passed over in silence."""
    trial.feed(40)
    trial.sign_all()
    trial.feed(40)
    trial.purge(trial.settings.kafka.topics.documents, 60)

    assert "records that were not read yet are gone" in trial.is_refused("sign")
    assert trial.committed("sign") == 40


def test_plain_texts_are_read_from_the_end_on(trial: Trial) -> None:
    """A first start with `start = "latest"` leaves out what was there; a value is a text."""
    trial.settings = replace(
        trial.settings,
        events=replace(trial.settings.events, format="text"),
        kafka=replace(trial.settings.kafka, start="latest"),
    )
    for number in range(3):
        trial.write(TEXT.encode(), f"early-{number}")
    written = 3
    with trial.process() as running:
        while not trial.verdicts():
            trial.write(TEXT.encode(), f"late-{written}")
            written += 1
            assert running.process.poll() is None, running.said()
            assert written < PLAIN_TEXTS_MAX, running.said()
        trial.await_that(running, lambda: trial.committed("sign") == written)
        trial.await_verdicts(running, written - trial.verdicts()[0].record.offset)
        running.stops()

    verdicts = trial.verdicts()
    offsets = [verdict.record.offset for verdict in verdicts]
    assert offsets[0] >= 3
    assert offsets == list(range(offsets[0], written))
    assert [verdict.document.id for verdict in verdicts] == [f"late-{n}" for n in offsets]
    assert [verdict.type for verdict in verdicts] == ["unique"] + ["duplicate"] * (len(offsets) - 1)


def test_a_feed_of_garbage_stops_the_service(trial: Trial) -> None:
    """Where too much is no document the feed is wrong: an operator is told so, and why."""
    trial.settings = replace(
        trial.settings, events=replace(trial.settings.events, rejected_ratio_max=0.001)
    )
    for number in range(11):
        trial.write(b"{broken", str(number))

    said = trial.is_refused("sign")
    assert "11 of the last 10,000 records were no documents; the last: " in said
    assert trial.committed("sign") < 11


def test_a_step_that_does_not_end_is_not_waited_for(trial: Trial) -> None:
    """The service ends within the time that it has, and says who did not."""
    kafka = replace(trial.settings.kafka, shutdown_timeout_seconds=Duration(1))
    trial.write(document("a"), "a")
    with trial.process(
        "sign", replace(trial.settings, kafka=kafka), hang=("sign: consumed", 1)
    ) as running:
        trial.await_said(running, HANGS)
        running.process.terminate()
        said = running.ends_with(Unavailable.exit_code)
    assert "sign did not end within kafka.shutdown_timeout_seconds" in said


def test_a_log_made_anew_is_refused(trial: Trial) -> None:
    """An index goes on from its own log only."""
    trial.feed(40)
    trial.runs_to_the_end()
    log = trial.settings.kafka.topics.signatures
    admin = AdminClient({"bootstrap.servers": trial.broker.bootstrap_servers})
    admin.delete_topics([log])[log].result(SECONDS_MAX)

    assert "made anew" in trial.is_refused()


def test_other_settings_are_refused(trial: Trial, tmp_path: Path) -> None:
    """An instance that signs otherwise is told so before it commits."""
    trial.feed(40)
    trial.runs_to_the_end()
    before = read_all(trial.broker, trial.settings.kafka.topics.signatures)
    other = replace(
        trial.settings,
        similarity=replace(trial.settings.similarity, size=9),
        index=replace(trial.settings.index, directory=str(tmp_path / "other")),
    )
    trial.write(document("late"), "late")

    for role in ("sign", "match"):
        assert "was done with the settings" in trial.is_refused(role, other)
    assert read_all(trial.broker, trial.settings.kafka.topics.signatures) == before


def test_a_damaged_record_of_the_log_can_be_passed(trial: Trial) -> None:
    """What something else wrote to the log stops matching, and can be left out."""
    trial.feed(40)
    trial.runs_to_the_end()
    trial.write_to(trial.settings.kafka.topics.signatures, b"not of ours", b"")
    position = read_all(trial.broker, trial.settings.kafka.topics.signatures)[-1].offset
    trial.feed(40)

    assert f"position {position}" in trial.is_refused()
    trial.settings = replace(
        trial.settings, matching=replace(trial.settings.matching, skip_positions=(position,))
    )
    trial.runs_to_the_end()
    trial.check_verdicts()


def test_who_stands_by_takes_over(trial: Trial, tmp_path: Path) -> None:
    """When the owner of the log is killed another instance, which followed it, goes on."""
    other = replace(
        trial.settings,
        kafka=replace(trial.settings.kafka, instance="two"),
        index=replace(trial.settings.index, directory=str(tmp_path / "standby")),
    )
    with trial.process() as owner:
        trial.feed(80)
        trial.await_verdicts(owner)
        with trial.process("match", settings=other) as standby, trial.process("sign") as signer:
            trial.feed(80)
            trial.await_verdicts(owner)
            owner.process.kill()
            trial.feed(80)
            trial.await_verdicts(standby)
            signer.stops()
            standby.stops()
    trial.settings = other
    trial.audit()


def test_a_broker_that_stops_is_waited_for(trial: Trial, caplog: pytest.LogCaptureFixture) -> None:
    """A broker that freezes beyond the transactions' timeout, or starts again, costs nothing.

    Meanwhile log, metrics and readiness say who waits, and afterwards that all is well.
    """
    panel, steps = Panel.of(trial.settings), Steps()
    look = partial(shown, panel)
    with service(trial.settings, panel, steps) as running, caplog.at_level("INFO", "stream_dedup"):
        trial.feed(80)
        trial.await_verdicts(running)
        running.shows(WELL, look)
        steps.acts["match: after offsets"] = lambda: frozen_once(trial.broker, steps)
        trial.feed(80)
        running.shows(Shown("match: waits for the broker", 1, 0), look)
        running.shows(True, lambda: "waiting for " in caplog.text)
        trial.broker.resume()
        trial.feed(80)
        trial.await_verdicts(running)
        running.shows(WELL, look)
        trial.broker.restart()
        trial.feed(80)
        trial.await_verdicts(running)
    trial.audit()


def test_a_broker_that_does_not_tell_who_is_in_a_group_is_waited_for(
    trial: Trial, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing ends when it comes back: neither with an error, nor within librdkafka."""
    monkeypatch.setattr("stream_dedup.kafka.transactions._CALL_SECONDS", 1.0)
    monkeypatch.setattr("stream_dedup.kafka.group._CALL_SECONDS", 1.0)
    trial.feed(80)
    trial.sign_all()  # so that it is match alone that waits
    steps = Steps()
    steps.acts["match: before offsets"] = lambda: frozen_once(trial.broker, steps)
    with service(trial.settings, Panel.of(trial.settings), steps) as running:
        gc.disable()  # which may clear away, just in time, what must be gone before
        try:
            running.shows(True, lambda: "waiting to hear of the group" in caplog.text)
        finally:
            trial.broker.resume()
            gc.enable()
        trial.await_verdicts(running)
    assert "transaction without answer" in caplog.text
    trial.audit()


def test_a_topic_is_waited_for(
    trial: Trial, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that freezes while it is asked how far a topic reaches is asked until it answers."""
    monkeypatch.setattr("stream_dedup.kafka.watermarks._CALL_SECONDS", 0.5)
    trial.write(document("a"), "a")
    trial.broker.pause()
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(watermarks, trial.clients, trial.settings.kafka.topics.documents)
        try:
            give_up, pause = monotonic() + WAIT_SECONDS_MAX, Event()
            while "waiting for topic" not in caplog.text and not asked.done():
                assert monotonic() < give_up
                pause.wait(0.05)
        finally:
            trial.broker.resume()
        assert sum(high for _, high in asked.result().values()) == 1
    assert "waiting for topic" in caplog.text


def test_who_stops_is_not_ready(trial: Trial) -> None:
    """While the last batch is worked on nobody is sent to a service that is about to go."""
    panel, steps, begun, told = Panel.of(trial.settings), Steps(), Event(), Event()

    def await_told() -> None:
        begun.set()
        give_up, pause = monotonic() + WAIT_SECONDS_MAX, Event()
        while "service: stopping" not in panel.health.ready().reasons:
            assert monotonic() < give_up
            pause.wait(0.05)
        told.set()

    steps.acts["match: consumed"] = await_told
    with service(trial.settings, panel, steps) as running:
        trial.feed(20)
        running.shows(True, begun.is_set)
    assert told.is_set()


def frozen_once(broker: Broker, steps: Steps) -> None:
    """Freeze the broker at this step, the first time that it is reached."""
    steps.acts.clear()
    broker.pause()


class Shown(NamedTuple):
    """What the service shows of itself: the reason why it is not ready, and what metrics say."""

    reason: str
    waiting: float
    ready: float


WELL = Shown("", 0, 1)


def shown(panel: Panel) -> Shown:
    """Look at the role match."""
    reasons = [reason for reason in panel.health.ready().reasons if reason.startswith("match")]
    reason = ":".join(" ".join(reasons).split(":")[:2])
    values = panel.metrics.values
    return Shown(reason, values(WAITING).get(("match",), 0), values(READY).get((), 0))
