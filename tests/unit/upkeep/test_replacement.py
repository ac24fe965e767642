"""Putting one index in the place of another, whatever happens meanwhile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from stream_dedup.errors import Refused, Unavailable
from stream_dedup.upkeep.replacement import locked, replace_index

OLD = {"CURRENT": "old", "MANIFEST-000001": "old", "000002.sst": "old", "000003.log": "old"}
NEW = {"CURRENT": "new", "MANIFEST-000004": "new", "000002.sst": "new", "OPTIONS-000005": "new"}

# Replaces an index and kills itself at the n-th line of what moves files, for every n there is.
KILLED_AT_EVERY_LINE = """
import os, shutil, signal, sys
from pathlib import Path
from stream_dedup.upkeep import replacement
from tests.unit.upkeep.test_replacement import NEW, OLD, fill, files

MOVING = {"_decide", "_settle", "_set_aside", "_move"}

def replace(directory, die_at):
    def trace(frame, event, argument, seen=[0]):
        if frame.f_code.co_filename != replacement.__file__ or frame.f_code.co_name not in MOVING:
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == die_at:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace
    sys.settrace(trace)
    replacement.replace_index(directory, lambda made: fill(made, NEW))
    os._exit(0)

states, die_at = set(), 0
while True:
    die_at += 1
    directory = Path(sys.argv[1]) / str(die_at)
    fill(directory, OLD)
    child = os.fork()
    if not child:
        replace(directory, die_at)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        break
    there = files(directory)
    states.add("closed" if "CURRENT" not in there else there["CURRENT"])
    assert "CURRENT" not in there or there in (OLD, NEW), (die_at, there)
    newest = {**NEW, "CURRENT": "newest"}
    replacement.replace_index(directory, lambda made: fill(made, newest))
    assert files(directory) == newest, die_at
    kept = [files(path) for path in directory.glob("before-*")]
    assert kept in ([OLD], [OLD, NEW], [NEW, OLD]), (die_at, kept)
    assert {path.name[:7] for path in directory.iterdir() if path.is_dir()} == {"before-"}
assert states == {"old", "new", "closed"}, states
assert die_at > 30
"""


def fill(directory: Path, names: dict[str, str]) -> None:
    """Write files."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in names.items():
        (directory / name).write_text(content)


def files(directory: Path) -> dict[str, str]:
    """Return the files of an index."""
    paths = [path for path in directory.iterdir() if path.is_file() and path.name != "LOCK"]
    return {path.name: path.read_text() for path in paths}


def test_the_old_index_is_kept_whole(tmp_path: Path) -> None:
    """Afterwards the new files are there, and the old ones in a directory within."""
    fill(tmp_path, OLD)
    kept = replace_index(tmp_path, lambda made: fill(made, NEW))

    assert files(tmp_path) == NEW
    assert kept is not None
    assert kept.parent == tmp_path
    assert files(kept) == OLD


def test_where_nothing_was_nothing_is_kept(tmp_path: Path) -> None:
    """A directory that does not exist is made, and one that fails to be filled is not."""
    place = tmp_path / "deep" / "index"

    def fail(made: Path) -> None:
        raise Refused("no")

    with pytest.raises(Refused):
        replace_index(place, fail)
    assert not place.exists()
    assert replace_index(place, lambda made: fill(made, NEW)) is None
    assert files(place) == NEW


def test_killed_at_any_line_it_is_old_or_new_or_closed(tmp_path: Path) -> None:
    """What is half done cannot be opened, nothing old is lost, the next attempt succeeds."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_LINE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("ending", [Refused("no"), KeyboardInterrupt(), OSError(28, "full")])
def test_an_index_that_cannot_be_made_changes_nothing(
    tmp_path: Path, ending: BaseException
) -> None:
    """Refused, interrupted or out of room, the old index stays, and nothing beside it."""
    fill(tmp_path, OLD)

    def fail(made: Path) -> None:
        fill(made, NEW)
        raise ending

    with pytest.raises(Unavailable if isinstance(ending, OSError) else type(ending)):
        replace_index(tmp_path, fail)

    assert files(tmp_path) == OLD
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_directory_of_something_else_is_refused(tmp_path: Path) -> None:
    """Files that are no index's are never moved, and nothing comes to lie beside them."""
    fill(tmp_path, {"letter.txt": "dear"})

    with pytest.raises(Refused, match=r"letter\.txt"):
        replace_index(tmp_path, lambda made: fill(made, NEW))
    assert files(tmp_path) == {"letter.txt": "dear"}
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_what_lies_beside_an_index_stays(tmp_path: Path) -> None:
    """Somebody's note among the files of an index is left where it is."""
    fill(tmp_path, {**OLD, "note.txt": "mine"})
    replace_index(tmp_path, lambda made: fill(made, NEW))

    assert files(tmp_path) == {**NEW, "note.txt": "mine"}


def test_a_lock_that_another_process_holds_is_respected(tmp_path: Path) -> None:
    """While one process replaces or writes, another is refused."""
    fill(tmp_path, OLD)
    attempt = "from pathlib import Path; from stream_dedup.upkeep.replacement import *\n"
    attempt += f"replace_index(Path({str(tmp_path)!r}), lambda made: None)"
    with locked(tmp_path):
        done = subprocess.run(
            [sys.executable, "-c", attempt], capture_output=True, text=True, check=False
        )

    assert "Refused" in done.stderr
    assert files(tmp_path) == OLD
