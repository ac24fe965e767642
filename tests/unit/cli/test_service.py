"""`stream-dedup run` without --input, where no broker is needed to know better."""

from pathlib import Path

import pytest

from stream_dedup.checkpoint import LOG
from stream_dedup.cli import main
from stream_dedup.config import IndexSettings
from stream_dedup.index.rocksdb import RocksIndex
from stream_dedup.interfaces import Changes

pytestmark = pytest.mark.usefixtures("alone")

NOWHERE = ("--set", "kafka.bootstrap_servers=127.0.0.1:1")
FEED = '{"id": "a", "text": "The harbour was closed on Monday."}\n'


def attempt(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run the command; return its exit code and what it said."""
    code = main(["run", *arguments])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


@pytest.mark.parametrize(
    "arguments", [["--output", "out"], ["--rejected", "out"], ["--follow"], ["--output", "-"]]
)
def test_options_of_files_need_an_input(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """Whoever names an output has forgotten the input; no service is started instead."""
    code, said = attempt(capsys, *arguments, *NOWHERE)

    assert code == 2
    assert said.startswith("error: name the input: stream-dedup run --input FILE")
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("no.such.property=1", 'kafka.client: No such configuration property: "no.such.property"'),
        ("security.protocol=carrier", 'kafka.client: Invalid value "carrier"'),
        ("fetch.min.bytes=many", 'kafka.client: Invalid value for configuration property "fetch'),
        ("isolation.level=read_uncommitted", "kafka.client: isolation.level cannot be chosen"),
    ],
)
def test_what_librdkafka_does_not_know_is_a_wrong_setting(
    capsys: pytest.CaptureFixture[str], setting: str, message: str
) -> None:
    """A property that is misspelt, or that is not the user's, is named before any work."""
    code, said = attempt(capsys, *NOWHERE, "--set", f"kafka.client.{setting}")

    assert code == 2
    assert message in said


def test_an_index_fed_from_files_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """What came from files stands in no log: the service wants an index of its own."""
    Path("feed").write_text(FEED)
    assert main(["run", "--input", "feed", "--emit", "none"]) == 0
    capsys.readouterr()
    code, said = attempt(capsys, *NOWHERE)

    assert code == 3
    assert said.startswith("error: the index in ./index was fed from files")
    assert "--index DIR" in said


def test_an_index_fed_from_kafka_takes_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    """A file would add what the log does not have; nothing is changed, no output is made."""
    with_log = {LOG: b"what the service wrote there"}
    index = RocksIndex.open("index", IndexSettings())
    index.write(Changes({}, {}, with_log))
    index.close()
    Path("feed").write_text(FEED)
    code, said = attempt(capsys, "--input", "feed", "--output", "out", "--index", "index")

    assert code == 3
    assert said.startswith("error: the index in index is fed from Kafka")
    assert not Path("out").exists()
    index = RocksIndex.open("index", IndexSettings())
    assert dict(index.meta()) == with_log
    index.close()
