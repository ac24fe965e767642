"""What `benchmarks.corpora` measures, as it lies in results/corpora.json: counts and shares."""

from msgspec import Struct

from benchmarks.records import Run


class Check(Struct, frozen=True):
    """What one way of verification reports of pairs of different texts."""

    verify: str  # none, signature or exact
    reported: int
    right: int  # of those: at the threshold or above
    expected: float  # how many right ones theory expects


class Scored(Struct, frozen=True):
    """Pairs of different texts, found by the exact join and by us."""

    name: str
    documents: int
    texts: int  # different ones
    pairs: int  # of them at the threshold or above
    compared: int  # pairs that verification looks at
    checks: list[Check]
    wrong_similarity: float | None  # exact, the median of what the default reports below


class Setting(Struct, frozen=True):
    """What is compared, and from where on it counts."""

    unit: str
    size: int
    measure: str
    threshold: float


class Match(Struct, frozen=True):
    """Labelled copies found with a setting, a number for each set of documents."""

    setting: Setting
    reported: list[int]
    right: list[int]


class HeldOut(Struct, frozen=True):
    """The setting that is best for all sets but one, on that one."""

    name: str
    match: Match


class Labels(Struct, frozen=True):
    """Settings against what people say, on all pairs of documents, without bands."""

    corpus: str
    sets: list[str]
    documents: list[int]
    copies: list[int]
    best: list[Match]  # the best threshold of each unit, size and measure; best first
    default: Match
    held_out: list[HeldOut]


class Profile(Struct, frozen=True):
    """The settings for a kind of text, as `stream-dedup pairs` finds labelled copies with them."""

    name: str  # of the file in config/presets; empty for the defaults
    corpus: str
    recall: float  # that bands are planned for, of pairs at the threshold
    match: Match
    copies: list[int]
    documents: list[int]
    sharing_a_band: int  # pairs, in all sets
    cut: int  # documents of which not all of these were listed


class TitleLength(Struct, frozen=True):
    """Titles of labelled records, by the length of the shorter one, in characters."""

    least: int
    copies: int
    reported: int
    right: int
    identical: int  # of the reported
    identical_right: int


class Lengths(Struct, frozen=True):
    """Pairs by the length of the shorter text, over all collections."""

    least: int
    pairs: int
    expected: float
    reported: int
    right: int


class Edited(Struct, frozen=True):
    """Texts of a length that were edited once, looked for among all others."""

    least: int
    edit: str
    texts: int
    reaching: int  # still at the threshold or above, exactly
    found: int
    others: int  # reported of an edited text: pairs with another text than its original
    wrong: int  # of those: exactly below the threshold


class Remains(Struct, frozen=True):
    """The Jaccard similarity that an edit leaves, for each length; none where it cannot be made."""

    language: str
    edit: str
    unit: str
    size: int
    median: list[float | None]
    tenth: list[float | None]  # nine texts of ten keep more


class Level(Struct, frozen=True):
    """Pairs of texts that tell the same, and how much of it by the same words."""

    name: str
    pairs: int
    # By shingles, and whether it is the similarity or what is contained in the other text:
    quartiles: dict[str, list[float]]  # smallest, quarter, median, three quarters, largest
    reaching: dict[str, dict[str, int]]  # how many reach a threshold
    reported: dict[str, int]  # by us, by threshold


class CorporaResults(Struct, frozen=True):
    """Results of `benchmarks.corpora`."""

    run: Run
    threshold: float
    scored: list[Scored]
    lengths: list[Lengths]
    labels: list[Labels]
    profiles: list[Profile]
    titles: list[TitleLength]
    edited: list[Edited]
    edit_lengths: list[int]
    edit_texts: int  # for each length and language
    remains: list[Remains]
    answers: list[Level]
    translations: list[Level]
    versions: list[Level]
