"""Whether a broker that was fenced begins again in its process, and after which pause. Pure.

A fenced broker has lost its epoch and nothing else: what it acknowledged is in its WAL, and the code of a start finds
it. So its role ends and begins again, without the process. The process ends instead where that leads nowhere: when one
role after the other is fenced before it serves, or when so many were fenced shortly that an operator should look.
"""

from collections import deque
from typing import Final

MAX_UNSERVED_ROLES: Final = 5  # in a row, that were fenced before they served
MAX_RESTARTS: Final = 20  # in `RESTARTS_WINDOW_MS`
RESTARTS_WINDOW_MS: Final = 600_000
# After the first role that was fenced before it served; then twice as long each time, until the process ends.
MIN_PAUSE_MS: Final = 100


class RoleRestarts:
    """The restarts of one process."""

    def __init__(self) -> None:
        self.total = 0
        self._recent_ms: deque[int] = deque()
        self._unserved = 0

    def pause_ms(self, now_ms: int, *, has_served: bool) -> int | None:
        """Count a role that was fenced; return how long to wait before the next, or None: the process ends.

        Args:
            now_ms: on any monotonic clock.
            has_served: whether the role has served clients before it was fenced.
        """
        recent_ms = self._recent_ms
        while recent_ms and recent_ms[0] <= now_ms - RESTARTS_WINDOW_MS:
            recent_ms.popleft()
        self._unserved = 0 if has_served else self._unserved + 1
        if len(recent_ms) >= MAX_RESTARTS or self._unserved >= MAX_UNSERVED_ROLES:
            return None
        recent_ms.append(now_ms)
        self.total += 1
        if has_served:
            return 0
        return MIN_PAUSE_MS << self._unserved - 1
