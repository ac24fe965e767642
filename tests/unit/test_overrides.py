import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.config import Settings
from stream_dedup.errors import SettingsError
from stream_dedup.overrides import KINDS, Given, Loaded, load


def from_file(tmp_path: Path, text: str) -> Loaded:
    path = tmp_path / "stream_dedup.toml"
    path.write_text(text, encoding="utf-8")
    return load(path, {})


def test_without_any_source_the_defaults_hold() -> None:
    """No file, no environment, no override: the defaults, and each says so."""
    loaded = load(None, {})

    assert loaded.settings == Settings()
    assert dict(loaded.origins) == dict.fromkeys(KINDS, "default")


def test_the_later_source_wins(tmp_path: Path) -> None:
    """Defaults yield to the file, the file to the environment, that to --set, that to options."""
    path = tmp_path / "a.toml"
    path.write_text(
        "[similarity]\nthreshold = 0.1\nrecall = 0.1\nsize = 2\nseed = 1\n", encoding="utf-8"
    )
    environ = {f"STREAM_DEDUP_SIMILARITY__{name}": "3" for name in ("SIZE", "SEED")}
    environ["STREAM_DEDUP_SIMILARITY__RECALL"] = "0.3"
    settings, origins = load(
        path,
        environ,
        ["similarity.size=4", "similarity.seed=4"],
        [Given("similarity.seed", 5, "--seed")],
    )

    similarity = settings.similarity
    assert (similarity.threshold, similarity.recall) == (0.1, 0.3)
    assert (similarity.size, similarity.seed, similarity.hashes) == (4, 5, 128)
    assert origins["similarity.threshold"] == str(path)
    assert origins["similarity.recall"] == "environment STREAM_DEDUP_SIMILARITY__RECALL"
    assert origins["similarity.size"] == "--set similarity.size"
    assert origins["similarity.seed"] == "--seed"
    assert origins["similarity.hashes"] == "default"


def test_each_level_of_a_name_is_parted_by_two_underscores() -> None:
    """Every key can be given in the environment, however deep it lies."""
    environ = {
        "STREAM_DEDUP_KAFKA__BOOTSTRAP_SERVERS": "broker:9092",
        "STREAM_DEDUP_KAFKA__TOPICS__MATCHES": "copies",
        "STREAM_DEDUP_EVENTS__TEXT_FIELDS": "headline, body",
        "STREAM_DEDUP_INDEX__WINDOW": "30d",
        "STREAM_DEDUP_MATCHING__SKIP_POSITIONS": "[3, 5]",
    }
    settings = load(None, environ).settings

    assert settings.kafka.bootstrap_servers == "broker:9092"
    assert settings.kafka.topics.matches == "copies"
    assert settings.events.text_fields == ("headline", "body")
    assert settings.index.window == 30 * 86400.0
    assert settings.matching.skip_positions == (3, 5)


@pytest.mark.parametrize(
    "override",
    [
        "kafka.application=a b",
        "kafka.instance=a/b",
        "kafka.topics.matches=ä",
        "kafka.topics.unique=a!",
    ],
)
def test_a_name_that_kafka_would_not_take_is_told(override: str) -> None:
    """Groups, transactions and files are named after these, so none is made with a wrong one."""
    with pytest.raises(SettingsError, match="that matches"):
        load(None, {}, [override])


@pytest.mark.parametrize(
    "name", ["STREAM_DEDUP_PORT", "STREAM_DEDUP_CORPORA", "OTHER__KEY", "stream_dedup_a__b"]
)
def test_other_variables_are_left_alone(name: str) -> None:
    """Platforms set variables of our prefix on their own; without `__` they are no settings."""
    assert load(None, {name: "x"}).settings == Settings()


@pytest.mark.parametrize(
    ("override", "section", "key", "expected"),
    [
        ("similarity.threshold=0.5", "similarity", "threshold", 0.5),
        ("similarity.threshold = 1", "similarity", "threshold", 1.0),
        ("similarity.multiset=true", "similarity", "multiset", True),
        ("similarity.unit=word", "similarity", "unit", "word"),
        ('similarity.unit="word"', "similarity", "unit", "word"),
        ("events.id_field=2026", "events", "id_field", "2026"),
        ("events.id_field=a=b", "events", "id_field", "a=b"),
        ("events.text_fields=body", "events", "text_fields", ("body",)),
        ('events.text_fields=["a,b"]', "events", "text_fields", ("a,b",)),
        ("events.document_bytes_max=1 MiB", "events", "document_bytes_max", 1024**2),
        ("events.document_bytes_max=5", "events", "document_bytes_max", 5),
        ("index.window=none", "index", "window", math.inf),
        ("matching.skip_positions=7", "matching", "skip_positions", (7,)),
        ("http.token_file=", "http", "token_file", ""),
    ],
)
def test_text_is_read_as_the_setting_asks(
    override: str, section: str, key: str, expected: object
) -> None:
    """Text from --set and the environment needs no quotes, and may have those of TOML."""
    settings = load(None, {}, [override]).settings

    assert getattr(getattr(settings, section), key) == expected


