"""Messages of which kafka-python lacks the newest version, made from its schemas and what that version adds.

Its clients can read them once this module is imported: the classes register themselves.

Source: (ApiVersions|DeleteGroups|TxnOffsetCommit)(Request|Response).json of Apache Kafka 4.4.
"""

from typing import Any

from kafka.protocol.api_message import ApiMessage
from kafka.protocol.metadata import ApiVersionsResponse as OlderApiVersionsResponse


def _since(version: int, name: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "versions": f"{version}+", "ignorable": True, **more}


def _nullable_since(version: int, name: str, kind: str) -> dict[str, Any]:
    return _since(version, name, kind, nullableVersions=f"{version}+", default="null")


def _with_versions(schema: Any, newest: int) -> Any:
    return schema | {"validVersions": f"0-{newest}"}


def _with_topic_ids(schema: Any) -> Any:
    """Let topics be told by id instead of by name, from version 6 on (KIP-1319)."""
    (topics,) = (it for it in schema["fields"] if it["name"] == "Topics")
    (name,) = (it for it in topics["fields"] if it["name"] == "Name")
    name |= {"versions": "0-5", "ignorable": True}
    topics["fields"].insert(1, _since(6, "TopicId", "uuid"))
    return _with_versions(schema, 6)


class ApiVersionsRequest(ApiMessage):  # type: ignore[misc]
    """Tell a client what is served (key 18); version 5 says whom it wants to reach (KIP-1242)."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Add the fields of version 5."""
        schema["fields"] += [
            _nullable_since(5, "ClusterId", "string"),
            _since(5, "NodeId", "int32", default=-1),
        ]
        return _with_versions(schema, 5)


class ApiVersionsResponse(OlderApiVersionsResponse):  # type: ignore[misc]
    """What is served; version 5 has no more fields."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Raise the newest version."""
        return _with_versions(schema, 5)


class DeleteGroupsRequest(ApiMessage):  # type: ignore[misc]
    """Delete groups (key 42); version 3 has no more fields."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Raise the newest version."""
        return _with_versions(schema, 3)


class DeleteGroupsResponse(ApiMessage):  # type: ignore[misc]
    """The result of each; version 3 has a message beside the error code."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Add the field of version 3."""
        (results,) = (it for it in schema["fields"] if it["name"] == "Results")
        results["fields"].append(_nullable_since(3, "ErrorMessage", "string"))
        return _with_versions(schema, 3)


class TxnOffsetCommitRequest(ApiMessage):  # type: ignore[misc]
    """Commit offsets in a transaction (key 28); version 6 has ids of topics."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Change the fields as version 6 does."""
        (generation,) = (it for it in schema["fields"] if it["name"] == "GenerationId")
        generation["name"] = "GenerationIdOrMemberEpoch"
        return _with_topic_ids(schema)


class TxnOffsetCommitResponse(ApiMessage):  # type: ignore[misc]
    """The result of each partition; version 6 has ids of topics."""

    @staticmethod
    def json_patch(_: Any, schema: Any) -> Any:
        """Change the fields as version 6 does."""
        return _with_topic_ids(schema)


__all__ = [
    "ApiVersionsRequest",
    "ApiVersionsResponse",
    "DeleteGroupsRequest",
    "DeleteGroupsResponse",
    "TxnOffsetCommitRequest",
    "TxnOffsetCommitResponse",
]
