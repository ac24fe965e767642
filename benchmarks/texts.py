"""The texts that are signed: pieces of one length, cut from the corpora's consecutive documents."""

import gzip
import os
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

NAMES = (
    "biblio_dedup",
    "civil_procedure_codes",
    "clough_stevenson",
    "debian_desc_multi",
    "mccormick_minhash",
    "rfc_revisions",
)
CHARACTERS = 3500


class _Line(msgspec.Struct):
    id: str
    text: str


def corpus(name: str) -> Path:
    """Return the file of a corpus, or end the program and say what is missing."""
    directory = os.environ.get("STREAM_DEDUP_CORPORA")
    if not directory:
        raise SystemExit("error: set STREAM_DEDUP_CORPORA to the directory of the corpora")
    path = Path(directory) / name / "docs.jsonl.gz"
    if not path.exists():
        raise SystemExit(f"error: STREAM_DEDUP_CORPORA has no {name}/docs.jsonl.gz")
    return path


def require(names: Iterable[str]) -> None:
    """End the program with code 2 and one line if a corpus is missing, before any work is done."""
    try:
        for name in names:
            corpus(name)
    except SystemExit as missing:
        sys.stderr.write(f"{missing}\n")
        raise SystemExit(2) from None


def collections(documents: int) -> dict[str, list[str]]:
    """Return a mix of that many texts, and of each language a fifth as many, or all there are."""
    fifth = documents // 5
    languages = {
        "English": _half_and_half("mccormick_minhash", "civil_procedure_codes", documents * 4 // 5),
        "Italian": pieces("debian_desc_multi", "it/", fifth),
        "Japanese": pieces("debian_desc_multi", "ja/", fifth),
        "Chinese": pieces("debian_desc_multi", "zh_", fifth),
        "Korean": pieces("debian_desc_multi", "ko/", fifth),
    }
    fortieth = documents // 40
    mix = [
        *languages["English"],
        *languages["Italian"][: documents // 10],
        *languages["Korean"][: 2 * fortieth],
        *languages["Japanese"][:fortieth],
        *languages["Chinese"][:fortieth],
    ]
    random.Random(0).shuffle(mix)
    return {"mix": mix} | {name: texts[-fifth:] for name, texts in languages.items()}


def _half_and_half(one: str, other: str, count: int) -> list[str]:
    halves = zip(pieces(one, "", count // 2), pieces(other, "", count // 2), strict=True)
    return [text for both in halves for text in both]


def pieces(name: str, prefix: str, count: int) -> list[str]:
    """Return the first pieces of a corpus, of its documents whose id begins so."""
    found: list[str] = []
    joined = ""
    for line in _lines(corpus(name)):
        if line.id.startswith(prefix):
            joined += line.text + "\n"
            while len(joined) >= CHARACTERS and len(found) < count:
                found.append(joined[:CHARACTERS])
                joined = joined[CHARACTERS:]
        if len(found) == count:
            break
    return found


def _lines(path: Path) -> Iterator[_Line]:
    decoder = msgspec.json.Decoder(_Line)
    with gzip.open(path) as lines:
        yield from map(decoder.decode, lines)
