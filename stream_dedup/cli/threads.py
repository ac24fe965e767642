"""How many threads are worth starting."""

import os


def usable_cores() -> int:
    """Count the cores this process may use, where the system tells, or all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
