"""The service on Kafka: what it does with records, and how it gets over what goes wrong."""

import json
import shutil
from pathlib import Path
from subprocess import TimeoutExpired

import pytest
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace

from stream_dedup.kafka.dead_letters import read_dead_letter
from tests.integration.brokers import Broker, read_all
from tests.integration.conftest import Names
from tests.integration.kafka_trial import TRANSACTION_SECONDS, Trial
from tests.integration.service_process import BROKEN, DEADLY, DIED

FROZEN_SECONDS = TRANSACTION_SECONDS + 2  # sessions and transactions have ended by then
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
    """A verdict has its document's headers; a route forwards the record as it came."""
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
    assert [record.headers for record in verdicts] == [trace] * 3
    assert [(record.key, record.value) for record in unique] == [(b"k1", document("a"))]
    assert [record.key for record in duplicates] == [b"k2", b"k3"]
    assert dict(unique[0].headers)["stream-dedup-type"] == b"unique"
    assert dict(duplicates[0].headers) == {
        **dict(trace),
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


def test_a_log_made_anew_is_refused(trial: Trial) -> None:
    """An index goes on from its own log only."""
    trial.feed(40)
    trial.runs_to_the_end()
    log = trial.settings.kafka.topics.signatures
    admin = AdminClient({"bootstrap.servers": trial.broker.bootstrap_servers})
    admin.delete_topics([log])[log].result(10)

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


def test_a_broker_that_stops_is_waited_for(trial: Trial) -> None:
    """A broker that freezes beyond the transactions' timeout, or starts again, costs nothing."""
    with trial.process() as running:
        trial.feed(80)
        trial.await_verdicts(running)
        trial.broker.pause()
        with pytest.raises(TimeoutExpired):
            running.process.wait(FROZEN_SECONDS)
        trial.broker.resume()
        trial.feed(80)
        trial.await_verdicts(running)
        trial.broker.restart()
        trial.feed(80)
        trial.await_verdicts(running)
        running.stops()
    trial.audit()
