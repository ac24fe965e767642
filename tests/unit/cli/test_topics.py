"""`stream-dedup topics plan`: what it prints, without any broker."""

import pytest

from stream_dedup.cli import main

pytestmark = pytest.mark.usefixtures("alone")


def _rows(printed: str) -> dict[str, dict[str, str]]:
    """Read the table back: the settings of each topic."""
    rows: dict[str, dict[str, str]] = {}
    name = ""
    for line in printed.partition("\n\n")[0].splitlines()[1:]:
        if line[0] != " ":
            name, partitions = line.split()[:2]
            rows[name] = {"partitions": partitions}
        else:
            setting, value = line.split()[:2]
            rows[name][setting] = value
    return rows


def _plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["topics", "plan", *arguments]) == 0
    return capsys.readouterr().out


def test_the_plan_lists_topics_settings_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    """Each topic is there with all its settings, each with a reason, in plain columns."""
    printed = _plan(capsys)

    rows = _rows(printed)
    assert list(rows) == ["documents", "signatures", "matches", "rejected"]
    assert rows["signatures"] == {
        "partitions": "1",
        "message.timestamp.type": "LogAppendTime",
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "max.message.bytes": "1048588",
    }
    settings = [line for line in printed.splitlines() if line.startswith("   ")]
    assert len(settings) == 8
    reason = printed.index("reason")
    assert all(len(line) > reason and line[reason - 1] == " " != line[reason] for line in settings)
    assert "\x1b" not in printed
    assert all(line == line.rstrip() for line in printed.splitlines())


def test_topics_that_carry_originals_hold_the_largest(capsys: pytest.CaptureFixture[str]) -> None:
    """A document of events.document_bytes_max fits wherever it may go, with room for the rest."""
    texts = _rows(_plan(capsys, "--set", "similarity.verify=exact"))
    routes = _rows(_plan(capsys, "--set", "kafka.topics.unique=fresh"))
    both = _rows(
        _plan(capsys, "--set", "kafka.topics.duplicates=again", "--set", "similarity.verify=exact")
    )
    small = _rows(_plan(capsys, "--set", "events.document_bytes_max=2 MB"))

    size = "max.message.bytes"
    assert [texts["signatures"][size], texts["rejected"][size]] == ["11048588", "11048588"]
    assert [routes["signatures"][size], routes["fresh"][size]] == ["11048588", "11048588"]
    assert [both["signatures"][size], both["again"][size]] == ["21048588", "11048588"]
    assert [small["rejected"][size], small["documents"][size]] == ["3048588", "3048588"]


def test_the_plan_tells_what_a_document_costs(capsys: pytest.CaptureFixture[str]) -> None:
    """The bytes of signature and band keys follow the settings; texts that travel are told of."""
    alone = " ".join(_plan(capsys).split())
    shorter = " ".join(
        _plan(
            capsys,
            *("--set", "similarity.hashes=64", "--set", "similarity.bands=8"),
            *("--set", "similarity.rows=8", "--set", "kafka.topics.unique=fresh"),
        ).split()
    )

    assert "signature 256, band keys 105, " in alone
    assert "It holds no texts; similarity.verify = exact adds each text" in alone
    assert "signature 128, band keys 40, " in shorter
    assert "To this comes each document, compressed" in shorter


def test_commands_for_administrators(capsys: pytest.CaptureFixture[str]) -> None:
    """--commands prints one command of Kafka for each topic, and nothing else."""
    lines = _plan(capsys, "--commands", "--bootstrap-servers", "kafka:9092").splitlines()

    make = "kafka-topics.sh --bootstrap-server kafka:9092 --create --topic"
    assert [line.split()[5] for line in lines] == ["documents", "signatures", "matches", "rejected"]
    assert lines[1] == (
        f"{make} signatures --partitions 1 --config message.timestamp.type=LogAppendTime "
        "--config cleanup.policy=delete --config retention.ms=-1 --config retention.bytes=-1 "
        "--config max.message.bytes=1048588"
    )
    assert all(line.startswith(make) for line in lines)


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    """The group and each of its commands say what they do, with an example."""
    for command in ([], ["plan"], ["create"], ["check"]):
        assert main(["topics", *command, "--help"]) == 0
        assert "stream-dedup topics " in capsys.readouterr().out.partition("Example")[2]
