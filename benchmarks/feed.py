"""A stream of texts of which some are copies of earlier ones, as in a feed of news."""

import random

from benchmarks.texts import CHARACTERS, pieces

NEAR, EXACT = 0.1, 0.05  # shares of the texts

_SEED = 3
_EDITS = 12  # words: two texts then have a similarity of about 0.93
# Shares of the corpora in what is new, and the beginnings of their ids.
_CORPORA = {
    ("civil_procedure_codes", ""): 0.45,
    ("rfc_revisions", ""): 0.25,
    ("mccormick_minhash", ""): 0.08,
    ("debian_desc_multi", "it/"): 0.1,
    ("debian_desc_multi", "ko/"): 0.05,
    ("debian_desc_multi", "ja/"): 0.05,
    ("debian_desc_multi", "zh_"): 0.02,
}


def feed(documents: int) -> list[str]:
    """Return that many texts, or fewer if the corpora end before."""
    source = random.Random(_SEED)
    new = [
        text
        for corpus, share in _CORPORA.items()
        for text in pieces(*corpus, int(documents * (1 - NEAR - EXACT) * share))
    ]
    source.shuffle(new)
    texts: list[str] = []
    for text in new:
        texts.append(text)
        while (drawn := source.random()) < NEAR + EXACT:
            original = source.choice(texts)
            texts.append(original if drawn < EXACT else _edited(original, source))
    return texts


def _edited(text: str, source: random.Random) -> str:
    """Give a copy the first line of another outlet, and change some words."""
    words = text.split(" ")
    for place in source.sample(range(len(words)), min(_EDITS, len(words) // 10)):
        words[place] = source.choice(words)
    outlet = source.randrange(100)
    return f"Outlet {outlet}, page {source.randrange(30)}. {' '.join(words)}"[:CHARACTERS]
