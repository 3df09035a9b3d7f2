"""Error codes against an independent list, and what the exceptions carry."""

from kio.schema.errors import ErrorCode as KioErrorCode

from headrace.protocol.errors import ErrorCode, KafkaError

# Of Apache Kafka 4.4, where kio ends at 4.3.
NEWER = {
    "group_deletion_failed": 134,
    "streams_topology_description_update_failed": 135,
    "controller_id_not_registered": 136,
}


def test_codes_are_those_of_kafka() -> None:
    assert {code.name.lower(): code.value for code in ErrorCode} == {
        code.name: int(code) for code in KioErrorCode
    } | NEWER


def test_retriable_codes_are_those_of_the_java_client() -> None:
    assert {code for code in ErrorCode if code.is_retriable} == {
        ErrorCode(int(code)) for code in KioErrorCode if code.retriable
    }


def test_kafka_error_tells_its_code_in_its_text() -> None:
    error = KafkaError(ErrorCode.INVALID_CONFIG, "no such key")
    assert (error.code, error.message) == (ErrorCode.INVALID_CONFIG, "no such key")
    assert str(error) == "INVALID_CONFIG: no such key"
    assert str(KafkaError(ErrorCode.NOT_CONTROLLER)) == "NOT_CONTROLLER"
    assert KafkaError(ErrorCode.NOT_CONTROLLER).message is None
