from hypothesis import given
from hypothesis import strategies as st

from stream_dedup.matching.logtime import UNDATED, LogTime

WINDOW = 10
times = st.lists(st.just(UNDATED) | st.integers(-50, 50), max_size=12)


def steps(clock: LogTime, column: list[int], window: int | None) -> tuple[LogTime, list[list[int]]]:
    behind, now, horizon = clock.advance(column, window)
    return behind, [now.tolist(), horizon.tolist()]


def test_log_time_is_the_latest_record_time() -> None:
    """A record that is late or has no time moves nothing; the horizon lies a window behind."""
    _, (now, horizon) = steps(LogTime(), [100, 90, UNDATED, 120, 105], WINDOW)

    assert now == [100, 100, 100, 120, 120]
    assert horizon == [UNDATED, UNDATED, UNDATED, 110, 110]


def test_what_has_no_time_counts_as_seen_at_the_first_time() -> None:
    """Undated documents outlive the first date by a window, and then go."""
    _, (now, horizon) = steps(LogTime(), [UNDATED, 100, 110, 111], WINDOW)

    assert now == [UNDATED, 100, 110, 111]
    assert [at <= UNDATED for at in horizon] == [True, True, True, False]


def test_without_a_window_nothing_is_forgotten() -> None:
    """The horizon stays where it was."""
    _, (_, horizon) = steps(LogTime(horizon=7), [100, 10**15], None)

    assert horizon == [7, 7]


def test_a_wider_window_brings_nothing_back() -> None:
    """What was forgotten under a narrow window stays so."""
    narrow, _ = steps(LogTime(), [0, 100], WINDOW)
    _, (_, horizon) = steps(narrow, [101], 90)

    assert horizon == [90]


@given(times, st.integers(0, 12), st.none() | st.just(WINDOW))
def test_the_clock_does_not_depend_on_cuts(column: list[int], cut: int, window: int | None) -> None:
    """Two parts of a stream show what the whole shows."""
    whole, (now, horizon) = steps(LogTime(), column, window)
    middle, (now_before, horizon_before) = steps(LogTime(), column[:cut], window)
    end, (now_behind, horizon_behind) = steps(middle, column[cut:], window)

    assert end == whole
    assert now_before + now_behind == now
    assert horizon_before + horizon_behind == horizon


@given(times)
def test_a_generation_ends_when_all_before_it_is_forgotten(column: list[int]) -> None:
    """What was seen before the generation began is outside the window when it ends."""
    clock = LogTime()
    for time in column:
        clock, _ = steps(clock, [time], WINDOW)
        if clock.rotation_due:
            assert clock.now - clock.generation_start > WINDOW or clock.generation_start == UNDATED
            clock = clock.rotated()
            assert not clock.rotation_due


def test_a_generation_lasts_a_window() -> None:
    """A rotation is due once all that came before the generation is forgotten, and not before."""
    clock, _ = steps(LogTime(), [100], WINDOW)
    clock = clock.rotated()

    assert not steps(clock, [110], WINDOW)[0].rotation_due
    assert steps(clock, [111], WINDOW)[0].rotation_due
