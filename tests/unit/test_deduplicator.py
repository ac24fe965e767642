"""The library front: one call looks up and remembers, from any thread."""

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as search
from hypothesis import strategies as st
from msgspec.structs import replace

from stream_dedup import Deduplicator
from stream_dedup.checkpoint import LOG
from stream_dedup.config import EventsSettings, IndexSettings, Settings, SimilaritySettings
from stream_dedup.deduplicator import Deduplicator as Defined
from stream_dedup.engine import Matcher, Record, Signer
from stream_dedup.errors import DocumentRejected, Refused, SettingsError, StreamDedupError
from stream_dedup.events import Document, Verdict
from stream_dedup.index.memory import MemoryIndex
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes
from tests import streams

BASE = " ".join(f"word{number}" for number in range(60))
COPY = f"{BASE} and a little more"
OTHER = " ".join(f"other{number}" for number in range(60))
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
seeds = st.integers(0, 20)


def documents(records: Sequence[Record]) -> list[Document]:
    """Return the documents of a stream; the times of the records are theirs."""
    found = []
    for record in records:
        if isinstance(record.event, Document):
            moment = datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=record.time)
            found.append(replace(record.event, published_at=moment))
    return found


def drawn(settings: Settings, stream: list[streams.Draft], seed: int) -> list[Document]:
    """Return the dated documents of a stream."""
    dated = [draft for draft in stream if draft.step is not None]
    return documents(streams.records(streams.timed(dated, settings.index.window), seed))


def fields(document: Document, **changes: Any) -> dict[str, Any]:
    """Return what `add` takes."""
    return {name: getattr(document, name) for name in document.__struct_fields__} | changes


def ids(verdict: Verdict) -> list[str]:
    """Return the ids of all matches."""
    return [match.id for match in verdict.matches]


@pytest.mark.parametrize("on_disk", [True, False])
def test_one_call_looks_up_and_remembers(on_disk: bool, tmp_path: Path) -> None:
    """A copy that is added is told what it copies, and copies added later are told of it."""
    with Deduplicator(tmp_path / "index" if on_disk else None) as dedup:
        first = dedup.add(id="a", text=BASE, source="afp", published_at=NOON)
        second = dedup.add(id="b", text=COPY)
        third = dedup.add(id="c", text=COPY, source="dpa")

    assert (first.type, first.matches, first.document.source) == ("unique", (), "afp")
    assert first.document.seen_at == "2026-01-31T12:00:00.000Z"
    assert (second.type, ids(second), second.matches[0].source) == ("duplicate", ["a"], "afp")
    assert (third.type, ids(third), third.matches[0].kind) == ("duplicate", ["b"], "exact")
    assert third.cluster is not None
    assert (third.cluster.id, third.cluster.size) == ("a", 3)


def test_what_was_added_is_there_when_the_directory_is_opened_again(tmp_path: Path) -> None:
    """A directory keeps documents, and numbers go on."""
    with Deduplicator(tmp_path) as dedup:
        dedup.add_many([{"id": "a", "text": BASE}])
        dedup.add(id="b", text=OTHER)
    with Deduplicator(tmp_path) as dedup:
        verdict = dedup.add(id="c", text=COPY)

    assert ids(verdict) == ["a"]
    assert verdict.record.offset == 2


@search(max_examples=30)
@given(streams.engine_settings(), streams.streams(), seeds)
def test_the_verdicts_are_those_of_the_engine(
    settings: Settings, stream: list[streams.Draft], seed: int
) -> None:
    """Added one by one or many at once, documents get what the engine says of the same stream."""
    given_documents = drawn(settings, stream, seed)
    records = [
        Record(document, number, _milliseconds(document), _reference(number))
        for number, document in enumerate(given_documents)
    ]
    expected = streams.run(Matcher(MemoryIndex(), settings), Signer(settings), records, [7])
    with Deduplicator(settings=settings) as one, Deduplicator(settings=settings) as many:
        singly = [one.add(**fields(document)) for document in given_documents]
        together = many.add_many([*given_documents[:3], *map(fields, given_documents[3:])])

    assert singly == together == expected


def _milliseconds(document: Document) -> int:
    assert document.published_at is not None
    return round(document.published_at.timestamp() * 1000)


