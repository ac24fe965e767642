import re
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from stream_dedup.config import Settings
from stream_dedup.errors import SettingsError
from stream_dedup.overrides import KINDS, Given, load
from stream_dedup.similarity.plan import plan_bands

FOLDER = Path(__file__).parents[2] / "config"
REFERENCE = "stream-dedup.toml"
PROFILES = sorted(path.name for path in FOLDER.glob("*.toml") if path.name != REFERENCE)
TEXT = (FOLDER / REFERENCE).read_text(encoding="utf-8")

# A setting that is commented out has no space behind its `#`; words have one.
SETTING = re.compile(r"^#(\w+ = .+?)  # (.+)$", re.MULTILINE)
HOST_NAME = "kafka.instance"  # differs from host to host


class Line(NamedTuple):
    """A line of the reference file: `#threshold = 0.8  # a number above 0 to 1`."""

    key: str
    assignment: str
    allowed: str


def lines(text: str) -> list[Line]:
    """Return the settings of a file, each with its section."""
    section, found = "", []
    for line in text.splitlines():
        if header := re.fullmatch(r"\[(.+)\]", line):
            section = header[1]
        elif setting := SETTING.fullmatch(line):
            name = setting[1].partition(" = ")[0]
            found.append(Line(f"{section}.{name}", setting[1], setting[2]))
    return found


def value_of(settings: msgspec.Struct, key: str) -> object:
    """Look a dotted key up."""
    value: object = settings
    for name in key.split("."):
        value = getattr(value, name)
    return value


def load_text(folder: Path, text: str) -> Settings:
    """Load a settings file that holds `text`, and nothing from the environment."""
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, {}).settings


def load_uncommented(folder: Path, text: str) -> Settings:
    """Load the file with every setting switched on."""
    return load_text(folder, SETTING.sub(r"\1", text))


def refusal(key: str, value: object) -> str:
    """Return what the loader says must be given instead of `value`; nothing if it is taken."""
    try:
        load(None, {}, options=[Given(key, value, "test")])
    except SettingsError as error:
        return str(error).partition(": must be ")[2]
    return ""


def lines_that_are_no_settings(text: str) -> list[str]:
    """Find what stands outside of comments and headers, and looks of settings not seen as such."""
    rest = SETTING.sub("", text)
    return [line for line in rest.splitlines() if line and not re.match(r"#$|# |\[", line)]


def other_values(text: str, folder: Path) -> set[str]:
    """Name the settings whose value in the file is not the default of the code."""
    expected = {key: value_of(Settings(), key) for key in KINDS}
    plan = plan_bands(Settings().similarity.threshold, Settings().similarity.recall, 128)
    expected |= {"similarity.bands": plan.bands, "similarity.rows": plan.rows}
    expected[HOST_NAME] = "host-name"
    loaded = load_uncommented(folder, text)
    return {key for key in KINDS if value_of(loaded, key) != expected[key]}


def other_words(text: str) -> set[str]:
    """Name the settings behind which other words stand than the loader says of a wrong value."""
    said = {key: refusal(key, {}).partition(", that matches")[0] for key in KINDS}
    return {line.key for line in lines(text) if line.allowed != said[line.key]}


def wrong_bounds(text: str) -> set[str]:
    """Name the settings that take a number outside of what the file says, or refuse one inside."""
    wrong = set()
    for line in lines(text):
        whole = "whole" in line.allowed
        for word, number in re.findall(r"\b(from|above|to|below) (\d+)", line.allowed):
            bound = int(number) if whole else float(number)
            step = (1 if whole else 1e-9) * (1 if word in {"to", "below"} else -1)
            trials = {bound: word in {"from", "to"}, bound - step: True, bound + step: False}
            for value, is_allowed in trials.items():
                given = [value] if "list" in line.allowed else value
                if (refusal(line.key, given) == "") is not is_allowed:
                    wrong.add(line.key)
    return wrong


def without_reason(text: str) -> list[str]:
    """Find settings above which, or above a run of them, no words stand."""
    shown = text.splitlines()
    found = []
    for above, line in pairwise(["", *shown]):
        is_setting = SETTING.fullmatch(line) or re.match(r"\w+ = ", line)
        if is_setting and not (above.startswith("# ") or SETTING.fullmatch(above)):
            found.append(line)
    return found


def test_the_reference_file_changes_nothing() -> None:
    """Loaded as it is, the reference file gives exactly the defaults."""
    loaded = load(FOLDER / REFERENCE, {})

    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}


def test_the_reference_file_names_every_setting_once() -> None:
    """Every setting of the code is in the reference file exactly once, and nothing else is."""
    assert sorted(line.key for line in lines(TEXT)) == sorted(KINDS)
    assert lines_that_are_no_settings(TEXT) == []
    assert without_reason(TEXT) == []


