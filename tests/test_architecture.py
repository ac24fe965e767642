"""The rules of the house, executed. A rule reads one file and yields what breaks it.

Rules of size and of names hold for the scripts of the page too, which have no tree.

`CASES` at the end shows each rule the code it exists for, so a rule that sees nothing fails here.
"""

import ast
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FUNCTION_LINES_MAX = 40
MODULE_LINES_MAX = 299

PURE = ("similarity/", "decide.py", "events.py", "index/columns.py", "index/layout.py")
# It names the folder of compiled kernels after the source they come from.
COMPILER = "similarity/compiled.py"
# What the pure modules may import of this package.
PURE_IMPORTS = {
    *("config", "decide", "errors", "events", "index.columns", "index.layout", "quantities"),
    "similarity",
}
IMPURE = {
    *("asyncio", "click", "confluent_kafka", "ctypes", "fcntl", "glob", "gzip", "http", "io"),
    *("logging", "mmap", "multiprocessing", "os", "pathlib", "prometheus_client", "random", "rich"),
    *("rocksdict", "secrets", "select", "selectors", "shutil", "signal", "socket", "sqlite3"),
    *("ssl", "starlette", "subprocess", "sys", "tempfile", "threading", "time", "tomllib", "typer"),
    *("urllib", "uuid", "uvicorn", "warnings"),
}
IMPURE_CALLS = {"input", "now", "open", "print", "today", "utcnow"}
OWNERS = {
    "confluent_kafka": "kafka/",
    "rocksdict": "index/rocksdb",
    "prometheus_client": "metrics.py",
    "starlette": "web/",
    "uvicorn": "web/",
}
FORBIDDEN_NAMES = {"base", "common", "core", "helper", "manager", "misc", "shared", "tools", "util"}
UNWELCOME_WORDS = re.compile(
    r"(?<![\w.])/(?:work|root|home|Users|tmp/w)/"
    r"|(?:pypi|pythonhosted|npmjs|deb\.debian|maven|crates)\.(?:org|io|apache)"
    r"|\bissues? #?\d"
    r"|\b(?:TO[D]O|FIX[M]E)\b"
)


class Source(NamedTuple):
    """A module: its path from the root of the repository, its text, and its tree if in Python."""

    path: str
    text: str
    tree: ast.Module

    @classmethod
    def of(cls, path: str, text: str) -> "Source":
        return cls(path, text, ast.parse(text if path.endswith(".py") else ""))

    @property
    def room(self) -> str:
        """The path within the package, or nothing outside of it."""
        _, package, room = self.path.rpartition("stream_dedup/")
        return room if package else ""


Rule = Callable[[Source], Iterator[str]]


def imports(source: Source) -> Iterator[tuple[int, str]]:
    """Name every module, and every name of a module, that is imported anywhere, with its line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, node.module or "."
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def calls(source: Source) -> Iterator[tuple[int, str]]:
    """Write every function that is called as it stands, `datetime.now`, with its line."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            yield node.lineno, ast.unparse(node.func)


def is_within(module: str, packages: set[str]) -> bool:
    """Tell whether a dotted name is one of `packages` or lies below one."""
    return any(module == name or module.startswith(f"{name}.") for name in packages)


def pure_rooms_do_no_io(source: Source) -> Iterator[str]:
    """The pure modules do no I/O, know no clock, log nothing, and import only one another."""
    if not source.room.startswith(PURE) or source.room == COMPILER:
        return
    allowed = {f"stream_dedup.{name}" for name in PURE_IMPORTS}
    for line, module in imports(source):
        inner = module.startswith("stream_dedup.") and not is_within(module, allowed)
        if inner or is_within(module, IMPURE):
            yield f"line {line} imports {module}"
    for line, name in calls(source):
        if name.rpartition(".")[2] in IMPURE_CALLS:
            yield f"line {line} calls {name}"


def index_and_kafka_stay_apart(source: Source) -> Iterator[str]:
    """The index knows nothing of Kafka, nor Kafka of the index."""
    rooms = {"index/": "stream_dedup.kafka", "kafka/": "stream_dedup.index"}
    for room, stranger in rooms.items():
        if source.room.startswith(room):
            yield from (name for _, name in imports(source) if is_within(name, {stranger}))


def only_the_command_line_loads_settings(source: Source) -> Iterator[str]:
    """A component receives its section; only cli reads the environment and the settings file."""
    if not source.room or source.room.startswith("cli/"):
        return
    banned = {"stream_dedup.overrides", "os.environ", "os.getenv", "os.environb"}
    yield from (name for _, name in imports(source) if is_within(name, banned))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"}:
            yield f"line {node.lineno} reads the environment"


def only_the_command_line_is_above_all(source: Source) -> Iterator[str]:
    """Nothing but the command line imports the command line."""
    if source.room and not source.room.startswith(("cli/", "__main__.py")):
        yield from (name for _, name in imports(source) if is_within(name, {"stream_dedup.cli"}))


