"""Object keys: spread, reversible, and nothing that a store could misunderstand."""

from collections import Counter

import pytest

from headrace.storage.objects.keys import object_key, parse_object_key, require_valid_key


def test_the_key_names_cluster_and_object():
    assert object_key("c1", 0) == "00/c1/0"
    assert object_key("c1", 1) == "9e/c1/1"
    assert object_key("kRaft_Cluster-9", 2**40).endswith("/kRaft_Cluster-9/1099511627776")


def test_consecutive_objects_spread_evenly_over_prefixes():
    prefixes = Counter(object_key("c", n)[:2] for n in range(2560))
    assert len(prefixes) == 256
    assert max(prefixes.values()) <= 12


@pytest.mark.parametrize("object_id", [0, 1, 77, 2**31, 2**62])
def test_a_key_is_parsed_back(object_id):
    assert parse_object_key(object_key("my-cluster_1", object_id)) == ("my-cluster_1", object_id)


@pytest.mark.parametrize(
    "key",
    ["", "9e/c1", "9e/c1/1/2", "00/c1/1", "9e/c1/01", "9e/c1/x", "9e/c1/-1", "9E/c1/1", "9e/c.1/1"],
)
def test_foreign_keys_are_not_taken_for_objects(key):
    assert parse_object_key(key) is None


@pytest.mark.parametrize("cluster_id", ["", "a/b", "..", "a b", "-a", "ü", "a\n"])
def test_a_cluster_id_that_would_break_the_key_is_refused(cluster_id):
    with pytest.raises(ValueError, match="cluster id"):
        object_key(cluster_id, 1)


def test_a_negative_id_is_refused():
    with pytest.raises(ValueError, match="negative"):
        object_key("c", -1)


@pytest.mark.parametrize("key", ["a", "a/b/c.d", "00/c1/0", "A-1_/x"])
def test_plain_keys_are_valid(key):
    require_valid_key(key)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "/a",
        "a/",
        "a//b",
        "..",
        "a/../b",
        ".tmp/a",
        "a/.b",
        "a b",
        "a\\b",
        "a\n",
        "é",
        "a" * 1025,
    ],
)
def test_keys_that_stores_read_differently_are_refused(key):
    with pytest.raises(ValueError, match="invalid object key"):
        require_valid_key(key)
