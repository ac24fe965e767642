"""Delete the statements that remember and forget, one at a time, and list those nobody misses.

    python -m tests.mutation [--jobs 2] [--only walk.py]

Each mutant lives in a copy of the repository and is hunted by the tests of the engine. A survivor
is a statement without a test, or without a use; EXPLAINED names those that are left on purpose.
"""

import argparse
import ast
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
MATCHING = "stream_dedup/matching"
ENGINE = "stream_dedup/engine.py"
MEMORY = "stream_dedup/index/memory.py"
SIEVE = "stream_dedup/index/sieve.py"
ROCKSDB = "stream_dedup/index/rocksdb.py"
LOGS = "stream_dedup/index/rocksdb_logs.py"
MODULES = (
    ENGINE,
    MEMORY,
    ROCKSDB,
    LOGS,
    SIEVE,
    *(
        f"{MATCHING}/{name}.py"
        for name in (
            "clusters",
            "founders",
            "groups",
            "logtime",
            "overlay",
            "piece",
            "shelving",
            "walk",
        )
    ),
)
HUNTERS = (  # in the order in which they run: behind those of the module, what finds most
    "tests/unit/test_engine.py",
    "tests/unit/matching",
    "tests/unit/test_engine_properties.py",
    "tests/unit/index",
    "tests/unit/test_deduplicator.py",
    "tests/unit/test_query.py",
    "tests/unit/test_recall.py",
    "tests/unit/kafka",
    "tests/contracts",
)
UNTOUCHED = (ast.Assert, ast.Pass, ast.Import, ast.ImportFrom, ast.FunctionDef)
# Slower than any mutant that does not hang.
SECONDS_MAX = 300

# What may go without a test failing, by module, function and text, and why it is there.
OVERLAY, PIECE = f"{MATCHING}/overlay.py", f"{MATCHING}/piece.py"
SHELVING = f"{MATCHING}/shelving.py"
EXPLAINED = {
    (ENGINE, "_match", "size = max(_PIECE_SIZE_MIN, 2 * (len(decisions) - start))"): (
        "where a batch is cut changes nothing: saves reading what would not be reached"
    ),
    (OVERLAY, "changes", "if len(kept) == len(values):"): (
        "most batches delete nothing: saves looking for it"
    ),
    (OVERLAY, "changes", "return (Puts(keys, kept), [])"): "the same",
    (OVERLAY, "_value", "if name not in self._changed:"): "saves encoding what was only read",
    (OVERLAY, "_value", "return self._values.get(name)"): "the same",
    (OVERLAY, "read", "if not self._pieces:"): (
        "most batches are one piece: saves looking through none"
    ),
    (OVERLAY, "read", "return values"): "the same",
    (OVERLAY, "changes", "if len(self._pieces) == 1:"): "saves sorting what is sorted",
    (OVERLAY, "changes", "return self._pieces[0]"): "the same",
    (MEMORY, "close", "self._current.clear()"): (
        "lets go of the rows, which nobody can reach any more"
    ),
    (MEMORY, "close", "self._previous.clear()"): "the same",
    (ROCKSDB, "rotate", "state.families.database.flush_wal(sync=True)"): (
        "only a loss of power would tell"
    ),
    (ROCKSDB, "rotate", "self._filled.remove(name)"): "matters where new families cannot be made",
    (ROCKSDB, "sync", "state.families.database.flush_wal(sync=True)"): (
        "only a loss of power would tell"
    ),
    (SIEVE, "passing", "self._asked = (keys, hashes)"): (
        "saves making hashes again of what is written next"
    ),
    (SIEVE, "_fetch_ahead", "fetch_ahead(blocks, np.int64(_block(ahead, len(blocks))))"): (
        "saves waiting for memory: a block is on its way before it is needed"
    ),
    (SIEVE, "_add", "_fetch_ahead(blocks, hashes, index)"): "the same",
    (SIEVE, "_passing", "_fetch_ahead(blocks, hashes, index)"): "the same",
    (PIECE, "_foretell", "met.add(key)"): (
        "saves the look-ups of copies of what began in the same piece"
    ),
    (PIECE, "_replacements", "if len(set(keys)) == len(keys):"): "saves looking at each",
    (PIECE, "_replacements", "if not agenda.has_text[index]:"): "saves comparing what is deleted",
    (PIECE, "_replacements", "continue"): "the same",
    (SHELVING, "near", "if not self._crowds.members[place]:"): (
        "saves a look at buckets that are not full"
    ),
    (SHELVING, "near", "return (near, 0)"): "the same",
    (SHELVING, "insert", "if not self._crowds.members[place]:"): "the same",
    (SHELVING, "insert", "return 0"): "the same",
}


