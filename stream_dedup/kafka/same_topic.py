"""A topic that is read on has to stay the same one: another of its name has other records there."""

import logging
import time

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topics import topic_id
from stream_dedup.kafka.transactions import UNAVAILABLE_SECONDS_MAX

_log = logging.getLogger(__name__)

_SURE_SECONDS = 1.0
_PAUSE_SECONDS = 0.5


class SameTopic:
    """Looks at the id of a topic, and refuses one that was made anew.

    Who reads a deleted topic is not told when there is a new one: it goes on at its offset, and
    passes the records before it over. Between the two nothing comes for a moment.
    """

    def __init__(self, clients: Clients, topic: str, id: str) -> None:
        self._topic, self._id = topic, id
        self._clients, self._admin = clients, clients.admin()
        self._sure_until = 0.0

    def heard(self, something: bool) -> None:
        """Look, where records came after a silence, and at times in a steady stream."""
        if not something:
            self._sure_until = 0.0
        elif time.monotonic() > self._sure_until:
            with self._clients.waits.waiting():
                self._look()
            self._sure_until = time.monotonic() + _SURE_SECONDS

    def _look(self) -> None:
        found = self._found()
        if found != self._id:
            raise Refused(
                f"topic {self._topic} was deleted and made anew while it was read (id {self._id}, "
                f"now {found}): what is in it was not read. The next start tells what to do"
            )

    def _found(self) -> str:
        """Return the id; one that is missing may come again, as a broker may."""
        give_up = time.monotonic() + UNAVAILABLE_SECONDS_MAX
        while True:
            try:
                return topic_id(self._admin, self._topic)
            except (Refused, Unavailable) as error:
                if time.monotonic() > give_up:
                    raise
                _log.warning("waiting for topic %s: %s", self._topic, error)
                time.sleep(_PAUSE_SECONDS)
