"""Stories: written from patterns, and told again by those who know what happened."""

from random import Random
from typing import NamedTuple

from stream_dedup.feed.asides import ASIDES
from stream_dedup.feed.forms import FORMS, LEGAL, NOTICES
from stream_dedup.feed.grammar import Pen
from stream_dedup.feed.hard_news import HARD_NEWS
from stream_dedup.feed.names import Outlet
from stream_dedup.feed.remarks import HEADLINES, REMARKS
from stream_dedup.feed.soft_news import SOFT_NEWS
from stream_dedup.feed.topic import Topic
from stream_dedup.feed.translations import EVENTS, LANGUAGES

TOPICS = (*HARD_NEWS, *SOFT_NEWS)


class Story(NamedTuple):
    """A text in its parts; `footer` is what an outlet adds to everything."""

    headline: str
    dateline: str
    sentences: tuple[str, ...]
    footer: str = ""

    @property
    def text(self) -> str:
        """Print headline, paragraphs of two sentences, and footer."""
        pairs = [" ".join(self.sentences[i : i + 2]) for i in range(0, len(self.sentences), 2)]
        pairs[0] = self.dateline + pairs[0]
        return "\n".join(part for part in (self.headline, *pairs, self.footer) if part)


class Happening:
    """Something that happened: every story about it tells other sides of it, about one cast."""

    def __init__(self, random: Random, topic: Topic) -> None:
        self._random = random
        self._pen = Pen(random)
        self._headlines, self._leads, self._body = (
            random.sample(patterns, len(patterns)) for patterns in topic
        )
        self._remarks = random.sample(REMARKS, len(REMARKS))

    def story(self, dateline: str) -> Story:
        """Tell what has not been told before."""
        headline = self._pen.write(self._headlines.pop() if self._headlines else HEADLINES[0])
        lead = self._pen.write(self._leads.pop())
        taken = self._take(self._body, 3, 6) + self._take(self._remarks, 2, 12)
        self._random.shuffle(taken)
        sentences = (lead, *(self._pen.write(pattern) for pattern in taken))
        return Story(headline, f"{self._pen.write('{town}').upper()}{dateline}", sentences)

    def follow_up(self, earlier: Story, dateline: str) -> Story:
        """Tell more of it, and for those who missed the earlier story how that began."""
        story = self.story(dateline)
        *told, last = story.sentences
        return story._replace(sentences=(*told, earlier.sentences[0], last))

    def _take(self, patterns: list[str], low: int, high: int) -> list[str]:
        """Take some of the patterns that are left."""
        count = min(self._random.randint(low, high), len(patterns))
        return [patterns.pop() for _ in range(count)]


def filled_form(random: Random) -> tuple[Outlet, Story]:
    """Fill in one of the forms; say whose it is."""
    outlet, form = random.choice(FORMS)
    headline, *sentences = map(Pen(random).write, form)
    return outlet, Story(headline, "", tuple(sentences))


def notice(random: Random) -> Story:
    """Write a notice of the exchange, with all that the law wants below it."""
    pen = Pen(random)
    told = pen.some(NOTICES, random.randint(2, 3))
    return Story(f"Notice: {pen.cast['firm']}", "", tuple(told), LEGAL)


def in_all_languages(random: Random) -> dict[str, Story]:
    """Tell one event in every language, with one cast."""
    event, pen = random.choice(EVENTS), Pen(random)
    told = [0, *random.sample(range(1, len(event["en"])), 3)]
    added = random.sample(range(len(ASIDES["en"])), 3)
    stories = {}
    for language in LANGUAGES:
        chosen = [event[language][place] for place in told]
        chosen += [ASIDES[language][place] for place in added]
        stories[language] = Story(pen.write("{town}"), "", tuple(map(pen.write, chosen)))
    return stories
