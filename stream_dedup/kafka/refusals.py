"""Answers of a cluster that no waiting mends, as what an operator has to do."""

from confluent_kafka import KafkaError

from stream_dedup.errors import Refused
from stream_dedup.kafka.rights import RIGHTS_COMMAND

_FINAL = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "grant this user {right} on it",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "grant this user WRITE and DESCRIBE on the "
    "transactional ids that begin with kafka.application",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "grant this user READ on the consumer groups that "
    "begin with kafka.application",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "grant this user IDEMPOTENT_WRITE on the cluster",
    KafkaError.INVALID_SESSION_TIMEOUT: "choose a session.timeout.ms in kafka.client that the "
    "broker takes: from its group.min.session.timeout.ms to its group.max.session.timeout.ms",
    KafkaError.MSG_SIZE_TOO_LARGE: "raise max.message.bytes of the topic: stream-dedup topics "
    "check tells to what",
    KafkaError.SASL_AUTHENTICATION_FAILED: "correct the credentials in kafka.client",
}
# One of us does not believe the other.
_DISBELIEF = {
    KafkaError._AUTHENTICATION: "correct sasl.mechanism, sasl.username and sasl.password in "
    "kafka.client; a password is best given in the environment, as "
    "STREAM_DEDUP_KAFKA__CLIENT__SASL__PASSWORD",
    KafkaError._SSL: "correct security.protocol, and ssl.ca.location, the file with the authority "
    "that the broker's certificate is from, in kafka.client",
}


def refuse_final(error: KafkaError, where: str, right: str = "WRITE") -> None:
    """Raise what an operator has to mend, if the error is of that kind."""
    action = _FINAL.get(error.code())
    if action:
        listed = f" ({RIGHTS_COMMAND} lists all)" if "grant" in action else ""
        raise Refused(f"{where}: {error.str()}; {action.format(right=right)}{listed}")


def refuse_stranger(trouble: KafkaError | None, servers: str) -> None:
    """Raise what an operator has to mend, if that is why no connection comes about."""
    action = _DISBELIEF.get(trouble.code()) if trouble else None
    if action and trouble:
        raise Refused(f"kafka.bootstrap_servers = {servers}: {trouble.str()}; {action}")
