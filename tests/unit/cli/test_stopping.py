"""What happens to a run that somebody stops."""

import os
import signal
from threading import Event

import pytest

from stream_dedup.cli.stopping import stopping

ENDINGS = [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]


@pytest.mark.parametrize(("number", "ending"), ENDINGS)
def test_the_first_signal_waits_for_the_block(
    number: signal.Signals, ending: type[BaseException]
) -> None:
    """The block hears of the wish and ends by itself; then the command ends as was asked."""
    stopped, finished = Event(), []

    def block() -> None:
        with stopping(stopped):
            os.kill(os.getpid(), number)
            assert stopped.is_set()
            finished.append(True)

    with pytest.raises(ending):
        block()
    assert finished


@pytest.mark.parametrize(("number", "ending"), ENDINGS)
def test_the_second_signal_does_not_wait(
    number: signal.Signals, ending: type[BaseException]
) -> None:
    """Who asks twice is obeyed at once."""

    def block() -> None:
        with stopping(Event()):
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), number)
            pytest.fail("went on")

    with pytest.raises(ending):
        block()


def test_afterwards_signals_are_as_before() -> None:
    """Without a signal nothing is raised, and the handlers of before are back, errors or not."""
    before = [signal.getsignal(number) for number, _ in ENDINGS]
    with stopping(Event()):
        assert signal.getsignal(signal.SIGTERM) not in before
    with pytest.raises(ZeroDivisionError), stopping(Event()):
        raise ZeroDivisionError

    assert [signal.getsignal(number) for number, _ in ENDINGS] == before
