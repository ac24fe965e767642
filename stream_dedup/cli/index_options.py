"""What the commands of `stream-dedup index` share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from stream_dedup.cli import options
from stream_dedup.config import Settings

OPENING = "Opening the index …"

Directory = Annotated[
    str | None,
    typer.Option(
        "--index",
        metavar="DIR",
        help="The directory of the index.",
        show_default=str(Settings().index.directory),
    ),
]


def settings_of(
    directory: str | None, config: Path | None, override: Sequence[str] | None
) -> Settings:
    """Load the settings, the directory given last."""
    return options.settings_from(config, override, {"index.directory": ("--index", directory)})