def test_the_client_takes_any_property(tmp_path: Path) -> None:
    """[kafka.client] is passed on as it is, dotted or nested, its secrets from the environment."""
    path = tmp_path / "a.toml"
    path.write_text(
        "[kafka.client]\nsasl.username = 'feed'\n'ssl.ca.location' = 'ca.pem'\nlinger.ms = 5\n",
        encoding="utf-8",
    )
    environ = {"STREAM_DEDUP_KAFKA__CLIENT__SASL__PASSWORD": "0012"}
    loaded = load(path, environ, ["kafka.client.enable.idempotence=true"])

    assert dict(loaded.settings.kafka.client) == {
        "sasl.username": "feed",
        "ssl.ca.location": "ca.pem",
        "linger.ms": 5,
        "sasl.password": "0012",
        "enable.idempotence": "true",
    }
    assert loaded.origins["kafka.client.linger.ms"] == str(path)


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("similarity.treshold", "similarity.threshold"),
        ("similarty.threshold", "similarity.threshold"),
        ("threshold", "similarity.threshold"),
        ("kafka.topic.matches", "kafka.topics.matches"),
        ("kafka.bootstrap.servers", "kafka.bootstrap_servers"),
        ("kafka.client", "kafka.client.PROPERTY"),
        ("index.windw", "index.window"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_one(key: str, nearest: str) -> None:
    """A mistyped setting does not go unnoticed, and the error names what was meant."""
    with pytest.raises(SettingsError) as caught:
        load(None, {}, [f"{key}=1"])

    assert str(caught.value).startswith(f"unknown setting {key} (--set {key}); did you mean ")
    assert str(caught.value).endswith(f" {nearest}?")


def test_a_name_like_no_other_gets_no_suggestion() -> None:
    """A far-fetched suggestion is worse than none."""
    with pytest.raises(SettingsError) as caught:
        load(None, {"STREAM_DEDUP_XYZZY__QQ": "1"})

    assert str(caught.value) == ("unknown setting xyzzy.qq (environment STREAM_DEDUP_XYZZY__QQ)")


@pytest.mark.parametrize(
    ("override", "allowed"),
    [
        (
            "similarity.threshold=1.5",
            "'1.5' (--set similarity.threshold): must be a number above 0 to 1",
        ),
        ("similarity.threshold=nan", "a number above 0 to 1"),
        ("similarity.recall=1", "a number above 0 below 1"),
        ("similarity.unit=line", "one of char, word"),
        ("similarity.size=0", "a whole number from 1 to 1000"),
        ("similarity.size=2.5", "a whole number from 1 to 1000"),
        ("similarity.bands=x", "a whole number from 1"),
        ("similarity.multiset=maybe", "true or false"),
        ("events.id_field=", "text, not empty"),
        ("events.text_fields=[]", "a list, each text, not empty"),
        ("events.id_field=a\\b", "text, not empty, that matches "),
        ("index.window=72", "a duration such as '72h'"),
        ("index.memory_bytes_max=lots", "a size such as '10 MB'"),
        ("matching.skip_positions=[-1]", "a list, each a whole number from 0"),
        ("http.port=70000", "a whole number from 0 to 65535"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(override: str, allowed: str) -> None:
    """The error names the key, the value, where it came from and what would be right."""
    with pytest.raises(SettingsError) as caught:
        load(None, {}, [override])

    key = override.partition("=")[0]
    assert str(caught.value).startswith(f"{key} = ")
    assert f"(--set {key}): must be " in str(caught.value)
    assert allowed in str(caught.value)


def test_a_file_says_its_types_itself(tmp_path: Path) -> None:
    """TOML has types of its own, so a quoted number in the file is no number."""
    with pytest.raises(SettingsError, match=r"size = '5' \(.*toml\): must be a whole number"):
        from_file(tmp_path, "[similarity]\nsize = '5'\n")


def test_a_secret_is_not_shown() -> None:
    """A wrong value for the client is not repeated in the error: it may be a password."""
    with pytest.raises(SettingsError) as caught:
        load(None, {}, options=[Given("kafka.client.sasl.password", ["hunter2"], "--option")])

    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[similarity\n", "line 1"),
        ("threshold = 0.8\n", "unknown setting threshold"),
        ("similarity = 5\n", "unknown setting similarity "),
        ("[simlarity]\n", "unknown setting simlarity "),
        ("[similarity.threshold]\nx = 1\n", "did you mean similarity.threshold"),
        ("[similarity]\nsize = []\n", "must be a whole number"),
        ("[similarity]\nsize = 1979-05-27\n", "must be a whole number"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    """What is wrong in the file is named together with the file."""
    with pytest.raises(SettingsError) as caught:
        from_file(tmp_path, text)

    assert problem in str(caught.value)
    assert "stream_dedup.toml" in str(caught.value)


def test_a_section_may_be_empty(tmp_path: Path) -> None:
    """A section whose lines are all commented out is no mistake."""
    text = "[similarity]\n# size = 9\n[kafka.topics]\n[kafka.client]\n"

    assert from_file(tmp_path, text).settings == Settings()


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    """A file that was named and is not there is an error, as is one that is no text."""
    with pytest.raises(SettingsError, match="No such file"):
        load(tmp_path / "none.toml", {})
    with pytest.raises(SettingsError, match="settings file"):
        load(tmp_path, {})
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="utf-8"):
        load(tmp_path / "binary.toml", {})


def test_an_override_needs_a_value() -> None:
    """`--set key` without a value is refused with the way to write it."""
    with pytest.raises(SettingsError, match=r"section\.key=value"):
        load(None, {}, ["similarity.size"])


@given(st.sampled_from(sorted(KINDS)), st.text())
def test_any_text_is_taken_or_refused(key: str, value: str) -> None:
    """Whatever is written for a setting, it is taken or it is a SettingsError."""
    try:
        load(None, {}, [f"{key}={value}"])
    except SettingsError:
        return