def _reference(number: int) -> Any:
    with Deduplicator() as dedup:
        verdict = dedup.add(id="a", text="a")
    return replace(verdict.record, offset=number)


@search(max_examples=30)
@given(streams.engine_settings(), streams.streams(), seeds)
def test_find_says_what_add_would(
    settings: Settings, stream: list[streams.Draft], seed: int
) -> None:
    """A text is told the matches that a new document would have, and nothing is remembered."""
    with Deduplicator(settings=settings) as dedup, Deduplicator(settings=settings) as unasked:
        for number, document in enumerate(drawn(settings, stream, seed)):
            of_text = fields(document)
            del of_text["id"]
            found = dedup.find(**of_text)
            added = dedup.add(id=f"new {number}", **of_text)

            assert found == added.matches
            assert added == unasked.add(id=f"new {number}", **of_text)


def test_more_than_a_batch_can_be_added_at_once() -> None:
    """Each document sees those before it, also across the batches that they are cut into."""
    words = [f"{Random(number).getrandbits(99)} {BASE[number:]}" for number in range(20)]
    texts = [words[number % 20] for number in range(1234)]
    with Deduplicator() as dedup:
        verdicts = dedup.add_many({"id": str(n), "text": text} for n, text in enumerate(texts))

    assert [verdict.record.offset for verdict in verdicts] == list(range(1234))
    assert [verdict.document.id for verdict in verdicts] == [str(n) for n in range(1234)]
    assert [verdict.matches[0].id for verdict in verdicts[20:]] == [
        str(n % 20) for n in range(20, 1234)
    ]


def test_nothing_can_be_added() -> None:
    """No documents are no error."""
    with Deduplicator() as dedup:
        assert dedup.add_many([]) == []


def test_what_is_removed_matches_nothing() -> None:
    """A document that is removed is forgotten in its namespace; others of its text stay."""
    with Deduplicator() as dedup:
        dedup.add_many([{"id": name, "text": BASE} for name in "ab"])
        dedup.add(id="a", text=BASE, namespace="n")
        dedup.remove("a")
        assert [match.id for match in dedup.find(BASE)] == ["b"]
        dedup.remove("b")
        dedup.remove("never seen")
        assert dedup.find(BASE) == ()
        assert [match.id for match in dedup.find(BASE, namespace="n")] == ["a"]
        dedup.remove("a", namespace="n")
        assert dedup.find(BASE, namespace="n") == ()


def test_the_window_follows_published_at() -> None:
    """What is older than the window, by the latest date given, is forgotten; no date ages none."""
    with Deduplicator(window="1d") as dedup:
        dedup.add(id="a", text=BASE, published_at=NOON)
        dedup.add(id="b", text=OTHER, published_at=NOON + timedelta(hours=20))
        assert dedup.find(BASE) != ()
        assert dedup.find(BASE, published_at=NOON + timedelta(hours=24)) != ()
        assert dedup.find(BASE, published_at=NOON + timedelta(hours=25)) == ()
        assert dedup.find(BASE) != ()
        dedup.add(id="c", text="a", published_at=NOON + timedelta(hours=25))
        assert dedup.find(BASE) == ()
        assert dedup.find(OTHER) != ()


def test_find_sees_whole_batches(tmp_path: Path) -> None:
    """Beside a writer, a reader sees each batch as a whole or not at all, and never fails.

    Two documents change their text together, in every batch: whoever looks for what both resemble
    finds one text, never none and never two.
    """
    settings = Settings(index=IndexSettings(bucket_size_max=4))
    texts = [f"{BASE} {number % 7} {number % 11}" for number in range(80)]
    for directory in (None, tmp_path):
        with Deduplicator(directory, settings=settings) as dedup, ThreadPoolExecutor(3) as pool:
            dedup.add_many([{"id": name, "text": texts[0]} for name in "ab"])
            stop = Event()
            readers = [pool.submit(_read, dedup, stop) for _ in range(3)]
            try:
                for text in texts:
                    dedup.add_many([{"id": name, "text": text} for name in "ab"])
            finally:
                stop.set()

            assert [reader.result() for reader in readers] == [{1}] * 3


