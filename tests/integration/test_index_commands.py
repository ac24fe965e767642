"""`stream-dedup index` from outside: what it tells, copies, brings back, makes anew and refuses."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import IO, Any, NamedTuple

import pytest

from stream_dedup.cli import main
from stream_dedup.config import IndexSettings
from stream_dedup.index.columns import decode_buckets
from stream_dedup.index.layout import decode_sighting, position_of_key
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes, Keyspace
from stream_dedup.upkeep.standing import standing
from tests.integration.test_run_files import feed

WINDOW = ["--window", "20m"]
NO_WINDOW = ["--window", "none"]
SEED = 5
FILES = ("input", "output", "stretch")  # entries of meta that tell of these


class Printed(NamedTuple):
    """How a command ended and what it printed."""

    exit_code: int
    out: str
    err: str


Run = Callable[..., Printed]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], alone: None) -> Run:
    """Run commands in this process and an empty directory, with no settings but those given."""

    def call(*arguments: object) -> Printed:
        exit_code = main(list(map(str, arguments)))
        return Printed(exit_code, *capfd.readouterr())

    return call


def started(
    directory: Path, *arguments: str, stdin: IO[bytes] | None = None
) -> "subprocess.Popen[str]":
    """Start a command in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if "STREAM_DEDUP" not in key}
    return subprocess.Popen(
        [sys.executable, "-m", "stream_dedup", *arguments],
        cwd=directory,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def text(seed: int) -> str:
    """Make a text unlike any other."""
    random = Random(seed)
    return " ".join("".join(random.choices("abcdefghijkl", k=6)) for _ in range(40))


def write(name: str, *documents: dict[str, Any]) -> None:
    """Append documents to a file."""
    with open(name, "a", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)


def rows(directory: str | Path = "index") -> dict[str, Any]:
    """Return all that an index holds."""
    with closing(RocksIndex.open(directory, IndexSettings(), mode="view")) as index:
        return {
            **{str(keyspace): dict(index.scan(keyspace)) for keyspace in Keyspace},
            "meta": index.meta(),
        }


def living(directory: str | Path = "index") -> dict[str, Any]:
    """Return what the window has not let go; when the bytes of the rest go depends on batches."""
    there = rows(directory)
    state = standing(there["meta"])
    assert state is not None
    texts = {key: state.group(key, value) for key, value in there["texts"].items()}
    positions = {group.position for group in texts.values() if state.is_living(group.last_seen)}
    held = {key: decode_buckets([value])[0] for key, value in there["buckets"].items()}
    sightings = {key: decode_sighting(value) for key, value in there["ids"].items()}
    found = {key: [at for at in entries if at in positions] for key, entries in held.items()}
    return {
        "texts": {key: group for key, group in texts.items() if group.position in positions},
        "ids": {key: row for key, row in sightings.items() if state.is_living(row.seen)},
        "buckets": {key: entries for key, entries in found.items() if entries},
        "clusters": {
            key: value
            for key, value in there["clusters"].items()
            if position_of_key(key) in positions
        },
        "progress": [state.next_offset, state.log_time.now, state.log_time.horizon, state.tally],
        "files": {name: entry for name, entry in there["meta"].items() if name.split()[0] in FILES},
    }


def forget_a_row(keyspace: Keyspace) -> None:
    """Delete a row behind the back of all others."""
    with closing(RocksIndex.open("index", IndexSettings())) as index:
        key, _ = next(iter(index.scan(keyspace)))
        index.write(Changes({}, {keyspace: [key]}, {}))


def small_index(run: Run, *more: str) -> None:
    """Fill an index with an original, its copies and a near copy, and something else."""
    write(
        "feed.jsonl",
        {"id": "a", "text": text(1), "source": "afp", "published_at": "2026-01-01T00:00:00Z"},
        {"id": "b", "text": text(1), "source": "dpa", "published_at": "2026-01-01T01:00:00Z"},
        {"id": "c", "text": text(1) + " again", "published_at": "2026-01-01T02:00:00Z"},
        {"id": "d", "text": text(2), "published_at": "2026-01-01T03:00:00Z"},
        {"id": "d", "text": text(3), "namespace": "n", "published_at": "2026-01-01T04:00:00Z"},
    )
    assert run("run", "--input", "feed.jsonl", "--emit", "none", *more).exit_code == 0


# stat


def test_stat_tells_what_there_is(run: Run) -> None:
    """Rows, bytes, buckets, window, offset, settings and verdicts, for machines and for people."""
    small_index(run)
    told = json.loads(run("index", "stat", "--exact", "--json").out)
    shown = run("index", "stat")
    there = rows()

    assert told["next_offset"] == 5
    assert {name: size["rows"] for name, size in told["keyspaces"].items()} == {
        str(keyspace): len(there[keyspace]) for keyspace in Keyspace
    }
    assert told["buckets"]["looked_at"] == len(there["buckets"])
    assert told["buckets"]["entries"] == 4 * 21
    assert sum(size["buckets"] for size in told["buckets"]["sizes"]) == len(there["buckets"])
    assert told["window"]["log_time"] == "2026-01-01T04:00:00.000Z"
    assert told["window"]["filled"] == pytest.approx(4 / 72)
    assert told["verdicts"] == {"duplicate": 2, "unique": 3}
    assert told["settings"]["similarity.bands"] == 21
    assert told["settings"]["index.window"] == 72 * 3600
    assert told["bytes_per_document"] == pytest.approx(told["bytes_on_disk"] / 5, abs=0.1)
    assert shown.exit_code == 0
    assert "next offset 5" in shown.out
    assert "duplicate 2, unique 3" in shown.out
    assert shown.err == ""


def test_stat_names_the_price_of_full_buckets(run: Run) -> None:
    """Documents that met full buckets are told, with what that costs in recall at the most."""
    for number in range(12):
        write("feed.jsonl", {"id": f"d{number}", "text": f"{text(1)} {text(100 + number)[:9]}"})
    full = ["--set", "index.bucket_size_max=2", "--set", "similarity.threshold=0.99"]
    bands = ["--set", "similarity.bands=21", "--set", "similarity.rows=6"]
    run("run", "--input", "feed.jsonl", "--emit", "none", *full, *bands)
    told = json.loads(run("index", "stat", "--json").out)
    shown = run("index", "stat").out

    assert told["buckets"]["capped"] > 0
    assert told["crowding"]["documents"] >= 8
    assert 0 < told["crowding"]["recall_price"] < 1
    assert "documents (" in shown
    assert "at most" in shown


def test_stat_says_where_settings_differ(run: Run) -> None:
    """Settings given here that are not those of the index are named."""
    small_index(run)
    told = run("index", "stat", "--set", "similarity.size=9", "--set", "index.window=1h").out

    assert "size: 5 before, 9 now" in told
    assert "index.window: 259200.0 before, 3600.0 now" in told


@pytest.mark.parametrize("command", ["stat", "verify", "compact", "get a", "snapshot s", "rebuild"])
def test_no_index_is_wrong_usage(run: Run, command: str) -> None:
    """Where there is none, nothing is made, and the message says so."""
    done = run("index", *command.split(), "--index", "nowhere")

    assert done.exit_code == 2
    assert "there is no index in nowhere" in done.err
    assert not Path("nowhere").exists()


# get


def test_get_tells_what_is_remembered_of_a_document(run: Run) -> None:
    """The record, the group of identical texts, the cluster with its last members, by their ids."""
    small_index(run)
    told = json.loads(run("index", "get", "b", "--json").out)
    shown = run("index", "get", "b").out

    assert told["record"] == {"topic": "feed.jsonl", "partition": 0, "offset": 1, "position": 0}
    assert (told["group"]["living"], told["group"]["sources"]) == (2, ["afp", "dpa"])
    assert (told["group"]["first"]["id"], told["group"]["latest"]["id"]) == ("a", "b")
    assert told["cluster"] == {"id": "a", "size": 3, "last": ["a", "c"]}
    assert told["expired"] is False
    assert told["view"]["next_offset"] == 5
    assert told["view"]["age_seconds"] >= 0
    assert "a, afp, seen 2026-01-01T00:00:00.000Z" in shown
    assert "a, 3 documents" in shown


def test_get_keeps_namespaces_apart(run: Run) -> None:
    """One id in two namespaces is two documents."""
    small_index(run)
    plain, named = (
        json.loads(run("index", "get", "d", "--json", *more).out)
        for more in ([], ["--namespace", "n"])
    )

    assert (plain["record"]["offset"], named["record"]["offset"]) == (3, 4)


def test_get_of_an_unknown_document_fails(run: Run) -> None:
    """Nothing is printed but that it is not remembered, as of when, and the exit code is 1."""
    small_index(run)
    done = run("index", "get", "x")

    assert (done.exit_code, done.out) == (1, "")
    assert done.err.startswith("error: no document 'x' is remembered (as of log time 2026-01-01")
    assert "next offset 5" in done.err


def test_get_says_what_expired(run: Run) -> None:
    """What lies there still and is out of the window is called expired."""
    small_index(run, "--window", "90m")
    told = json.loads(run("index", "get", "a", "--json").out)

    assert told["expired"] is True
    assert told["group"] is None
    assert "(expired)" in run("index", "get", "a").out


def test_get_prints_a_text_that_is_kept(run: Run) -> None:
    """--text prints the text as it came, and beside it the age of the view; or why it cannot."""
    small_index(run, "--set", "similarity.verify=exact", "--index", "keeping")
    small_index(run)
    printed = run("index", "get", "a", "--text", "--index", "keeping")

    assert printed.out == text(1) + "\n"
    assert printed.err.startswith("as of log time")
    assert run("index", "get", "a", "--text").exit_code == 1


# verify


def test_verify_finds_nothing_in_a_sound_index(run: Run) -> None:
    """After a long feed with expiry, revisions and deletions nothing is wrong."""
    Path("feed.jsonl").write_bytes(feed(SEED, 1500))
    run("run", "--input", "feed.jsonl", "--emit", "none", *WINDOW)
    done = run("index", "verify")

    assert done.exit_code == 0
    assert "no problems" in done.out


@pytest.mark.parametrize("keyspace", [Keyspace.TEXTS, Keyspace.EXACT, Keyspace.IDS])
def test_verify_tells_of_a_row_that_is_missing(run: Run, keyspace: Keyspace) -> None:
    """A missing row is told on standard output, one problem a line, and the exit code is 1."""
    small_index(run)
    forget_a_row(keyspace)
    done = run("index", "verify")

    assert done.exit_code == 1
    assert done.out.count("\n") >= 1
    assert "problems in" in done.err
    assert "index rebuild" in done.err


def test_verify_asks_for_texts_from_when_on_they_are_kept(run: Run) -> None:
    """An index that keeps texts from some day on is sound, until one of them is missing."""
    exact = ("--set", "similarity.verify=exact")
    small_index(run)
    write("more.jsonl", {"id": "e", "text": text(4)}, {"id": "f", "text": text(1)})
    assert run("run", "--input", "more.jsonl", "--emit", "none", *exact).exit_code == 0
    sound = run("index", "verify")
    forget_a_row(Keyspace.ORIGINALS)
    missing = run("index", "verify")

    assert sound.exit_code == 0, sound
    assert (missing.exit_code, missing.out.count("the text is not kept")) == (1, 1)


# compact, snapshot, restore


def test_compact_changes_no_row(run: Run) -> None:
    """It tells the bytes before and after, and all rows are there."""
    Path("feed.jsonl").write_bytes(feed(SEED, 300))
    run("run", "--input", "feed.jsonl", "--emit", "none")
    before = rows()
    done = run("index", "compact")

    assert done.exit_code == 0
    assert "bytes before" in done.out
    assert rows() == before


def test_a_snapshot_comes_back_and_the_run_goes_on_from_it(run: Run) -> None:
    """Restored, index and output are as they were at the snapshot, and end as if undisturbed."""
    lines = feed(SEED, 600).splitlines(keepends=True)
    command = ["run", "--input", "feed.jsonl", "--output", "out.jsonl", *WINDOW]
    Path("feed.jsonl").write_bytes(b"".join(lines[:300]))
    run(*command)
    taken = rows()
    copied = run("index", "snapshot", "taken")
    Path("feed.jsonl").write_bytes(b"".join(lines))
    run(*command)
    ended, output = living(), Path("out.jsonl").read_bytes()
    restored = run("index", "restore", "taken")

    assert (copied.exit_code, restored.exit_code) == (0, 0)
    assert rows("taken") == taken
    assert rows() == taken
    (kept,) = Path("index").glob("before-*")
    assert str(kept) in restored.err
    assert living(kept) == ended
    run(*command)
    assert living() == ended
    assert Path("out.jsonl").read_bytes() == output
    assert run("index", "verify", "--index", "taken").exit_code == 0


def test_a_restored_index_and_its_snapshot_are_two(run: Run) -> None:
    """What is written to the one after it was restored does not change the other."""
    small_index(run)
    run("index", "compact")
    run("index", "snapshot", "taken")
    taken = rows("taken")
    run("index", "restore", "taken", "--discard")
    write("feed.jsonl", {"id": "e", "text": text(9)})
    run("run", "--input", "feed.jsonl", "--emit", "none")
    run("index", "compact")

    assert rows("taken") == taken
    assert rows() != taken
    assert list(Path("index").glob("before-*")) == []


def test_restore_brings_back_a_damaged_or_missing_index(run: Run) -> None:
    """It works where nothing can be opened, and where nothing is."""
    small_index(run)
    run("index", "snapshot", "taken")
    os.unlink("index/CURRENT")
    assert run("index", "stat").exit_code == 3
    assert run("index", "restore", "taken").exit_code == 0
    assert rows() == rows("taken")

    shutil.rmtree("index")
    assert run("index", "restore", "taken").exit_code == 0
    assert rows() == rows("taken")


def test_restore_of_a_snapshot_that_cannot_be_opened_changes_nothing(run: Run) -> None:
    """A snapshot that lacks a file is refused before anything is moved."""
    small_index(run)
    run("index", "compact")
    run("index", "snapshot", "taken")
    before = rows()
    next(Path("taken").glob("*.sst")).unlink()
    done = run("index", "restore", "taken")

    assert done.exit_code == 3
    assert rows() == before
    assert list(Path("index").glob("before-*")) == []


def test_a_snapshot_needs_a_directory_of_its_own(run: Run) -> None:
    """Over something, or into the index itself, none is made."""
    small_index(run)
    Path("there").mkdir()

    assert run("index", "snapshot", "there").exit_code == 2
    assert run("index", "snapshot", "index/inside").exit_code == 2
    assert run("index", "restore", "there").exit_code == 2
    assert run("index", "restore", "index").exit_code == 2


# rebuild


def interleaved(run: Run, *more: str, output: str = "out") -> None:
    """Read two files in turns, some lines of the one, all of the other, the rest of the first."""
    lines = feed(SEED, 900).splitlines(keepends=True)
    Path("one.jsonl").write_bytes(b"".join(lines[:300]))
    Path("two.jsonl").write_bytes(b"".join(lines[300:600]))
    run("run", "--input", "one.jsonl", "--output", f"one.{output}", *more)
    run("run", "--input", "two.jsonl", "--output", f"two.{output}", *more)
    with open("one.jsonl", "ab") as file:
        file.writelines(lines[600:])
    run("run", "--input", "one.jsonl", "--output", f"one.{output}", *more)


def test_an_index_made_anew_under_the_same_settings_is_the_same(run: Run) -> None:
    """Files are read again in the order and the pieces in which they were, to the last byte."""
    interleaved(run, *WINDOW)
    before = living()
    done = run("index", "rebuild", "--set", "index.window=20m")

    assert done.exit_code == 0, done.err
    assert living() == before
    assert living(next(Path("index").glob("before-*"))) == before


def test_an_index_made_anew_under_other_settings_is_as_if_always_under_them(run: Run) -> None:
    """All rows are those of a run under the new settings, and runs go on behind what was read."""
    nine = ["--set", "similarity.size=9", *WINDOW]
    interleaved(run, *WINDOW)
    assert run("run", "--input", "one.jsonl", "--output", "one.out", *nine).exit_code == 3
    told = [Path(name).read_bytes() for name in ("one.out", "two.out")]
    window = ["--set", "index.window=20m"]
    assert run("index", "rebuild", "--discard", *nine[:2], *window).exit_code == 0
    assert [Path(name).read_bytes() for name in ("one.out", "two.out")] == told
    again = run("run", "--input", "one.jsonl", "--output", "one.out", *nine)
    assert again.exit_code == 0, again.err
    assert Path("one.out").read_bytes() == told[0]

    interleaved(run, *nine, "--index", "always", output="always")
    there, expected = living(), living("always")
    for name in there.keys() - {"files"}:
        assert there[name] == expected[name]


def test_lines_that_came_later_are_left_for_the_next_run(run: Run) -> None:
    """A file that has grown is read as far as it was."""
    small_index(run)
    before = rows()
    write("feed.jsonl", {"id": "z", "text": text(7)})

    assert run("index", "rebuild").exit_code == 0
    assert rows() == before
    run("run", "--input", "feed.jsonl", "--emit", "none")
    assert run("index", "get", "z").exit_code == 0


def change(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"a"', b'"A"'))


@pytest.mark.parametrize("end", [Path.unlink, change, lambda path: path.write_bytes(b"")])
def test_files_that_are_not_what_was_read_are_refused(
    run: Run, end: Callable[[Path], object]
) -> None:
    """Gone, changed or cut, an input is named, and so is the way out; the index stays."""
    small_index(run)
    before = rows()
    end(Path("feed.jsonl"))
    done = run("index", "rebuild")

    assert done.exit_code == 3
    assert "feed.jsonl" in done.err
    assert "--input" in done.err
    assert rows() == before
    assert not Path("index/being-made").exists()


def test_what_came_through_a_pipe_is_refused(run: Run) -> None:
    """A pipe is gone; files that hold the same are taken if they are named."""
    small_index(run)
    shutil.rmtree("index")
    with (
        open("feed.jsonl", "rb") as file,
        subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as pipe,
    ):
        fed = started(Path.cwd(), "run", "--input", "-", "--emit", "none", stdin=pipe.stdout)
        assert fed.communicate(timeout=60) == ("", "")
    done = run("index", "rebuild")

    assert done.exit_code == 3
    assert "pipe" in done.err
    assert run("index", "rebuild", "--input", "feed.jsonl").exit_code == 0
    assert run("index", "get", "a").exit_code == 0


def test_a_damaged_index_is_made_anew_from_files_that_are_named(run: Run) -> None:
    """It cannot say what it was made from, so it is refused until somebody does."""
    small_index(run)
    before = rows()
    for path in Path("index").glob("MANIFEST-*"):
        path.write_bytes(b"damaged")
    refused = run("index", "rebuild")
    done = run("index", "rebuild", "--input", "feed.jsonl")

    assert refused.exit_code == 3
    assert "--input" in refused.err
    assert done.exit_code == 0, done.err
    there = rows()
    for keyspace in Keyspace:
        assert there[keyspace] == before[keyspace]


def test_a_feed_of_no_documents_is_refused(run: Run) -> None:
    """Settings that reject everything do not leave an empty index in the place of a full one."""
    for number in range(6000):
        write("feed.jsonl", {"id": f"d{number}", "text": f"text {number}"})
    run("run", "--input", "feed.jsonl", "--emit", "none")
    before = rows()
    done = run("index", "rebuild", "--set", "events.text_fields=body")

    assert done.exit_code == 3
    assert rows() == before


# beside a running service, and killed


def wait_for(process: "subprocess.Popen[str]", ready: Callable[[], bool]) -> None:
    """Wait until something is there, while the process runs."""
    while not ready() and process.poll() is None:
        try:
            process.wait(0.01)
        except subprocess.TimeoutExpired:
            continue


def test_looking_works_beside_a_running_service_and_the_rest_is_refused(
    run: Run, tmp_path: Path
) -> None:
    """stat, get and verify say how old their view is; all that needs the index alone says so."""
    small_index(run)
    run("index", "snapshot", "taken")
    Path("live.jsonl").write_bytes(feed(SEED, 3000))
    live = ["run", "--input", "live.jsonl", "--output", "live.out", "--follow", *NO_WINDOW]
    with started(tmp_path, *live, "--set", "kafka.batch_size_max=25") as service:
        wait_for(service, lambda: Path("live.out").exists() and os.stat("live.out").st_size > 1000)
        looked = [run("index", *words) for words in (["stat"], ["get", "a"], ["verify"])]
        refused = [
            run("index", *words)
            for words in (["compact"], ["snapshot", "s"], ["restore", "taken"], ["rebuild"])
        ]
        service.terminate()
        assert service.wait(60) == 0

    assert [done.exit_code for done in looked] == [0, 0, 0], looked
    assert all("as of log time" in done.out and "ago" in done.out for done in looked)
    assert [done.exit_code for done in refused] == [3, 3, 3, 3]
    assert all("open in another process" in done.err for done in refused)
    assert run("index", "verify").exit_code == 0


@pytest.mark.parametrize("words", [["restore", "taken"], ["rebuild"]])
def test_a_killed_replacement_leaves_the_old_index_or_the_new(
    run: Run, tmp_path: Path, words: list[str]
) -> None:
    """Killed at moments all over the command, what can be opened is whole; then it goes through."""
    random = Random(SEED)
    Path("feed.jsonl").write_bytes(feed(SEED, 2000))
    run("run", "--input", "feed.jsonl", "--emit", "none", *WINDOW)
    run("index", "snapshot", "taken")
    before = living()
    command = ["index", *words, "--set", "index.window=20m"]
    for _ in range(5):
        with started(tmp_path, *command) as process:
            wait_for(process, Path("index/being-made").exists)
            try:
                process.wait(random.uniform(0, 0.6))
            except subprocess.TimeoutExpired:
                process.kill()
        if Path("index/CURRENT").exists():
            assert living() == before
        else:
            assert run("index", "stat").exit_code == 3
    assert run(*command).exit_code == 0

    assert living() == before
    assert not any(Path("index", name).exists() for name in ("being-made", "set-aside"))


def test_an_interrupted_rebuild_leaves_the_old_index(run: Run, tmp_path: Path) -> None:
    """Ctrl-C ends with 130, and nothing of the new index is left."""
    Path("feed.jsonl").write_bytes(feed(SEED, 4000))
    run("run", "--input", "feed.jsonl", "--emit", "none", *WINDOW)
    before = rows()
    with started(tmp_path, "index", "rebuild", "--set", "kafka.batch_size_max=5") as process:
        wait_for(process, Path("index/being-made/CURRENT").exists)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)

    assert process.returncode == 130
    assert rows() == before
    assert [path for path in Path("index").iterdir() if path.is_dir()] == []


def test_an_input_without_lines_is_no_reason_to_refuse_the_next(run: Run) -> None:
    """An index to which only outputs are known is one to begin with."""
    Path("feed.jsonl").touch()
    command = ["run", "--input", "feed.jsonl", "--output", "out.jsonl"]

    assert [run(*command).exit_code for _ in range(2)] == [0, 0]
    assert run("index", "stat").exit_code == 2