class Mutant(NamedTuple):
    """A statement to delete."""

    module: str
    function: str
    line: int
    end: int
    indent: int
    text: str

    def of(self, source: str) -> str:
        """Return the source without the statement."""
        lines = source.splitlines(keepends=True)
        lines[self.line - 1 : self.end] = [" " * self.indent + "pass\n"]
        return "".join(lines)


def mutants_of(module: str) -> Iterator[Mutant]:
    """Yield every statement of every function that could go without a name becoming unknown."""
    tree = ast.parse((ROOT / module).read_text())
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        statements = [
            node
            for statement in body
            for node in ast.walk(statement)
            if isinstance(node, ast.stmt) and not isinstance(node, UNTOUCHED)
        ]
        set_here = Counter(filter(None, map(only_name, statements)))
        for node in statements:
            if set_here[only_name(node)] != 1:
                text = ast.unparse(node).splitlines()[0]
                end = node.end_lineno or node.lineno
                yield Mutant(module, function.name, node.lineno, end, node.col_offset, text)


def only_name(node: ast.stmt) -> str:
    """Return the one name that a statement sets, if that is all it does."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def survives(mutant: Mutant, copy: Path) -> bool:
    """Tell whether all tests pass without the statement."""
    path = copy / mutant.module
    original = path.read_text()
    path.write_text(mutant.of(original))
    try:
        return hunt(copy, mutant.module)
    finally:
        path.write_text(original)


def hunt(copy: Path, module: str = ENGINE) -> bool:
    """Tell whether the tests pass in this copy, those of a module first; who hangs does not."""
    beside = f"tests/unit/{Path(module).parent.name}/test_{Path(module).stem}.py"
    hunters = [beside, *HUNTERS] if (copy / beside).is_file() else HUNTERS
    options = ["-x", "-q", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    command = [sys.executable, "-m", "pytest", *options, *hunters]
    try:
        done = subprocess.run(
            command, cwd=copy, capture_output=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def copied(directory: Path) -> Path:
    """Copy what belongs to the repository."""
    names = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(names, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    return directory


def survivors(mutants: Sequence[Mutant], jobs: int, folder: Path) -> Iterator[Mutant]:
    """Try all mutants, each job in a copy of its own; yield those that live."""
    free: SimpleQueue[Path] = SimpleQueue()
    for job in range(jobs):
        free.put(copied(folder / str(job)))
    if not hunt(folder / "0"):
        sys.exit("the tests fail already, without any mutation")

    def attempt(mutant: Mutant) -> bool:
        copy = free.get()
        try:
            return survives(mutant, copy)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        tried = zip(mutants, pool.map(attempt, mutants), strict=True)
        for number, (mutant, alive) in enumerate(tried, 1):
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{number} of {len(mutants)} ")
            if alive:
                yield mutant


def main() -> int:
    """List the survivors that nobody has explained, and explanations that nothing needs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the name of a module")
    options = parser.parse_args()
    modules = [module for module in MODULES if options.only in module]
    mutants = [mutant for module in modules for mutant in mutants_of(module)]
    unexplained, needed = [], set()
    with tempfile.TemporaryDirectory() as folder:
        for mutant in survivors(mutants, options.jobs, Path(folder)):
            name = (mutant.module, mutant.function, mutant.text)
            needed.add(name)
            reason = EXPLAINED.get(name)
            sys.stdout.write(f"{mutant.module}:{mutant.line}: {mutant.text}  # {reason}\n")
            sys.stdout.flush()
            if reason is None:
                unexplained.append(name)
    stale = [name for name in EXPLAINED if name[0] in modules and name not in needed]
    for module, function, text in stale:
        sys.stdout.write(f"{module}: {function}: {text}  # is explained, and missed\n")
    sys.stdout.write(f"{len(mutants)} mutants, {len(unexplained)} survive unexplained\n")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
