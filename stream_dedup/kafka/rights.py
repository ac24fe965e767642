"""Which rights the service needs where a cluster asks for them, and what for. Pure."""

from collections.abc import Iterable
from shlex import join
from typing import NamedTuple

from stream_dedup.config import Settings

RIGHTS_COMMAND = "`stream-dedup topics rights`"  # lists them for the user's own settings
TOPIC, GROUP, TRANSACTIONAL_ID = "topic", "group", "transactional-id"


class Right(NamedTuple):
    """One thing that may be done with what has a name, in the words of kafka-acls.sh."""

    kind: str
    name: str
    operation: str
    is_prefix: bool = False  # all names that begin so


class Grant(NamedTuple):
    """Rights that go together, and what they are for."""

    reason: str
    kind: str
    names: tuple[str, ...]
    operations: tuple[str, ...]
    is_prefix: bool = False

    def rights(self) -> list[Right]:
        """List the single rights."""
        return [
            Right(self.kind, name, operation, self.is_prefix)
            for name in self.names
            for operation in self.operations
        ]

    def command(self, servers: str, principal: str) -> str:
        """Write Kafka's own command that grants them."""
        words = ["kafka-acls.sh", "--bootstrap-server", servers, "--add"]
        words += ["--allow-principal", principal]
        words += _each(f"--{self.kind}", self.names)
        words += ["--resource-pattern-type", "prefixed"] if self.is_prefix else []
        return join([*words, *_each("--operation", self.operations)])


def grants(settings: Settings) -> list[Grant]:
    """List what both roles together need, and no more; Read and Write include Describe."""
    kafka, topics = settings.kafka, settings.kafka.topics
    routes = [name for name in (topics.unique, topics.duplicates) if name]
    outputs = (topics.matches, topics.rejected, *routes)
    application = kafka.application
    made = (topics.documents, topics.signatures, *outputs) if kafka.create_topics else ()
    listed = [
        Grant("to read what is to be matched", TOPIC, (topics.documents,), ("Read",)),
        Grant(
            "to keep the log between sign and match; Delete is for its records out of the window",
            TOPIC,
            (topics.signatures,),
            ("Read", "Write", "Delete", "DescribeConfigs"),
        ),
        Grant("to write what comes out", TOPIC, outputs, ("Write", "DescribeConfigs")),
        Grant(
            "to be members of the two groups, and see who else is",
            GROUP,
            (f"{application}-sign", f"{application}-match"),
            ("Read",),
        ),
        _reading(application),
        Grant(
            "to write in transactions: match as its partition, sign as its kafka.instance",
            TRANSACTIONAL_ID,
            (f"{application}-match-", f"{application}-sign-"),
            ("Write",),
            is_prefix=True,
        ),
        Grant("to make the topics, if kafka.create_topics is to do it", TOPIC, made, ("Create",)),
    ]
    return [grant for grant in listed if grant.names]


def replay_grants(settings: Settings) -> list[Grant]:
    """List what `stream-dedup rejected` needs; who may call it need not be the service."""
    kafka = settings.kafka
    return [
        _reading(kafka.application),
        Grant("to look at what was rejected", TOPIC, (kafka.topics.rejected,), ("Read",)),
        Grant("to send it in again", TOPIC, (kafka.topics.documents,), ("Write",)),
        Grant(
            "to send it in transactions",
            TRANSACTIONAL_ID,
            (replay_id(kafka.application),),
            ("Write",),
        ),
    ]


def reader_group(application: str) -> str:
    """Return the name that librdkafka wants of those who only read, and never join a group."""
    return f"{application}-reader"


def replay_id(application: str) -> str:
    """Return the transactional id under which rejected records are sent in again."""
    return f"{application}-replay"


def _reading(application: str) -> Grant:
    """Librdkafka asks for the coordinator of a group even where a consumer joins none."""
    group = reader_group(application)
    return Grant(
        "to read without being a member, as when an index is restored",
        GROUP,
        (group,),
        ("Describe",),
    )


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]
