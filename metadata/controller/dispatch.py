"""Which decision a request asks for. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from metadata.controller.brokers import register_broker, unregister_broker
from metadata.controller.configs import alter_configs
from metadata.controller.decision import Decision, Inputs
from metadata.controller.key_values import put_key_values
from metadata.controller.object_commits import commit_stream_set_object, compact_stream_object
from metadata.controller.objects import forget_objects, prepare_objects
from metadata.controller.producer_ids import allocate_producer_ids
from metadata.controller.streams import close_stream, open_stream, trim_stream
from metadata.controller.topics import create_partitions, create_topics, delete_topics
from metadata.image import MetadataImage
from metadata.rpc.requests import (
    AllocateProducerIds,
    AlterConfigs,
    CloseStream,
    CommitStreamSetObject,
    CompactStreamObject,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    ForgetObjects,
    Mutation,
    OpenStream,
    PrepareObjects,
    PutKeyValues,
    RegisterBroker,
    TrimStream,
    UnregisterBroker,
)

# The request's type decides the type of the first argument, which a dict cannot say.
_DECISIONS: Final[Mapping[type, Callable[[Any, MetadataImage, Inputs], Decision]]] = {
    RegisterBroker: register_broker,
    UnregisterBroker: unregister_broker,
    CreateTopics: create_topics,
    DeleteTopics: delete_topics,
    CreatePartitions: create_partitions,
    AlterConfigs: alter_configs,
    AllocateProducerIds: allocate_producer_ids,
    OpenStream: open_stream,
    CloseStream: close_stream,
    TrimStream: trim_stream,
    PrepareObjects: prepare_objects,
    CommitStreamSetObject: commit_stream_set_object,
    CompactStreamObject: compact_stream_object,
    ForgetObjects: forget_objects,
    PutKeyValues: put_key_values,
}


def decide(request: Mutation, image: MetadataImage, inputs: Inputs) -> Decision:
    """Decide on one request.

    Raises:
        RefusedError: the request is refused; there are no records.
    """
    return _DECISIONS[type(request)](request, image, inputs)