def each_client_library_has_one_owner(source: Source) -> Iterator[str]:
    """One room speaks to Kafka, one to RocksDB, one to Prometheus, one HTTP."""
    for library, owner in OWNERS.items():
        if source.room and not source.room.startswith(owner):
            yield from (name for _, name in imports(source) if is_within(name, {library}))


def functions_fit_in_a_look(source: Source) -> Iterator[str]:
    """A function has at most 40 lines below its docstring."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            if lines > FUNCTION_LINES_MAX:
                yield f"{node.name} has {lines} lines"


def modules_are_one_room(source: Source) -> Iterator[str]:
    """A module has fewer than 300 lines; only tests may be longer."""
    lines = len(source.text.rstrip().splitlines())
    if lines > MODULE_LINES_MAX and not source.path.startswith("tests/"):
        yield f"{lines} lines"


def modules_have_a_name_of_their_own(source: Source) -> Iterator[str]:
    """A module says what it holds: no `utils`, `helpers`, `common`, `manager`."""
    for part in Path(source.path).with_suffix("").parts:
        if FORBIDDEN_NAMES & {word.removesuffix("s") for word in part.split("_")}:
            yield part


def nothing_prints(source: Source) -> Iterator[str]:
    """Results go to a stream that was chosen, never to `print`."""
    if source.path.startswith("stream_dedup/"):
        printers = {"print", "pprint", "pprint.pprint"}
        yield from (f"line {line}" for line, name in calls(source) if name in printers)


# At the top of the command line, and where a batch is at stake: signing halves it until the one
# document is alone that cannot be signed, matching stops and names the position. And where nobody
# would see that nobody looks any more.
CATCHERS = {"cli/__init__.py", "kafka/sign_stage.py", "kafka/follower.py", "kafka/watch.py"}


def few_places_catch_everything(source: Source) -> Iterator[str]:
    """`except Exception` stands once in each of the few places that have a use for it."""
    broad = [
        handler
        for handler in ast.walk(source.tree)
        if isinstance(handler, ast.ExceptHandler) and _catches_everything(handler)
    ]
    allowed = 1 if source.room in CATCHERS else 0
    yield from (f"line {handler.lineno}" for handler in broad[allowed:])


def _catches_everything(handler: ast.ExceptHandler) -> bool:
    names = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        if handler.type
        else {"Exception"}
    )
    return bool(names & {"Exception", "BaseException"})


def a_test_states_its_requirement(source: Source) -> Iterator[str]:
    """The docstring of a test is the requirement it holds the code to."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is None:
            yield from (name for name in [node.name] if name.startswith("test_"))


def a_test_uses_the_real_thing(source: Source) -> Iterator[str]:
    """A test mocks nothing and waits for events, never for time."""
    if source.path.startswith("tests/"):
        yield from (name for _, name in imports(source) if is_within(name, {"unittest.mock"}))
        yield from (f"line {line}" for line, name in calls(source) if name.endswith("sleep"))


RULES: list[Rule] = [
    pure_rooms_do_no_io,
    index_and_kafka_stay_apart,
    only_the_command_line_loads_settings,
    only_the_command_line_is_above_all,
    each_client_library_has_one_owner,
    functions_fit_in_a_look,
    modules_are_one_room,
    modules_have_a_name_of_their_own,
    nothing_prints,
    few_places_catch_everything,
    a_test_states_its_requirement,
    a_test_uses_the_real_thing,
]


def repository_files() -> list[str]:
    """List what is tracked, or would be if it were added now."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in set(listing.stdout.split("\0")) if (ROOT / name).is_file())


MODULES = [name for name in repository_files() if name.endswith((".py", ".js"))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps_the_rule(rule: Rule) -> None:
    """Every module of the repository keeps every rule of the house."""
    broken = {}
    for path in MODULES:
        source = Source.of(path, (ROOT / path).read_text(encoding="utf-8"))
        if breaches := list(rule(source)):
            broken[path] = breaches

    assert broken == {}, rule.__doc__


def unwelcome_words(text: str) -> list[str]:
    """Find what belongs to one machine, to one registry or to a plan, not to the repository."""
    return [found[0] for found in UNWELCOME_WORDS.finditer(text)]


def test_files_name_no_machine_no_registry_and_no_plan() -> None:
    """No text of the repository holds a path of one machine, a registry's host or a leftover."""
    broken = {}
    for path in repository_files():
        text = (ROOT / path).read_bytes().decode(errors="replace")
        if words := unwelcome_words(text):
            broken[path] = words

    assert broken == {}


