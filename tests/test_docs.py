"""What the documents say is run: commands and programs; the targets and files they name exist."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.text import Text

from stream_dedup.cli.app import app
from stream_dedup.config import EventsSettings
from stream_dedup.events import DocumentDecoder

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path.name for path in ROOT.glob("*.md"))
ANYTHING = "…"
# What typer makes of the commands; the groups among them have commands of their own.
PROGRAM: Any = typer.main.get_command(app)
COMMANDS = sorted(PROGRAM.commands)


def blocks(language: str, document: str = "README.md") -> list[str]:
    """Return a document's code blocks of a language."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(command: str, place: Path = ROOT) -> str:
    """Run a command as typed, in the root of the repository or elsewhere; return all it prints."""
    environment = {
        **{name: value for name, value in os.environ.items() if "STREAM_DEDUP" not in name},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    result = subprocess.run(
        command,
        shell=True,
        cwd=place,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return result.stdout


def says(expected: str, printed: str) -> bool:
    """Tell whether the output is as written, where a line of `…` stands for any lines."""
    parts = [re.escape(part) for part in expected.split(f"{ANYTHING}\n")]
    return re.fullmatch("(?:.*\n)*".join(parts), printed) is not None


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: block.splitlines()[0])
def test_a_command_prints_what_the_readme_shows(block: str) -> None:
    """Each command of the README, run as typed, prints what stands below it."""
    first, expected = block.split("\n", 1)
    printed = run(first.removeprefix("$ "))

    assert says(expected, printed), printed


@pytest.mark.parametrize("block", blocks("sh"), ids=str.strip)
def test_a_command_to_type_works(block: str) -> None:
    """Each command that the README tells to type ends well and finds something."""
    printed = run(f"set -e\n{block}echo done")

    assert printed.endswith("done\n"), printed
    assert "recall" in printed


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[-1])
def test_a_program_prints_what_the_readme_says(block: str, tmp_path: Path) -> None:
    """Each program of the README runs, and prints what stands in comments behind `print`."""
    (tmp_path / "program.py").write_text(block, encoding="utf-8")
    expected = re.findall(r"^ *print\(.*\)  # (.*)$", block, re.MULTILINE)

    assert expected
    assert run("python program.py", tmp_path).splitlines() == expected


def test_the_commands_for_upgrading_do_what_is_said(tmp_path: Path) -> None:
    """The commands of UPGRADING.md, one after the other on an index, print what stands there."""
    shutil.copy(ROOT / "demo/articles.jsonl", tmp_path / "feed.jsonl")
    run("stream-dedup run --input feed.jsonl --output matches.jsonl", tmp_path)
    shown = "".join(blocks("console", "UPGRADING.md"))
    steps = [step.split("\n", 1) for step in re.split(r"^\$ ", shown, flags=re.MULTILINE)[1:]]

    assert len(steps) >= 8
    for command, expected in steps:
        printed = run(command, tmp_path)
        assert says(expected, printed), (command, printed)


@pytest.mark.parametrize("block", blocks("toml", "UPGRADING.md"))
def test_settings_for_upgrading_are_settings(block: str, tmp_path: Path) -> None:
    """The settings that UPGRADING.md shows are accepted."""
    (tmp_path / "settings.toml").write_text(block, encoding="utf-8")

    assert "21 bands" in run("stream-dedup plan --config settings.toml", tmp_path)


@pytest.mark.parametrize("block", blocks("json"))
def test_a_line_of_input_is_a_document(block: str) -> None:
    """What the README shows as input is a document under the default settings."""
    assert DocumentDecoder(EventsSettings()).decode(block.encode()).text


def test_there_are_commands_to_run() -> None:
    """The README shows commands with their output, and a wrong output would be noticed."""
    assert len(blocks("console")) >= 5
    assert blocks("sh")
    assert blocks("json")
    assert not says("one\n…\nthree\n", "one\ntwo\n")
    assert says("one\n…\n", "one\ntwo\nthree\n")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_names_exists(name: str) -> None:
    """Files that are linked and targets of make that are named exist."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    targets = re.findall(r"`make ([a-z ]+)`", text) + re.findall(r"^make ([a-z ]+)$", text, re.M)
    made = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)

    assert [link for link in links if not (ROOT / link).exists()] == []
    assert {word for target in targets for word in target.split()} <= set(made)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_documented_and_teaches_by_example(command: str) -> None:
    """Each command stands in the README, and its --help shows an example that uses it."""
    assert f"stream-dedup {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"Examples?: stream-dedup {command} ", run(f"stream-dedup {command} --help"))


def commands(command: Any = PROGRAM, name: str = "stream-dedup") -> Iterator[tuple[str, Any]]:
    """Yield each command by its whole name, those of groups too."""
    yield name, command
    for part, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {part}")


@pytest.mark.parametrize("command", [pytest.param(one, id=name) for name, one in commands()])
def test_no_help_loses_words(command: Any) -> None:
    """What stands in brackets is shown: it would be taken for markup and leave a hole."""
    for told in [command.help, *(option.help for option in command.params)]:
        text = (told or "").replace("\b", "")  # which keeps lines apart
        assert Text.from_markup(text).plain == text.replace("\\[", "[")


@pytest.mark.parametrize(
    ("name", "command"), [one for one in commands() if not hasattr(one[1], "commands")]
)
def test_an_example_is_one_of_the_command(name: str, command: Any) -> None:
    """Each command shows by example how it is typed, with options that it has."""
    examples = re.findall(rf"\b{name}\b([^|>\n]*)", command.help.partition("Example")[2])
    known = {word for option in command.params for word in option.opts}

    assert examples
    for words in examples:
        assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", words)) <= known
