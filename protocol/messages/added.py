"""Messages that kafka-python lacks, made as it makes its own, from the schemas beside this module.

Its clients can send them once this module is imported: the classes register themselves.

Source: UnregisterBroker, AddRaftVoter and RemoveRaftVoter (Request|Response).json of Apache Kafka 4.3.
"""

from kafka.protocol.api_message import ApiMessage

_SCHEMAS = "headrace.protocol.messages.schemas"


class UnregisterBrokerRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Forget a broker that is gone for ever (key 64)."""


class UnregisterBrokerResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """An error, or none."""


class AddRaftVoterRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Take a controller into the quorum (key 80, KIP-853)."""


class AddRaftVoterResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """An error, or none."""


class RemoveRaftVoterRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Let a controller go (key 81, KIP-853)."""


class RemoveRaftVoterResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """An error, or none."""


__all__ = [
    "AddRaftVoterRequest",
    "AddRaftVoterResponse",
    "RemoveRaftVoterRequest",
    "RemoveRaftVoterResponse",
    "UnregisterBrokerRequest",
    "UnregisterBrokerResponse",
]
