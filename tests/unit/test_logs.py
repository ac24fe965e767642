import json
import logging
import math
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.config import KafkaSettings, LogSettings
from stream_dedup.logs import (
    HIDDEN,
    LIBRDKAFKA,
    LINES_MAX,
    Event,
    Lines,
    as_json,
    as_text,
    begin,
    fields,
)
from tests.strategies import texts

SERVICE = "stream_dedup.kafka.service"
SECRET = "hunter2"
OWN_NAMES = {"time", "level", "logger", "message"}
QUOTED_OR_WORD = r'("(?:[^"\\]|\\.)*"|[^ ="]+)'
WORDS = re.compile(rf" {QUOTED_OR_WORD}={QUOTED_OR_WORD}")


@pytest.fixture(autouse=True)
def own_logging() -> Iterator[None]:
    """Leave logging as it was."""
    root = logging.getLogger()
    handlers, levels = root.handlers[:], {}
    for name in ("stream_dedup", LIBRDKAFKA):
        levels[name] = logging.getLogger(name).level
    yield
    root.handlers[:] = handlers
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def record(message: str, *args: object, name: str = SERVICE, **values: object) -> logging.LogRecord:
    """Make what a logger hands on; its time is the first second of 1970."""
    made = logging.LogRecord(name, logging.WARNING, "", 0, message, args, None)
    made.created = 1.0
    made.__dict__.update(fields(**values))
    return made


def read_text(line: str) -> tuple[str, str, str, dict[str, str]]:
    """Read a line for people as a person would: time, level, message, and what has an `=`."""
    moment, level, rest = line.split(" ", 2)
    message = re.match(r'"(?:[^"\\]|\\.)*"|[^"=]*?(?= (?:"(?:[^"\\]|\\.)*"|[^ ="]+)=|$)', rest)
    assert message is not None
    pairs = WORDS.findall(rest[message.end() :])
    assert "".join(f" {name}={value}" for name, value in pairs) == rest[message.end() :]
    return moment, level, word(message[0]), {word(name): word(value) for name, value in pairs}


def word(written: str) -> str:
    """Undo quotes."""
    return str(json.loads(written)) if written.startswith('"') else written