def _read(dedup: Deduplicator, stop: Event) -> set[int]:
    """Look until told to stop; return how many texts were found at a time."""
    found = set()
    while not stop.is_set():
        for text in (BASE, f"{BASE} 3 3"):
            found.add(len(dedup.find(text)))
    return found


def test_several_threads_add() -> None:
    """Those who add at once get a place each, and each is remembered."""
    with Deduplicator() as dedup, ThreadPoolExecutor(4) as pool:
        names = [f"{number}" for number in range(100)]
        verdicts = list(pool.map(lambda name: dedup.add(id=name, text=f"{OTHER} {name}"), names))
        found = dedup.find(OTHER)

    assert sorted(verdict.record.offset for verdict in verdicts) == list(range(100))
    assert len(found) == 10  # those shown; all of them match


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"id": 5, "text": BASE}, "id: Expected str, got int"),
        ({"id": "", "text": BASE}, "id is empty"),
        ({"id": "a"}, "Object missing required field text"),
        ({"id": "a", "text": None}, "text: Expected str, got null"),
        ({"id": "a", "text": b"bytes"}, "text: Expected str, got bytes"),
        ({"id": "a", "text": BASE, "source": 1}, "source: Expected str, got int"),
        ({"id": "a", "text": BASE, "published_at": 12}, "published_at: Expected datetime"),
        ({"id": "a", "text": BASE, "published_at": "today"}, "published_at: Invalid RFC3339"),
        (
            {"id": "a", "text": BASE, "published_at": datetime(2026, 1, 1)},  # noqa: DTZ001
            "published_at has no time zone",
        ),
        (
            {"id": "a", "text": BASE, "published_at": "0001-01-01T00:00:00+09:00"},
            "published_at: out of range",
        ),
        ({"id": "a\udc80", "text": BASE}, "id: surrogates not allowed at character 1"),
        ({"id": "a", "text": BASE, "source": "\udc80"}, "source: surrogates"),
        ({"id": "a", "text": BASE, "namespace": "\udc80"}, "namespace: surrogates"),
        (["a", BASE], "Expected object, got array"),
        ("a", "Expected object, got str"),
    ],
)
def test_what_is_no_document_is_rejected(document: Any, reason: str) -> None:
    """The reason names the field, and nothing is added, also not what came with it."""
    with Deduplicator() as dedup:
        with pytest.raises(DocumentRejected) as rejected:
            dedup.add_many([{"id": "before", "text": BASE}, document])
        assert dedup.find(BASE) == ()

    assert str(rejected.value).startswith(reason)


def test_wrong_types_are_told_wherever_they_are_given() -> None:
    """`add`, `find` and `remove` check what they are given, and documents are checked again."""
    wrong: Any = 7
    with Deduplicator() as dedup:
        with pytest.raises(DocumentRejected, match="text: Expected str, got int"):
            dedup.add(id="a", text=wrong)
        with pytest.raises(DocumentRejected, match="text: Expected str, got int"):
            dedup.find(wrong)
        with pytest.raises(DocumentRejected, match="id: Expected str, got int"):
            dedup.remove(wrong)
        with pytest.raises(DocumentRejected, match="text: Expected str, got int"):
            dedup.add_many([Document(id="a", text=wrong)])


def test_fields_that_are_not_known_are_not_looked_at() -> None:
    """Mappings may hold more, as JSON does, and dates may be text."""
    document = {"id": "a", "text": BASE, "published_at": "2026-01-31T13:00:00+01:00", "url": "x"}
    with Deduplicator() as dedup:
        (verdict,) = dedup.add_many([document])

    assert verdict.document.seen_at == "2026-01-31T12:00:00.000Z"


def test_what_is_closed_says_so(tmp_path: Path) -> None:
    """After `close`, which may be called again, all else is refused."""
    for directory in (None, tmp_path):
        dedup = Deduplicator(directory)
        dedup.close()
        dedup.close()
        with pytest.raises(StreamDedupError, match="is closed"):
            dedup.add(id="a", text=BASE)
        with pytest.raises(StreamDedupError, match="is closed"):
            dedup.add_many([{"id": "a", "text": BASE}])
        with pytest.raises(StreamDedupError, match="is closed"):
            dedup.find(BASE)
        with pytest.raises(StreamDedupError, match="is closed"):
            dedup.remove("a")


