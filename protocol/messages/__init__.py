"""Kafka's messages: their classes, and their encoding and decoding.

No other package of this project imports `kafka.protocol`.

The classes are those of kafka-python, made from Apache Kafka's schemas in *superset style*: one
class holds the fields of all versions. A decoded message has the fields of its version set, any
other field has its schema default. A message to be encoded is built without a version, and the
encoder uses the fields that the version has. So one handler serves all versions:

    MetadataResponse(
        throttle_time_ms=0,
        brokers=[MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092)],
        topics=[],
    )

A class is made when somebody first asks for it by its name; see `headrace.protocol.messages.registry`.

Rules for handlers:

* A nested struct is an attribute of the class around it, under its schema name.
* Fields are the schema's in snake case, except `authorized_operations` in Metadata responses
  (`cluster_authorized_operations` and `topic_authorized_operations` there). Authorized operations
  are a set of operation numbers; None means "not requested".
* A UUID of zeros reads as None, and None is written as zeros.
* An array that may have an element for each partition, group or offset of the cluster is a `MadeWhenEncoded`.
* An array field with its default value cannot be appended to, because all messages share that
  list. Pass a new list.
"""

from headrace.protocol.messages.codec import (
    Message,
    decode_request,
    decode_request_steps,
    decode_response,
    encode_request,
    encode_response,
    encode_response_steps,
    encode_unsupported_api_versions,
    is_large,
)
from headrace.protocol.messages.encoding import (
    MAX_ANSWER_BYTES,
    AnswerTooLargeError,
    EncodedElement,
    MadeWhenEncoded,
    free_steps,
)
from headrace.protocol.messages.encoding import element_steps as encode_element_steps
from headrace.protocol.messages.registry import message_class as __getattr__

__all__ = [
    "MAX_ANSWER_BYTES",
    "AnswerTooLargeError",
    "EncodedElement",
    "MadeWhenEncoded",
    "Message",
    "__getattr__",
    "decode_request",
    "decode_request_steps",
    "decode_response",
    "encode_element_steps",
    "encode_request",
    "encode_response",
    "encode_response_steps",
    "encode_unsupported_api_versions",
    "free_steps",
    "is_large",
]
