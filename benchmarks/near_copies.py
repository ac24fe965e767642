"""A dense corpus: near copies of one text, which all resemble one another."""

import random
from pathlib import Path

import msgspec

_SEED = 1
_WORDS = 400
_REPLACED = 4  # words; two copies then have a similarity of about 0.96
_LETTERS = "etaoinshrdlucmfwypvbgk"


def write_near_copies(path: Path, count: int) -> None:
    """Write them as JSONL."""
    source = random.Random(_SEED)
    vocabulary = ["".join(source.choices(_LETTERS, k=source.randint(2, 9))) for _ in range(5000)]
    original = source.choices(vocabulary, k=_WORDS)
    with path.open("wb") as out:
        for number in range(count):
            words = original.copy()
            for place in source.sample(range(_WORDS), _REPLACED):
                words[place] = source.choice(vocabulary)
            line = {"id": f"copy-{number}", "text": " ".join(words)}
            out.write(msgspec.json.encode(line) + b"\n")
