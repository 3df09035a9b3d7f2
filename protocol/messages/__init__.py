"""Kafka's messages: their classes, and their encoding and decoding.

The classes are made by `headrace.protocol.generator` from tables of what Apache Kafka's messages consist of. One class
holds the fields of all versions. A decoded message has the fields of its version set, any other field has its default.
A message to be encoded is built without a version, and the encoder uses the fields that the version has. So one
handler serves all versions:

    MetadataResponse(
        brokers=[MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092)],
        topics=[],
    )

A module of classes is imported on the first access to one of them.

Rules for handlers:

* A nested struct is an attribute of the class around it, under its schema name; one that several fields share is an
  attribute of the message.
* Fields are the schema's in snake case.
* A UUID of zeros reads as None, and None is written as zeros.
* An array that may have an element for each partition, group or offset of the cluster is a `MadeWhenEncoded`.
"""

from typing import TYPE_CHECKING

from headrace.protocol.message_class import KafkaMessage
from headrace.protocol.message_writing import (
    MAX_ANSWER_BYTES,
    AnswerTooLargeError,
    EncodedElement,
    MadeWhenEncoded,
)
from headrace.protocol.messages.codec import (
    FLAT_BYTES,
    decode_request,
    decode_request_steps,
    decode_response,
    encode_element_steps,
    encode_request,
    encode_response,
    encode_response_steps,
    encode_unsupported_api_versions,
    error_for,
    free_steps,
    is_large,
)

if TYPE_CHECKING:
    from headrace.protocol.generated import *  # noqa: F403 - all classes, and no other name
else:
    from headrace.protocol.generated import __getattr__  # noqa: F401 - finds a class when it is asked for

__all__ = [
    "FLAT_BYTES",
    "MAX_ANSWER_BYTES",
    "AnswerTooLargeError",
    "EncodedElement",
    "KafkaMessage",
    "MadeWhenEncoded",
    "decode_request",
    "decode_request_steps",
    "decode_response",
    "encode_element_steps",
    "encode_request",
    "encode_response",
    "encode_response_steps",
    "encode_unsupported_api_versions",
    "error_for",
    "free_steps",
    "is_large",
]
