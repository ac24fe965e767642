"""How fast an index that was lost is made anew from the log, beside matching without a log.

Both take in the same documents, in a process of their own, into an index that begins empty.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import msgspec

from benchmarks.engines.job import Report
from benchmarks.kafka_processes import new_settings, service
from benchmarks.signed_log import commit_offset, write_log
from stream_dedup.config import Settings
from stream_dedup.kafka.clients import Clients
from stream_dedup.kafka.topics import ensure

_ROUNDS = 3
_WAIT_SECONDS = 120.0


class Rates(NamedTuple):
    """Documents a second, the median of some rounds."""

    restored: float
    matched: float


def restoring_rates(servers: str, folder: Path, documents: int) -> Rates:
    """Write a log, and let both take turns."""
    settings = new_settings(servers, folder)
    ensure(Clients(settings.kafka), settings)
    write_log(settings, documents)
    commit_offset(settings.kafka, "match", settings.kafka.topics.signatures, documents)
    rounds = [
        (_restored(settings, documents), _matched(folder / "matched", documents))
        for _ in range(_ROUNDS)
    ]
    restored, matched = zip(*rounds, strict=True)
    return Rates(median(restored), median(matched))


def _restored(settings: Settings, documents: int) -> float:
    """Return the rate that the service tells of."""
    with service(settings, "match") as log:
        give_up = time.monotonic() + _WAIT_SECONDS
        while "index restored" not in log.read_text():
            assert time.monotonic() < give_up, log.read_text()
            time.sleep(0.1)
    shutil.rmtree(settings.index.directory)
    line = next(line for line in log.read_text().splitlines() if "index restored" in line)
    return documents / float(json.loads(line)["seconds"])


def _matched(directory: Path, documents: int) -> float:
    command = [sys.executable, "-m", "benchmarks.engines.matched", str(directory), str(documents)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    shutil.rmtree(directory)
    told = msgspec.json.decode(done.stdout, type=Report)
    return told.documents / told.seconds
