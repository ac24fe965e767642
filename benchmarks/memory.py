"""How much memory an index takes as it grows, beside libraries that keep theirs in memory.

Each system takes in the same documents in a process of its own, which tells at every stop how much
it holds. Signatures are kept beside the index where a pair is verified by them. It needs no quiet
machine, as nothing here is a time.
"""

import argparse
import gc
import gzip
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from benchmarks import tokens
from benchmarks.engines.ours import SETTINGS, records
from benchmarks.joins.gaoya import new_index
from benchmarks.joins.job import BANDS, BATCH, HASHES, ROWS, SEED, SHINGLE_SIZE, THRESHOLD
from benchmarks.machine import resident_bytes, this_run
from benchmarks.records import Held, MemoryPoint, MemoryResults, save
from benchmarks.signers import normalised
from benchmarks.texts import corpus
from stream_dedup.engine import Matcher, Signer
from stream_dedup.index.rocksdb import RocksIndex

_CORPUS = "civil_procedure_codes"
_STOPS = 4

Insert = Callable[[Sequence[str]], object]  # of the documents that come next


class System(NamedTuple):
    """A contestant: what it makes of an empty index, and how it is called."""

    note: str
    begin: Callable[[], Insert]


def main() -> None:
    """Measure and write results/memory.json, or be one of the processes that it starts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000, help="[%(default)s]")
    parser.add_argument("--system", choices=_SYSTEMS, help="this one alone, to standard output")
    arguments = parser.parse_args()
    if arguments.system:
        points = list(_points(arguments.system, arguments.documents))
        sys.stdout.buffer.write(msgspec.json.encode(points))
        return
    run = this_run("benchmarks.memory")
    held = [_held(name, arguments.documents) for name in _SYSTEMS]
    save("memory", MemoryResults(run=run, corpus=_CORPUS, held=held))


def _held(name: str, documents: int) -> Held:
    sys.stderr.write(f"{name}: {documents:,} documents\n")
    command = [sys.executable, "-m", "benchmarks.memory", "--system", name]
    command += ["--documents", str(documents)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return Held(name, _SYSTEMS[name].note, msgspec.json.decode(printed, type=list[MemoryPoint]))


def _points(name: str, documents: int) -> Iterator[MemoryPoint]:
    """Take the documents in; tell what the process holds at the start and at each stop."""
    insert = _SYSTEMS[name].begin()
    texts = _texts()
    insert(list(islice(texts, BATCH)))  # what the first ones load stays
    for taken in range(0, documents + 1, BATCH):
        if taken % (documents // _STOPS) == 0:
            gc.collect()
            yield MemoryPoint(taken, resident_bytes())
        insert(list(islice(texts, BATCH)))


def _texts() -> Iterator[str]:
    decoder = msgspec.json.Decoder(dict[str, object])
    with gzip.open(corpus(_CORPUS)) as lines:
        for line in lines:
            yield str(decoder.decode(line)["text"])


def _ours() -> Insert:
    directory = tempfile.TemporaryDirectory()
    matcher = Matcher(RocksIndex.open(directory.name, SETTINGS.index), SETTINGS)
    signer = Signer(SETTINGS)

    def insert(texts: Sequence[str]) -> object:
        matched = matcher.match(signer.sign(records(texts, matcher.next_offset)))
        matcher.remember(matched)
        return directory

    return insert


def _datasketch() -> Insert:
    datasketch = import_module("datasketch")
    index = datasketch.MinHashLSH(num_perm=HASHES, params=(BANDS, ROWS))
    hashed = import_module("xxhash").xxh32_intdigest
    tokenise = tokens.distinct(tokens.characters(SHINGLE_SIZE))

    def sign(texts: Iterable[str]) -> Any:
        return datasketch.MinHash.bulk(map(tokenise, texts), num_perm=HASHES, hashfunc=hashed)

    return _one_by_one(sign, index.insert)


def _rensa() -> Insert:
    rensa = import_module("rensa")
    index = rensa.RMinHashLSH(THRESHOLD, BANDS * ROWS, BANDS)
    tokenise = tokens.characters(SHINGLE_SIZE)

    def sign(texts: Iterable[str]) -> Any:
        return rensa.RMinHash.from_token_sets(map(tokenise, texts), BANDS * ROWS, SEED)

    return _one_by_one(sign, index.insert)


def _one_by_one(
    sign: Callable[[Iterable[str]], Any], insert: Callable[[int, Any], object]
) -> Insert:
    """Insert signatures and keep them."""
    known: list[Any] = []

    def insert_all(texts: Sequence[str]) -> object:
        for signature in sign(normalised(texts)):
            insert(len(known), signature)
            known.append(signature)
        return known

    return insert_all


def _gaoya() -> Insert:
    index = new_index()

    def insert(texts: Sequence[str]) -> object:
        first = index.size()
        index.par_bulk_insert_docs(list(range(first, first + len(texts))), normalised(texts))
        return index

    return insert


def _simhash() -> Insert:
    simhash = import_module("simhash")
    index = simhash.SimhashIndex([], k=3)
    tokenise = tokens.characters(SHINGLE_SIZE)
    numbers = iter(range(1 << 40))

    def insert(texts: Sequence[str]) -> object:
        for text in normalised(texts):
            index.add(str(next(numbers)), simhash.Simhash(tokenise(text)))
        return index

    return insert


_SYSTEMS = {
    "stream_dedup": System("`Signer`, `Matcher`, RocksDB with default settings", _ours),
    "rensa": System("`RMinHashLSH.insert`, and each `RMinHash`", _rensa),
    "gaoya": System("`MinHashStringIndex.par_bulk_insert_docs`", _gaoya),
    "datasketch": System("`MinHashLSH.insert`, and each `MinHash`", _datasketch),
    "simhash": System("`SimhashIndex.add`", _simhash),
}

if __name__ == "__main__":
    main()
