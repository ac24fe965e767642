import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from math import log10
from pathlib import Path
from random import Random
from string import ascii_lowercase
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from stream_dedup.events import Document
from stream_dedup.feed.planting import news_feed
from stream_dedup.growth import GROWING
from stream_dedup.recall import wilson
from stream_dedup.web.page_files import page_files
from tests.integration import browsers
from tests.integration.page_service import PageService

expect.set_options(timeout=30_000)

DESKTOP, PHONE = (1440, 900), (360, 740)
FEED = [planted.event for planted in news_feed(seed=3, documents=400)]
STORY = (
    "Rain fell on the hills all night, and by the morning the river had risen above the lower "
    "fields of the valley. Nobody was hurt, the mayor said, but forty families had to leave."
)
EDITED = STORY.replace("river", "brook")
UNHEARD = "Quite another matter: the museum has found the missing half of its oldest globe."
# What browsers note of answers that are none of the page's mistakes.
NOT_LOADED = "Failed to load resource: "


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    with browsers.started() as started:
        yield started


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., PageService]]:
    """Open a service that closes with the test, after the pages that show it."""
    with ExitStack() as stack:
        yield lambda **how: stack.enter_context(PageService(tmp_path / "index", **how))


@pytest.fixture
def service(serve: Callable[..., PageService]) -> PageService:
    """A service that keeps texts."""
    return serve()


class Visit:
    """A page that was opened, and all that it asked for and complained of but what is expected."""

    def __init__(
        self,
        browser: Browser,
        address: str,
        size: tuple[int, int],
        scheme: str,
        expected: str | None,
    ) -> None:
        self.context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            has_touch=size == PHONE,
        )
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self._heard(said.text, expected))
        self.page.goto(address)

    def _heard(self, said: str, expected: str | None) -> None:
        if expected is None or not said.startswith(expected):
            self.complaints.append(said)

    @property
    def hosts(self) -> set[str]:
        return {urlsplit(request.url).netloc for request in self.requests}


@pytest.fixture
def visit(browser: Browser, serve: object) -> Iterator[Callable[..., Visit]]:
    """Open pages that close with the test, and have no complaint unless the test expects one."""
    visits: list[Visit] = []

    def visit(
        service: PageService,
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        expected: str | None = None,
    ) -> Visit:
        visits.append(Visit(browser, service.address, size, scheme, expected))
        return visits[-1]

    yield visit
    for opened in visits:
        opened.context.close()
    assert [complaint for opened in visits for complaint in opened.complaints] == []


def document(name: str, text: str, source: str = "") -> Document:
    """Make a document."""
    return Document(id=name, text=text, source=source)


def row(page: Page, name: str) -> Locator:
    """Find the row of a match."""
    return page.locator("#matches button").filter(has_text=name)


