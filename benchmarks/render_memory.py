"""The part of RESULTS.md on memory: bytes a document, and what that makes of many."""

from collections.abc import Iterable

from benchmarks.records import Held, MemoryResults, ScaleResults, load
from benchmarks.writing import bullets, digits, filled, run_notes, table

_WORDS = """\
The first {documents:,} documents of `{corpus}`, signed and indexed, in a process each: memory that
the process has at the end, and by how much it grew for each document since the first thousand. What
the others keep grows on in proportion, so the last column multiplies it. Ours keeps its rows on
disk: what grows are buffers and caches, up to `index.memory_bytes_max`; its last figure is the most
that was measured on the way to {many:,} documents, [below](#{anchor}), and {disk:,.0f} bytes a
document lie on disk then.
"""


def section() -> Iterable[str]:
    """Return the paragraphs."""
    results, scale = load("memory", MemoryResults), load("scale", ScaleResults)
    last = scale.points[-1]
    yield "## Memory\n"
    yield filled(
        _WORDS,
        documents=results.held[0].points[-1].documents,
        corpus=results.corpus,
        many=last.documents,
        anchor="a-large-index",
        disk=last.disk_bytes / last.documents,
    )
    large = gigabytes()
    ours = results.held[0]
    header = ["system", "MB", "bytes a document", f"GB for {last.documents:,}", ""]
    yield table(
        header,
        [
            [
                held.name,
                f"{held.points[-1].resident_bytes / 1e6:,.0f}",
                f"{_grown(held):,.0f}",
                f"**{digits(large[held.name])}**",
                "measured" if held is ours else "in proportion",
            ]
            for held in results.held
        ],
    )
    yield bullets(f"{one.name}: {one.note}" for one in results.held)
    yield run_notes(results.run)


def gigabytes() -> dict[str, float]:
    """Return what each system needs for as many documents as our largest index has."""
    points = load("scale", ScaleResults).points
    ours, *others = load("memory", MemoryResults).held
    proportional = {one.name: _grown(one) * points[-1].documents / 1e9 for one in others}
    return {ours.name: max(point.memory_bytes for point in points) / 1e9, **proportional}


def _grown(held: Held) -> float:
    """Return by how many bytes a document the process grew."""
    first, last = held.points[0], held.points[-1]
    return (last.resident_bytes - first.resident_bytes) / (last.documents - first.documents)
