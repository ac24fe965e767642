"""text-dedup: its MinHash script's own functions, in an environment of its own.

It wants older versions of libraries that the others share, and so cannot be installed beside them.
It splits texts into words itself, so it is asked about shingles of words only.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.recall.peers.question import Answer, Question, banded

PYTHON = Path(sys.prefix) / "text-dedup" / "bin" / "python"

_PROGRAM = "benchmarks.recall.peers.text_dedup_script"


def answers(question: Question) -> Iterator[Answer]:
    """Return the pairs that share a bucket, and those that are in a cluster in the end."""
    if question.unit != "word":
        return
    with tempfile.TemporaryDirectory() as directory:
        asked = {"texts": question.texts, "size": question.size, "thresholds": question.thresholds}
        command = [str(PYTHON), "-m", _PROGRAM, directory]
        subprocess.run(command, input=msgspec.json.encode(asked), check=True)
        for threshold in question.thresholds:
            found = np.load(Path(directory) / f"{threshold}.npz")
            note = f"text-dedup {found['version']}, `embed_func` and `optimal_param`, defaults"
            setting = banded(*found["setting"])
            yield Answer("text-dedup", note, threshold, setting, found["bucket_pairs"])
            note = "all that its `UnionFind` joins in the end: what its script treats as one"
            pairs = found["cluster_pairs"]
            yield Answer("text-dedup, clusters", note, threshold, setting, pairs)
