"""Values of records for benchmarks: no two are alike, and they compress as text does. Pure.

A value is the number of its record, and a piece of a text of random words that begins anywhere in 16 MiB. So neither a
codec nor a dictionary of a file finds a value again, and what is measured is a figure of records. Of values of 100 bytes
and of 1 KB, batches of 16 KiB become 2.2 times as small by zstd and 1.3 times by lz4, batches of 256 KiB 3.4 and 4.0
times, and 1.5 and 1.6; Parquet by snappy 1.7 and 1.4 times, with a dictionary and without.
Debian's package index, in pieces of the same sizes: 3.6 and 2.4, 4.1 and 2.7.
"""

import random
from collections.abc import Iterator
from typing import Final

_TEXT_BYTES: Final = 16 << 20
_WORDS: Final = 2_000
_NUMBER: Final = b"%012d "
MIN_VALUE_BYTES: Final = len(_NUMBER % 0)


def values(value_bytes: int, *, seed: int = 1) -> Iterator[bytes]:
    """Yield values of this size without an end; those of one seed are always the same.

    Raises:
        ValueError: the size has no room for the number that tells values apart.
    """
    if value_bytes < MIN_VALUE_BYTES:
        raise ValueError(f"values that differ have at least {MIN_VALUE_BYTES} bytes")
    return _values(value_bytes - MIN_VALUE_BYTES, random.Random(seed))


def _values(piece_bytes: int, source: random.Random) -> Iterator[bytes]:
    words = [source.randbytes(source.randint(2, 9)).hex() for _ in range(_WORDS)]
    # Of 12 bytes each, with the space: a bit more than is asked for.
    text = " ".join(source.choices(words, k=(_TEXT_BYTES + piece_bytes) // 11)).encode()
    starts = len(text) - piece_bytes
    number = 0
    while True:
        at = int(source.random() * starts)
        yield _NUMBER % number + text[at : at + piece_bytes]
        number += 1
