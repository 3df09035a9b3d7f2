"""Which partition of a coordinator's topic a key belongs to: a group, for example. Pure.

Source: `GroupCoordinatorService.partitionFor`, `TransactionStateManager.partitionFor`; `java.lang.String.hashCode`.
"""

from functools import lru_cache
from typing import Final

_INT32_MIN: Final = -(2**31)


MAX_KEPT_KEYS: Final = 4_096  # keys with their hashes
MAX_KEPT_CHARACTERS: Final = 256  # of such a key


def java_string_hash(text: str) -> int:
    """Compute Java's `String.hashCode`: over UTF-16 units, as a signed 32-bit integer."""
    value = 0
    if text.isascii():
        for byte in text.encode("ascii"):
            value = (31 * value + byte) & 0xFFFFFFFF
    else:
        units = text.encode("utf-16-be", "surrogatepass")
        for index in range(0, len(units), 2):
            value = (31 * value + (units[index] << 8 | units[index + 1])) & 0xFFFFFFFF
    return value - 2**32 if value >= 2**31 else value


def partition_for_key(key: str, partition_count: int) -> int:
    """Give the partition that holds this key; Kafka's `abs` maps the smallest integer to 0."""
    value = _kept_hash(key) if len(key) <= MAX_KEPT_CHARACTERS else java_string_hash(key)
    return (0 if value == _INT32_MIN else abs(value)) % partition_count


_kept_hash: Final = lru_cache(MAX_KEPT_KEYS)(java_string_hash)
