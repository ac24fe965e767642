"""Three days of news: who publishes what, when, and what it was made from."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from random import Random
from typing import NamedTuple

from stream_dedup.feed import editing
from stream_dedup.feed.names import ABROAD, AGENCIES, EXCHANGE, PAPERS, Outlet
from stream_dedup.feed.stories import (
    TOPICS,
    Happening,
    Story,
    filled_form,
    in_all_languages,
    notice,
)

START = datetime(2026, 3, 2, 5, tzinfo=UTC)
# Within the default window of 72 hours, so that nothing planted expires; copies lag behind.
_SPAN = timedelta(hours=70)
_END = START + timedelta(hours=71)
_NIGHT_ENDS = 6  # o'clock; before that a third of the outlets are awake
_LAG_MEAN = timedelta(minutes=100)


class Role(StrEnum):
    """What a document is in the feed, by how it was made."""

    STORY = "own story"
    WIRE = "wire copy"
    EDITED = "edited copy"
    FOOTER = "footer added"
    CUT = "cut at the end"
    EXTENDED = "paragraph added"
    CORRECTION = "correction"
    REVISION = "revision, same id"
    REPEAT = "sent again"
    FOLLOW_UP = "follow-up"
    TRANSLATION = "translation"
    FORM = "form, other figures"
    NOTICE = "shared legal notice"
    RETRACTION = "retraction"
    LATE = "copy after retraction"


class Draft(NamedTuple):
    """A document to be published, or with no text one to be withdrawn.

    Drafts of one lineage are made from one story, within a lineage those of one name share an id.
    """

    time: datetime
    role: Role
    lineage: int
    name: int
    outlet: Outlet
    text: str | None


_EDITIONS: dict[Role, Callable[[Story, Random], Story]] = {
    Role.WIRE: editing.wire_copy,
    Role.EDITED: editing.edited,
    Role.FOOTER: editing.with_footer,
    Role.CUT: editing.cut,
    Role.EXTENDED: editing.extended,
    Role.CORRECTION: editing.corrected,
}
_EDITION_WEIGHTS = (30, 34, 12, 9, 9, 6)


class Newsroom:
    """Write drafts, all that belongs together at once, in no order of time."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._lineages = 0
        # So often in the feed, counted in occasions and not in documents.
        self._occasions = {
            self._own_story: 410,
            self._wire_story: 100,
            self._long_story: 20,
            self._event_abroad: 9,
            self._form: 75,
            self._notice: 40,
            self._retracted: 5,
        }

    def drafts(self) -> Iterator[Draft]:
        """Write for ever."""
        occasions, weights = list(self._occasions), list(self._occasions.values())
        while True:
            written = self._random.choices(occasions, weights)[0]()
            yield from (draft for draft in written if draft.time < _END)

    def _own_story(self) -> Iterator[Draft]:
        time, outlet = self._time(), self._random.choice(PAPERS)
        text = self._happening().story(_dateline(time, "")).text
        yield Draft(time, Role.STORY, self._lineage(), 0, outlet, text)

    def _wire_story(self) -> Iterator[Draft]:
        """An agency writes; papers print it in editions of their own; the agency thinks again."""
        time, agency, lineage = self._time(), self._random.choice(AGENCIES), self._lineage()
        story = self._happening().story(_dateline(time, f" ({agency.name})"))
        yield Draft(time, Role.STORY, lineage, 0, agency, story.text)
        papers = self._random.sample(PAPERS, min(1 + int(self._random.expovariate(1 / 3)), 12))
        for name, paper in enumerate(papers, start=1):
            yield self._edition(story, self._later(time), lineage, name, paper)
        if self._random.random() < 0.2:
            revised = editing.with_other_figure(editing.edited(story, self._random), self._random)
            revision = Draft(self._later(time), Role.REVISION, lineage, 0, agency, revised.text)
            yield revision
            if self._random.random() < 0.4:
                again = self._later(revision.time)
                yield revision._replace(time=again, role=Role.REPEAT)

    def _edition(
        self, story: Story, time: datetime, lineage: int, name: int, paper: Outlet
    ) -> Draft:
        roles = list(_EDITIONS)
        role = self._random.choices(roles, _EDITION_WEIGHTS)[0]
        text = _EDITIONS[role](story, self._random).text
        return Draft(time, role, lineage, name, paper, text)

    def _long_story(self) -> Iterator[Draft]:
        """One outlet stays with it, and tells each time how it began."""
        time, outlet, happening = self._time(), self._random.choice(PAPERS), self._happening()
        first = happening.story(_dateline(time, ""))
        yield Draft(time, Role.STORY, self._lineage(), 0, outlet, first.text)
        for _ in range(self._random.randint(1, 2)):
            time = self._later(time + timedelta(hours=2))
            text = happening.follow_up(first, _dateline(time, "")).text
            yield Draft(time, Role.FOLLOW_UP, self._lineage(), 0, outlet, text)

    def _event_abroad(self) -> Iterator[Draft]:
        time = self._time()
        told = in_all_languages(self._random)
        for language in self._random.sample(list(told), self._random.randint(3, 5)):
            text = told[language].text
            yield Draft(time, Role.TRANSLATION, self._lineage(), 0, ABROAD[language], text)
            time = self._later(time)

    def _form(self) -> Iterator[Draft]:
        outlet, form = filled_form(self._random)
        yield Draft(self._time(), Role.FORM, self._lineage(), 0, outlet, form.text)

    def _notice(self) -> Iterator[Draft]:
        text = notice(self._random).text
        yield Draft(self._time(), Role.NOTICE, self._lineage(), 0, EXCHANGE, text)

    def _retracted(self) -> Iterator[Draft]:
        """A story is withdrawn; who prints it after that copies nothing that still stands."""
        time, lineage, outlet = self._time(), self._lineage(), self._random.choice(PAPERS)
        text = self._happening().story(_dateline(time, "")).text
        yield Draft(time, Role.STORY, lineage, 0, outlet, text)
        withdrawn = self._later(time)
        yield Draft(withdrawn, Role.RETRACTION, lineage, 0, outlet, None)
        other = self._random.choice([paper for paper in PAPERS if paper != outlet])
        yield Draft(self._later(withdrawn), Role.LATE, lineage, 1, other, text)

    def _happening(self) -> Happening:
        return Happening(self._random, self._random.choice(TOPICS))

    def _lineage(self) -> int:
        self._lineages += 1
        return self._lineages

    def _time(self) -> datetime:
        """Draw a moment, rarely one at night."""
        time = START + self._random.random() * _SPAN
        if time.hour < _NIGHT_ENDS and self._random.random() > 1 / 3:
            return self._time()
        return time

    def _later(self, time: datetime) -> datetime:
        lag = self._random.expovariate(1 / _LAG_MEAN.total_seconds())
        return time + timedelta(minutes=2, seconds=lag)


def _dateline(time: datetime, credit: str) -> str:
    return f", {time.day} {time:%B}{credit} – "
