"""Topics of the cluster: made where missing, and refused where they could falsify matches."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple, NoReturn

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
    TopicDescription,
)

from stream_dedup.config import Settings
from stream_dedup.errors import Refused, StreamDedupError, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.refusals import refuse_stranger
from stream_dedup.kafka.rights import RIGHTS_COMMAND
from stream_dedup.kafka.topic_plan import CLUSTER_DEFAULT, DOCUMENT_BYTES, TopicPlan, Wanted, plan
from stream_dedup.logs import fields

_log = logging.getLogger(__name__)

_ANSWER_SECONDS_MAX = 10
_CALL_SECONDS = 1.0
_LOOK_SECONDS = 0.05

_FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
}
_UNREACHABLE = {
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
    KafkaError._WAIT_COORD,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_CONTROLLER,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.BROKER_NOT_AVAILABLE,
}


class Problem(NamedTuple):
    """What is wrong with a topic, and what mends it."""

    topic: str
    setting: str
    found: str
    wanted: str
    remedy: str

    def __str__(self) -> str:
        """Tell all of it in one sentence."""
        return (
            f"topic {self.topic!r}: {self.setting} is {self.found}, not {self.wanted}; "
            f"{self.remedy}"
        )


def ensure(clients: Clients, settings: Settings) -> None:
    """Make what is missing, if that is allowed, and refuse to go on with what is wrong."""
    admin, servers, topics = clients.admin(), settings.kafka.bootstrap_servers, plan(settings)
    _await_broker(clients, admin, servers)
    if settings.kafka.create_topics:
        create(admin, topics, servers)
    if problems := check(admin, topics, servers):
        raise Refused("\n".join(str(problem) for problem in problems))


def _await_broker(clients: Clients, admin: AdminClient, servers: str) -> None:
    """Wait for a broker, which may be starting too, and say so. A signal ends it at once."""
    give_up = time.monotonic() + _ANSWER_SECONDS_MAX
    is_told = False
    while True:
        try:
            admin.describe_cluster(request_timeout=_CALL_SECONDS).result()
        except KafkaException as raised:
            error = _error(raised)
            if error.code() not in _UNREACHABLE:  # it answered
                return
            admin.poll(0)  # hears what the connections failed with
            why = (clients.trouble or error).str()
            refuse_stranger(clients.trouble, servers)
            if time.monotonic() > give_up:
                raise Unavailable(
                    f"kafka.bootstrap_servers = {servers}: no broker answers ({why}). `make kafka` "
                    "starts one on this machine; kafka.client says how one wants to be spoken to "
                    "(security.protocol, sasl.*); documents in files need none: --input FILE"
                ) from None
            if not is_told:
                _log.warning("waiting for a broker", extra=fields(servers=servers, error=why))
            is_told = True
        else:
            return


def check(admin: AdminClient, topics: Sequence[TopicPlan], servers: str) -> list[Problem]:
    """List all that is wrong with the topics; `servers` is for the commands that mend it."""
    found = _described(admin, [topic.name for topic in topics], servers)
    problems = [_missing(topic, servers) for topic in topics if topic.name not in found]
    ours = [topic for topic in topics if topic.is_ours and topic.name in found]
    settings = _settings(admin, [topic.name for topic in ours], servers)
    for topic in ours:
        partitions = len(found[topic.name].partitions)
        if topic.partitions not in {CLUSTER_DEFAULT, partitions}:
            problems.append(_miscut(topic, partitions))
        for wanted in topic.wanted:
            value = settings[topic.name].get(wanted.setting)
            if value is None or not wanted.holds(value):
                problems.append(_wrong(topic, wanted, value or "unknown", servers))
    return problems


def create(admin: AdminClient, topics: Sequence[TopicPlan], servers: str) -> list[str]:
    """Make the topics that are missing and wait until they are known; return their names."""
    found = _described(admin, [topic.name for topic in topics], servers)
    missing = {topic.name: topic for topic in topics if topic.name not in found}
    if not missing:
        return []
    new = [_new(topic) for topic in missing.values()]
    answers = admin.create_topics(new, request_timeout=_ANSWER_SECONDS_MAX)
    made = [name for name, topic in missing.items() if _is_made(answers[name], topic, servers)]
    _wait_for(admin, list(missing), servers)
    return made


def topic_id(admin: AdminClient, name: str) -> str:
    """Return the id that tells a topic from one that was deleted and made again under its name."""
    found = _described(admin, [name])
    if name not in found:
        raise Refused(f"topic {name!r} is missing; `stream-dedup topics create` makes it")
    return str(found[name].topic_id)


def _new(topic: TopicPlan) -> NewTopic:
    """Leave the number of copies to the cluster, which knows how many brokers it has."""
    return NewTopic(
        topic.name,
        num_partitions=topic.partitions,
        replication_factor=CLUSTER_DEFAULT,
        config={wanted.setting: wanted.value for wanted in topic.wanted},
    )


def _is_made(answer: "Future[None]", topic: TopicPlan, servers: str) -> bool:
    """Wait for the answer; tell whether it was us, and not another who starts at the same time."""
    try:
        answer.result()
    except KafkaException as raised:
        error = _error(raised)
        if error.code() == KafkaError.TOPIC_ALREADY_EXISTS:
            return False
        if error.code() in _UNREACHABLE:
            _fail(error, topic.name, servers)
        raise Refused(
            f"topic {topic.name!r} is missing, and the cluster does not let it be made: "
            f"{error.str()}; ask its administrator for: {topic.command(servers)}"
        ) from None
    return True


def _wait_for(admin: AdminClient, names: list[str], servers: str) -> None:
    """A topic is known to the controller before the brokers tell of it."""
    give_up = time.monotonic() + _ANSWER_SECONDS_MAX
    while len(_described(admin, names, servers)) < len(names):
        if time.monotonic() > give_up:
            raise Unavailable(f"topics {', '.join(names)} are made, and no broker knows them yet")
        time.sleep(_LOOK_SECONDS)


def _described(
    admin: AdminClient, names: Sequence[str], servers: str = ""
) -> dict[str, TopicDescription]:
    """Return what the cluster says of the topics, without those that are missing."""
    answers = admin.describe_topics(
        TopicCollection(list(names)), request_timeout=_ANSWER_SECONDS_MAX
    )
    found = {}
    for name, answer in answers.items():
        try:
            found[name] = answer.result()
        except KafkaException as raised:
            error = _error(raised)
            if error.code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                _fail(error, name, servers)
    return found


def _settings(
    admin: AdminClient, names: Sequence[str], servers: str
) -> dict[str, dict[str, str | None]]:
    if not names:
        return {}
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    found = {}
    for resource, answer in admin.describe_configs(
        resources, request_timeout=_ANSWER_SECONDS_MAX
    ).items():
        try:
            entries = answer.result()
        except KafkaException as raised:
            _fail(_error(raised), resource.name, servers)
        found[resource.name] = {entry.name: entry.value for entry in entries.values()}
    return found


def _error(raised: KafkaException) -> KafkaError:
    error: KafkaError = raised.args[0]
    return error


def _fail(error: KafkaError, topic: str, servers: str) -> NoReturn:
    """Say what the cluster answered as what it means for whoever started us."""
    if error.code() in _UNREACHABLE:
        where = f" = {servers}" if servers else ""
        raise Unavailable(
            f"kafka.bootstrap_servers{where}: no broker answers ({error.str()}); see that one "
            "runs there, and that kafka.client says how it wants to be spoken to "
            "(security.protocol, sasl.*)"
        )
    if error.code() in _FORBIDDEN:
        raise Refused(
            f"topic {topic!r}: the cluster does not let us look at it ({error.str()}). Grant the "
            f"user that kafka.client names what {RIGHTS_COMMAND} lists for this topic"
        )
    raise StreamDedupError(f"topic {topic!r}: {error.str()}")


def _missing(topic: TopicPlan, servers: str) -> Problem:
    return Problem(
        topic.name,
        "the topic",
        "missing",
        "there",
        f"`stream-dedup topics create` makes it, or: {topic.command(servers)}",
    )


def _miscut(topic: TopicPlan, partitions: int) -> Problem:
    """Partitions of a log cannot be taken away, and more would have no common order."""
    return Problem(
        topic.name,
        "the number of partitions",
        str(partitions),
        str(topic.partitions),
        f"name a new topic in kafka.topics.{topic.role}, or delete this one if nothing was "
        "written to it",
    )


def _wrong(topic: TopicPlan, wanted: Wanted, found: str, servers: str) -> Problem:
    remedy = (
        f"kafka-configs.sh --bootstrap-server {servers} --alter --topic {topic.name} "
        f"--add-config {wanted.setting}={wanted.value}"
    )
    if wanted.at_least and DOCUMENT_BYTES in wanted.reason:
        remedy += f", or lower {DOCUMENT_BYTES}"
    return Problem(topic.name, wanted.setting, found, wanted.bound, f"{wanted.reason}. {remedy}")
