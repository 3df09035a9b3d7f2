"""Since when this process has seen objects destroyed, by a clock that nobody sets. Pure."""

from collections.abc import Collection


class DestroyedObjects:
    """Holds as many times as there are destroyed objects in the metadata."""

    def __init__(self) -> None:
        self._seen_ms: dict[int, int] = {}

    def note(self, destroyed: Collection[int], elapsed_ms: int) -> None:
        """Take in which objects are destroyed now; the others are forgotten."""
        seen_ms = self._seen_ms
        self._seen_ms = {it: seen_ms.get(it, elapsed_ms) for it in destroyed}

    def for_ms(self, object_id: int, elapsed_ms: int) -> int:
        """How long one has been seen destroyed; it has been noted."""
        return elapsed_ms - self._seen_ms[object_id]
