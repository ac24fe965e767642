"""What makes signatures comparable: the settings fingerprint.

Sketches made under two fingerprints must not be compared, whatever else the settings share.
Settings that only decide what to do with a comparison, such as the threshold, are not part of it.
"""

import hashlib
import json

from stream_dedup.config import Settings
from stream_dedup.similarity import minhash, shingles, simhash
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.text import UNICODE_VERSION


def scheme_fields(settings: Settings) -> dict[str, object]:
    """Return all that a signature depends on, by name, bands and rows as they were planned."""
    similarity = settings.similarity
    sketcher = Sketcher.planned(similarity)
    family = minhash.SCHEME if similarity.measure == "jaccard" else simhash.SCHEME
    return {
        "scheme": f"{shingles.SCHEME}, {family}, Unicode {UNICODE_VERSION}",
        "measure": similarity.measure,
        "unit": similarity.unit,
        "size": similarity.size,
        "multiset": similarity.multiset,
        "seed": similarity.seed,
        "hashes": similarity.hashes,
        "bands": sketcher.bands,
        "rows": sketcher.rows,
        "text_fields": list(settings.events.text_fields),
        "html": similarity.html,
    }


def settings_fingerprint(settings: Settings) -> str:
    """Return 16 hexadecimal digits that are the same for the same fields."""
    fields = json.dumps(scheme_fields(settings), sort_keys=True, ensure_ascii=False)
    return hashlib.blake2b(fields.encode(), digest_size=8).hexdigest()
