"""What `benchmarks.recall` measures, as it lies in results/recall.json: counts of pairs."""

from msgspec import Struct

from benchmarks.records import Run


class Score(Struct, frozen=True):
    """What a system made of one corpus at one nominal threshold."""

    threshold: float
    setting: str  # bands and rows, as the system chose them
    returned: int  # pairs
    found: int  # of these, at the threshold or above
    found_just_above: int  # of these, less than `just_above` higher


class Answers(Struct, frozen=True):
    """A system, or one way to use it."""

    name: str
    note: str
    scores: list[Score]
    found: list[int]  # pairs returned at `curve_threshold`, by bin of their similarity


class Trial(Struct, frozen=True):
    """A stretch of a corpus, every text once, cut into one kind of shingles."""

    corpus: str
    first: int  # line of the corpus
    lines: int
    documents: int  # different ones
    shingles: str
    pairs: list[int]  # at each threshold or above
    pairs_just_above: list[int]
    bins: list[int]  # pairs by similarity
    answers: list[Answers]


class Curve(Struct, frozen=True):
    """How many made-up pairs a system found, by bin of their similarity."""

    name: str
    setting: str
    found: list[int]


class MadeUp(Struct, frozen=True):
    """Pairs of texts that we made, so that there are enough of each similarity."""

    shingles: str
    bins: list[int]
    curves: list[Curve]


class Planned(Struct, frozen=True):
    """The curve of a plan, measured, beside what theory expects of the same pairs."""

    threshold: float
    bands: int
    rows: int
    found: list[int]
    expected: list[float]


class Theory(Struct, frozen=True):
    """Made-up pairs of all similarities, and in how many of them a band met."""

    shingles: str
    hashes: int
    bins: list[int]
    similarity: list[float]  # the mean in each bin
    plans: list[Planned]


class RecallResults(Struct, frozen=True):
    """Results of `benchmarks.recall`."""

    run: Run
    thresholds: list[float]
    just_above: float
    bin_width: float  # bins go up to 1
    curve_threshold: float
    trials: list[Trial]
    made_up: list[MadeUp]
    theory: Theory
    left_out: list[str]  # systems that are not installed
