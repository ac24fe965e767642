import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Request, expect

from stream_dedup.events import Document
from stream_dedup.feed.planting import news_feed
from stream_dedup.growth import GROWING
from tests.integration import browsers
from tests.integration.page_service import PageService

expect.set_options(timeout=15_000)

DESKTOP, PHONE = (1440, 900), (360, 740)
FEED = [planted.event for planted in news_feed(seed=3, documents=400)]
STORY = (
    "Rain fell on the hills all night, and by the morning the river had risen above the lower "
    "fields of the valley. Nobody was hurt, the mayor said, but forty families had to leave."
)
EDITED = STORY.replace("river", "brook")
UNHEARD = "Quite another matter: the museum has found the missing half of its oldest globe."
# The page's own answer to what is not there is none of its mistakes: browsers note every status.
STATUS_NOTES = "Failed to load resource: the server responded with a status of"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium."""
    with browsers.started() as started:
        yield started


@pytest.fixture
def service(tmp_path: Path) -> Iterator[PageService]:
    """A service that keeps texts."""
    with PageService(tmp_path / "index") as service:
        yield service


class Visit:
    """A page that was opened, and all that it asked for and complained of."""

    def __init__(self, browser: Browser, address: str, size: tuple[int, int], scheme: str) -> None:
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
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.goto(address)

    @property
    def hosts(self) -> set[str]:
        return {urlsplit(request.url).netloc for request in self.requests}


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Open pages that close with the test, and have no complaint unless the test expects one."""
    visits: list[Visit] = []

    def visit(
        service: PageService, size: tuple[int, int] = DESKTOP, scheme: str = "light"
    ) -> Visit:
        visits.append(Visit(browser, service.address, size, scheme))
        return visits[-1]

    yield visit
    for opened in visits:
        opened.context.close()


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
    expect(page.locator("#throughput-chart")).to_have_attribute(
        "aria-label", re.compile("up to [1-9]")
    )
    assert page.evaluate("window.isTheSame")


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


def test_a_match_without_texts_says_why(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    """Where texts are not kept the page names the setting that keeps them."""
    with PageService(tmp_path / "index", verify="signature") as service:
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


def test_it_asks_nobody_else_and_complains_of_nothing(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Each request goes to the service's own host, the console stays empty, and inline code has
    no chance by the policy."""
    service.decide(FEED)
    visited = visit(service)
    page = visited.page
    page.locator("#matches button").first.click()
    expect(page.locator("#pair-sides")).to_be_visible()
    page.keyboard.press("Escape")

    assert visited.hosts == {urlsplit(service.address).netloc}
    assert {"/", "/page/page.js", "/page/style.css", "/v1/live", "/readyz"} <= {
        urlsplit(request.url).path for request in visited.requests
    }
    assert visited.complaints == []
    answer = visited.requests[0].response()
    assert answer
    policy = answer.header_value("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_it_asks_for_the_token(tmp_path: Path, visit: Callable[..., Visit]) -> None:
    """Without the token nothing is shown but a form; with it all is, and no address holds it."""
    with PageService(tmp_path / "index", token="open sesame") as service:
        service.decide(FEED[:50])
        visited = visit(service)
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
        assert all(STATUS_NOTES in said for said in visited.complaints)


def test_it_tells_why_the_service_is_not_ready(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """While a role is not at work its reason is read out, and is gone when it is."""
    service.health.tell("match", "restoring", "1200 records of the log remain")
    page = visit(service).page

    expect(page.get_by_role("status").filter(has_text="1200 records")).to_be_visible()
    expect(page.locator("#standing")).to_contain_text("not ready")

    service.health.tell("match", "working")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("#standing")).to_contain_text("ready: match working")


def test_a_lost_service_is_seen(service: PageService, visit: Callable[..., Visit]) -> None:
    """What is shown of a service that is gone is marked as old, until it answers again."""
    service.decide(FEED[:50])
    page = visit(service).page
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
    expect(page.locator("#standing")).to_contain_text("ready")

    page.route("**/v1/live", lambda route: None)  # taken, and never answered

    expect(page.locator("#banner")).to_contain_text("does not answer")
    expect(page.locator("#standing")).to_contain_text("no answer")


def test_all_can_be_done_with_the_keyboard(
    service: PageService, visit: Callable[..., Visit]
) -> None:
    """Tab leads to the figures and on to the matches, Enter opens one, Escape goes back to it."""
    service.decide([document("first", STORY), document("second", EDITED)])
    page = visit(service).page
    expect(row(page, "second")).to_be_visible()

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the figures")).to_be_focused()
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
