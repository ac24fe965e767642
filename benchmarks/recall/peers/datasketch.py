"""datasketch: `MinHashLSH(threshold)` chooses bands and rows; what it returns may be checked."""

from collections.abc import Iterator

from datasketch import MinHash, MinHashLSH

from benchmarks import tokens
from benchmarks.recall.counts import as_rows
from benchmarks.recall.peers.question import HASHES, Answer, Question, banded, pairs_in_turn

_NOTE = f"`MinHash.bulk`, `MinHashLSH(threshold, num_perm={HASHES})`, `query` and `insert`"


def answers(question: Question) -> Iterator[Answer]:
    """Return all that `query` returns, and of that what `jaccard` estimates at the threshold."""
    tokenise = tokens.distinct(question.tokenise)
    signatures = MinHash.bulk(map(tokenise, question.texts), num_perm=HASHES)
    for threshold in question.thresholds:
        index = MinHashLSH(threshold=threshold, num_perm=HASHES)
        pairs = list(pairs_in_turn(signatures, index.query, index.insert))
        setting = banded(index.b, index.r)
        yield Answer("datasketch", _NOTE, threshold, setting, as_rows(pairs))
        checked = [(a, b) for a, b in pairs if signatures[a].jaccard(signatures[b]) >= threshold]
        note = "of these, where `jaccard` is at the threshold or above"
        yield Answer("datasketch, checked", note, threshold, setting, as_rows(checked))
