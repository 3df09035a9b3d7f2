"""What asks for protection is honoured or stops the start, in every spelling."""

from pathlib import Path

import pytest

from headrace.config.load import load
from headrace.config.problems import ConfigError
from headrace.config.protection import PROTECTIONS, asking_word, asks_for
from headrace.config.server_keys import SERVER_KEYS

FOLDER = Path(__file__).parent


def lines_of(name: str) -> list[str]:
    return [it for it in (FOLDER / name).read_text().splitlines() if it and it[0] != "#"]


SECURITY = dict(line.split("=", 1) for line in lines_of("security_keys_of_kafka.txt"))


def variable(key: str) -> str:
    return key.upper().replace(".", "_")


# How one key is spelled as a variable: Apache's and Confluent's image, Bitnami's, ours, and slips.
VARIABLES = {
    "kafka": lambda key: f"KAFKA_{variable(key)}",
    "bitnami": lambda key: f"KAFKA_CFG_{variable(key)}",
    "ours": lambda key: f"HEADRACE_{variable(key)}",
    "two underscores": lambda key: f"KAFKA_{variable(key).replace('_', '__')}",
    "three underscores": lambda key: f"KAFKA_CFG_{variable(key).replace('_', '___')}",
    "ours, prefix twice": lambda key: f"HEADRACE_KAFKA_{variable(key)}",
}


def refusal(**sources: object) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(**{"environment": {}} | sources)
    return caught.value


def sources_refused(**sources: object) -> set[str]:
    """Return what is refused; nothing if all is accepted."""
    try:
        load(**{"environment": {}} | sources)
    except ConfigError as error:
        return {it.source for it in error.problems}
    return set()


# One test for all keys: a test a key would take longer than what it tests.
@pytest.mark.parametrize("spelling", VARIABLES)
def test_no_spelling_of_a_variable_opens_a_broker(spelling):
    wrong = []
    for key, value in SECURITY.items():
        if "twice" in spelling and asking_word(key) is None:
            continue  # nobody's spelling of a name that alone asks for nothing
        name = VARIABLES[spelling](key)
        if name not in sources_refused(environment={name: value}):
            wrong.append(key)
    assert wrong == []


@pytest.mark.parametrize(
    "spelled",
    [str, str.upper, lambda it: it.replace(".", "_"), lambda it: it.replace(".", "-")],
    ids=["plain", "upper", "underscores", "hyphens"],
)
def test_neither_a_file_nor_an_override_opens_a_broker(spelled, tmp_path):
    file = tmp_path / "server.properties"
    wrong = []
    for key, value in SECURITY.items():
        line = f"{spelled(key)}={value}"
        file.write_text(f"node.id=1\n{line}\n")
        if f"{file}:2" not in sources_refused(file=file):
            wrong.append(f"{key} in a file")
        if "--override" not in sources_refused(overrides=[line]):
            wrong.append(f"{key} as an override")
    assert wrong == []


