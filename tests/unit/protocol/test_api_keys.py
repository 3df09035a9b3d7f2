"""Keys against an independent list."""

import re

from kafka.protocol.api_key import ApiKey as KafkaPythonApiKey

from headrace.protocol.api_keys import ApiKey


def test_names_and_numbers_are_those_of_kafka() -> None:
    expected = {
        re.sub(r"(?<!^)(?=[A-Z])", "_", key.name).upper(): key.value for key in KafkaPythonApiKey
    }
    newer = {"STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE": 93, "UNREGISTER_CONTROLLER": 94}
    assert {key.name: key.value for key in ApiKey} == expected | newer
