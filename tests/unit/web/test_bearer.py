from pathlib import Path

import pytest

from stream_dedup.config import HttpSettings
from stream_dedup.errors import SettingsError
from stream_dedup.web.bearer import VARIABLE, is_this_machine, token_of

SECRET = "0123456789abcdef"


def test_a_token_comes_from_the_environment_or_a_file(tmp_path: Path) -> None:
    """Space around it does not count, and an empty variable is none."""
    path = tmp_path / "token"
    path.write_text(f"{SECRET}\n", encoding="utf-8")

    assert token_of(HttpSettings(), {VARIABLE: f" {SECRET} "}) == SECRET
    assert token_of(HttpSettings(token_file=str(path)), {VARIABLE: ""}) == SECRET
    assert token_of(HttpSettings(token_file=str(path), host="0.0.0.0"), {}) == SECRET
    assert token_of(HttpSettings(), {}) == ""


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (SECRET[:-1], "16 characters or more"),
        (SECRET + "é", "one word of ASCII"),
        (f"{SECRET} {SECRET}", "one word of ASCII"),
        (f"{SECRET}\n{SECRET}", "one word of ASCII"),
    ],
)
def test_a_token_that_cannot_be_used_is_refused(token: str, reason: str, tmp_path: Path) -> None:
    """What no header carries or anyone guesses is refused, and not shown in the refusal."""
    path = tmp_path / "token"
    path.write_text(token, encoding="utf-8")
    for settings, environ in (
        (HttpSettings(), {VARIABLE: token}),
        (HttpSettings(token_file=str(path)), {}),
    ):
        with pytest.raises(SettingsError, match=reason) as refused:
            token_of(settings, environ)
        assert token not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file"), (b"", "16 characters"), (b"\xff" * 20, "not UTF-8")],
)
def test_a_file_without_a_token_is_refused(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    """A token that was asked for and is not there never means that none is needed."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=rf"http\.token_file .*{reason}"):
        token_of(HttpSettings(token_file=str(path)), {})


def test_two_tokens_are_refused(tmp_path: Path) -> None:
    """Which of two would hold is not guessed."""
    with pytest.raises(SettingsError, match="give one of them"):
        token_of(HttpSettings(token_file=str(tmp_path / "t")), {VARIABLE: SECRET})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "a.example", "localhost.example"])
def test_others_are_served_with_a_token_only(host: str) -> None:
    """Binding elsewhere than to this machine needs a token, or that somebody says so."""
    with pytest.raises(SettingsError, match=r"http\.allow_open = true"):
        token_of(HttpSettings(host=host), {})

    assert token_of(HttpSettings(host=host, allow_open=True), {}) == ""
    assert token_of(HttpSettings(host=host), {VARIABLE: SECRET}) == SECRET


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1", "[::1]"]
)
def test_names_of_this_machine_are_known(host: str) -> None:
    """Loopback has many names, and none of them is looked up."""
    assert is_this_machine(host)
    assert token_of(HttpSettings(host=host), {}) == ""
