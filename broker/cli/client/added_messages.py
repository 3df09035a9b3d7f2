"""Messages that kafka-python lacks, generated in its way from the schemas beside this module.

Its clients can send them once this module is imported: the classes register themselves.

Source: UnregisterBroker, AddRaftVoter and RemoveRaftVoter (Request|Response).json of Apache Kafka 4.4.
"""

from kafka.protocol.api_message import ApiMessage

_SCHEMAS = "headrace.broker.cli.client.schemas"


class UnregisterBrokerRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Remove a broker that will not come back (key 64)."""


class UnregisterBrokerResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """The result: an error code."""


class AddRaftVoterRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Add a controller to the quorum (key 80, KIP-853)."""


class AddRaftVoterResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """The result: an error code."""


class RemoveRaftVoterRequest(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """Remove a controller from the quorum (key 81, KIP-853)."""


class RemoveRaftVoterResponse(ApiMessage, load_json=_SCHEMAS):  # type: ignore[misc,call-arg]
    """The result: an error code."""
