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
_NICENESS = 10  # of at most 19: a tenth of the time of a thread that does not give way


def attune() -> None:
    """Prepare for long work in several threads; to be called when everything is loaded."""
    gc.freeze()  # what is loaded by now will stay: no need to look through it again and again
    gc.set_threshold(_NEW_OBJECTS)
    sys.setswitchinterval(_SWITCH_SECONDS)


def give_way() -> None:
    """Let other threads go first: for one that works ahead of them, and can catch up later."""
    if sys.platform == "linux":  # elsewhere a thread has no priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
