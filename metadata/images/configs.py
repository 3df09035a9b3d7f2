"""Config overrides of topics and brokers, and the effect of their records. Pure."""

from headrace.metadata.records.topics import ConfigRecord
from headrace.persistent_map import PersistentMap

TOPIC_RESOURCE = 2  # ConfigResource.Type of Kafka's protocol
BROKER_RESOURCE = 4

Overrides = PersistentMap[str, str]
Configs = PersistentMap[tuple[int, str], Overrides]

NO_OVERRIDES: Overrides = PersistentMap()


def changed_resources(old: Configs, new: Configs) -> list[tuple[int, str]]:
    """Type and name of each resource whose overrides differ."""
    changed = [
        resource for resource, overrides in new.items() if old.get(resource) is not overrides
    ]
    return changed + [resource for resource in old if resource not in new]


class ConfigsDelta:
    """Replays config records on top of an image."""

    def __init__(self, configs: Configs) -> None:
        self._configs = configs.mutate()

    def change(self, record: ConfigRecord) -> None:
        """Set or remove one override."""
        resource = (record.resource_type, record.resource_name)
        overrides = self._configs.get(resource) or NO_OVERRIDES
        if record.value is not None:
            overrides = overrides.set(record.key, record.value)
        elif record.key in overrides:
            overrides = overrides.delete(record.key)
        if overrides:
            self._configs[resource] = overrides
        elif resource in self._configs:
            del self._configs[resource]

    def remove_topic(self, name: str) -> None:
        """Drop every override of a topic."""
        resource = (TOPIC_RESOURCE, name)
        if resource in self._configs:
            del self._configs[resource]

    def finish(self) -> Configs:
        """Return the new map; the old one when nothing has changed."""
        return self._configs.finish()
