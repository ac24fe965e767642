"""What signing a text costs in one thread: from `str` to signature and band keys."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from benchmarks.machine import this_run
from benchmarks.records import Comparison, SignResults, Timing, save
from benchmarks.rounds import Call, take_turns
from benchmarks.signers import BANDS, HASHES, ROWS, Cut, Signer, contestants
from benchmarks.texts import CHARACTERS, collections
from stream_dedup.similarity.ragged import Room
from stream_dedup.similarity.sketch import Sketcher
from stream_dedup.similarity.text import normalise

_CUTS = (Cut("char", 5), Cut("word", 3))


def main() -> None:
    """Measure and write results/sign.json."""
    arguments = _arguments()
    run = this_run("benchmarks.sign")
    texts = collections(arguments.documents)
    if arguments.quick:
        texts = {"mix": texts["mix"]}
    rounds = arguments.rounds
    save(
        "sign",
        SignResults(
            run=run,
            rounds=rounds,
            characters=CHARACTERS,
            hashes=HASHES,
            bands=BANDS,
            rows=ROWS,
            peers=[_peers(*pair, cut, rounds) for cut in _CUTS for pair in texts.items()],
            variants=[_variants(*pair, rounds) for pair in texts.items()],
            stages=[_stages("mix", texts["mix"], cut, rounds) for cut in _CUTS],
        ),
    )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sign", description=__doc__)
    parser.add_argument(
        "--documents", type=int, default=1500, help="texts of the mix [%(default)s]"
    )
    parser.add_argument("--rounds", type=int, default=5, help="[%(default)s]")
    parser.add_argument(
        "--quick", action="store_true", help="300 texts of the mix alone, 5 rounds: half a minute"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.documents, arguments.rounds = 300, 5
    return arguments


def _peers(name: str, texts: Sequence[str], cut: Cut, rounds: int) -> Comparison:
    """Compare with the other libraries."""
    field = contestants(texts, cut)
    notes = {contestant.name: contestant.note for contestant in field}
    calls = {contestant.name: contestant.call for contestant in field}
    return _compare(name, texts, str(cut), calls, notes, rounds)


def _variants(name: str, texts: Sequence[str], rounds: int) -> Comparison:
    """Compare the settings that a user may choose."""
    char, wide, word = (Signer(cut) for cut in (Cut("char", 5), Cut("char", 50), Cut("word", 3)))
    multiset = Signer(Cut("char", 5), multiset=True)
    sketcher = Sketcher(char.shingling, HASHES, BANDS, ROWS)
    calls: dict[str, Call] = {
        "char-5": lambda: char.sign(texts),
        "char-50": lambda: wide.sign(texts),
        "word-3": lambda: word.sign(texts),
        "char-5, multiset": lambda: multiset.sign(texts),
        "char-5, whole sketch": lambda: sketcher.sketch(texts),
    }
    notes = {"char-5, whole sketch": "with fingerprint, size and the shingles of short texts"}
    return _compare(name, texts, "", calls, notes, rounds)


def _stages(name: str, texts: Sequence[str], cut: Cut, rounds: int) -> Comparison:
    """Measure each step by itself, on what the step before it made."""
    signer = Signer(cut)
    chunks = list(signer.chunks(texts))
    rows = [normalise(chunk) for chunk in chunks]
    hashes = [signer.hashes(row) for row in rows]
    values = [signer.values(row) for row in hashes]
    room = Room()
    calls: dict[str, Call] = {
        "all": lambda: signer.sign(texts),
        "encode and normalise": lambda: [normalise(chunk, room) for chunk in chunks],
        "shingle": lambda: [signer.hashes(row, room) for row in rows],
        "sign": lambda: [signer.values(row) for row in hashes],
        "keys": lambda: [signer.keys(row) for row in values],
    }
    return _compare(name, texts, str(cut), calls, {}, rounds)


def _compare(
    name: str,
    texts: Sequence[str],
    shingles: str,
    calls: Mapping[str, Call],
    notes: Mapping[str, str],
    rounds: int,
) -> Comparison:
    sys.stderr.write(f"{name} {shingles}: {', '.join(calls)}\n")
    timings = [
        Timing(call, notes.get(call, ""), [second / len(texts) * 1e6 for second in seconds])
        for call, seconds in take_turns(calls, rounds).items()
    ]
    return Comparison(name, len(texts), shingles, timings)


if __name__ == "__main__":
    main()