def test_a_directory_is_open_once(tmp_path: Path) -> None:
    """Who opens an index that is open is refused, and hurts nobody."""
    with Deduplicator(tmp_path) as dedup:
        with pytest.raises(Refused, match="is open in another process"):
            Deduplicator(tmp_path)
        assert dedup.add(id="a", text=BASE).type == "unique"


def test_other_signatures_are_refused(tmp_path: Path) -> None:
    """An index made with other shingles is refused, and stays usable with its own."""
    with Deduplicator(tmp_path, size=5) as dedup:
        dedup.add(id="a", text=BASE)
    with pytest.raises(Refused, match="made with size = 5, the settings say 9"):
        Deduplicator(tmp_path, size=9)
    with Deduplicator(tmp_path, size=5, threshold=0.8) as dedup:
        assert len(dedup.find(BASE)) == 1


def test_arguments_come_before_settings() -> None:
    """What is given by name replaces what the settings say, and nothing else of them."""
    settings = Settings(
        similarity=SimilaritySettings(threshold=0.1, seed=3), events=EventsSettings(emit="none")
    )
    with (
        Deduplicator(settings=settings) as low,
        Deduplicator(settings=settings, threshold=1) as high,
    ):
        for dedup in (low, high):
            dedup.add(id="a", text=BASE)
        assert len(low.find(BASE[:150])) == 1
        assert len(high.find(BASE[:150])) == 0
        assert low.add(id="b", text=BASE).type == "duplicate"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"threshold": 2}, "similarity.threshold: Expected float <= 1.0"),
        ({"threshold": "0.8"}, "similarity.threshold: Expected float, got str"),
        ({"measure": "dice"}, "similarity.measure: Invalid enum value 'dice'"),
        ({"unit": "line"}, "similarity.unit: Invalid enum value 'line'"),
        ({"size": 0}, "similarity.size: Expected int >= 1"),
        ({"verify": "never"}, "similarity.verify: Invalid enum value 'never'"),
        ({"window": "3 dogs"}, "index.window: a duration such as '72h'"),
        ({"window": 72}, "index.window: a duration such as '72h'"),
        ({"scope": "all"}, "matching.scope: Invalid enum value 'all'"),
        ({"settings": {}}, "settings: expected stream_dedup.config.Settings, got dict"),
    ],
)
def test_a_wrong_setting_is_told(argument: dict[str, Any], message: str) -> None:
    """A value that is not allowed is refused by the name of its setting."""
    with pytest.raises(SettingsError) as refused:
        Deduplicator(**argument)

    assert str(refused.value).startswith(message)


def test_the_settings_that_can_be_given_by_name_work() -> None:
    """Each argument reaches the setting of its name."""
    with Deduplicator(
        measure="cosine", unit="word", size=1, verify="exact", window="none", scope="other_source"
    ) as dedup:
        dedup.add(id="a", text="one two two", source="x")
        (match,) = dedup.find("two one two", source="y")
        assert (match.similarity, match.error, match.kind) == (1.0, 0.0, "near")
        assert dedup.find("two one two", source="x") == ()


def test_recall_is_told() -> None:
    """What the sample says so far can be asked for."""
    with Deduplicator() as dedup:
        assert str(dedup.recall).startswith("unknown: 0 pairs")


def test_the_package_exports_it_and_imports_nothing_for_that() -> None:
    """`from stream_dedup import Deduplicator` works; the package alone computes nothing yet."""
    program = "import sys, stream_dedup; sys.exit('numpy' in sys.modules)"
    assert Deduplicator is Defined
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    with pytest.raises(ImportError, match="cannot import name 'Deduplicater'"):
        exec("from stream_dedup import Deduplicater")


def test_an_index_that_a_log_feeds_is_refused(tmp_path: Path) -> None:
    """What a program would add is in no log, so that the index could not be made anew."""
    settings = IndexSettings(directory=str(tmp_path / "index"))
    with closing(RocksIndex.open(settings.directory, settings)) as index:
        index.write(Changes({}, {}, {LOG: b""}))

    with pytest.raises(Refused, match="fed from Kafka"):
        Deduplicator(settings.directory)
