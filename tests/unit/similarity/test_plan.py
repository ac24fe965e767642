"""The planner: what it chooses, what it promises, what it refuses and the ways out it names."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stream_dedup.errors import SettingsError
from stream_dedup.similarity.curve import Measure
from stream_dedup.similarity.plan import CANDIDATES_MAX, Plan, index_bytes, plan_bands

thresholds = st.floats(0.05, 1.0)
recalls = st.floats(0.5, 0.9999)
sizes = st.integers(64, 512)
measures = st.sampled_from(["jaccard", "cosine"])


def test_the_defaults_give_21_bands_of_6() -> None:
    """128 values, threshold 0.8, recall 0.99 are planned as 21 bands of 6 rows."""
    plan = plan_bands(0.8, 0.99, 128)

    assert (plan.bands, plan.rows) == (21, 6)
    assert plan.recall == pytest.approx(0.99831, abs=5e-6)


@given(thresholds, recalls, sizes, measures)
def test_no_wider_band_would_do(
    threshold: float, recall: float, hashes: int, measure: Measure
) -> None:
    """The plan reaches the recall within the hashes; neither wider nor more bands do."""
    assume(threshold > 0.1)
    plan = plan_bands(threshold, recall, hashes, measure)

    assert plan.recall >= recall
    assert plan.bands * plan.rows <= hashes < (plan.bands + 1) * plan.rows
    for rows in range(plan.rows + 1, hashes + 1):
        assert Plan(measure, threshold, hashes, hashes // rows, rows).recall < recall


def test_bands_and_rows_can_be_given() -> None:
    """A plan from given bands and rows promises what its curve says."""
    plan = Plan("jaccard", 0.8, 128, 16, 8)

    assert plan.recall == pytest.approx(0.947, abs=5e-4)
    assert plan.half_point == pytest.approx(0.674, abs=5e-4)
    assert plan.half_point_estimate == pytest.approx(16 ** (-1 / 8))


def test_cosine_speaks_of_cosines() -> None:
    """With the cosine measure half points are cosines, and the curve is one half there."""
    plan = plan_bands(0.9, 0.99, 256, "cosine")

    assert plan.probability(plan.half_point) == pytest.approx(0.5)
    assert 0 < plan.half_point < 0.9
    assert plan.standard_error == pytest.approx(np.pi * np.sqrt(0.19 * 0.1436 * 0.8564 / 256), 1e-3)


@pytest.mark.parametrize(
    ("layout", "reason"),
    [
        ((0, 5), "at least 1"),
        ((5, 0), "at least 1"),
        ((22, 6), "22 bands of 6 rows take 132 hashes, there are 128"),
    ],
)
def test_impossible_layouts_are_refused(layout: tuple[int, int], reason: str) -> None:
    """Bands that do not fit into the signature are an error that says by how much."""
    with pytest.raises(SettingsError, match=reason):
        Plan("jaccard", 0.8, 128, *layout)


@pytest.mark.parametrize(
    ("threshold", "recall", "hashes", "measure", "reason"),
    [
        (0.0, 0.99, 128, "jaccard", "threshold"),
        (1.1, 0.99, 128, "jaccard", "threshold"),
        (float("nan"), 0.99, 128, "jaccard", "threshold"),
        (0.8, 1.0, 128, "jaccard", "never all for certain"),
        (0.8, 0.0, 128, "jaccard", "recall"),
        (0.8, 0.99, 0, "jaccard", "from 1 to 4096"),
        (0.8, 0.99, 5000, "jaccard", "from 1 to 4096"),
        (0.8, 0.99, 32, "cosine", "from 64 to 1024"),
    ],
)
def test_settings_out_of_bounds_are_refused(
    threshold: float, recall: float, hashes: int, measure: Measure, reason: str
) -> None:
    """Each setting is refused outside its bounds, by a message that names them."""
    with pytest.raises(SettingsError, match=reason):
        plan_bands(threshold, recall, hashes, measure)


def test_recall_out_of_reach_names_hashes_and_thresholds_that_work() -> None:
    """Both ways out of a refusal are followed and lead to a plan; one step less does not."""
    with pytest.raises(SettingsError) as refusal:
        plan_bands(0.1, 0.99, 16)

    ways = re.search(r"What works: (\d+) hashes, or a threshold of (0\.\d\d)", str(refusal.value))
    assert ways is not None
    hashes, threshold = int(ways[1]), float(ways[2])
    assert plan_bands(0.1, 0.99, hashes).recall >= 0.99
    assert plan_bands(threshold, 0.99, 16).recall >= 0.99
    for too_few, too_low in [(hashes - 1, 0.1), (16, threshold - 0.01)]:
        with pytest.raises(SettingsError):
            plan_bands(too_low, 0.99, too_few)


def test_recall_beyond_any_signature_names_a_threshold_only() -> None:
    """Where more hashes than are allowed would be needed, only the threshold is a way out."""
    with pytest.raises(SettingsError, match=r"What works: a threshold of 0\.\d\d$"):
        plan_bands(0.0001, 0.99, 128)


@pytest.mark.parametrize(
    ("threshold", "bits", "documents"),
    [(0.95, 512, 1_000_000), (0.9, 128, 10_000), (0.8, 128, 1_000_000), (0.8, 64, 10_000)],
)
def test_crowded_cosine_plans_are_refused_and_the_ways_out_work(
    threshold: float, bits: int, documents: int
) -> None:
    """Over 1,000 unrelated candidates are refused; what the message names stays within them."""
    with pytest.raises(SettingsError, match=r"1,000 is the limit") as refusal:
        plan_bands(threshold, 0.99, bits, "cosine", documents=documents)

    ways = re.findall(r"(\d+) bits with a threshold of (0\.\d+)", str(refusal.value))
    assert ways
    for named_bits, named_threshold in ways:
        way = float(named_threshold), 0.99, int(named_bits)
        plan = plan_bands(*way, "cosine", documents=documents)
        assert plan.candidates(documents) <= CANDIDATES_MAX


def test_cosine_plans_no_signature_saves_point_to_jaccard() -> None:
    """Where neither bits nor a threshold help, the message says what does."""
    with pytest.raises(SettingsError, match="use measure jaccard"):
        plan_bands(0.8, 0.99, 128, "cosine", documents=10**12)


def test_cosine_refusal_follows_the_documents_and_the_background() -> None:
    """The same settings pass with few documents, or with documents known to be less alike."""
    assert plan_bands(0.8, 0.99, 128, "cosine", documents=1000).rows == 6
    assert plan_bands(0.95, 0.99, 512, "cosine", documents=1_000_000, background=0.05).rows == 17
    with pytest.raises(SettingsError):
        plan_bands(0.95, 0.99, 512, "cosine", documents=1_000_000, background=0.4)


def test_jaccard_plans_are_not_refused_for_their_candidates() -> None:
    """Many candidates at a low Jaccard threshold are reported, and the user decides."""
    plan = plan_bands(0.3, 0.99, 128, documents=10**9)

    assert plan.candidates(10**9) > CANDIDATES_MAX


def test_candidates_are_the_mean_of_the_curve_over_the_similarities() -> None:
    """Half of 1,000 documents at 0.8 and half at 0 make 500 candidates times the recall."""
    plan = plan_bands(0.8, 0.99, 128)

    assert plan.candidates(1000, np.array([0.8, 0.0])) == pytest.approx(500 * plan.recall)
    assert plan.candidates(1000, 0.8) == pytest.approx(1000 * plan.recall)
    assert plan.candidates(0) == 0


def test_index_bytes_agree_with_the_measured_index() -> None:
    """16 bands with 16-bit values take, bands and text together, the 700 bytes once measured."""
    # The measured row had 14 bytes beside the signature, and neither ids nor fingerprints.
    size = index_bytes(Plan("jaccard", 0.8, 128, 16, 8))
    fields_not_measured = 60 - 14

    assert size.buckets + size.texts - fields_not_measured == pytest.approx(700, rel=0.02)
    assert size.total == size.buckets + size.texts + size.exact + size.ids


def test_index_bytes_grow_with_bands_and_values() -> None:
    """More bands or more values take more bytes, and cosine bits an eighth of a byte each."""
    narrow, wide = Plan("jaccard", 0.8, 128, 16, 6), Plan("jaccard", 0.8, 128, 21, 6)
    cosine = Plan("cosine", 0.8, 128, 16, 6)

    assert index_bytes(wide).buckets * 16 == index_bytes(narrow).buckets * 21
    assert index_bytes(wide).texts == index_bytes(narrow).texts
    assert index_bytes(narrow).texts - index_bytes(cosine).texts == 256 - 16
