"""The public corpora, wherever STREAM_DEDUP_CORPORA says they are; tests skip without them."""

import gzip
import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest


def path(name: str) -> Path:
    """Find the documents of a corpus, or skip the test that asks."""
    directory = os.environ.get("STREAM_DEDUP_CORPORA")
    if not directory:
        pytest.skip("STREAM_DEDUP_CORPORA does not name the directory of the corpora")
    documents = Path(directory) / name / "docs.jsonl.gz"
    if not documents.exists():
        pytest.skip(f"STREAM_DEDUP_CORPORA has no {name}/docs.jsonl.gz")
    return documents


def texts(name: str, start: int = 0, stop: int | None = None) -> list[str]:
    """Read the texts of a corpus in file order, from one line up to another."""
    return list(islice(_texts(path(name)), start, stop))


def _texts(documents: Path) -> Iterator[str]:
    with gzip.open(documents, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)["text"]
