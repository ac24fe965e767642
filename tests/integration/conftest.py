"""What the tests with Kafka share: one broker a session, and names that no other test uses."""

import uuid
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from stream_dedup.config import KafkaSettings, TopicSettings
from tests.integration import brokers
from tests.integration.brokers import Broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A real Kafka; whoever pauses it resumes it."""
    with brokers.started(tmp_path_factory.mktemp("kafka")) as started:
        yield started


class Names(NamedTuple):
    """Names of one test: the application's, from which those of its topics follow."""

    application: str

    def topics(self, routes: bool = False) -> TopicSettings:
        """Name the topics, the routes only where they are asked for."""
        own = ["documents", "signatures", "matches", "rejected"]
        own += ["unique", "duplicates"] if routes else []
        return TopicSettings(**{name: f"{self.application}-{name}" for name in own})

    def kafka(self, broker: Broker, routes: bool = False, **others: Any) -> KafkaSettings:
        """Make the settings of Kafka for this broker and these names."""
        return KafkaSettings(
            bootstrap_servers=broker.bootstrap_servers,
            application=self.application,
            topics=self.topics(routes),
            **others,
        )


@pytest.fixture
def names() -> Names:
    """Names that no other test uses, nor an earlier run on the same cluster."""
    return Names(f"test-{uuid.uuid4().hex[:12]}")
