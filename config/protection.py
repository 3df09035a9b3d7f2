"""Which settings ask for protection that is not there, in any spelling. Pure.

A broker that was meant to be closed must not serve openly because a key was spelled in the way of
another image, or is one of a release that is not known here. So a setting that this broker does not
act on is refused when its name asks for protection, and a few by what their value asks for.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

_EMPTY = ""
SECURE_PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, slots=True)
class Protection:
    """A key that asks for something to rely on which is not there, and the values that do not ask."""

    harmless: Callable[[str], bool]
    asks_for: str
    shows_value: bool = True


def _is_one_of(*values: str) -> Callable[[str], bool]:
    return lambda text: text.strip().lower() in (_EMPTY, *values)


def _all_plaintext(text: str) -> bool:
    """Read `NAME:PROTOCOL,...`; only listeners called after a protocol may map to another one."""
    pairs = [part.strip().upper().partition(":") for part in text.split(",") if part.strip()]
    return all(
        protocol.strip() == "PLAINTEXT" or name.strip() == protocol.strip()
        for name, _, protocol in pairs
    )


def _names_no_secure_listener(text: str) -> bool:
    """Read `NAME,...` or `NAME://host:port,...`: a name that is a protocol stands for it."""
    names = (part.partition("://")[0].strip().upper() for part in text.split(","))
    return all(name not in SECURE_PROTOCOLS for name in names)


def plaintext_listeners(protocols: str) -> frozenset[str]:
    """Read from `NAME:PROTOCOL,...` which listeners are said to be PLAINTEXT."""
    pairs = (part.strip().upper().partition(":") for part in protocols.split(","))
    return frozenset(name.strip() for name, _, protocol in pairs if protocol.strip() == "PLAINTEXT")


def listeners_named_secure(key: str, text: str, plaintext: frozenset[str]) -> list[str]:
    """List the listeners of a setting whose names promise what no map of protocols takes back.

    Kafka refuses a name without a protocol. Here it is one of a PLAINTEXT listener.
    """
    if protection_of(key) is not _SECURE_LISTENER:
        return []
    names = (part.partition("://")[0].strip().upper() for part in text.split(","))
    return [name for name in names if _PROTOCOL_WORD.search(name) and name not in plaintext]


_EMPTY_ONLY = _is_one_of()
_PROTOCOL_WORD = re.compile(r"(?:^|[^A-Z])(?:SSL|SASL|TLS)|(?:SSL|SASL|TLS)(?:[^A-Z]|$)")
_SECURE_LISTENER = Protection(_names_no_secure_listener, "encryption or authentication")
_USER = Protection(_EMPTY_ONLY, "authentication")
_CLIENT_CERTIFICATES = Protection(_is_one_of("none"), "client certificates")

# By what they say. Their values are no secrets, and are shown.
PROTECTIONS: dict[str, Protection] = {
    "delete.topic.enable": Protection(
        lambda text: text.strip().lower() == "true", "topics that cannot be deleted"
    ),
    "authorizer.class.name": Protection(_EMPTY_ONLY, "access control lists"),
    "allow.everyone.if.no.acl.found": Protection(_is_one_of("true"), "access control lists"),
    "create.topic.policy.class.name": Protection(_EMPTY_ONLY, "a policy for new topics"),
    "alter.config.policy.class.name": Protection(
        _EMPTY_ONLY, "a policy for changes of configurations"
    ),
    "client.quota.callback.class": Protection(_EMPTY_ONLY, "quotas"),
    # The references would be taken for the values.
    "config.providers": Protection(_EMPTY_ONLY, "values that a provider has to look up"),
    "connections.max.reauth.ms": Protection(_is_one_of("0"), "authentication"),
    "ssl.client.auth": _CLIENT_CERTIFICATES,
    "security.inter.broker.protocol": Protection(
        _is_one_of("plaintext"), "encryption or authentication"
    ),
    "listener.security.protocol.map": Protection(_all_plaintext, "encryption or authentication"),
    "listeners": _SECURE_LISTENER,
    "advertised.listeners": _SECURE_LISTENER,
    "controller.listener.names": _SECURE_LISTENER,
    "inter.broker.listener.name": _SECURE_LISTENER,
    "control.plane.listener.name": _SECURE_LISTENER,
    "early.start.listeners": _SECURE_LISTENER,
    "zookeeper.set.acl": Protection(_is_one_of("false"), "access control lists"),
    "zookeeper.ssl.client.enable": Protection(_is_one_of("false"), "encryption"),
}

# The same for what only images take, as variables.
IMAGE_PROTECTIONS: dict[str, Protection] = {
    "allow.plaintext.listener": Protection(
        _is_one_of("yes", "true", "1"), "listeners that are not PLAINTEXT"
    ),
    "client.listener": _SECURE_LISTENER,
    "client.listener.name": _SECURE_LISTENER,
    "inter.broker.user": _USER,
    "controller.user": _USER,
    "broker.user": _USER,
    "zookeeper.user": _USER,
    "zookeeper.protocol": Protection(_is_one_of("plaintext"), "encryption or authentication"),
    "tls.client.auth": _CLIENT_CERTIFICATES,
    "tls.inter.broker.auth": _CLIENT_CERTIFICATES,
    "tls.controller.auth": _CLIENT_CERTIFICATES,
    # A whole properties file in one variable: what it asks for is not looked at.
    "configuration": Protection(_EMPTY_ONLY, "whatever its lines ask for", shows_value=False),
}
_ALL = PROTECTIONS | IMAGE_PROTECTIONS
# Those of them that may be said of one listener: listener.name.outside.ssl.client.auth.
_OF_LISTENERS = ("ssl.client.auth", "connections.max.reauth.ms")

# With which a word begins or ends that asks for protection, and whole words that do.
_STEMS = (
    "ssl|tls|sasl|jaas|keystore|truststore|kerberos|krb5|gssapi|keytab|oauth|oidc|scram|password|"
    "passphrase|credential|authoriz|authoris|authentic|authority|security|secure|certificate|encrypt|"
    "principal|superuser"
)
_WORDS = "auth|authn|authz|reauth|acls?|rbac|iam|ldap|certs?|users|secrets?|tokens?|delegation"
_ASKS = re.compile(
    rf"(?:^|\.)(?P<begin>{_STEMS})|(?P<end>{_STEMS})(?:\.|$)|(?:^|\.)(?P<word>{_WORDS})(?:\.|$)"
)
# Names of switches, and values by which nothing is asked for: not where it is openness that is switched.
_SWITCH = re.compile(r"^enabled?\.|(?:^|\.)(?:enabled?|auth|protocol)$")
_OPENS = re.compile(
    r"(?:^|\.)(?:allow|insecure|anonymous|unauth|plaintext|disable|skip|no(?:\.|$))"
)
_NO = frozenset({"false", "none", "plaintext", "no", "0"})
# What protects connections that a broker would open to services of others, not those to itself.
_OF_OTHER_SERVICES = ("s3.", "automq.")


def plain(name: str) -> str:
    """Write a name as Kafka writes keys: lower case, with dots.

    >>> plain("SSL__Client_Auth")
    'ssl.client.auth'
    """
    return re.sub(r"[^a-z0-9]+", ".", name.lower()).strip(".")


def protection_of(name: str) -> Protection | None:
    """Find what a key is known to ask for, depending on its value."""
    name = plain(name)
    if name.startswith("listener.name."):
        name = next((key for key in _OF_LISTENERS if name.endswith("." + key)), name)
    return _ALL.get(name)


def asking_word(name: str) -> str | None:
    """Find in a key's name what asks for protection.

    >>> asking_word("listener.name.outside.scram-sha-256.sasl.jaas.config")
    'scram'
    >>> asking_word("plugin.classloader") is None
    True
    """
    name = plain(name)
    if name.startswith(_OF_OTHER_SERVICES):
        return None
    found = _ASKS.search(name)
    return found and (found["begin"] or found["end"] or found["word"])


def asks_for(name: str, value: str) -> str | None:
    """Say what a setting that nothing acts on asks for; None when it asks for no protection."""
    protection = protection_of(name)
    if protection is not None:
        return None if protection.harmless(value) else protection.asks_for
    word = asking_word(name) if value.strip() and not _is_switched_off(name, value) else None
    return word and f"protection by its name ({word})"


def _is_switched_off(name: str, value: str) -> bool:
    name = plain(name)
    is_switch = _SWITCH.search(name) is not None and _OPENS.search(name) is None
    return is_switch and value.strip().lower() in _NO
