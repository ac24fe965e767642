from stream_dedup.health import SILENT_SECONDS_MAX, Health


class Clock:
    """Says what it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_role_that_works_is_live_and_ready() -> None:
    """Both probes are answered with yes, and no reason is given."""
    health = Health()
    health.tell("sign", "working")
    health.tell("match", "standing by")

    assert health.live().ok
    assert health.ready().ok
    assert not health.ready().reasons


def test_who_has_not_begun_is_not_ready() -> None:
    """Before any role was heard of nothing is ready, and nothing hangs."""
    assert Health().live().ok
    assert not Health().ready().ok


def test_restoring_is_live_and_not_ready() -> None:
    """The reason says which role, and what is left to do."""
    health = Health()
    health.tell("sign", "working")
    health.tell("match", "restoring", "12 records to go")

    assert health.live().ok
    assert not health.ready().ok
    assert health.ready().reasons == ["match: restoring: 12 records to go"]


def test_a_role_that_is_silent_is_not_live() -> None:
    """A thread that was not heard of for long hangs, whatever it said last."""
    clock = Clock()
    health = Health(clock)
    health.tell("match", "working")
    clock.now += SILENT_SECONDS_MAX + 1

    assert not health.live().ok
    assert health.live().reasons == ["match: not heard of for 301 s"]
    assert not health.ready().ok
    health.tell("match", "working")
    assert health.live().ok


def test_a_phase_counts_from_its_beginning() -> None:
    """Saying the same again does not begin it anew, and a new reason neither."""
    clock = Clock()
    health = Health(clock)
    health.tell("match", "restoring", "2 to go")
    clock.now += 5
    health.tell("match", "restoring", "1 to go")
    clock.now += 1

    assert health.ready().roles["match"].seconds == 6
    assert health.ready().roles["match"].silent_seconds == 1


def test_what_hinders_from_outside_is_told_until_it_is_gone() -> None:
    """A broker that is away makes the service not ready, though every role is heard of."""
    health = Health()
    health.tell("match", "working")
    health.hinder("broker", "no answer")

    assert health.ready().reasons == ["broker: no answer"]
    assert health.live().ok
    health.hinder("broker", "")
    assert health.ready().ok