@pytest.mark.parametrize(
    "prefix", ["listener.name.outside.", "listener.name.outside.scram-sha-256."]
)
def test_no_prefix_of_a_listener_opens_a_broker(prefix):
    wrong = []
    for key in (prefix + it for it in SECURITY if it.startswith(("ssl.", "sasl."))):
        name = f"KAFKA_CFG_{variable(key).replace('-', '___')}"
        if not sources_refused(overrides=[f"{key}=asked"]):
            wrong.append(key)
        if not sources_refused(environment={name: "asked"}):
            wrong.append(name)
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALLOW_PLAINTEXT_LISTENER", "no"),
        ("KAFKA_CLIENT_USERS", "app"),
        ("KAFKA_CLIENT_PASSWORDS", "x"),
        ("KAFKA_CLIENT_PASSWORDS_FILE", "/run/x"),
        ("KAFKA_CLIENT_LISTENER_NAME", "SASL_SSL"),
        ("KAFKA_INTER_BROKER_USER", "admin"),
        ("KAFKA_INTER_BROKER_PASSWORD", "x"),
        ("KAFKA_CONTROLLER_USER", "admin"),
        ("KAFKA_CERTIFICATE_PASSWORD", "x"),
        ("KAFKA_TLS_TYPE", "PEM"),
        ("KAFKA_TLS_CLIENT_AUTH", "required"),
        ("KAFKA_TLS_TRUSTSTORE_FILE", "/x.jks"),
        ("KAFKA_ZOOKEEPER_PROTOCOL", "SASL_SSL"),
        ("KAFKA_SSL_KEYSTORE_FILENAME", "x.jks"),
        ("KAFKA_SSL_KEY_CREDENTIALS", "creds"),
        ("KAFKA_OPTS", "-Xmx1g -Djava.security.auth.login.config=/etc/kafka/jaas.conf"),
        ("KAFKA_OPTS", "-Djavax.net.ssl.keyStore=/x.jks"),
        ("KAFKA_CONFLUENT_AUTHORIZER_ACCESS_RULE_PROVIDERS", "CONFLUENT"),
        ("CONFLUENT_METRICS_REPORTER_SASL_MECHANISM", "PLAIN"),
        ("KAFKA_AUTHORIZATION_SUPER_USERS", "CN=me"),
        ("KAFKA_CLIENTTLS_ENABLED", "true"),
        ("KAFKA_CONFIGURATION", "a=b"),
        ("STRIMZI_KEYCLOAK_AUTHZ_ENABLED", "true"),
        ("HEADRACE_ADMIN_PASSWORD", "x"),
        ("HEADRACE_TLS_CERT", "/x.pem"),
        ("KAFKA_LISTENERS", "PLAINTEXT://:9092,EXTERNAL_SSL://:9093"),
        ("KAFKA_LISTENERS", "SASL_PLAINTEXT_INT://:9092"),
        ("KAFKA_ADVERTISED_LISTENERS", "CLIENTTLS://one:9092"),
        ("KAFKA_LOG4J_OPTS", "-Djava.security.auth.login.config=/etc/kafka/jaas.conf"),
        ("KAFKA_JMX_OPTS", "-Djavax.net.ssl.keyStore=/x.jks"),
        ("JAVA_TOOL_OPTIONS", "-Djava.security.krb5.conf=/etc/krb5.conf"),
        ("KAFKA_EXTRA_ARGS", "--override ssl.client.auth=required"),
        ("KAFKA_EXTRA_ARGS", "--override=node.id=1 --override 'listeners=SASL_SSL://:9092'"),
        ("KAFKA_SERVER_PROPERTIES", "node.id=1\nauthorizer.class.name = a.B\n"),
        ("KAFKA_CONFIG", "node.id=1\\nlistener.security.protocol.map=A:PLAINTEXT, B:SSL"),
        ("KAFKA_CONFIG", "# comment\r\nsasl.enabled.mechanisms: PLAIN"),
        ("KAFKA_IAM_ENABLED", "true"),
        ("KAFKA_LISTENER_NAME_OUT_SIDE_SSL_CLIENT_AUTH", "required"),
        ("KAFKA_SECURITY_PROTOCOL", "SSL"),
        ("KAFKA_ENABLE_AUTHORIZATION", "true"),
        ("KAFKA_ALLOW_INSECURE_AUTH", "false"),
        ("KAFKA_SASL_PLAINTEXT_ENABLED", "no"),
        ("KAFKA_SASL_ENABLED_MECHANISMS", "none"),
    ],
)
def test_what_only_images_take_is_refused_too(name, value):
    assert name in {it.source for it in refusal(environment={name: value}).problems}


def test_a_stronger_source_does_not_hide_what_was_asked_for(tmp_path):
    """The image sets listeners itself, by the strongest spelling."""
    file = tmp_path / "server.properties"
    file.write_text("listeners=SASL_SSL://:9092\nssl.client.auth=required\n")
    error = refusal(
        file=file,
        environment={
            "KAFKA_CFG_LISTENERS": "SSL://:9092",
            "HEADRACE_LISTENERS": "PLAINTEXT://0.0.0.0:9092",
        },
        overrides=["ssl.client.auth=none"],
    )
    assert [it.source for it in error.problems] == [
        f"{file}:1",
        f"{file}:2",
        "KAFKA_CFG_LISTENERS",
    ]


def test_a_listener_whose_name_promises_protection_needs_a_protocol():
    """The strongest map counts, and is for all layers; what is not there is not taken for PLAINTEXT."""
    listeners = {"KAFKA_LISTENERS": "EXTERNAL_SSL://:9092"}
    key = "listener.security.protocol.map"
    for protocols in ("", "OTHER:PLAINTEXT", "EXTERNAL_SSL:SSL", "EXTERNAL_SSL"):
        refusal(environment=listeners, overrides=[f"{key}={protocols}"])
    assert load(environment=listeners, overrides=[f"{key}=EXTERNAL_SSL:PLAINTEXT"])
    told = str(refusal(environment=listeners))
    assert "a name (EXTERNAL_SSL) to which listener.security.protocol.map gives no protocol" in told


def test_a_refusal_says_where_what_it_was_read_as_and_what_to_do():
    error = refusal(environment={"KAFKA_CFG_AUTHORIZER_CLASS_NAME": "a.B"})
    text = str(error)
    assert "KAFKA_CFG_AUTHORIZER_CLASS_NAME: authorizer.class.name=a.B: " in text
    assert "access control lists" in text
    assert "Remove it only if" in text


def test_no_secret_is_shown():
    secret = "hush"
    error = refusal(
        environment={
            "KAFKA_CLIENT_PASSWORDS": secret,
            "KAFKA_CONFIGURATION": f"a=b\nsasl.login={secret}",
            "KAFKA_OPTS": f"-Djavax.net.ssl.keyStorePassword={secret}",
        },
        overrides=[f"sasl.jaas.config=x password={secret}", f"ssl.key.password:{secret}"],
    )
    assert len(error.problems) == 5
    assert secret not in str(error)


