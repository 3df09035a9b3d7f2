"""Which brokers get no partitions: an operator drains them, or they are about to end. Pure."""

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.metadata.images.brokers import Brokers
from headrace.metadata.images.configs import BROKER_RESOURCE, Configs
from headrace.metadata.images.logs import Logs, about_to_end


def is_drained(configs: Configs, node_id: int) -> bool:
    """Whether an operator drains a broker."""
    overrides = configs.get((BROKER_RESOURCE, str(node_id)))
    return overrides is not None and overrides.get(DRAIN_KEY) == "true"


def closed_brokers(brokers: Brokers, logs: Logs, configs: Configs) -> set[int]:
    """Return the brokers (node ids) that get no partitions, and of which others take them.

    Where all brokers that stay are drained, these go on as if they were not: a broker has to lead the partitions.
    """
    ending = about_to_end(brokers, logs)
    drained = {it for it in brokers if is_drained(configs, it)}
    is_any_open = any(
        not it.fenced and it.node_id not in ending and it.node_id not in drained
        for it in brokers.values()
    )
    return ending | drained if is_any_open else ending
