"""Options that several commands share, and the settings that they and the other sources make."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from stream_dedup import overrides as sources
from stream_dedup.config import Settings

_defaults = Settings()
_similarity = _defaults.similarity

# An option left out is None: the settings file and the environment may speak for it.
Threshold = Annotated[
    float | None,
    typer.Option(
        help="Similarity from which on documents are duplicates.",
        show_default=str(_similarity.threshold),
    ),
]
Unit = Annotated[
    Literal["char", "word"] | None,
    typer.Option(help="What shingles are made of.", show_default=str(_similarity.unit)),
]
Size = Annotated[
    int | None,
    typer.Option(help="Characters or words in a shingle.", show_default=str(_similarity.size)),
]
Measure = Annotated[
    Literal["jaccard", "cosine"] | None,
    typer.Option(help="What similarity means.", show_default=str(_similarity.measure)),
]
TextField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,NAME]",
        help="Fields that make the text.",
        show_default=str(",".join(_defaults.events.text_fields)),
    ),
]
IdField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Field that holds the id.", show_default=str(_defaults.events.id_field)
    ),
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE.toml", help="Settings file.")
]
Override = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Any setting, as similarity.hashes=256."),
]


Given = dict[str, tuple[str, Any]]  # a setting's key: the option's name and value


def similarity(
    threshold: float | None, unit: str | None, size: int | None, measure: str | None
) -> Given:
    """Name the settings behind the options of similarity."""
    return {
        "similarity.threshold": ("--threshold", threshold),
        "similarity.unit": ("--unit", unit),
        "similarity.size": ("--size", size),
        "similarity.measure": ("--measure", measure),
    }


def events(text_field: str | None, id_field: str | None) -> Given:
    """Name the settings behind the options of fields."""
    return {
        "events.text_fields": ("--text-field", text_field),
        "events.id_field": ("--id-field", id_field),
    }


def settings_from(config: Path | None, overrides: Sequence[str] | None, given: Given) -> Settings:
    """Load all sources of settings, the options that were given last."""
    chosen = [
        sources.Given(key, value, name, is_text=isinstance(value, str))
        for key, (name, value) in given.items()
        if value is not None
    ]
    return sources.load(config, os.environ, overrides or (), chosen).settings
