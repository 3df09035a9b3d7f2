"""Every directory that a power cut may leave, from what was not synced."""

import itertools
from collections.abc import Iterable, Iterator, Sequence

from tests.simulation.directory import FileState, Kernel, apply_name
from tests.simulation.torn_writes import (
    KINDS,
    KINDS_OF_SEVERAL,
    NOTHING,
    WHOLE,
    content_after,
    left_of,
)

MAX_NAMES_PENDING = 6  # beyond, not every combination is made
MAX_WRITES_PENDING = 3  # of one file; beyond, only those up to one of them, which is torn, are left


def states(kernel: Kernel) -> Iterator[dict[str, bytes]]:
    """Yield every directory that a power cut may leave now, as {name: content}, each once."""
    seen = set()
    for names in _names_left(kernel):
        files = [_contents_left(name, kernel.files[number]) for name, number in names.items()]
        for contents in itertools.product(*files):
            state = dict(zip(names, contents, strict=True))
            key = tuple(sorted(state.items()))
            if key not in seen:
                seen.add(key)
                yield state


def _names_left(kernel: Kernel) -> Iterator[dict[str, int]]:
    pending = kernel.pending_names
    picks: Iterable[Sequence[bool]]
    if len(pending) <= MAX_NAMES_PENDING:
        picks = itertools.product((False, True), repeat=len(pending))
    else:
        ordinals = range(len(pending))
        several = [[it < end for it in ordinals] for end in range(len(pending) + 1)]
        several += [[it != lost for it in ordinals] for lost in ordinals]
        several += [[it == alone for it in ordinals] for alone in ordinals]
        picks = several
    for pick in picks:
        names = dict(kernel.durable_names)
        for change, happened in zip(pending, pick, strict=True):
            if happened:
                apply_name(names, change)
        yield names


def _contents_left(name: str, state: FileState) -> list[bytes]:
    if name.endswith(".tmp"):
        return [b"half"]  # nobody may look into it
    durable = bytes(state.durable)
    if not state.pending:
        return [durable]
    found = set()
    for pick in _picks(len(state.pending)):
        writes = [
            part
            for kind, write in zip(pick, state.pending, strict=True)
            for part in left_of(write, kind, len(durable))
        ]
        found.add(bytes(content_after(durable, writes)))
    return sorted(found)


def _picks(number: int) -> Iterable[Sequence[int]]:
    """Combinations of what may be left of so many writes."""
    if number == 1:
        return [(kind,) for kind in KINDS]
    if number <= MAX_WRITES_PENDING:
        return itertools.product(KINDS_OF_SEVERAL, repeat=number)
    return [
        (*(WHOLE for _ in range(torn)), kind, *(NOTHING for _ in range(number - torn - 1)))
        for torn in range(number)
        for kind in KINDS_OF_SEVERAL
    ]
