"""What editors do to a story that is not their own: each function returns another edition of it.

How much is changed is drawn here and measured in characters; what that makes of any similarity is
left to those who measure it.
"""

import re
from random import Random

from stream_dedup.feed.grammar import Pen
from stream_dedup.feed.remarks import ADDITIONS, FOOTERS, HEADLINES, REMARKS
from stream_dedup.feed.stories import Story

# The share of a text that an editor of wire copy touches: mostly little, now and then too much.
_TOUCHED = (0.005, 0.16, 0.03)
# The share that is left when the end is cut away, and the share that an outlet adds.
_KEPT_MIN = (0.77, 0.95)
_ADDED_MAX = (0.03, 0.26)

# What exchanging a word touches: the word, and the ends of its neighbours.
_REWORDED = 16

_SYNONYMS = {
    **{"because": "since", "only": "no more than", "near": "close to", "people": "men and women"},
    **{
        "announced": "made known",
        "said": "explained",
        "told reporters": "said",
        "began": "started",
    },
    **{"never": "at no time", "nobody": "no one", "nearly": "almost", "until": "up to"},
    **{"at least": "no fewer than", "more than": "over", "asked": "urged", "money": "funds"},
    **{"put off": "postponed", "found": "discovered", "bought": "purchased", "took": "needed"},
    **{"according to": "going by", "a year": "twelve months", "in the": "inside the"},
    **{"on the": "upon the", "and": "as well as", "has been": "was", "have": "by now have"},
    **{"which": "and this", "will": "is to", "from": "out of", "by": "thanks to", "not": "hardly"},
}
_WORD = re.compile(rf"\b(?:{'|'.join(_SYNONYMS)})\b")
_FIGURE = re.compile(r"\d+")


def wire_copy(story: Story, random: Random) -> Story:
    """Print it as it came, or under a headline or a dateline of one's own."""
    if random.random() < 0.35:
        return story
    headline = random.choice((story.headline, Pen(random, {"town": _town(story)}).any(HEADLINES)))
    dateline = random.choice((story.dateline, "", f"{_town(story)}. "))
    return story._replace(headline=headline, dateline=dateline)


def edited(story: Story, random: Random) -> Story:
    """Exchange words, drop or replace sentences, until enough has been touched."""
    left = random.triangular(*_TOUCHED) * len(story.text)
    sentences = list(story.sentences)
    while left > 0:
        place = random.randrange(1, len(sentences))
        change = random.choice((_reworded, _reworded, _replaced, _dropped))
        if len(sentences[place]) > left:
            change = _reworded
        left -= _REWORDED if change is _reworded else len(sentences[place])
        sentences[place] = change(sentences[place], random)
    return story._replace(sentences=tuple(filter(None, sentences)))


def with_footer(story: Story, random: Random) -> Story:
    """Add the line that an outlet has below everything it prints."""
    return story._replace(footer=Pen(random).any(FOOTERS))


def cut(story: Story, random: Random) -> Story:
    """Cut sentences away at the end, as long as enough is left."""
    kept_min = random.uniform(*_KEPT_MIN) * len(story.text)
    while len((shorter := story._replace(sentences=story.sentences[:-1])).text) >= kept_min:
        story = shorter
    return story


def extended(story: Story, random: Random) -> Story:
    """Add what an outlet knows of its own, at the end."""
    added_max = random.uniform(*_ADDED_MAX) * len(story.text)
    pen = Pen(random, {"town": _town(story)})
    added: list[str] = []
    for sentence in pen.some(ADDITIONS, len(ADDITIONS)):
        if not added or len("".join([*added, sentence])) < added_max:
            added.append(sentence)
    return story._replace(sentences=(*story.sentences, *added))


def corrected(story: Story, random: Random) -> Story:
    """Put a figure right, wherever it stands, and say so in front."""
    edition = with_other_figure(story, random)
    note = f"(Corrects a figure in paragraph {random.randint(1, 4)}.) "
    return edition._replace(
        headline=f"Correction: {story.headline}", dateline=note + story.dateline
    )


def with_other_figure(story: Story, random: Random) -> Story:
    """Put a figure right, wherever it stands."""
    figures = _FIGURE.findall(" ".join(story.sentences)) or ["0"]
    wrong = random.choice(figures)
    right = str(int(wrong) + random.randint(1, 9))
    mend = re.compile(rf"\b{wrong}\b")
    return story._replace(
        headline=mend.sub(right, story.headline),
        sentences=tuple(mend.sub(right, sentence) for sentence in story.sentences),
    )


def _reworded(sentence: str, random: Random) -> str:
    """Exchange one word, if there is one to exchange."""
    found = list(_WORD.finditer(sentence))
    if not found:
        return sentence
    word = random.choice(found)
    return f"{sentence[: word.start()]}{_SYNONYMS[word[0]]}{sentence[word.end() :]}"


def _replaced(_: str, random: Random) -> str:
    return Pen(random).any(REMARKS)


def _dropped(_: str, _random: Random) -> str:
    return ""


def _town(story: Story) -> str:
    """Read the town off the dateline."""
    return story.dateline.partition(",")[0].title()
