"""`python -m bench.fetch_scale`: what a delivery costs a broker when its consumers have many partitions.

A producer sends single records, one at a time, to the partitions of a topic in turn. Each consumer fetches all of them in
a fetch session and waits in the broker. The figure is the broker's processor time for each record that a consumer
got, with the appends and everything else that it did meanwhile. Latencies are those of the producer, which is a process
of its own: what the consumers do with their answers does not count.

With `--rounds` the numbers of consumers are measured in turn, and the medians are printed as well.
"""

import argparse
import asyncio
import itertools
import statistics
import struct
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from bench.process_usage import usage
from headrace.protocol import messages
from headrace.protocol.api_keys import ApiKey
from headrace.protocol.headers import RequestHeader
from headrace.protocol.records.record import BatchOptions, Record, encode_batch
from tests.e2e.broker_process import HeadraceProcess
from tests.environment.kafka import ApacheKafka

RATE: Final = 50  # records a second
WARM_UP_S: Final = 2.0
PARTITION_BYTES: Final = 1 << 20
STEP_PARTITIONS: Final = 4_000  # created by one request
ANSWER_BYTES: Final = 50 << 20
MAX_WAIT_MS: Final = 500
FETCH_VERSION: Final = 11
_SIZE: Final = struct.Struct(">i")
_ANSWER: Final = struct.Struct(">iihii")  # correlation id, throttling, error, session, topics
_PARTITION: Final = struct.Struct(">ihqqqiii")  # without aborted transactions
_BATCH: Final = struct.Struct(">qi9xHi")


@dataclass
class Load:
    """What the consumers have got so far."""

    delivered: int = 0


