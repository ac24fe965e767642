"""The settings fingerprint."""

import pytest

from stream_dedup.overrides import load
from stream_dedup.similarity.scheme import scheme_fields, settings_fingerprint
from stream_dedup.similarity.text import UNICODE_VERSION


def fingerprint(*overrides: str) -> str:
    return settings_fingerprint(load(None, {}, overrides).settings)


@pytest.mark.parametrize(
    "override",
    [
        "similarity.measure=cosine",
        "similarity.unit=word",
        "similarity.size=6",
        "similarity.multiset=true",
        "similarity.seed=1",
        "similarity.hashes=256",
        "similarity.html=strip",
        "events.text_fields=title,text",
        "similarity.threshold=0.9",  # other bands are planned for it
    ],
)
def test_whatever_changes_signatures_changes_the_fingerprint(override: str) -> None:
    """Sketches that cannot be compared have different fingerprints."""
    assert fingerprint(override) != fingerprint()


def test_decisions_do_not_change_the_fingerprint() -> None:
    """Settings that say what to do with a comparison leave the fingerprint as it is."""
    planned = ("similarity.bands=21", "similarity.rows=6")

    assert fingerprint(*planned) == fingerprint()
    assert fingerprint(*planned, "similarity.threshold=0.9", "index.window=30d") == fingerprint()


def test_the_fingerprint_names_scheme_and_unicode_version() -> None:
    """What a signature depends on beside the settings is part of the fingerprint."""
    scheme = str(scheme_fields(load(None, {}).settings)["scheme"])

    assert scheme == f"polynomial-mixed-64, minhash-poisson-32, Unicode {UNICODE_VERSION}"