def test_it_shows_what_was_decided_and_goes_on_by_itself(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """The page shows what the service has decided, and what it decides next without a reload."""
    service.decide(FEED[:200])
    service.lag("sign", 0, records=30, seconds=3)
    service.lag("match", 0, records=1200, seconds=7)
    service.lag("match", 1, records=34, seconds=12)
    page = visit(service).page
    expect(page.locator("#throughput-note")).to_have_text("200 since the start")
    expect(page.locator("#standing")).to_contain_text("ready: match working")
    page.evaluate("window.isTheSame = true")

    service.decide(FEED[200:])
    service.decide([document("first", STORY, "afp"), document("second", EDITED, "dpa")])

    expect(page.locator("#throughput-note")).to_have_text("402 since the start")
    newest = page.locator("#matches li").first
    expect(newest).to_contain_text("second dpa")
    expect(newest).to_contain_text("first afp")
    expect(newest).to_contain_text("near")
    expect(page.locator("#growing tr")).to_have_count(GROWING)
    expect(page.locator("#index")).to_contain_text("B")
    expect(page.locator("#index-facts")).to_contain_text("documents≈ ")
    expect(page.locator("#outcomes")).to_contain_text("unique")
    expect(page.locator("#latency-p50")).to_contain_text("ms")
    expect(page.locator("#lag")).to_have_text("12 s")
    expect(page.locator("#lag-note")).to_have_text("records waiting: sign 30, match 1,234")
    for figure, most in (
        ("throughput", "[1-9]"),
        ("duplicates", "[1-9]"),
        ("latency", "[1-9][0-9]* ms"),
        ("lag", "12 s"),
    ):
        chart = page.locator(f"#{figure}-chart")
        expect(chart).to_have_attribute("aria-label", re.compile(f"up to {most}"))
        expect(chart.locator(".one")).to_have_attribute("d", re.compile("M.*,"))
    assert page.evaluate("window.isTheSame")


def made_up(seed: int) -> str:
    """Draw a text in which no five letters in a row come twice."""
    text = "".join(Random(seed).choices(ascii_lowercase, k=SHINGLES + 4))
    assert len({text[place : place + 5] for place in range(SHINGLES)}) == SHINGLES
    return text


# So many letters more make so many shingles more, and the rest are shared.
SHINGLES, LITTLE, MUCH = 100, "abcdefghij", "abcdefghijklmnopqrstuv"


def fed_for_the_curve() -> list[Document]:
    """Make 30 texts, a copy with more at its end of each, and exact copies of 10."""
    texts = [made_up(seed) for seed in range(30)]
    longer = [text + (LITTLE if place < 20 else MUCH) for place, text in enumerate(texts)]
    return [document(str(place), text) for place, text in enumerate(texts + longer + texts[:10])]


class Chart(NamedTuple):
    """What is drawn of the S-curve, each with its attributes and words, and how to read it."""

    text: list[dict[str, str]]
    path: list[dict[str, str]]
    rect: list[dict[str, str]]

    @classmethod
    def on(cls, page: Page) -> "Chart":
        return cls(
            **page.locator("#curve").evaluate(
                """chart => Object.fromEntries(["text", "path", "rect"].map(tag => [
                    tag,
                    [...chart.querySelectorAll(tag)].map(node => Object.fromEntries([
                        ["words", node.textContent],
                        ...[...node.attributes].map(({name, value}) => [name, value]),
                    ])),
                ]))"""
            )
        )

    def x(self, similarity: float) -> float:
        """Return where a similarity lies, by the labels of its axis."""
        marked = {
            float(label["words"]): float(label["x"])
            for label in self.text
            if label.get("text-anchor") == "middle"
        }
        assert len(marked) == 11
        return marked[0] + similarity * (marked[1] - marked[0])

    def y(self, part: float) -> float:
        """Return where a chance lies, by the lines of the grid and their labels."""
        labels = [label["words"] for label in self.text if label["words"].endswith("%")]
        heights = [float(y) for y in re.findall(r",([\d.]+)H", str(self.path))]
        marked = dict(zip(labels, heights, strict=True))
        return marked["0 %"] + part * (marked["100 %"] - marked["0 %"])

    def lines(self, name: str) -> list[list[tuple[float, float]]]:
        """Return the points of the paths of a class."""
        return [
            [(float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", path["d"])]
            for path in self.path
            if path.get("class") == name
        ]


def test_the_curve_is_that_of_the_settings_and_the_bars_are_what_was_seen(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """The S-curve follows its formula, a bar stands where documents had their highest similarity,
    as high as the logarithm of their number, and the threshold in force is marked."""
    service.decide(fed_for_the_curve())
    page = visit(service).page
    expect(page.locator("#curve rect")).to_have_count(4)
    chart = Chart.on(page)

    note = page.locator("#curve-note").text_content() or ""
    bands, rows = map(int, re.findall(r"(\d+) bands of (\d+) rows", note)[0])
    similarities = [place / 100 for place in range(101)]
    curve = [(chart.x(s), chart.y(1 - (1 - s**rows) ** bands)) for s in similarities]
    drawn = chart.lines("one")
    assert len(drawn) == 1
    assert sum(drawn[0], ()) == pytest.approx(sum(curve, ()), abs=0.2)

    # In each hundredth: of 30 that resemble nothing, from 0 to 0.1; of 100 / 122, 100 / 110 and 1.
    seen = {(0, 0.1): 3, (0.81, 0.82): 10, (0.9, 0.91): 20, (0.99, 1): 10}
    unit = float(chart.rect[0]["height"]) / log10(1 + 3)
    for bar, ((begin, end), density) in zip(chart.rect, seen.items(), strict=True):
        left, width, height = (float(bar[name]) for name in ("x", "width", "height"))
        assert (left, left + width) == pytest.approx((chart.x(begin), chart.x(end)), abs=0.6)
        assert height == pytest.approx(unit * log10(1 + density), abs=0.5)
        assert float(bar["y"]) + height == pytest.approx(chart.y(0), abs=0.2)

    [[(threshold, _)]] = chart.lines("threshold")
    assert threshold == pytest.approx(chart.x(0.7), abs=0.1)
    assert "threshold 0.7" in [label["words"] for label in chart.text]


def test_the_figures_follow_from_what_was_fed(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Of 70 documents 40 are duplicates, fewer with a higher threshold, and all 30 pairs of near
    copies were met: recall is shown with the interval that so many allow."""
    service.decide(fed_for_the_curve())
    page = visit(service).page

    expect(page.locator("#duplicates")).to_have_text("57.1 %")
    expect(page.locator("#duplicates-note")).to_have_text("40 since the start")
    low = int(wilson(1, 30)[0] * 1000) / 10
    expect(page.locator("#recall")).to_have_text("100.0 %")
    expect(page.locator("#recall-pairs")).to_have_text("of 30 pairs")
    # What is expected is certain: fewer values of their signatures differ than there are bands.
    expect(page.locator("#recall-note")).to_have_text(f"{low} to 100.0 %; 100.0 % expected")
    whisker = page.locator("#recall-chart")
    expect(whisker).to_have_attribute("aria-label", f"Between {low} % and 100.0 %")
    expect(whisker.locator("circle, .expected, .one")).to_have_count(3)

    answer, trial = page.locator("#whatif-answer"), page.locator("#curve .trial")
    expect(page.locator("#whatif")).to_have_value("0.7")
    expect(answer).to_have_text("40 documents would be duplicates, 57.1 % of all")
    expect(trial).to_have_count(0)
    # To the hundredth: 20 have a similarity of 100 / 110.
    for chosen, duplicates in ((0.9, "30 documents"), (0.91, "10 documents")):
        page.locator("#whatif").fill(str(chosen))
        expect(page.locator("#whatif-value")).to_have_text(f"{chosen:.2f}")
        expect(answer).to_contain_text(f"{duplicates} would be duplicates")
        chart = Chart.on(page)
        [[(x, _)]] = chart.lines("trial")
        assert x == pytest.approx(chart.x(chosen), abs=0.1)


def test_a_match_is_opened_with_its_differences_marked(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Both texts of a match are shown side by side, and just the words that differ are marked."""
    service.decide([document("first", STORY, "afp"), document("second", EDITED, "dpa")])
    page = visit(service).page

    row(page, "second").click()

    expect(page.locator("#pair-first-text")).to_have_text(EDITED)
    expect(page.locator("#pair-second-text")).to_have_text(STORY)
    expect(page.locator("#pair-first-text mark")).to_have_text(["brook"])
    expect(page.locator("#pair-second-text mark")).to_have_text(["river"])
    expect(page.locator("#pair-facts")).to_contain_text("bands shared")


def test_a_match_without_texts_says_why(
    serve: Callable[..., PageService], visit: Callable[..., Visit]
) -> None:
    """Where texts are not kept the page names the setting that keeps them."""
    service = serve(verify="signature")
    service.decide([document("first", STORY), document("second", EDITED)])
    page = visit(service).page

    row(page, "second").click()

    expect(page.locator("#pair-answer")).to_contain_text('similarity.verify = "exact"')
    expect(page.locator("#pair-facts")).to_contain_text("similarity")
    expect(page.locator("#pair-sides")).to_be_hidden()


def test_a_text_is_looked_up(service: PageService, visit: Callable[..., Visit]) -> None:
    """A known text is found with what it resembles and can be compared, an unheard one is not."""
    service.decide([document("first", STORY, "afp")])
    page = visit(service).page

    page.get_by_label("Text", exact=True).fill(EDITED)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#query-answer")).to_have_text("1 document resembles it.")
    page.locator("#query-results button").click()
    expect(page.locator("#pair-first-text mark")).to_have_text(["brook"])
    page.keyboard.press("Escape")

    page.get_by_label("Text", exact=True).fill(UNHEARD)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#query-answer")).to_contain_text("Not known at 0.7")
    expect(page.locator("#query-results li")).to_have_count(0)


def test_nothing_that_comes_with_a_document_becomes_markup(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Ids, sources, namespaces and texts that are written as markup are shown as they are."""
    evil = '<img src=x onerror="window.isHacked = 1">'
    script = "<script>window.isHacked = 1</script>"
    documents = [
        Document(id=f"{evil}{n}", text=f"{script} {text}", source=script, namespace=evil)
        for n, text in enumerate([STORY, EDITED])
    ]
    service.decide(documents)
    page = visit(service).page

    row(page, f"{evil}1").click()
    expect(page.locator("#pair-first-text")).to_have_text(documents[1].text)
    expect(page.locator("#pair-second")).to_have_text(documents[0].id)
    page.keyboard.press("Escape")
    page.get_by_label("Text", exact=True).fill(documents[0].text)
    page.get_by_label("Namespace").fill(evil)
    page.get_by_role("button", name="Look up").click()
    expect(page.locator("#query-results")).to_contain_text(script)

    assert page.locator("img, body script").count() == 0
    assert page.evaluate("window.isHacked") is None


def test_what_is_written_from_the_right_stays_in_its_place(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """A text begins at its own side, and an id stays before its source, whatever their script."""
    story = "ارتفع منسوب النهر فوق حقول الوادي السفلى بعد ليلة من المطر. " * 4
    documents = [document(f"وثيقة-{n}", story + "!" * n, "صحيفة الوادي") for n in (1, 2)]
    service.decide(documents)
    page = visit(service).page
    found = row(page, documents[1].id)
    name, source = (found.locator(kind).first.bounding_box() for kind in (".name", ".source"))
    assert name is not None
    assert source is not None
    assert name["x"] + name["width"] <= source["x"]

    found.click()
    text = page.locator("#pair-first-text")
    expect(text).to_have_text(documents[1].text)
    begins = text.evaluate(
        """text => {
            const [first, box] = [document.createRange(), text.getBoundingClientRect()];
            first.setStart(text.firstChild, 0);
            first.setEnd(text.firstChild, 1);
            return (first.getBoundingClientRect().right - box.left) / box.width;
        }"""
    )
    assert begins > 0.9


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_longest_ids_leave_room_for_the_rest(
    service: PageService, visit: Callable[..., Visit], size: tuple[int, int]
) -> None:
    """Ids of thousands of characters push neither the texts nor the way out of the screen."""
    first, second = (f"{letter * 3000}-{letter}" for letter in "ab")
    service.decide([document(first, STORY), document(second, EDITED)])
    page = visit(service, size).page
    row(page, second).click()
    expect(page.locator("#pair-first-text mark")).to_have_text(["brook"])

    expect(page.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    expect(page.locator("#pair-first-text mark")).to_be_in_viewport(ratio=1)
    page.keyboard.press("Escape")
    listed = page.locator("#growing tr").bounding_box()
    assert listed is not None
    assert listed["height"] < 60


def test_it_asks_nobody_else_and_complains_of_nothing(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Each request goes to the service's own host and for a file that is there, none is there in
    vain, the console stays empty, and inline code has no chance by the policy."""
    service.decide(FEED)
    visited = visit(service)
    page = visited.page
    page.locator("#matches button").first.click()
    expect(page.locator("#pair-sides")).to_be_visible()
    page.keyboard.press("Escape")

    assert visited.hosts == {urlsplit(service.address).netloc}
    asked = {urlsplit(request.url).path for request in visited.requests}
    parts = {f"/page/{name}" for name in page_files() if name.endswith((".js", ".css"))}
    assert {"/", "/page/page.js", "/page/style.css", "/v1/live", "/readyz"} | parts <= asked
    assert visited.complaints == []
    answer = visited.requests[0].response()
    assert answer
    policy = answer.header_value("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_it_asks_for_the_token(
    serve: Callable[..., PageService], visit: Callable[..., Visit]
) -> None:
    """Without the token nothing is shown but a form; with it all is, and no address holds it."""
    service = serve(token="open sesame")
    service.decide(FEED[:50])
    visited = visit(service, expected=f"{NOT_LOADED}the server responded with a status of 401")
    page = visited.page
    token = page.get_by_label("Bearer token")
    expect(token).to_be_focused()
    expect(page.locator("main")).to_be_hidden()

    token.fill("wrong")
    token.press("Enter")
    expect(page.locator("#access-answer")).to_have_text("The service refused this token.")
    token.fill("open sesame")
    token.press("Enter")

    expect(page.locator("#throughput-note")).to_have_text("50 since the start")
    expect(page.locator("#access")).to_be_hidden()
    page.reload()
    expect(page.locator("#throughput-note")).to_have_text("50 since the start")
    assert not [request.url for request in visited.requests if "sesame" in request.url]
    assert page.evaluate("localStorage.length + document.cookie.length") == 0


def test_it_tells_why_the_service_is_not_ready(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """While a role is not at work its reason is read out, and is gone when it is."""
    service.health.tell("match", "restoring", "1200 records of the log remain")
    page = visit(service, expected=f"{NOT_LOADED}the server responded with a status of 503").page

    expect(page.get_by_role("status").filter(has_text="1200 records")).to_be_visible()
    expect(page.locator("#standing")).to_contain_text("not ready")

    service.health.tell("match", "working")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("#standing")).to_contain_text("ready: match working")


def test_a_lost_service_is_seen(service: PageService, visit: Callable[..., Visit]) -> None:
    """What is shown of a service that is gone is marked as old, until it answers again."""
    service.decide(FEED[:50])
    page = visit(service, expected=f"{NOT_LOADED}net::ERR_").page
    expect(page.locator("#throughput-note")).to_have_text("50 since the start")

    service.shut()
    expect(page.locator("#banner")).to_contain_text("cannot be reached")
    expect(page.locator("#banner")).to_contain_text("What is shown was true at")
    expect(page.locator("#standing")).to_contain_text("no answer")
    expect(page.locator("body")).to_have_class("stale")

    service.serve(urlsplit(service.address).port or 0)
    service.decide(FEED[50:60])
    expect(page.locator("#throughput-note")).to_have_text("60 since the start")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("body")).not_to_have_class("stale")


def test_a_hung_service_is_seen(service: PageService, visit: Callable[..., Visit]) -> None:
    """An answer that does not come is told of within seconds, not waited for in silence."""
    page = visit(service).page
    page.clock.install()
    page.reload()
    expect(page.locator("#standing")).to_contain_text("ready: match")

    page.route("**/v1/live", lambda route: None)  # taken, and never answered
    with page.expect_request("**/v1/live"):
        pass
    expect(page.locator("#standing")).to_contain_text("ready: match")
    page.clock.fast_forward(6000)

    expect(page.locator("#banner")).to_contain_text("does not answer")
    expect(page.locator("#standing")).to_contain_text("no answer")


def test_all_can_be_done_with_the_keyboard(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Tab leads to the figures and on to the matches, Enter opens one, Escape goes back to it;
    the question can be reached without passing all of them."""
    service.decide([document("first", STORY), document("second", EDITED)])
    page = visit(service).page
    expect(row(page, "second")).to_be_visible()

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the figures")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the question")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.get_by_role("link", name="Skip to the figures").focus()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Hold")).to_be_focused()
    while page.evaluate("document.activeElement.closest('#matches') === null"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement !== document.body"), "no match was reached"
    expect(row(page, "second")).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"

    service.decide([document("third", EDITED)])
    expect(page.locator("#matches-note")).to_have_text("held, 1 newer")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("#pair-first-text mark")).to_have_text(["brook"])
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(row(page, "second")).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_it_fits_every_screen_in_both_schemes(
    service: PageService,
    visit: Callable[..., Visit],
    tmp_path: Path,
    size: tuple[int, int],
    scheme: str,
) -> None:
    """Nothing is wider than the screen, at 360 pixels neither, and the scheme is the reader's."""
    service.decide(FEED)
    service.decide([document("first" * 30, STORY), document("second" * 30, EDITED)])
    page = visit(service, size, scheme).page
    expect(row(page, "second")).to_be_visible()
    widest = "Math.max(...[...document.querySelectorAll('body, dialog')].map(e => e.scrollWidth))"
    page.screenshot(path=tmp_path / "page.png", full_page=True)

    assert page.evaluate(widest) <= size[0]
    row(page, "second").click()
    expect(page.locator("#pair-first-text mark")).to_have_text(["brook"])
    page.screenshot(path=tmp_path / "pair.png")
    assert page.evaluate(widest) <= size[0]
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color,"
        " getComputedStyle(document.documentElement).backgroundColor]"
        ".map(colour => colour.match(/\\d+/g).map(Number).reduce((a, b) => a + b))"
    )
    assert (paper < ink) == (scheme == "dark")


def test_everything_has_a_name(service: PageService, visit: Callable[..., Visit]) -> None:
    """Each control and picture has a name for those who do not see it, headings are in order."""
    service.decide(FEED)
    page = visit(service).page
    expect(page.locator("#matches li")).not_to_have_count(0)

    found = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    nodes = [node for node in found["nodes"] if not node["ignored"]]
    named = {"button", "textbox", "slider", "spinbutton", "link", "image"}
    nameless = [
        node["role"]["value"]
        for node in nodes
        if node["role"]["value"] in named and not node["name"]["value"].strip()
    ]
    roles = {node["role"]["value"] for node in nodes}

    assert nameless == []
    assert roles >= {"main", "banner", "button", "textbox", "slider", "spinbutton", "image"}
    assert page.locator("html").get_attribute("lang") == "en"
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(head => Number(head.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert page.evaluate("[...document.querySelectorAll('[style], [onclick]')].length") == 0
