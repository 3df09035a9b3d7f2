"""Random ids. Pure."""

from base64 import urlsafe_b64encode
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from random import Random


def random_id(rng: "Random") -> UUID:
    """A random UUID whose text form in Kafka does not start with `-`: tools would parse it as an option (KIP-516)."""
    while True:
        candidate = UUID(int=rng.getrandbits(128), version=4)
        if not urlsafe_b64encode(candidate.bytes).startswith(b"-"):
            return candidate
