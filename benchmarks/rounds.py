"""Taking turns: noise that lasts hits all contestants, and each round stands for itself."""

import gc
from collections.abc import Callable, Mapping
from time import perf_counter

_SECONDS_MIN = 0.2  # a measurement lasts longer, or is made of repetitions

Call = Callable[[], object]


def take_turns(calls: Mapping[str, Call], rounds: int) -> dict[str, list[float]]:
    """Return the seconds that each call took in each round, garbage collection off."""
    repetitions = {name: _repetitions(call) for name, call in calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    names = list(calls)
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            first = number % len(names)
            for name in names[first:] + names[:first]:
                seconds[name].append(_seconds(calls[name], repetitions[name]))
    finally:
        gc.enable()
    return seconds


def _repetitions(call: Call) -> int:
    """Warm up, then see how often the call must be made."""
    call()
    return 1 + int(_SECONDS_MIN / _seconds(call, 1))


def _seconds(call: Call, repetitions: int) -> float:
    start = perf_counter()
    for _ in range(repetitions):
        call()
    return (perf_counter() - start) / repetitions
