import pytest

from headrace.config.dynamic_keys import dynamic_broker_problem
from headrace.metadata.levels import SETTINGS_LEVEL
from headrace.metadata.rpc.requests import AlterConfigs, ConfigChange, ConfigOp
from headrace.protocol.errors import ErrorCode
from tests.unit.metadata.pure_controller import PureController, validate

TOPIC, BROKER = 2, 4


def change(key, value, op=ConfigOp.SET):
    return ConfigChange(key, op, value)


def alter(*changes, name="a", resource=TOPIC, validate_only=False):
    return AlterConfigs(resource, name, changes, validate_only)


@pytest.fixture
def controller():
    controller = PureController(validate_broker=validate)
    controller.register()
    controller.create("a")
    return controller


def test_configs_are_set_and_deleted(controller):
    controller.do(alter(change("retention.ms", "1"), change("compression.type", "lz4")))
    assert dict(controller.image.topic_config("a")) == {
        "retention.ms": "1",
        "compression.type": "lz4",
    }

    controller.do(alter(change("retention.ms", None, ConfigOp.DELETE)))
    assert dict(controller.image.topic_config("a")) == {"compression.type": "lz4"}


def test_what_is_so_already_takes_no_record(controller):
    controller.do(alter(change("retention.ms", "1")))

    assert controller.decide(alter(change("retention.ms", "1"))).records == ()
    assert controller.decide(alter(change("compression.type", None, ConfigOp.DELETE))).records == ()


def test_all_or_none(controller):
    request = alter(change("compression.type", "lz4"), change("retention.ms", "soon"))

    assert controller.refusal(request) == ErrorCode.INVALID_CONFIG


def test_lists_are_appended_to_and_subtracted_from_starting_at_the_default(controller):
    """KIP-339: without an override the default of the list is operated on."""
    controller.do(alter(change("cleanup.policy", "compact", ConfigOp.APPEND)))
    assert controller.image.topic_config("a")["cleanup.policy"] == "delete,compact"

    controller.do(alter(change("cleanup.policy", "compact, delete", ConfigOp.APPEND)))
    assert controller.image.topic_config("a")["cleanup.policy"] == "delete,compact"

    controller.do(alter(change("cleanup.policy", "delete", ConfigOp.SUBTRACT)))
    assert controller.image.topic_config("a")["cleanup.policy"] == "compact"


@pytest.mark.parametrize("op", [ConfigOp.APPEND, ConfigOp.SUBTRACT])
def test_what_is_no_list_is_not_appended_to(controller, op):
    assert controller.refusal(alter(change("retention.ms", "1", op))) == ErrorCode.INVALID_CONFIG


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (alter(change("retention.ms", None)), ErrorCode.INVALID_REQUEST),
        (alter(change("cleanup.policy", None, ConfigOp.APPEND)), ErrorCode.INVALID_REQUEST),
        (
            alter(change("retention.ms", "1"), change("retention.ms", "2")),
            ErrorCode.INVALID_REQUEST,
        ),
        (alter(change("", "2")), ErrorCode.INVALID_REQUEST),
        (alter(change("retention.ms", "2", 9)), ErrorCode.INVALID_REQUEST),
        (alter(change("no.such", "2")), ErrorCode.INVALID_CONFIG),
        (alter(change("compression.type", "x" * 40_000)), ErrorCode.INVALID_CONFIG),
        (alter(change("retention.ms", "2"), name="b"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (alter(change("retention.ms", "2"), name="b b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (alter(change("retention.ms", "2"), resource=8), ErrorCode.INVALID_REQUEST),
        (
            alter(change("retention.ms", "2"), resource=BROKER, name="x"),
            ErrorCode.INVALID_REQUEST,
        ),
        (
            alter(change("retention.ms", "2"), resource=BROKER, name="9"),
            ErrorCode.BROKER_ID_NOT_REGISTERED,
        ),
    ],
)
def test_refusals(controller, request_, code):
    assert controller.refusal(request_) == code


def test_broker_configs_of_one_and_of_all(controller):
    controller.do(alter(change("retention.ms", "1"), resource=BROKER, name="1"))
    controller.do(alter(change("retention.ms", "2"), resource=BROKER, name=""))

    assert controller.image.broker_config(1)["retention.ms"] == "1"
    assert controller.image.broker_config("")["retention.ms"] == "2"
    assert dict(controller.image.topic_config("a")) == {}


def test_unless_told_otherwise_no_broker_config_can_be_changed():
    controller = PureController()
    controller.register()

    request = alter(change("retention.ms", "1"), resource=BROKER, name="1")

    assert controller.refusal(request) == ErrorCode.INVALID_REQUEST
    assert "x" in dynamic_broker_problem("x", "1")


@pytest.mark.parametrize("name", ["", "1"])
def test_settings_of_brokers_that_change_while_they_run(name):
    """Kafka answers INVALID_REQUEST for a value that a broker's setting cannot have, not INVALID_CONFIG."""
    controller = PureController()
    controller.register()
    controller.do(
        alter(
            change("log.retention.ms", "5"),
            change("max.connections", "7"),
            change("log.cleanup.policy", "compact", ConfigOp.APPEND),
            change("leader.replication.throttled.rate", None, ConfigOp.DELETE),
            resource=BROKER,
            name=name,
        )
    )
    assert dict(controller.image.broker_config(name)) == {
        "log.retention.ms": "5",
        "max.connections": "7",
        "log.cleanup.policy": "delete,compact",
    }
    for key, value in (
        ("log.retention.ms", "soon"),
        ("max.connections", "0"),
        ("log.retention.hours", "1"),
        ("node.id", "2"),
        ("leader.replication.throttled.rate", "1"),
        ("no.such", "1"),
    ):
        refused = alter(change(key, value), resource=BROKER, name=name)
        assert controller.refusal(refused) == ErrorCode.INVALID_REQUEST


def test_no_setting_is_taken_that_some_broker_would_not_apply():
    controller = PureController(level=SETTINGS_LEVEL - 1)
    controller.register()
    setting = alter(change("log.retention.ms", "5"), resource=BROKER, name="")
    assert controller.refusal(setting) == ErrorCode.UNSUPPORTED_VERSION


def test_validating_changes_nothing(controller):
    assert controller.decide(alter(change("retention.ms", "1"), validate_only=True)).records == ()
    refused = alter(change("retention.ms", "soon"), validate_only=True)
    assert controller.refusal(refused) == ErrorCode.INVALID_CONFIG
