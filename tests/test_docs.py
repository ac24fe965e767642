"""What the documents say is run: the README's commands, and the targets and files it names."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from stream_dedup.config import EventsSettings
from stream_dedup.events import DocumentDecoder

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(path.name for path in ROOT.glob("*.md"))
ANYTHING = "…"


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def run(command: str) -> str:
    """Run a command as typed in the root of the repository; return all it prints."""
    environment = {
        **{name: value for name, value in os.environ.items() if "STREAM_DEDUP" not in name},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "200",
    }
    result = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
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
    assert '"kind": "exact"' in printed


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


@pytest.mark.parametrize("command", ["pairs", "plan", "explain"])
def test_a_command_is_documented_and_teaches_by_example(command: str) -> None:
    """Each command stands in the README, and its --help shows an example that uses it."""
    assert f"stream-dedup {command}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"Examples?: stream-dedup {command} ", run(f"stream-dedup {command} --help"))
