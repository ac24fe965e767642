"""The part of RESULTS.md on large and on old indexes, with its pictures."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import harmonic_mean

from benchmarks.charts import Axis, Limit, Panel, chart
from benchmarks.records import ScalePoint, ScaleResults, WindowResults, load
from benchmarks.writing import digits, filled, run_notes

_SCALE = """\
{documents:,} documents: look up, verify, insert, {batch:,} at a time, with default settings but for
the window, which has no end. Signatures are made up, with ids, sources and sizes of real length;
{near:.0%} of the documents are near copies of an earlier one, {exact:.0%} exact ones. Making them
up is not counted; RocksDB could go on meanwhile, {free:.0%} of the time.
"""

_SCALE_WORDS = """\
The last {end:,} documents were taken in at {last:,.0f} a second, large merges included; {span:,}
around the {start:,}th at {around:,.0f}: **{share:.2f}** of that rate, or {share_before:.2f} of the
{before:,.0f} of those just before it, when hardly a file had been merged. On disk lie
**{closed:,.0f}** bytes a document once the index was closed, {compacted:,.0f} compacted, and
{disk:,.0f} at the end of the run, with what was being merged; while the index grew it was at most
{most:,.0f}, where a log that does not grow with the index weighs on few documents. The process had
at most **{memory:.2f}** GB of memory. For those last documents {read:,.0f} MB were read
from the disk; all else lay in memory, that of the system included.
"""

_WINDOW = """\
A window of {documents:,} documents passes over a steady input {windows:.0f} times. Of these
{copies:.0%} are exact copies that renew an old group: half of them one of the last nine tenths of a
window, half one of a thousand that are renewed again and again, and so never end; {near:.0%} are
near copies. Memory is 64 MB, so that most of the index lies in files.
"""

_WINDOW_WORDS = """\
Rows of up to two windows lie on disk, until the older ones go as a whole. From the third window on
the disk holds {disk_low:,.0f} to {disk_high:,.0f} MB at the fullest of each window; a look-up takes
{low} µs in the third and {high} µs in the last window, on average.
"""

_FIRST = 400_000  # documents
_SPAN = 200_000  # before it and behind it: merging files makes single points swing
_END = 2_000_000  # large merges come about as far apart, or somewhat farther
_POINTS = 4  # a window
_STEADY = 2  # windows after which nothing changes any more


def section() -> Iterable[str]:
    """Return the paragraphs."""
    scale = load("scale", ScaleResults)
    window = load("window", WindowResults)
    yield "## A large index\n"
    free = scale.free_seconds / scale.seconds
    yield filled(
        _SCALE,
        documents=scale.points[-1].documents,
        batch=scale.batch,
        near=scale.near,
        exact=scale.exact,
        free=free,
    )
    yield "![Rate, bytes on disk and memory, by documents in the index](scale.svg)\n"
    yield _scale_words(scale)
    yield run_notes(scale.run)
    yield "## Windows that pass\n"
    yield filled(
        _WINDOW,
        documents=window.documents,
        windows=window.points[-1].windows,
        copies=window.copies,
        near=window.near,
    )
    yield "![Bytes on disk, rows and time of a look-up, by windows passed](window.svg)\n"
    yield _window_words(window)
    yield run_notes(window.run)


def pictures() -> dict[str, str]:
    """Return the pictures by the names of their files."""
    scale, window = load("scale", ScaleResults), load("window", WindowResults)
    return {"scale.svg": _scale_picture(scale), "window.svg": _window_picture(window)}


def _scale_picture(results: ScaleResults) -> str:
    points = results.points
    # What a log that is bounded weighs on few documents says nothing about many.
    around = _rate(results.points, _FIRST - _SPAN, _FIRST + _SPAN)
    rate = Limit(0.8 * around, "0.8 of that at 400,000")
    return chart(
        "An index that grows",
        Axis("million documents", [point.documents / 1e6 for point in points]),
        [
            Panel("documents a second", [point.documents_per_second for point in points], rate),
            Panel(
                "bytes a document, on disk",
                [point.disk_bytes / point.documents for point in points],
                Limit(750, "750"),
            ),
            Panel(
                "GB of memory", [point.memory_bytes / 1e9 for point in points], Limit(1.5, "1.5")
            ),
        ],
    )


def _window_picture(results: WindowResults) -> str:
    points = results.points
    return chart(
        "An index whose window passes",
        Axis("windows", [point.windows for point in points]),
        [
            Panel("MB on disk", [point.disk_bytes / 1e6 for point in points]),
            Panel("million rows, estimated", [point.rows / 1e6 for point in points]),
            Panel("µs a document, to look up", [point.lookup_microseconds for point in points]),
            Panel("µs a document, to write", [point.write_microseconds for point in points]),
        ],
    )


def _scale_words(results: ScaleResults) -> str:
    points = results.points
    end = points[-1]
    last = _rate(points, end.documents - _END, end.documents)
    around, before = (_rate(points, _FIRST - _SPAN, to) for to in (_FIRST + _SPAN, _FIRST))
    return filled(
        _SCALE_WORDS,
        end=_END,
        span=2 * _SPAN,
        start=_FIRST,
        last=last,
        around=around,
        share=last / around,
        before=before,
        share_before=last / before,
        disk=end.disk_bytes / end.documents,
        closed=results.closed_bytes / end.documents,
        compacted=results.compacted_bytes / end.documents,
        most=max(point.disk_bytes / point.documents for point in points),
        memory=max(point.memory_bytes for point in points) / 1e9,
        read=sum(
            point.read_bytes for point in _between(points, end.documents - _END, end.documents)
        )
        / 1e6,
    )


def _rate(points: Sequence[ScalePoint], start: int, end: int) -> float:
    """Return the documents a second from one number of documents to another."""
    return harmonic_mean(point.documents_per_second for point in _between(points, start, end))


def _between(points: Sequence[ScalePoint], start: int, end: int) -> Iterator[ScalePoint]:
    """Choose those that tell of documents from one number of them to another."""
    return (point for point in points if start < point.documents <= end)


def _window_words(results: WindowResults) -> str:
    starts = range(_STEADY * _POINTS, len(results.points), _POINTS)
    windows = [results.points[start : start + _POINTS] for start in starts]
    fullest = [max(point.disk_bytes for point in window) / 1e6 for window in windows]
    lookups = [
        sum(point.lookup_microseconds for point in window) / len(window) for window in windows
    ]
    return filled(
        _WINDOW_WORDS,
        disk_low=min(fullest),
        disk_high=max(fullest),
        low=digits(lookups[0]),
        high=digits(lookups[-1]),
    )
