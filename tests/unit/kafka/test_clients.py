"""Clients with the user's own settings among ours."""

import logging
from typing import Any

import pytest

from stream_dedup.config import KafkaSettings
from stream_dedup.errors import SettingsError
from stream_dedup.kafka.clients import Clients

NOWHERE = "127.0.0.1:1"
# Some of each kind; those of both kinds go to all clients.
OF_ONE_KIND: dict[str, str | int | float | bool] = {
    "session.timeout.ms": 7000,
    "heartbeat.interval.ms": 500,
    "max.poll.interval.ms": 60_000,
    "fetch.min.bytes": 2,
    "queued.min.messages": 1000,
    "check.crcs": True,
    "linger.ms": 7,
    "batch.size": 20_000,
    "compression.type": "zstd",
    "delivery.timeout.ms": 9000,
    "request.timeout.ms": 4000,
    "transaction.timeout.ms": 9000,
    "client.rack": "a",
}


def test_no_client_is_given_what_is_for_another(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A setting for consumers makes producers say nothing, and the other way round."""
    clients = Clients(KafkaSettings(bootstrap_servers=NOWHERE, client=OF_ONE_KIND))
    with caplog.at_level(logging.DEBUG):
        made: list[Any] = [clients.admin(), clients.producer("id"), clients.consumer("group")]
        made.append(clients.reader())
        for client in made:
            client.poll(0.1)

    assert "CONFWARN" not in capfd.readouterr().err + caplog.text


@pytest.mark.parametrize("kind", ["consumer", "reader", "producer"])
def test_a_setting_reaches_the_clients_that_it_is_for(kind: str) -> None:
    """One that librdkafka does not take is told of by whoever gets it."""
    wrong: dict[str, int] = {"batch.size": -1} if kind == "producer" else {"session.timeout.ms": -1}
    clients = Clients(KafkaSettings(bootstrap_servers=NOWHERE, client=wrong))

    with pytest.raises(SettingsError, match=next(iter(wrong))):
        getattr(clients, kind)("name") if kind != "reader" else clients.reader()
    clients.admin()


@pytest.mark.parametrize("name", ["isolation.level", "group.id", "client.id"])
def test_what_exactly_once_rests_on_is_not_taken(name: str) -> None:
    """It is refused by its name, before any client is made."""
    with pytest.raises(SettingsError, match=name):
        Clients(KafkaSettings(client={name: "other"}))
