import random

import pytest

from metadata.errors import MetadataFormatError, MetadataIdentityError, MetadataLogCorruptError
from metadata.image import MetadataImage
from metadata.log.recovered import Recovered
from metadata.log.snapshot_format import encode_snapshot
from metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from metadata.records.codec import encode_records
from metadata.records.entry import LogEntry
from metadata.startup import METADATA_FEATURE, load_image, new_cluster_id, term_records
from tests.unit.metadata.pure_controller import CLUSTER_ID


def test_cluster_ids_look_like_kafkas():
    rng = random.Random(5)
    ids = [new_cluster_id(rng) for _ in range(300)]

    assert {len(it) for it in ids} == {22}
    assert not [it for it in ids if it.startswith("-")]
    assert len(set(ids)) == 300


def test_an_empty_log_is_bootstrapped():
    records = term_records(MetadataImage(), leader_id=1, cluster_id="c", now_ms=9)

    assert records[0] == LeaderChangeRecord(1, 1, 9)
    assert ClusterIdRecord("c") in records
    assert FeatureRecord(METADATA_FEATURE, 1) in records


def test_a_log_goes_on_in_the_next_term():
    image = MetadataImage(cluster_id="c", index=8, term=4)

    assert term_records(image, leader_id=2, cluster_id="c", now_ms=9) == (
        LeaderChangeRecord(5, 2, 9),
    )


def test_snapshot_and_entries_make_the_image(controller):
    whole = load_image(Recovered(None, controller.entries, 0), CLUSTER_ID)
    assert whole == controller.image

    controller.create("later")
    snapshot = b"".join(encode_snapshot(whole))
    rest = [it for it in controller.entries if it.index > whole.index]

    assert load_image(Recovered(snapshot, rest, 0), CLUSTER_ID) == controller.image


def test_a_gap_is_refused(controller):
    with pytest.raises(MetadataLogCorruptError):
        load_image(Recovered(None, controller.entries[1:], 0), CLUSTER_ID)


def test_another_clusters_log_is_refused(controller):
    with pytest.raises(MetadataIdentityError):
        load_image(Recovered(None, controller.entries, 0), "other")


def test_a_newer_log_is_refused():
    newer = encode_records((FeatureRecord(METADATA_FEATURE, 2),))
    with pytest.raises(MetadataFormatError, match=r"metadata\.version 2"):
        load_image(Recovered(None, [LogEntry(1, 1, newer)], 0), "c")
    with pytest.raises(MetadataFormatError, match="entry 1"):
        load_image(Recovered(None, [LogEntry(1, 1, b"\x02\x90")], 0), "c")