@pytest.mark.parametrize(
    "environment",
    [
        {f"KAFKA_{variable(key)}": "" for key in SECURITY if key not in SERVER_KEYS},
        {
            "ALLOW_PLAINTEXT_LISTENER": "yes",
            "KAFKA_CFG_SECURITY_INTER_BROKER_PROTOCOL": "plaintext",
            "KAFKA_ALLOW_EVERYONE_IF_NO_ACL_FOUND": "true",
            "KAFKA_TLS_CLIENT_AUTH": "none",
            "KAFKA_ZOOKEEPER_PROTOCOL": "PLAINTEXT",
            "KAFKA_OPTS": "-Djava.security.egd=file:/dev/urandom -Xmx1g",
            "KAFKA_CFG_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,ssl:SSL",
            "CONFLUENT_METRICS_ENABLE": "true",
            "CONFLUENT_AUTH_SERVICE_HOST": "10.0.0.1",
            "STRIMZI_SECURITY_SERVICE_PORT": "443",
            "STRIMZI_SECURITY_PORT_443_TCP_ADDR": "10.0.0.1",
            "KAFKA_LISTENER_NAME_OUT_SIDE_SSL_CLIENT_AUTH": "none",
            "KAFKA_LISTENER_NAME_X_CONNECTIONS_MAX_REAUTH_MS": "0",
            "KAFKA_ZOOKEEPER_SASL_ENABLED": "false",
            "KAFKA_CONFLUENT_SECURITY_EVENT_LOGGER_ENABLE": "false",
            "KAFKA_ENABLE_AUTHORIZATION": "False",
            "KAFKA_NODE_SECURITY_ENABLED": "0",
            "KAFKA_SECURITY_PROTOCOL": "PLAINTEXT",
            "KAFKA_LISTENERS": "CLIENTS_SSL://:9092,TITLSX://:9093",
            "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "clients_ssl:PLAINTEXT,TITLSX:PLAINTEXT",
            "KAFKA_JMX_OPTS": "-Dcom.sun.management.jmxremote.authenticate=false "
            "-Dcom.sun.management.jmxremote.ssl=false",
            "JAVA_TOOL_OPTIONS": "-Xmx1g",
            "KAFKA_EXTRA_ARGS": "--override node.id=3 --override ssl.client.auth=none",
            "KAFKA_SERVER_PROPERTIES": "#ssl.client.auth=required\nlisteners=PLAINTEXT://:1",
            "KAFKA_CONFIG": "/etc/kafka/security/server.properties",
            "KAFKA_IAM_ENABLED": "false",
            "CONFLUENT_CLOUD_API_SECRET": "of a client",
        },
    ],
)
def test_what_asks_for_nothing_starts(environment):
    assert load(environment=environment)


def test_bitnami_s_variables_are_the_settings_that_they_are():
    config = load(
        environment={
            "KAFKA_CFG_NODE_ID": "7",
            "KAFKA_CFG_NUM_PARTITIONS": "4",
            "KAFKA_NUM_PARTITIONS": "5",
            "KAFKA_KRAFT_CLUSTER_ID": "abc",
            "KAFKA_ENABLE_KRAFT": "yes",
        }
    )
    assert (config.config.node_id, config.config.cluster_id) == (7, "abc")
    assert config.config.log.partitions_default == 5
    assert config.warnings == ()


def test_of_kafka_s_names_only_those_about_security_ask_for_protection():
    asking = {it for it in lines_of("names_of_kafka_and_automq.txt") if asking_word(it)}
    assert asking <= SECURITY.keys()
    assert asking.isdisjoint(SERVER_KEYS)


@pytest.mark.parametrize("name", ["plugin.classloader", "oracle.port", "s3.secret.key", "titles"])
def test_a_name_that_only_looks_alike_asks_for_nothing(name):
    assert asks_for(name, "x") is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delete.topic.enable", "false"),
        ("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
        ("ssl.client.auth", "required"),
        ("create.topic.policy.class.name", "com.example.Policy"),
        ("alter.config.policy.class.name", "com.example.Policy"),
        ("client.quota.callback.class", "com.example.Quotas"),
        ("config.providers", "file"),
        ("security.inter.broker.protocol", "SASL_SSL"),
        ("listener.security.protocol.map", "PLAINTEXT:PLAINTEXT,OUTSIDE:SASL_SSL"),
    ],
)
def test_a_value_that_asks_for_protection_is_not_harmless(name, value):
    assert not PROTECTIONS[name].harmless(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("delete.topic.enable", "TRUE"),
        ("authorizer.class.name", ""),
        ("ssl.client.auth", "none"),
        ("create.topic.policy.class.name", ""),
        ("config.providers", " "),
        ("security.inter.broker.protocol", "PLAINTEXT"),
        (
            "listener.security.protocol.map",
            "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL",
        ),
    ],
)
def test_what_kafkas_own_example_files_have_is_harmless(name, value):
    assert PROTECTIONS[name].harmless(value)
