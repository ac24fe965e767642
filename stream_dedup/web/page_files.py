"""The files of the live page, read once: no path of a request ever reaches the disk."""

import hashlib
from importlib import resources
from typing import NamedTuple

_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
INDEX = "index.html"


class PageFile(NamedTuple):
    """A file as it is sent."""

    content: bytes
    media_type: str
    tag: str  # changes with the content


def page_files() -> dict[str, PageFile]:
    """Read all files of the page, by their names."""
    folder = resources.files("stream_dedup.web") / "page"
    return {
        entry.name: _page_file(entry.read_bytes(), _TYPES[suffix])
        for entry in folder.iterdir()
        if (suffix := entry.name.rpartition(".")[2]) in _TYPES
    }


def _page_file(content: bytes, media_type: str) -> PageFile:
    digest = hashlib.blake2b(content, digest_size=12).hexdigest()
    return PageFile(content, media_type, f'"{digest}"')
