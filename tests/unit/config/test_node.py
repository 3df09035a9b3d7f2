"""The sections of a node's settings."""

import dataclasses

import pytest

from headrace.config.node import NodeConfig, StorageConfig
from headrace.config.relations import RelationError


def test_a_configuration_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        NodeConfig().node_id = 2


def test_a_configuration_whose_parts_do_not_go_together_is_refused():
    with pytest.raises(RelationError, match=r"s3\.wal\.upload\.threshold"):
        NodeConfig(storage=StorageConfig(log_cache_bytes=1))
