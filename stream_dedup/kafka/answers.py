"""Answers of a producer: commits asked for again, calls given up, and why something failed."""

import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread

from confluent_kafka import KafkaError, KafkaException, Message, Producer

_CAUSE_SECONDS = 5.0


class Deliveries:
    """Hears of records that were not taken."""

    def __init__(self) -> None:
        # The topic and the error of the first; what we purge ourselves does not count.
        self.failed: tuple[str, KafkaError] | None = None

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        """Hear of one, as librdkafka tells it."""
        purged = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)
        if error is not None and error.code() not in purged and self.failed is None:
            self.failed = (message.topic() or "", error)


def commit(
    producer: Producer,
    seconds: float,
    call_seconds: float,
    on_wait: Callable[[KafkaError], None] = lambda error: None,
) -> None:
    """Commit; ask again as long as the answer is that the same question may be asked again."""
    give_up = time.monotonic() + seconds
    while True:
        try:
            producer.commit_transaction(call_seconds)
        except KafkaException as exception:
            error = exception.args[0]
            if not error.retriable() or error.txn_requires_abort() or error.fatal():
                raise
            if time.monotonic() > give_up:
                raise
            on_wait(error)
        else:
            return


def within(seconds: float, call: Callable[[], None]) -> None:
    """Make a call that may not come back: librdkafka can wait for a coordinator without end.

    Its own timeout is not looked at while the connection to the coordinator is down, and after a
    broker was restarted nothing may ever bring that up again. The producer is then given up.
    """
    answers: SimpleQueue[KafkaException | None] = SimpleQueue()

    def ask() -> None:
        try:
            call()
        except KafkaException as exception:
            answers.put(exception)
        else:
            answers.put(None)

    Thread(target=ask, daemon=True).start()
    try:
        failure = answers.get(timeout=seconds)
    except Empty:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no answer")) from None
    if failure is not None:
        raise failure


def cause(producer: Producer, error: KafkaError) -> KafkaError:
    """Return what a transaction failed with, where only its state was complained of.

    Whoever asks to commit one that has to be aborted is told.
    """
    if error.code() == KafkaError._STATE and error.txn_requires_abort():
        try:
            producer.commit_transaction(_CAUSE_SECONDS)
        except KafkaException as exception:
            cause: KafkaError = exception.args[0]
            return cause if cause.txn_requires_abort() else error
    return error
