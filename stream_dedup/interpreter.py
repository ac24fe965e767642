"""What a process that does nothing but stream tells its interpreter, and its threads the system."""

import gc
import os
import sys
import threading

# A signing thread takes the interpreter's lock every few milliseconds, for moments. By default it
# may have to wait for five of them each time, about as long as it then works without the lock.
_SWITCH_SECONDS = 0.0005
# A batch makes objects by the ten thousand, hardly any of them in circles that need collecting.
_NEW_OBJECTS = 10_000
# Against a thread that does not give way a third of its time, or a thirtieth. One that signs is
# waited for, and holds the interpreter's lock at times: it must not come to a stop beside a program
# that is busy.
_SOMEWHAT = 5
FAR = 15


def attune() -> None:
    """Prepare for long work in several threads; to be called when everything is loaded."""
    gc.freeze()  # what is loaded by now will stay: no need to look through it again and again
    gc.set_threshold(_NEW_OBJECTS)
    sys.setswitchinterval(_SWITCH_SECONDS)


def give_way(thread: int | None = None, niceness: int = _SOMEWHAT) -> None:
    """Let other threads go first: for one that can catch up later; for this one, if none is named.

    A process that gives way to others itself has such a thread give way once more.
    """
    if sys.platform != "linux":  # elsewhere a thread has no priority of its own
        return
    own = threading.get_native_id()
    other = own if thread is None else thread
    least = os.getpriority(os.PRIO_PROCESS, own) + niceness
    # Never less than before, which takes a right; the system knows where niceness ends.
    os.setpriority(os.PRIO_PROCESS, other, max(least, os.getpriority(os.PRIO_PROCESS, other)))
