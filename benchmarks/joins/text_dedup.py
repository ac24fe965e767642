"""text-dedup: its own command, in an environment of its own, with the bands of all contestants.

It splits texts into words, joins what shares a bucket into clusters, and keeps one text of each.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from benchmarks.joins.job import BANDS, HASHES, ROWS, Report, arguments
from benchmarks.recall.peers.text_dedup import PYTHON

_PHASE = re.compile(r"(Loading|MinHashing|Clustering|Filtering|Saving) *: ([\d.]+)s")


def main() -> None:
    """Run the command, and report the phases that it tells of."""
    path, _, _ = arguments()
    with tempfile.TemporaryDirectory() as directory:
        command = [str(PYTHON), "-m", "text_dedup.minhash", *_options(path, Path(directory))]
        environment = {**os.environ, "HF_DATASETS_OFFLINE": "1", "COLUMNS": "200"}
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    phases = {
        name.lower(): float(seconds) for name, seconds in _PHASE.findall(done.stdout.decode())
    }
    sys.stdout.write(msgspec.json.encode(Report(0, phases)).decode())


def _options(path: Path, folder: Path) -> list[str]:
    """Return the options: those of the data, and those that all contestants have."""
    data = {"path": "json", "data_files": path, "split": "train", "column": "text"}
    places = {"cache_dir": folder / "cache", "output": folder / "kept"}
    bands = {"num_perm": HASHES, "b": BANDS, "r": ROWS}
    given = data | places | bands
    return [word for name, value in given.items() for word in (f"--{name}", str(value))]


if __name__ == "__main__":
    main()
