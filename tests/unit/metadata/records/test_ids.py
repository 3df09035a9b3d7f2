from base64 import urlsafe_b64encode
from uuid import UUID

from headrace.metadata.records.ids import random_id


class Scripted:
    """Gives the numbers that the test says, in turn."""

    def __init__(self, numbers):
        self._numbers = list(numbers)

    def getrandbits(self, bits):
        return self._numbers.pop(0)


def test_ids_never_start_with_a_dash_in_base64():
    """KIP-516: tools would take such an id for an option."""
    dashed = 0xF8 << 120
    assert urlsafe_b64encode(UUID(int=dashed, version=4).bytes).startswith(b"-")
    good = 0x1234 << 100
    assert random_id(Scripted([dashed, good])) == UUID(int=good, version=4)