def lines_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return what was logged since the last call; nothing goes to standard output."""
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_is_time_level_message_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    """People read one line an event, its fields as name=value behind the message."""
    handler = Lines("text")
    handler.handle(
        record("restored", partition=0, directory=Path("/a b"), tail=None, parts=[1, 2], warm=True)
    )

    assert lines_of(capsys) == [
        "1970-01-01T00:00:01.000Z warning restored "
        'partition=0 directory="/a b" tail=null parts=1,2 warm=true'
    ]


def test_a_collector_reads_json(capsys: pytest.CaptureFixture[str]) -> None:
    """With format "json" a line is an object, the fields beside time, level, logger and message."""
    Lines("json").handle(record("lag of %d bytes", 5, window=math.inf, level=3, topics={"a": 1.5}))
    (line,) = lines_of(capsys)

    assert json.loads(line) == {
        "time": "1970-01-01T00:00:01.000Z",
        "level": "warning",
        "logger": SERVICE,
        "message": "lag of 5 bytes",
        "window": "inf",
        "level_": 3,
        "topics": {"a": 1.5},
    }


@given(texts(), st.dictionaries(texts(), texts(), max_size=3))
def test_any_text_stays_on_its_line_and_is_read_back(message: str, values: dict[str, str]) -> None:
    """Spaces, quotes, `=`, line breaks and broken Unicode are quoted, in either form."""
    shown = {name: value for name, value in values.items() if name not in OWN_NAMES}
    line = as_text(0.0, Event("info", "a", message, shown))
    written = as_json(0.0, Event("info", "a", message, shown))

    assert line.isprintable()
    assert read_text(line) == ("1970-01-01T00:00:00.000Z", "info", message, shown)
    assert written.isascii()
    assert written.isprintable()
    assert json.loads(written) == {
        **{"time": "1970-01-01T00:00:00.000Z", "level": "info", "logger": "a"},
        **{"message": message} | shown,
    }


@pytest.mark.parametrize(
    ("message", "value", "line"),
    [
        ("follows the log", "日本-1", "follows the log a=日本-1"),
        ("kept", "", 'kept a=""'),
        ("kept", "日本 1", 'kept a="日本 1"'),
        ("kept", "b=1", 'kept a="b=1"'),
        ("b=1", "x", '"b=1" a=x'),
        ("kept", 'say "x"', 'kept a="say \\"x\\""'),
        ("two\nlines", "\u2028", '"two\\nlines" a="\\u2028"'),
    ],
)
def test_quotes_stand_where_they_are_needed(message: str, value: str, line: str) -> None:
    """Plain words of any script are easy to read and to search; others cannot be misread."""
    assert as_text(0.0, Event("info", "", message, {"a": value})).partition(" info ")[2] == line


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "name",
    [
        *("password", "sasl.password", "sasl.username", "ssl.key.password", "ssl_key_pem"),
        *("sasl.oauthbearer.client.secret", "TOKEN", "token_file", "api_key", "Authorization"),
        *("STREAM_DEDUP_KAFKA__CLIENT__SASL__PASSWORD", "ssl.keystore.password", "ssl.key.pem"),
    ],
)
def test_a_secret_is_never_told(name: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is called a secret is hidden: as a field, within settings, and among arguments."""
    handler, settings = Lines(form), KafkaSettings(client={name: SECRET, "linger.ms": 5})
    handler.handle(record("one", **{name: SECRET}))
    handler.handle(record("two", client=settings.client))
    handler.handle(record("three", kafka=settings, listed=[{name: SECRET}]))
    handler.handle(record("four %s", settings))
    handler.handle(record("five %s %s", settings.client, "x"))
    handler.handle(record("six %s", {name: {"deep": SECRET}}))
    handler.handle(record("seven %s %s", [settings.client]))  # one argument too few
    told = lines_of(capsys)

    assert len(told) == 7
    assert SECRET not in "".join(told)
    assert all(HIDDEN in line for line in told)
    assert "linger.ms" in told[1]


