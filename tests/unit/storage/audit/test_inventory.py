"""What keys mean, and totals by cluster and kind."""

import pytest

from headrace.storage.audit.inventory import Inventory, KeyKind, ListedObject, meaning_of
from headrace.storage.objects.keys import object_key


@pytest.mark.parametrize("object_id", [0, 1, 77, 2**40])
def test_a_key_of_an_object_tells_cluster_and_id(object_id):
    assert meaning_of(object_key("some-cluster", object_id)) == (
        KeyKind.OBJECT,
        "some-cluster",
        object_id,
    )


@pytest.mark.parametrize(
    ("key", "kind", "cluster"),
    [
        ("wal/c1/1/00000000000000000000", KeyKind.WAL, "c1"),
        ("wal/c1/1/checkpoint", KeyKind.WAL, "c1"),
        ("wal/1", KeyKind.OTHER, ""),
        (
            "metadata/c1/00000000000000000001-00000000000000000001.checkpoint",
            KeyKind.METADATA,
            "c1",
        ),
        ("metadata/c1", KeyKind.OTHER, ""),
        ("metadata/c1/deep/er", KeyKind.OTHER, ""),
        ("7f/wal/1", KeyKind.OTHER, ""),
        ("headrace-probe/12ab/put", KeyKind.PROBE, ""),
        ("headrace-probe", KeyKind.OTHER, ""),
        (".tmp/12-34-5", KeyKind.TEMPORARY, ""),
        ("00/c1/1", KeyKind.OTHER, ""),  # the spread is not that of object 1
        ("9e/c1/01", KeyKind.OTHER, ""),
        ("9e/c1/1/extra", KeyKind.OTHER, ""),
        ("backup/of/something.tar", KeyKind.OTHER, ""),
        ("", KeyKind.OTHER, ""),
    ],
)
def test_everything_else_is_no_object(key, kind, cluster):
    assert meaning_of(key) == (kind, cluster, -1)


def test_totals():
    inventory = Inventory()
    inventory.add([ListedObject(object_key("a", 1), 10, 500), ListedObject("other", 3, 0)])
    inventory.add(
        [ListedObject(object_key("a", 2), 30, 400), ListedObject(object_key("b", 1), 5, 9)]
    )
    totals = inventory.totals["a", KeyKind.OBJECT]
    assert (totals.objects, totals.bytes, totals.largest_bytes) == (2, 40, 30)
    assert (totals.oldest_ms, totals.newest_ms) == (400, 500)
    assert inventory.totals["", KeyKind.OTHER].oldest_ms == 0
    assert (inventory.objects, inventory.bytes) == (4, 48)