FIRST = "x = 1\n"
CASES: list[tuple[Rule, str, str]] = [
    (pure_rooms_do_no_io, "stream_dedup/similarity/text.py", "import logging"),
    (pure_rooms_do_no_io, "stream_dedup/similarity/text.py", "from os.path import join"),
    (pure_rooms_do_no_io, "stream_dedup/decide.py", "from stream_dedup.files import read"),
    (pure_rooms_do_no_io, "stream_dedup/decide.py", "from stream_dedup import files"),
    (pure_rooms_do_no_io, "stream_dedup/events.py", "seen = datetime.now(UTC)"),
    (pure_rooms_do_no_io, "stream_dedup/index/layout.py", "def read(path):\n    open(path)"),
    (index_and_kafka_stay_apart, "stream_dedup/index/memory.py", "import stream_dedup.kafka.log"),
    (index_and_kafka_stay_apart, "stream_dedup/kafka/log.py", "from stream_dedup import index"),
    (only_the_command_line_loads_settings, "stream_dedup/files.py", "import os\nos.environ['A']"),
    (only_the_command_line_loads_settings, "stream_dedup/files.py", "from os import getenv"),
    (
        only_the_command_line_loads_settings,
        "stream_dedup/engine.py",
        "from stream_dedup.overrides import load",
    ),
    (only_the_command_line_is_above_all, "stream_dedup/files.py", "import stream_dedup.cli.app"),
    (each_client_library_has_one_owner, "stream_dedup/engine.py", "import confluent_kafka"),
    (each_client_library_has_one_owner, "stream_dedup/index/memory.py", "import rocksdict"),
    (each_client_library_has_one_owner, "stream_dedup/health.py", "import starlette.routing"),
    (each_client_library_has_one_owner, "stream_dedup/cli/service.py", "import uvicorn"),
    (each_client_library_has_one_owner, "stream_dedup/files.py", "from prometheus_client import a"),
    (functions_fit_in_a_look, "tests/test_a.py", "def long():\n" + "    x = 1\n" * 41),
    (modules_are_one_room, "benchmarks/sign.py", FIRST * 300),
    (modules_are_one_room, "stream_dedup/web/page/page.js", "let x;\n" * 300),
    (modules_have_a_name_of_their_own, "stream_dedup/utils.py", FIRST),
    (modules_have_a_name_of_their_own, "stream_dedup/web/page/helpers.js", "let x;\n"),
    (modules_have_a_name_of_their_own, "stream_dedup/helpers/text.py", FIRST),
    (modules_have_a_name_of_their_own, "stream_dedup/kafka/offset_manager.py", FIRST),
    (nothing_prints, "stream_dedup/files.py", "print('x')"),
    (few_places_catch_everything, "stream_dedup/files.py", "try: x\nexcept Exception: y"),
    (few_places_catch_everything, "tests/test_a.py", "try: x\nexcept: y"),
    (few_places_catch_everything, "stream_dedup/pairs.py", "try: x\nexcept (A, Exception): y"),
    (
        few_places_catch_everything,
        "stream_dedup/cli/__init__.py",
        "try: x\nexcept Exception: y\ntry: x\nexcept BaseException: y",
    ),
    (a_test_states_its_requirement, "tests/test_a.py", "def test_a():\n    assert True"),
    (a_test_uses_the_real_thing, "tests/test_a.py", "from unittest import mock"),
    (a_test_uses_the_real_thing, "tests/test_a.py", "import time\ntime.sleep(1)"),
]


@pytest.mark.parametrize(("rule", "path", "code"), CASES)
def test_a_rule_sees_what_it_forbids(rule: Rule, path: str, code: str) -> None:
    """Each rule fails on code that breaks it."""
    assert list(rule(Source.of(path, code))) != []


@pytest.mark.parametrize(
    ("rule", "path", "code"),
    [
        (
            functions_fit_in_a_look,
            "a.py",
            'def f():\n    """' + "x\n" * 50 + '"""\n' + "    x\n" * 40,
        ),
        (modules_are_one_room, "stream_dedup/files.py", FIRST * 299),
        (modules_are_one_room, "stream_dedup/web/page/page.js", "let x;\n" * 299),
        (modules_are_one_room, "tests/test_a.py", FIRST * 1000),
        (
            few_places_catch_everything,
            "stream_dedup/cli/__init__.py",
            "try: x\nexcept Exception: y",
        ),
        (pure_rooms_do_no_io, "stream_dedup/files.py", "import os\nopen('a')"),
        (nothing_prints, "stream_dedup/cli/terminal.py", "stderr.print('a')"),
        (
            pure_rooms_do_no_io,
            "stream_dedup/similarity/a.py",
            "import numba\nimport stream_dedup.errors",
        ),
        (each_client_library_has_one_owner, "stream_dedup/kafka/log.py", "import confluent_kafka"),
    ],
)
def test_a_rule_lets_pass_what_it_allows(rule: Rule, path: str, code: str) -> None:
    """Limits hold to the line, and owners may use what they own."""
    assert list(rule(Source.of(path, code))) == []


def test_every_rule_has_been_seen_failing() -> None:
    """No rule of the house lacks an example that breaks it."""
    assert {rule for rule, _, _ in CASES} == set(RULES)


@pytest.mark.parametrize(
    "halves",
    [("/", "work/main"), ("see /", "root/x"), ("pypi", ".org"), ("issue", " #12"), ("TO", "DO: x")],
)
def test_unwelcome_words_are_seen(halves: tuple[str, str]) -> None:
    """Each kind of unwelcome word is found; this file may hold them in halves only."""
    assert unwelcome_words("".join(halves)) != []
