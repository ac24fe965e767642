import pytest

from stream_dedup.config import (
    EventsSettings,
    HttpSettings,
    Settings,
    SimilaritySettings,
    TopicSettings,
)
from stream_dedup.errors import SettingsError
from stream_dedup.quantities import Duration


def test_the_defaults_are_allowed() -> None:
    """Without any setting the service starts."""
    settings = Settings()

    assert settings.similarity.threshold == 0.8
    assert settings.index.window == 72 * 3600.0
    assert settings.kafka.instance != ""


def test_settings_cannot_be_changed() -> None:
    """Settings are frozen once made."""
    with pytest.raises(AttributeError):
        Settings().similarity.threshold = 0.5  # type: ignore[misc]


@pytest.mark.parametrize(
    ("message", "wrong"),
    [
        ("give both or neither", lambda: SimilaritySettings(bands=20)),
        ("give both or neither", lambda: SimilaritySettings(rows=5)),
        ("22 × 6 needs 132 hashes", lambda: SimilaritySettings(bands=22, rows=6)),
        ("'cosine' needs 64 to 1024", lambda: SimilaritySettings(measure="cosine", hashes=63)),
        ("'cosine' needs 64 to 1024", lambda: SimilaritySettings(measure="cosine", hashes=1025)),
        ("'text' is named 2 times", lambda: EventsSettings(id_field="text")),
        ("'matches' is named 2 times", lambda: TopicSettings(documents="matches")),
        ("'news' is named 2 times", lambda: TopicSettings(unique="news", duplicates="news")),
        ("is no bound", lambda: HttpSettings(request_timeout_seconds=Duration.parse("none"))),
    ],
)
def test_values_that_cannot_stand_together_are_refused(message: str, wrong: object) -> None:
    """Relations between settings hold however the settings are made."""
    assert callable(wrong)
    with pytest.raises(SettingsError, match=message):
        wrong()


@pytest.mark.parametrize(
    "allowed",
    [
        lambda: SimilaritySettings(bands=21, rows=6),
        lambda: SimilaritySettings(measure="cosine", hashes=64),
        lambda: TopicSettings(unique="fresh", duplicates="copies"),
    ],
)
def test_values_up_to_the_limit_are_allowed(allowed: object) -> None:
    """The limits themselves are allowed."""
    assert callable(allowed)
    assert allowed() is not None
