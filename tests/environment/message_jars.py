"""The jars of Apache Kafka that describe messages, and what their classes need to run."""

import hashlib
from pathlib import Path
from typing import Final

from tests.environment.java import fetch_jars

VERSION: Final = "4.4.0"

# SHA-256 of the jars that the tables of messages are made from.
PINNED: Final = {
    "kafka-clients": "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9",
    "kafka-group-coordinator": "3fc830ace54f6a13f9f536bc0564bf39a68797365a4c4b194bd7db4fb893b2bc",
    "kafka-transaction-coordinator": "1d5324d59776d6b7f324cfdc87647b1e88f9823332201c0324e7ae9f210d915d",
    "kafka-share-coordinator": "6969a7961ca98d37a039bbe0af0fe761d6b0dd07ca9666802f47821167afbb6e",
}
_OTHERS: Final = (
    f"org.apache.kafka:kafka-coordinator-common:{VERSION}",
    f"org.apache.kafka:kafka-server-common:{VERSION}",
    "com.fasterxml.jackson.core:jackson-annotations:2.21",
    "com.fasterxml.jackson.core:jackson-core:2.21.2",
    "com.fasterxml.jackson.core:jackson-databind:2.21.2",
    "org.slf4j:slf4j-api:1.7.36",
)


def message_jars() -> Path:
    """Return the directory that holds the jars.

    Raises:
        ValueError: one is not what the tables were made from.
    """
    pinned = tuple(f"org.apache.kafka:{name}:{VERSION}" for name in PINNED)
    directory = fetch_jars(f"messages-{VERSION}", (*pinned, *_OTHERS), transitive=False)
    for name, digest in PINNED.items():
        jar = directory / f"{name}-{VERSION}.jar"
        if hashlib.sha256(jar.read_bytes()).hexdigest() != digest:
            raise ValueError(f"{jar.name} is not the jar that is pinned")
    return directory
