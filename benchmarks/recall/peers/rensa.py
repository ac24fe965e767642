"""rensa: `RMinHashLSH` with the bands that `RMinHashDeduplicator` takes for a threshold.

The deduplicator checks what its index finds, but keeps no document that has an earlier match, so it
cannot be asked for all pairs.
"""

from collections.abc import Iterator

from rensa import RMinHash, RMinHashLSH

from benchmarks.recall.counts import as_rows
from benchmarks.recall.peers.question import HASHES, SEED, Answer, Question, banded, pairs_in_turn

# From this threshold on so many bands.
_BANDS = {0.9: 4, 0.8: 8, 0.7: 16, 0.5: 32}
_NOTE = (
    f"`RMinHash.from_token_sets`, {HASHES} functions, `RMinHashLSH.query` and `insert`, with the "
    "bands that its `RMinHashDeduplicator` takes"
)


def answers(question: Question) -> Iterator[Answer]:
    """Return all that `query` returns, and of that what `jaccard` estimates at the threshold."""
    shingles = map(question.tokenise, question.texts)
    signatures = RMinHash.from_token_sets(shingles, HASHES, SEED)
    for threshold in question.thresholds:
        bands = next(bands for least, bands in _BANDS.items() if threshold >= least)
        index = RMinHashLSH(threshold, HASHES, bands)
        pairs = list(pairs_in_turn(signatures, index.query, index.insert))
        setting = banded(bands, HASHES // bands)
        yield Answer("rensa", _NOTE, threshold, setting, as_rows(pairs))
        checked = [(a, b) for a, b in pairs if signatures[a].jaccard(signatures[b]) >= threshold]
        note = "of these, where `jaccard` is at the threshold or above, as its deduplicator does"
        yield Answer("rensa, checked", note, threshold, setting, as_rows(checked))