@pytest.mark.parametrize("name", ["key", "passage", "author", "id", "compression.type"])
def test_what_is_no_secret_is_told(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that only resemble one are not hidden."""
    Lines("text").handle(record("one", **{name: "shown"}))

    assert f"{name}=shown" in lines_of(capsys)[0]


def test_a_flood_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """A line that repeats is told once in ten seconds, then once with how often it came again."""
    clock = Clock()
    handler = Lines("text", clock)
    for second in range(25):
        clock.now = float(second)
        for _ in range(4):
            handler.handle(record("broker is away", broker=1))
    told = [read_text(line) for line in lines_of(capsys)]

    assert [(message, values) for _, _, message, values in told] == [
        ("broker is away", {"broker": "1"}),
        ("broker is away", {"broker": "1", "repeated": "39"}),
        ("broker is away", {"broker": "1", "repeated": "40"}),
    ]


def test_a_flood_that_is_over_is_told_before_the_next_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A count is not kept to itself for ever, and after its time a line is new again."""
    clock = Clock()
    handler = Lines("json", clock)
    for _ in range(3):
        handler.handle(record("away"))
    clock.now = 10.0
    handler.handle(record("back"))
    clock.now = 20.0
    handler.handle(record("away"))
    told = [json.loads(line) for line in lines_of(capsys)]

    assert [(line["message"], line.get("repeated")) for line in told] == [
        ("away", None),
        ("away", 2),
        ("back", None),
        ("away", None),
    ]


def test_what_is_held_back_is_told_at_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    """When logging ends, each count is told, once, with the time of its last occurrence."""
    handler = Lines("text", Clock())
    for _ in range(3):
        handler.handle(record("away"))
    handler.close()
    handler.close()

    assert lines_of(capsys)[1:] == ["1970-01-01T00:00:01.000Z warning away repeated=2"]


def test_other_fields_make_another_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Only the same message with the same fields repeats itself."""
    handler = Lines("text", Clock())
    handler.handle(record("assigned", partition=0))
    handler.handle(record("assigned", partition=1))
    handler.handle(record("assigned"))

    assert len(lines_of(capsys)) == 3


def test_a_flood_of_different_lines_is_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    """What is remembered is bounded; beyond it the earliest counts are told early."""
    handler = Lines("text", Clock())
    handler.handle(record("first"))
    handler.handle(record("first"))
    for number in range(LINES_MAX):
        handler.handle(record("line", number=number))
    assert "first repeated=1" not in "".join(lines_of(capsys))
    handler.handle(record("last"))

    assert [line.split(" ", 2)[2] for line in lines_of(capsys)] == ["first repeated=1", "last"]


def test_the_service_logs_at_its_level(capsys: pytest.CaptureFixture[str]) -> None:
    """From `begin` on, what is at the level or above is told on stderr, under its own time."""
    begin(LogSettings())
    capsys.readouterr()  # what the one before it, of another test, still had to tell
    logger = logging.getLogger(SERVICE)
    logger.debug("not told")
    logger.info("assigned", extra=fields(partition=3))
    logging.getLogger("another.library").info("not told")
    logging.getLogger("another.library").warning("told")
    moment, level, message, values = read_text(lines_of(capsys)[0])

    assert datetime.fromisoformat(moment).tzinfo is not None
    assert (level, message, values) == ("info", "assigned", {"partition": "3"})


def test_a_second_call_takes_the_place_of_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings that are given twice do not make every line come twice."""
    begin(LogSettings())
    capsys.readouterr()
    for _ in range(3):
        logging.getLogger(SERVICE).warning("before")
    begin(LogSettings(level="error", format="json"))
    logging.getLogger(SERVICE).warning("not told")
    logging.getLogger(SERVICE).error("told")
    first, second, line = lines_of(capsys)

    assert first.endswith("warning before")
    assert second.endswith("warning before repeated=2")
    assert json.loads(line)["message"] == "told"


@pytest.mark.parametrize(
    ("level", "told"),
    [("debug", ["warning", "error"]), ("info", ["warning", "error"]), ("error", ["error"])],
)
def test_the_client_library_tells_of_trouble_only(
    level: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """librdkafka's lines pass from warning on, in the same form, and from error on if asked."""
    begin(LogSettings(level=level))  # type: ignore[arg-type]
    logger = logging.getLogger(LIBRDKAFKA)
    for name in ("debug", "info", "warning", "error"):
        logger.log(logging.getLevelNamesMapping()[name.upper()], "%s [%s]", "FAIL", name)

    assert [read_text(line)[1] for line in lines_of(capsys)] == told


def test_a_traceback_stays_on_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    """An exception is a field of its event."""
    begin(LogSettings())
    try:
        raise KeyError("lost")
    except KeyError:
        logging.getLogger(SERVICE).exception("stopped")
    (line,) = lines_of(capsys)

    assert read_text(line)[3]["traceback"].endswith("KeyError: 'lost'")


def test_a_wrong_line_is_told_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments that do not fit the message, and fields of another library, stop nothing."""
    wrong = record("%d documents", "many")
    wrong.__dict__["fields"] = 5
    Lines("text").handle(wrong)

    assert lines_of(capsys)[0].endswith("warning %d documents ('many',)")


def test_a_stream_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where stderr is closed or missing, the service goes on without a word."""
    handler = Lines("text")
    full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115  # closing it fails too
    monkeypatch.setattr(sys, "stderr", full)
    handler.handle(record("to a full disk"))
    with pytest.raises(OSError, match="No space"):
        full.close()
    handler.handle(record("to a closed file"))
    monkeypatch.setattr(sys, "stderr", None)
    handler.handle(record("to nowhere"))
