"""The Kafka broker: network, API handlers, partitions, coordinators, composition root."""
