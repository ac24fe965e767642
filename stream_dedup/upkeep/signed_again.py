"""Kept texts, signed again: what their rows and buckets should say."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from stream_dedup.engine import UNDATED
from stream_dedup.events import Document, RecordReference
from stream_dedup.index.columns import bucket_keys, bucket_numbers, decode_buckets
from stream_dedup.index.layout import Group
from stream_dedup.interfaces import Index, Keyspace
from stream_dedup.signing import Record, Signer

_NOWHERE = RecordReference(topic="", partition=0, offset=0)


class KeptText(NamedTuple):
    """A row of texts, and the text it was made from."""

    group: Group
    text: str


class SignedAgain:
    """Some kept texts with fresh signatures."""

    def __init__(self, signer: Signer, kept: Sequence[KeptText]) -> None:
        self._kept = kept
        self._signed = signer.sign([_record(*pair) for pair in kept]).sketches

    def problems(self) -> Iterator[str]:
        """Yield rows that do not say what their texts do."""
        prints = self._signed.fingerprints.astype("<u8")
        for index, (group, _) in enumerate(self._kept):
            fields = {
                "fingerprint": prints[index].tobytes() == group.fingerprint,
                "signature": self._signed.signatures[index].tobytes() == group.signature,
                "size": int(self._signed.sizes[index]) == group.size,
            }
            wrong = [name for name, is_right in fields.items() if not is_right]
            if wrong:
                yield f"texts {group.position}: not the {', '.join(wrong)} of its text"

    def missing(self, index: Index, is_living: Callable[[Group], bool]) -> Iterator[str]:
        """Yield living texts that are not in a bucket where they should be."""
        for row, (group, _) in enumerate(self._kept):
            if is_living(group):
                keys = bucket_keys(bucket_numbers(self._signed.keys[row : row + 1])[0])
                positions = decode_buckets(index.read(Keyspace.BUCKETS, keys))[0]
                held = (positions == group.position).sum()
                if held != len(keys):
                    yield f"texts {group.position}: in {held} of its {len(keys)} buckets"


def _record(group: Group, text: str) -> Record:
    event = Document(id="kept", text=text, namespace=group.namespace)
    return Record(event, group.position, UNDATED, _NOWHERE)
