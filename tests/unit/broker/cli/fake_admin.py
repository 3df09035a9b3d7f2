"""An admin client that answers from memory, in the shapes of kafka-python's."""

from typing import NamedTuple

from kafka.admin import OffsetSpec
from kafka.errors import KafkaConnectionError, NoError, OffsetOutOfRangeError, UnknownError

UNKNOWN_TOPIC = 3


class Offset(NamedTuple):
    offset: int


class FakeAdmin:
    """Topics are lists of (start offset, end offset), one per partition."""

    def __init__(
        self,
        topics,
        *,
        configs=None,
        committed=None,
        group=None,
        refusal="OK",
        leaders=(),
        away=(),
        groups=(),
    ):
        self._topics = topics
        self._configs = configs or {}
        self._committed = committed or {}
        self._group = group
        self._refusal = refusal
        self._leaders = dict(leaders)  # of partitions that another broker than 1 leads
        self._away = away  # brokers that do not answer
        self._groups = groups  # those that can be deleted
        self.altered = {}

    def describe_topics(self, names=None):
        return [self._topic(name) for name in (self._topics if names is None else names)]

    def _topic(self, name):
        partitions = [
            {"partition_index": number, "leader_id": self._leader(number), "leader_epoch": 4}
            for number in range(len(self._topics.get(name, [])))
        ]
        return {
            "name": name,
            "error_code": 0 if name in self._topics else UNKNOWN_TOPIC,
            "topic_id": "id",
            "is_internal": name.startswith("__"),
            "partitions": partitions,
        }

    def _leader(self, number):
        return self._leaders.get(number, 1)

    def list_partition_offsets(self, specs):
        leaders = {self._leader(number) for _, number in specs}
        if -1 in leaders:
            raise UnknownError("-1")
        if not leaders.isdisjoint(self._away):
            raise KafkaConnectionError("connection refused")
        return {
            partition: Offset(self._offset(partition, spec)) for partition, spec in specs.items()
        }

    def _offset(self, partition, spec):
        start, end = self._topics[partition[0]][partition[1]]
        if spec is OffsetSpec.EARLIEST:
            return start
        if spec is OffsetSpec.LATEST:
            return end
        return int(spec) if start <= int(spec) < end else -1  # timestamps equal offsets here

    def delete_records(self, wanted):
        ((place, offset),) = wanted.items()
        start, end = self._topics[place[0]][place[1]]
        if offset > end:
            raise OffsetOutOfRangeError(f"Error deleting records from {place}")
        start = max(start, end if offset == -1 else offset)
        self._topics[place[0]][place[1]] = (start, end)
        return {place: {"partition_index": place[1], "low_watermark": start, "error_code": 0}}

    def describe_configs(self, resources, config_filter):
        entries = {key: {"value": value} for key, value in self._configs.items()}
        kind = resources[0].resource_type.name.lower()
        return {kind: {resource.name: entries for resource in resources}}

    def alter_configs(self, resources, *, raise_on_unknown):
        return {"topic": {resource.name: self._refusal for resource in resources}}

    def create_topics(self, wanted, *, validate_only, raise_errors):
        entries = [{"name": it, "error_code": 0, "num_partitions": 1} for it in wanted]
        return {"topics": entries}

    def wait_for_topics(self, names):
        pass

    def create_partitions(self, wanted):
        for name, number in wanted.items():
            self._topics[name] += [(0, 0)] * (number - len(self._topics[name]))

    def delete_topics(self, names, *, raise_errors):
        known = [name for name in names if self._topics.pop(name, None) is not None]
        return {
            "topics": [
                {
                    "name": name,
                    "error_code": 0 if name in known else UNKNOWN_TOPIC,
                    "error_message": None,
                }
                for name in names
            ]
        }

    def delete_groups(self, names):
        return {name: "OK" if name in self._groups else "NonEmptyGroupError" for name in names}

    def describe_groups(self, names):
        return dict.fromkeys(names, self._group)

    def list_group_offsets(self, spec):
        if isinstance(spec, str):
            return {spec: self._committed}
        return {
            group: {p: self._committed.get(p, Offset(-1)) for p in partitions}
            for group, partitions in spec.items()
        }

    def alter_group_offsets(self, name, offsets):
        self.altered = {partition: at.offset for partition, at in offsets.items()}
        return dict.fromkeys(offsets, NoError)
