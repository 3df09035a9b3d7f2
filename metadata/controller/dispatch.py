"""Maps each request to its decision. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from headrace.metadata.controller.brokers import (
    register_broker,
    report_end,
    unregister_broker,
)
from headrace.metadata.controller.configs import alter_configs
from headrace.metadata.controller.decision import Decision, DecisionSteps, Inputs
from headrace.metadata.controller.drains import finish_drain, refuse_drain
from headrace.metadata.controller.logs import accept_log_loss, begin_log, end_log
from headrace.metadata.controller.moves import alter_reassignments, finish_move
from headrace.metadata.controller.object_commits import (
    commit_stream_set_object,
    compact_stream_object,
)
from headrace.metadata.controller.objects import forget_objects, prepare_objects
from headrace.metadata.controller.producer_ids import allocate_producer_ids
from headrace.metadata.controller.streams import (
    close_streams,
    open_streams,
    trim_stream,
)
from headrace.metadata.controller.topics import create_partitions, create_topics, delete_topics
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import (
    AcceptLogLoss,
    AllocateProducerIds,
    AlterConfigs,
    AlterReassignments,
    BeginLog,
    CloseStreamBatch,
    CommitStreamSetObject,
    CompactStreamObject,
    CreatePartitions,
    CreateTopics,
    DeleteTopics,
    EndLog,
    FinishDrain,
    FinishMove,
    ForgetObjects,
    Mutation,
    OpenStreamBatch,
    PrepareObjects,
    RefuseDrain,
    RegisterBroker,
    ReportEnd,
    TrimStream,
    UnregisterBroker,
)

# The request's type determines the type of the first argument, which a dict type cannot express.
_DECISIONS: Final[
    Mapping[type, Callable[[Any, MetadataImage, Inputs], Decision | DecisionSteps]]
] = {
    RegisterBroker: register_broker,
    UnregisterBroker: unregister_broker,
    CreateTopics: create_topics,
    DeleteTopics: delete_topics,
    CreatePartitions: create_partitions,
    AlterConfigs: alter_configs,
    AllocateProducerIds: allocate_producer_ids,
    OpenStreamBatch: open_streams,
    CloseStreamBatch: close_streams,
    TrimStream: trim_stream,
    PrepareObjects: prepare_objects,
    CommitStreamSetObject: commit_stream_set_object,
    CompactStreamObject: compact_stream_object,
    ForgetObjects: forget_objects,
    BeginLog: begin_log,
    EndLog: end_log,
    FinishDrain: finish_drain,
    RefuseDrain: refuse_drain,
    AcceptLogLoss: accept_log_loss,
    ReportEnd: report_end,
    AlterReassignments: alter_reassignments,
    FinishMove: finish_move,
}


def decide(request: Mutation, image: MetadataImage, inputs: Inputs) -> Decision | DecisionSteps:
    """Decide on one request, at once or in steps.

    Raises:
        RefusedError: the request is refused; there are no records.
    """
    return _DECISIONS[type(request)](request, image, inputs)