def test_the_reference_file_shows_the_defaults(tmp_path: Path) -> None:
    """With every setting switched on, the reference file is accepted and gives the defaults.

    Two have none of their own: bands and rows are those that the defaults lead to.
    """
    assert other_values(TEXT, tmp_path) == set()


def test_the_reference_file_tells_what_is_allowed() -> None:
    """What a setting may be is said in the words of the error; bounds hold to the number."""
    assert other_words(TEXT) == set()
    assert wrong_bounds(TEXT) == set()
    assert {"similarity.threshold", "http.port"} <= {
        line.key for line in lines(TEXT) if re.search(r" to \d", line.allowed)
    }


def test_every_section_has_a_header() -> None:
    """A section that is looked for is found, even one without settings of its own."""
    headers = set(re.findall(r"^\[(.+)\]$", TEXT, re.MULTILINE))

    assert headers == {key.rpartition(".")[0] for key in KINDS} | {"kafka.client"}


def test_a_missing_or_doubled_setting_is_noticed() -> None:
    """The check of names fails on a file that lacks a setting, has one twice or makes one up."""
    line = "#threshold = 0.8  # a number above 0 to 1\n"
    assert line in TEXT
    for replacement in ("", line * 2, line + line.replace("threshold", "treshold")):
        names = sorted(found.key for found in lines(TEXT.replace(line, replacement)))
        assert names != sorted(KINDS)


@pytest.mark.parametrize("line", ["threshold = 0.8", "#threshold = 0.8", "#treshold=1"])
def test_a_line_of_another_form_is_noticed(line: str) -> None:
    """A setting that is switched on, or lacks what is allowed, is no line of the reference file."""
    assert lines_that_are_no_settings(f"{TEXT}\n{line}\n") == [line]


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("similarity.threshold", "threshold = 0.8 ", "threshold = 0.7 "),
        ("similarity.bands", "bands = 21 ", "bands = 20 "),
        ("index.window", '"72h" ', '"71h" '),
        ("kafka.instance", "host-name", "host"),
        ("kafka.lag_bytes_max", '"256 MB"', '"256 MiB"'),
    ],
)
def test_another_default_is_noticed(key: str, right: str, wrong: str, tmp_path: Path) -> None:
    """The check of defaults fails on any other value, quantities included."""
    assert TEXT.count(right) == 1
    assert other_values(TEXT.replace(right, wrong), tmp_path) == {key}


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("similarity.size", "from 1 to 1000", "from 1 to 1001"),
        ("http.port", "from 0 to 65535", "from 1 to 65535"),
        ("similarity.recall", "above 0 below 1", "above 0 to 1"),
        ("matching.skip_positions", "each a whole number from 0", "each a whole number from 1"),
    ],
)
def test_a_bound_that_lies_is_noticed(key: str, right: str, wrong: str) -> None:
    """The checks of words and of bounds each fail on a bound that does not hold."""
    assert TEXT.count(right) == 1
    lie = TEXT.replace(right, wrong)
    assert other_words(lie) == {key}
    assert wrong_bounds(lie) == {key}


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_accepted(name: str) -> None:
    """A profile is loaded without a word, and every line of it has its reason."""
    loaded = load(FOLDER / name, {})

    assert str(FOLDER / name) in loaded.origins.values()
    assert without_reason((FOLDER / name).read_text(encoding="utf-8")) == []


def test_a_line_without_reason_is_noticed() -> None:
    """The check of reasons fails on a line above which nothing stands."""
    bare = "[index]\nwindow = '1h'\n# words\ndirectory = 'a'\nwindow_by = 'arrival'\n"

    assert without_reason(bare) == ["window = '1h'", "window_by = 'arrival'"]
    assert without_reason("[index]\n\n#window = '1h'  # a time\n") != []


def test_the_profiles_do_what_they_are_for() -> None:
    """News tells of matches between outlets; a pipeline routes documents and tells of none."""
    news, pipeline = (load(FOLDER / name, {}).settings for name in ("news.toml", "pipeline.toml"))

    assert PROFILES == ["news.toml", "pipeline.toml"]
    assert (news.events.emit, news.matching.scope) == ("matches", "other_source")
    assert news.index.window == 72 * 3600.0
    assert pipeline.events.emit == "none"
    assert pipeline.kafka.topics.unique
    assert pipeline.kafka.topics.duplicates
    assert pipeline.index.window > news.index.window


def test_the_profiles_may_run_side_by_side() -> None:
    """Two profiles on one cluster share no application and no topic."""
    kafka = [load(FOLDER / name, {}).settings.kafka for name in PROFILES]
    topics = [name for one in kafka for name in msgspec.structs.astuple(one.topics) if name]

    assert len({one.application for one in kafka}) == len(kafka)
    assert len(set(topics)) == len(topics)
