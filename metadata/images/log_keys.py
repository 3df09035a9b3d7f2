"""Keys of the cluster-wide store that stand for logs below the level that has them. Pure.

`wal/<node id>` is "<epoch> <generation>", and `wal/<node id>/uploaded` "<epoch> <offset>". Nothing checks
them when they are put, so what cannot be read counts as absent.
"""

import re
from typing import Final

PREFIX: Final = "wal/"
# Of a log of which nobody knows whether anything in it is needed; no log that is in use has it.
UNKNOWN_GENERATION: Final = "0" * 16
_GENERATION: Final = re.compile(rb"([0-9]{1,18}) ([0-9a-f]{16})")
_UPLOADED: Final = re.compile(rb"([0-9]{1,18}) ([0-9]{1,18})")


def generation_key(node_id: int) -> str:
    """Return the key that names the WAL which a node used last."""
    return f"{PREFIX}{node_id}"


def uploaded_key(node_id: int) -> str:
    """Return the key that tells up to where a node's WAL is in the bucket."""
    return f"{PREFIX}{node_id}/uploaded"


def read_generation(value: bytes | None) -> tuple[int, str] | None:
    """Return epoch and generation; None: there is no value, or it cannot be read."""
    found = None if value is None else _GENERATION.fullmatch(value)
    return None if found is None else (int(found[1]), found[2].decode())


def read_uploaded(value: bytes | None) -> tuple[int, int] | None:
    """Return epoch and offset; None: there is no value, or it cannot be read."""
    found = None if value is None else _UPLOADED.fullmatch(value)
    return None if found is None else (int(found[1]), int(found[2]))
