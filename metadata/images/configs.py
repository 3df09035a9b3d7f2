"""Config overrides of topics and brokers, and the effect of their records. Pure."""

import immutables

from headrace.metadata.records.topics import ConfigRecord

TOPIC_RESOURCE = 2  # ConfigResource.Type of Kafka's protocol
BROKER_RESOURCE = 4

Overrides = immutables.Map[str, str]
Configs = immutables.Map[tuple[int, str], Overrides]

NO_OVERRIDES: Overrides = immutables.Map()


def changed_resources(old: Configs, new: Configs) -> list[tuple[int, str]]:
    """Type and name of each resource whose overrides differ."""
    changed = [
        resource for resource, overrides in new.items() if old.get(resource) is not overrides
    ]
    return changed + [resource for resource in old if resource not in new]


class ConfigsDelta:
    """Replays config records on top of an image."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs

    def change(self, record: ConfigRecord) -> None:
        """Set or remove one override."""
        resource = (record.resource_type, record.resource_name)
        overrides = self._configs.get(resource, NO_OVERRIDES)
        if record.value is not None:
            overrides = overrides.set(record.key, record.value)
        elif record.key in overrides:
            overrides = overrides.delete(record.key)
        if overrides:
            self._configs = self._configs.set(resource, overrides)
        elif resource in self._configs:
            self._configs = self._configs.delete(resource)

    def remove_topic(self, name: str) -> None:
        """Drop every override of a topic."""
        resource = (TOPIC_RESOURCE, name)
        if resource in self._configs:
            self._configs = self._configs.delete(resource)

    def finish(self) -> Configs:
        """Return the new map; the old one when nothing has changed."""
        return self._configs
