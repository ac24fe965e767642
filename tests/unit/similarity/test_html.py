"""Texts out of markup, well-formed or not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.similarity.html import strip_tags

words = st.text(st.sampled_from("ab é日;>/!-'\"=\n"), max_size=8)
names = st.sampled_from(["p", "BR", "h1", "a", "scripted", "Styled", "svg:path"])
attributes = st.sampled_from(["", " ", " href='x'", ' class="a b" id=c', "\nhidden", " a=</p"])
tags = st.one_of(
    st.builds("<{}{}>".format, names, attributes),
    st.builds("<{}{}/>".format, names, attributes),
    st.builds("</{}>".format, names),
    st.builds("<!--{}-->".format, st.sampled_from(["", " a > b ", "<p>", "a - b", "\n"])),
    st.builds("<{}>".format, st.sampled_from(["!DOCTYPE html", "?xml version='1.0'?", "![CDATA["])),
    st.sampled_from(
        [
            "<script>if (a < b && b > c) {}</script>",
            "<SCRIPT src='x.js'></Script >",
            "<style\n>p > a { color: red }</style>",
            "<script>'<p>' + '</style>'</script>",
        ]
    ),
)


@given(st.lists(st.tuples(words, tags)), words)
def test_what_stands_between_tags_remains(pieces: list[tuple[str, str]], last: str) -> None:
    """Tags, comments, scripts and styles part the text around them and leave nothing."""
    document = "".join(text + tag for text, tag in pieces) + last

    assert strip_tags(document) == " ".join([*(text for text, _ in pieces), last])


@given(st.text(st.characters(exclude_characters="<&", exclude_categories=())))
def test_text_without_markup_is_left_alone(text: str) -> None:
    """Without `<` and `&` nothing changes, whatever the characters."""
    assert strip_tags(text) == text


@given(st.lists(st.sampled_from([*"<>!-/? a;#3ptse", "<script", "</style>", "<!--", "-->"])))
def test_no_tag_is_left_of_any_text(pieces: list[str]) -> None:
    """However broken the markup, no `<` is left before what could open a tag."""
    assert re.search("<[a-zA-Z/!?]", strip_tags("".join(pieces))) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fish &amp; chips", "Fish & chips"),
        ("caf&eacute;&#233;&#xE9;&nbsp;", "cafééé\xa0"),
        ("&lt;p&gt; is a tag", "<p> is a tag"),
        ("&amp;lt;", "&lt;"),
        ("AT&T, R&D; &unknown; &", "AT&T, R&D; &unknown; &"),
        ("&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"),
        ("a<b>&lt;</b>c", "a < c"),
    ],
)
def test_entities_are_decoded_once(text: str, expected: str) -> None:
    """Entities become characters after the tags are gone, so none of them becomes a tag."""
    assert strip_tags(text) == expected


@pytest.mark.parametrize("text", ["1 < 2", "x <3 y", "<", "a<", "<>", "< p>", "a << b"])
def test_a_less_than_sign_is_text(text: str) -> None:
    """A `<` that opens no tag stays where it is."""
    assert strip_tags(text) == text


@pytest.mark.parametrize(
    "rest",
    ["<p", "<p class='", "</p", "<!-- a > b", "<script>alert()", "<style>p {}", "<!--", "<!"],
)
def test_what_is_never_closed_is_markup(rest: str) -> None:
    """A tag, comment or script that is cut off hides the rest, as in a browser."""
    assert strip_tags(f"before{rest}") == "before"


def test_a_long_broken_document_is_read_once() -> None:
    """A million openings without an end take one pass."""
    assert strip_tags("<" * 1_000_000) == "<" * 1_000_000
    assert strip_tags("<a " * 1_000_000 + "<!--" * 1_000_000) == ""
    assert strip_tags("<script " * 500_000 + ">" * 500_000) == ""
