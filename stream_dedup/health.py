"""How the roles of a service are: alive, and doing their work."""

import time
from collections.abc import Callable
from threading import Lock
from typing import Literal

from msgspec import Struct

# A commit may be asked for that long while the broker is away, and a batch comes on top.
SILENT_SECONDS_MAX = 300.0

Phase = Literal["starting", "restoring", "standing by", "working"]

_DOING_THEIR_WORK: tuple[Phase, ...] = ("standing by", "working")


class Role(Struct, frozen=True, kw_only=True):
    """What a role does, and why not more."""

    phase: Phase
    reason: str = ""
    seconds: float  # in this phase
    silent_seconds: float  # since it was heard of


class Report(Struct, frozen=True, kw_only=True):
    """An answer to a probe."""

    ok: bool
    reasons: list[str]
    roles: dict[str, Role]


class _State(Struct):
    phase: Phase
    reason: str
    since: float
    heard: float


class Health:
    """Hears from each role's thread; any other may ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._states: dict[str, _State] = {}
        self._hindrances: dict[str, str] = {}

    def tell(self, role: str, phase: Phase, reason: str = "") -> None:
        """Say what the role does now; to be told often, for silence means that it hangs."""
        now = self._clock()
        with self._lock:
            state = self._states.get(role)
            since = now if state is None or state.phase != phase else state.since
            self._states[role] = _State(phase, reason, since, now)

    def hinder(self, what: str, reason: str) -> None:
        """Say what keeps a role from its work, as seen from outside; nothing if nothing does."""
        with self._lock:
            self._hindrances[what] = reason

    def live(self) -> Report:
        """Tell whether every role was heard of lately; if not, only a new process helps."""
        roles = self._roles()
        reasons = [
            f"{name}: not heard of for {role.silent_seconds:.0f} s"
            for name, role in roles.items()
            if role.silent_seconds > SILENT_SECONDS_MAX
        ]
        return Report(ok=not reasons, reasons=reasons, roles=roles)

    def ready(self) -> Report:
        """Tell whether every role does its work; a warm standby does."""
        roles = self._roles()
        reasons = self.live().reasons + [
            f"{name}: {role.phase}{': ' if role.reason else ''}{role.reason}"
            for name, role in roles.items()
            if role.phase not in _DOING_THEIR_WORK
        ]
        with self._lock:
            hindrances = self._hindrances.items()
            reasons += [f"{what}: {reason}" for what, reason in hindrances if reason]
        return Report(ok=bool(roles) and not reasons, reasons=reasons, roles=roles)

    def _roles(self) -> dict[str, Role]:
        now = self._clock()
        with self._lock:
            return {
                name: Role(
                    phase=state.phase,
                    reason=state.reason,
                    seconds=round(now - state.since, 3),
                    silent_seconds=round(now - state.heard, 3),
                )
                for name, state in self._states.items()
            }
