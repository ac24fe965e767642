"""`stream-dedup run` on each corpus against the truth: which documents have a copy before them.

The command runs as a user runs it, with an index on disk. Every document of a corpus comes once, in
file order. Whether an earlier one is similar enough is known from the exact join, which shares no
code with the engine, and from `stream-dedup pairs`, whose bands are the same. Theory says how many
may be missed.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from stream_dedup.events import Verdict
from tests.quality import corpora
from tests.quality.brute_force import Pairs
from tests.quality.test_pairs import (
    DECIMALS,
    SHORT,
    THRESHOLD,
    WHOLE,
    Part,
    check_misses,
    plan,
    search,
    truth,
    written,
)

# Where buckets of a few entries overflow.
CROWDED = [part for part in SHORT if part.corpus in ("civil_procedure_codes", "debian_desc_multi")]
UNBOUNDED = 1_000_000


class Told(NamedTuple):
    """What was said of each document, in order."""

    verdicts: list[Verdict]

    @property
    def duplicate(self) -> NDArray[np.bool_]:
        """Which documents match an earlier one."""
        return np.array([verdict.type == "duplicate" for verdict in self.verdicts], np.bool_)

    @property
    def capped(self) -> NDArray[np.bool_]:
        """Of which documents some bucket hid a part."""
        return np.array([verdict.capped > 0 for verdict in self.verdicts], np.bool_)


def run(texts: list[str], directory: Path, bucket_size_max: int) -> Told:
    """Send the texts through a run without a window; an id is the text's position."""
    documents, matches = written(texts, directory), directory / "matches.jsonl"
    command = [sys.executable, "-m", "stream_dedup", "run", "--input", str(documents)]
    command += ["--output", str(matches), "--index", str(directory / "index")]
    command += ["--emit", "all", "--window", "none", "--threshold", str(THRESHOLD)]
    command += ["--set", "similarity.verify=exact", "--set", f"matching.matches_max={UNBOUNDED}"]
    command += ["--set", f"index.bucket_size_max={bucket_size_max}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    decode = msgspec.json.Decoder(Verdict).decode
    verdicts = [decode(line) for line in matches.read_bytes().splitlines()]
    assert [verdict.document.id for verdict in verdicts] == [*map(str, range(len(texts)))]
    return Told(verdicts)


def best_earlier(true: Pairs, number: int) -> NDArray[np.float64]:
    """Return the similarity of each document's best earlier partner, 0 where it has none."""
    best = np.zeros(number)
    np.maximum.at(best, true.b, true.jaccard)
    return best


def check_types(part: Part, told: Told, excused: NDArray[np.bool_]) -> None:
    """Check that the duplicates are those with a partner, but for what bands may miss.

    A document with several partners is missed less often than one that has only the best of them.
    """
    best = best_earlier(truth(part, "char", 5), len(told.verdicts))
    wrongly = np.flatnonzero(told.duplicate & (best == 0))

    assert wrongly.tolist() == []

    with_partner = (best > 0) & ~excused
    missed = ~told.duplicate[with_partner]
    check_misses(best[with_partner], missed, plan(THRESHOLD).misses(best[with_partner]))


def check_matches(part: Part, told: Told) -> None:
    """Check that each match is a true pair with its true similarity, best first and not twice."""
    true = truth(part, "char", 5)
    pairs = zip(true.a.tolist(), true.b.tolist(), strict=True)
    similarities = dict(zip(pairs, true.jaccard.tolist(), strict=True))
    for later, verdict in enumerate(told.verdicts):
        found = [int(match.id) for match in verdict.matches]
        values = [match.similarity for match in verdict.matches]
        expected = [similarities.get((earlier, later)) for earlier in found]

        assert len(set(found)) == len(found)
        assert values == sorted(values, reverse=True)
        assert expected == pytest.approx(values, abs=10**-DECIMALS), (later, found)
        assert len(found) <= verdict.match_count
        assert not any(match.error for match in verdict.matches)


@pytest.mark.parametrize("part", SHORT, ids=str)
def test_duplicates_are_the_documents_with_an_earlier_partner(part: Part, tmp_path: Path) -> None:
    """A document is a duplicate if some earlier one is similar enough; only bands miss any."""
    told = run(corpora.texts(*part), tmp_path, UNBOUNDED)

    check_types(part, told, np.zeros(len(told.verdicts), np.bool_))
    check_matches(part, told)


@pytest.mark.soak
@pytest.mark.parametrize("part", WHOLE, ids=str)
def test_duplicates_of_whole_corpora_are_the_documents_with_an_earlier_partner(
    part: Part, tmp_path: Path
) -> None:
    """The same holds for each corpus from its first document to its last."""
    told = run(corpora.texts(*part), tmp_path, UNBOUNDED)

    check_types(part, told, np.zeros(len(told.verdicts), np.bool_))
    check_matches(part, told)


@pytest.mark.parametrize("part", SHORT, ids=str)
def test_duplicates_are_the_later_documents_of_pairs(part: Part, tmp_path: Path) -> None:
    """A document is a duplicate if `pairs` finds it an earlier partner, and no other is."""
    texts = corpora.texts(*part)
    told = run(texts, tmp_path, UNBOUNDED)
    pairs = search(texts, tmp_path, "--verify", "exact")

    assert np.flatnonzero(told.duplicate).tolist() == np.unique(pairs.b).tolist()


@pytest.mark.parametrize("part", CROWDED, ids=str)
def test_what_full_buckets_hide_is_told(part: Part, tmp_path: Path) -> None:
    """With small buckets too a duplicate is missed by chance only, or its verdict says `capped`."""
    told = run(corpora.texts(*part), tmp_path, 3)

    check_types(part, told, told.capped)
    check_matches(part, told)
