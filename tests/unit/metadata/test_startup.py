import random
from uuid import UUID

import pytest

from headrace.config.node import Voter
from headrace.links.ends import Address
from headrace.metadata.errors import (
    MetadataFormatError,
    MetadataIdentityError,
    MetadataLogCorruptError,
    MetadataVersionError,
)
from headrace.metadata.leader.startup import (
    first_configuration,
    load_image,
    new_cluster_id,
    opening_records,
)
from headrace.metadata.levels import METADATA_FEATURE, NEWEST
from headrace.metadata.log.recovered import Recovered
from headrace.metadata.log.snapshot_format import encode_snapshot
from headrace.metadata.records.cluster import ClusterIdRecord, FeatureRecord, LeaderChangeRecord
from headrace.metadata.records.codec import encode_records
from headrace.metadata.records.entry import LogEntry
from headrace.metadata.records.members import NO_DIRECTORY, Member
from tests.unit.metadata.pure_controller import CLUSTER_ID


def test_cluster_ids_look_like_kafkas():
    rng = random.Random(5)
    ids = [new_cluster_id(rng) for _ in range(300)]

    assert {len(it) for it in ids} == {22}
    assert not [it for it in ids if it.startswith("-")]
    assert len(set(ids)) == 300


def test_an_empty_log_is_bootstrapped():
    records = opening_records(3, leader_id=1, cluster_id="c", now_ms=9)

    assert records[0] == LeaderChangeRecord(3, 1, 9)
    assert ClusterIdRecord("c") in records
    assert FeatureRecord(METADATA_FEATURE, NEWEST) in records


def test_a_log_goes_on_in_the_next_term():
    assert opening_records(5, leader_id=2, cluster_id=None, now_ms=9) == (
        LeaderChangeRecord(5, 2, 9),
    )


def test_the_first_members_are_the_founders_or_this_node_alone_or_nobody_yet():
    mine, here = UUID(int=7), Address("h", 9)

    def members(voters, *, founds_quorum=True):
        configuration = first_configuration(
            voters, node_id=2, directory_id=mine, address=here, founds_quorum=founds_quorum
        )
        return configuration.members

    assert members(()) == (Member(2, mine, "h", 9, True),)
    assert members((), founds_quorum=False) == ()
    assert members((Voter(2, "b", 2), Voter(1, "a", 1))) == (
        Member(1, NO_DIRECTORY, "a", 1, True),
        Member(2, mine, "b", 2, True),
    )
    assert members((Voter(1, "a", 1),)) == (Member(1, NO_DIRECTORY, "a", 1, True),)


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


def test_a_log_of_level_1_is_refused_by_its_first_entry():
    """What follows, such as the keys that stood for logs, is not looked at."""
    founded = encode_records((ClusterIdRecord("c"), FeatureRecord(METADATA_FEATURE, 1)))
    keys = bytes.fromhex("01 91 93 04 a16b c4020001")
    entries = [LogEntry(1, 1, founded), LogEntry(2, 1, keys)]
    with pytest.raises(MetadataVersionError, match="the cluster is at 1: start it with an earlier"):
        load_image(Recovered(None, entries, 0), "c")


def test_a_newer_log_is_refused():
    newer = encode_records((FeatureRecord(METADATA_FEATURE, NEWEST + 1),))
    with pytest.raises(MetadataVersionError, match=f"at {NEWEST + 1}: upgrade this node"):
        load_image(Recovered(None, [LogEntry(1, 1, newer)], 0), "c")
    with pytest.raises(MetadataFormatError, match="entry 1"):
        load_image(Recovered(None, [LogEntry(1, 1, b"\x02\x90")], 0), "c")
