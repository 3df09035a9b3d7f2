"""Compares the decoders of record batches into columns: rows a second of processor time, compiled and of Python.

Run it with `python -m bench.columns [--mib 32]`. What numba compiles is compiled before anything is measured, and the
time of that is told. Figures are medians of three runs.
"""

import argparse
import statistics
import time

from bench.values import values
from headrace.pipeline.columns.interpreted import decode_interpreted
from headrace.pipeline.columns.selection import COLUMNS, Limits, WantedRows
from headrace.protocol.records.compression import Compression
from headrace.protocol.records.record import BatchOptions, Record, encode_batch

BATCH_BYTES = 256 * 1024
RUNS = 3


def make_log(record_bytes, codec, size_bytes):
    """Return batches of words, with short keys."""
    payloads, offset, made = [], 0, values(record_bytes)
    while len(payloads) * BATCH_BYTES < size_bytes:
        records = []
        for _ in range(BATCH_BYTES // record_bytes):
            time_ms = 1_700_000_000_000 + offset
            records.append(Record(offset, time_ms, b"%08d" % offset, next(made)))
            offset += 1
        payloads.append(bytes(encode_batch(records, BatchOptions(compression=codec))))
    return payloads, offset


def seconds_of(decode, payloads, columns):
    """Return processor seconds for all rows."""
    selection = WantedRows(topic="topic", partition=0, columns=columns)
    found = []
    for _ in range(RUNS):
        begin = time.process_time()
        rows = sum(it.num_rows for it in decode(payloads, selection, Limits()))
        found.append(time.process_time() - begin)
    return statistics.median(found), rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mib", type=int, default=32, help="of records, without compression")
    size_bytes = parser.parse_args().mib << 20
    begin = time.process_time()
    from headrace.pipeline.columns.compiled import decode_compiled

    imported = time.process_time()
    seconds_of(decode_compiled, make_log(100, Compression.NONE, 1)[0], COLUMNS)
    print(f"import {imported - begin:.2f} s, first use {time.process_time() - imported:.2f} s")
    print("| record | codec | columns | compiled, rows/s | MB/s | Python, rows/s | times |")
    print("|---|---|---|---|---|---|---|")
    for record_bytes in (100, 1_000):
        for codec in (Compression.NONE, Compression.ZSTD):
            payloads, count = make_log(record_bytes, codec, size_bytes)
            few = payloads[: max(1, len(payloads) // 8)]
            for name, columns in (("all", COLUMNS), ("value", ("value",)), ("offset", ("offset",))):
                compiled_s, rows = seconds_of(decode_compiled, payloads, columns)
                assert rows == count
                python_s, python_rows = seconds_of(decode_interpreted, few, columns)
                compiled_rate, python_rate = rows / compiled_s, python_rows / python_s
                print(
                    f"| {record_bytes} B | {codec.name.lower()} | {name} | {compiled_rate:,.0f} "
                    f"| {compiled_rate * record_bytes / 1e6:,.0f} | {python_rate:,.0f} "
                    f"| {compiled_rate / python_rate:.0f} |"
                )


if __name__ == "__main__":
    main()
