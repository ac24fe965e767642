"""A real Chromium for the tests: that of the system, for none is fetched."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MISSING = "no Chromium to test with: install the system's package, `chromium` on Debian"


@contextmanager
def started() -> Iterator[Browser]:
    """Yield a browser without a window; skip if there is none, fail on CI."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        if "CI" in os.environ:
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    # A container's user is mostly root, and its shared memory small.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()