class Connection:
    """Frames to a broker and back, one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def ask(self, frame: bytes) -> memoryview:
        self._writer.write(_SIZE.pack(len(frame)) + frame)
        (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
        return memoryview(await self._reader.readexactly(size))

    async def call(self, key: ApiKey, version: int, request: Any) -> Any:
        header = RequestHeader(int(key), version, 1, "bench")
        frame = bytes(messages.encode_request(request, header))
        return messages.decode_response(key, version, await self.ask(frame))[1]

    def close(self) -> None:
        self._writer.close()


async def connected(bootstrap: str) -> Connection:
    host, _, port = bootstrap.rpartition(":")
    return Connection(*await asyncio.open_connection(host, int(port), limit=1 << 22))


async def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """Create a topic, in steps that Apache Kafka takes."""
    step = min(partitions, STEP_PARTITIONS)
    to = messages.CreateTopicsRequest.CreatableTopic(
        name=topic, num_partitions=step, replication_factor=1, assignments=[], configs=[]
    )
    create = messages.CreateTopicsRequest(topics=[to], timeout_ms=60_000, validate_only=False)
    connection = await connected(bootstrap)
    (told,) = (await connection.call(ApiKey.CREATE_TOPICS, 5, create)).topics
    while told.error_code == 0 and step < partitions:
        step = min(partitions, step + STEP_PARTITIONS)
        more = messages.CreatePartitionsRequest.CreatePartitionsTopic(
            name=topic, count=step, assignments=None
        )
        grow = messages.CreatePartitionsRequest(
            topics=[more], timeout_ms=60_000, validate_only=False
        )
        (told,) = (await connection.call(ApiKey.CREATE_PARTITIONS, 1, grow)).results
    assert told.error_code == 0, told.error_message
    connection.close()


def produce(
    bootstrap: str, topic: str, partitions: int, warm_up_s: float, seconds: float
) -> list[float]:
    """Send one record after the other; return how long each took after the warm-up."""
    return asyncio.run(_produce(bootstrap, topic, partitions, warm_up_s, seconds))


async def _produce(
    bootstrap: str, topic: str, partitions: int, warm_up_s: float, seconds: float
) -> list[float]:
    connection = await connected(bootstrap)
    took_s: list[float] = []
    header = RequestHeader(int(ApiKey.PRODUCE), 8, 1, "bench")
    data = messages.ProduceRequest.TopicProduceData
    due_s = time.perf_counter()
    counts_s = due_s + warm_up_s
    for number in itertools.count():
        if due_s >= counts_s + seconds:
            break
        batch = encode_batch([Record(0, int(time.time() * 1000), None, b"x")], BatchOptions())
        to = data.PartitionProduceData(index=7 * number % partitions, records=bytes(batch))
        wanted = messages.ProduceRequest(
            transactional_id=None,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[data(name=topic, partition_data=[to])],
        )
        frame = bytes(messages.encode_request(wanted, header))
        due_s = max(due_s + 1 / RATE, time.perf_counter() - 1)
        await asyncio.sleep(due_s - time.perf_counter())
        begun_s = time.perf_counter()
        await connection.ask(frame)
        if begun_s >= counts_s:
            took_s.append(time.perf_counter() - begun_s)
    connection.close()
    return took_s


async def consume(bootstrap: str, topic: str, partitions: int, min_bytes: int, load: Load) -> None:
    """Fetch every partition in a session until cancelled."""
    connection = await connected(bootstrap)
    offsets = dict.fromkeys(range(partitions), 0)
    session_id = epoch = 0
    while True:
        wait_ms = MAX_WAIT_MS if epoch else 0
        asked = fetch_request(topic, offsets, session_id, epoch, wait_ms, min_bytes)
        error, session_id, offsets = fetched(await connection.ask(asked))
        assert error == 0, f"error {error}"
        epoch += 1
        load.delivered += len(offsets)


def fetch_request(
    topic: str, offsets: dict[int, int], session: int, epoch: int, wait_ms: int, min_bytes: int
) -> bytes:
    """A request that names the partitions whose offset has changed."""
    name = topic.encode()
    head = struct.pack(">hhih5s", ApiKey.FETCH, FETCH_VERSION, 1, 5, b"bench")
    limits = (-1, wait_ms, min_bytes, ANSWER_BYTES, 0, session, epoch, bool(offsets))
    body = [head, struct.pack(">iiiibiii", *limits)]
    if offsets:
        body.append(struct.pack(f">h{len(name)}si", len(name), name, len(offsets)))
        body += [
            struct.pack(">iiqqi", *(i, -1, at, -1, PARTITION_BYTES)) for i, at in offsets.items()
        ]
    body.append(struct.pack(">ih", 0, 0))
    return b"".join(body)


def fetched(answer: memoryview) -> tuple[int, int, dict[int, int]]:
    """Error, session, and the next offset of each partition that returned records."""
    _, _, error, session_id, topics = _ANSWER.unpack_from(answer)
    position, offsets = _ANSWER.size, {}
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", answer, position)
        position += 2 + length
        (count,) = _SIZE.unpack_from(answer, position)
        position += _SIZE.size
        for _ in range(count):
            index, *_, size = _PARTITION.unpack_from(answer, position)
            position += _PARTITION.size
            end = position + max(0, size)
            while position < end:
                base, length, _, last_delta = _BATCH.unpack_from(answer, position)
                offsets[index] = base + last_delta + 1
                position += 12 + length
    return error, session_id, offsets


@dataclass(frozen=True)
class Row:
    """What was measured with so many consumers of so many partitions."""

    consumers: int
    partitions: int
    min_bytes: int
    delivered: float  # a second
    cpu_percent: float
    cpu_ms: float  # for each delivery
    produce_p50_ms: float
    produce_p99_ms: float

    def __str__(self) -> str:
        return (
            f"{self.consumers:>9} {self.partitions:>10} {self.min_bytes:>9} {self.delivered:>11.0f} "
            f"{self.cpu_percent:>6.1f} {self.cpu_ms:>15.2f} {self.produce_p50_ms:>8.1f} "
            f"{self.produce_p99_ms:>8.1f}"
        )


def median(rows: list[Row]) -> Row:
    """A row of the medians of each figure."""
    return Row(*(statistics.median(values) for values in zip(*map(astuple, rows), strict=True)))


HEAD: Final = "consumers partitions min.bytes delivered/s  CPU % CPU ms/delivery   p50 ms   p99 ms"


async def measure(
    bootstrap: str, process_id: int, topic: str, options: Any, shape: tuple[int, int, int]
) -> Row:
    """One row of the table."""
    consumers, partitions, min_bytes = shape
    load = Load()
    warm_up_s = WARM_UP_S + partitions / 5_000
    async with asyncio.TaskGroup() as group:
        producing = asyncio.get_running_loop().run_in_executor(
            options.producers, produce, bootstrap, topic, partitions, warm_up_s, options.seconds
        )
        tasks = []
        for _ in range(consumers):
            reading = consume(bootstrap, topic, partitions, min_bytes, load)
            tasks.append(group.create_task(reading))
        await asyncio.sleep(warm_up_s)
        delivered, before, begun_s = load.delivered, usage(process_id), time.perf_counter()
        await asyncio.sleep(options.seconds)
        cpu_s = usage(process_id).cpu_s - before.cpu_s
        elapsed_s, delivered = time.perf_counter() - begun_s, load.delivered - delivered
        latencies = sorted(await producing)
        for task in tasks:
            task.cancel()
    return Row(
        *shape,
        delivered / elapsed_s,
        100 * cpu_s / elapsed_s,
        1000 * cpu_s / max(1, delivered),
        1000 * statistics.median(latencies),
        1000 * latencies[int(0.99 * len(latencies))],
    )


async def run(bootstrap: str, process_id: int, name: str, options: Any) -> None:
    """Print the table of one broker."""
    print(f"\n{name}\n{HEAD}", flush=True)
    for partitions in options.partitions:
        topic = f"scale-{partitions}"
        await create_topic(bootstrap, topic, partitions)
        await asyncio.sleep(1 + partitions / 1_000)
        rows = defaultdict(list)
        shapes = itertools.product(options.consumers, [partitions], options.min_bytes)
        for shape in [*shapes] * options.rounds:
            rows[shape].append(await measure(bootstrap, process_id, topic, options, shape))
            print(rows[shape][-1], flush=True)
        if options.rounds > 1:
            print(f"medians of {options.rounds}")
            for measured in rows.values():
                print(median(measured))


def main() -> int:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.fetch_scale", description=__doc__)
    parser.add_argument("--partitions", type=int, nargs="+", default=[10, 1_000, 3_000, 10_000])
    parser.add_argument("--consumers", type=int, nargs="+", default=[0, 1, 5])
    parser.add_argument("--min-bytes", type=int, nargs="+", default=[1])
    parser.add_argument("--seconds", type=float, default=8.0, help="of each row")
    parser.add_argument("--rounds", type=int, default=1, help="of all rows of one topic, in turn")
    parser.add_argument("--kafka", action="store_true", help="Apache Kafka, too")
    parser.add_argument("--only-kafka", action="store_true", help="Apache Kafka alone")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="headrace-bench-") as scratch,
        ProcessPoolExecutor(1, get_context("spawn")) as options.producers,
    ):
        options.producers.submit(time.monotonic).result()  # it has started
        if not options.only_kafka:
            with HeadraceProcess(Path(scratch) / "headrace") as ours:
                asyncio.run(run(ours.bootstrap, ours.process.process_id, "headrace", options))
        if options.kafka or options.only_kafka:
            with ApacheKafka(Path(scratch) / "kafka") as kafka:
                asyncio.run(run(kafka.bootstrap, kafka.process.process_id, "kafka", options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
