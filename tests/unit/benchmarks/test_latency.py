"""How long documents wait, as it is kept, said and drawn."""

import xml.etree.ElementTree as ET

from benchmarks import render_service
from benchmarks.records import COMMITTED, QUANTILES, Delay, ServiceResults, load

SVG = "{http://www.w3.org/2000/svg}"
DELAY = Delay(
    500, [10 + 40 * share for share in QUANTILES], [20 + 80 * share for share in QUANTILES]
)


def test_a_delay_knows_its_median_and_its_worst() -> None:
    """Half wait no longer than the median; 99 in 100 no longer than the other."""
    assert (DELAY.bare_median, DELAY.median) == (30, 60)
    assert (round(DELAY.bare_99, 1), round(DELAY.worst_99, 1)) == (49.6, 99.2)


def test_what_is_kept_are_quantiles() -> None:
    """They rise, and there is one for each share that is looked up."""
    for delay in load("service", ServiceResults, COMMITTED).delays:
        for waits in (delay.bare, delay.service):
            assert len(waits) == len(QUANTILES)
            assert sorted(waits) == waits


def test_the_picture_has_a_panel_for_each_rate() -> None:
    """Service and bare copy are drawn for each, and said in words."""
    delays = load("service", ServiceResults, COMMITTED).delays
    root = ET.fromstring(render_service.pictures()["latency.svg"])
    words = [element.text or "" for element in root.iter(f"{SVG}text")]

    assert [f"{delay.rate:,} documents a second" in words for delay in delays] == [True] * 2
    assert words.count("service") == words.count("two bare copies") == len(delays)
