"""What `bench.storage_requests` tells of its runs: every phase with its price, for people and for machines."""

import json
import re

import pytest

from bench.s3_requests import GIB, Request, Tally
from bench.storage_requests import Row, as_json, table
from bench.storage_upkeep import Upkeep


def tally(**counts):
    return Tally.of(Request(name, 1 << 20) for name, it in counts.items() for _ in range(it))


def made_row(streams=10_000):
    upkeep = Upkeep(tally(list=17), tally(list=1, put=1), 9, 1.0, 60.0)
    return Row(
        streams=streams,
        ingested_bytes=2 * GIB,
        read_bytes=GIB // 2,
        upload=tally(put=8),
        compaction=tally(copy=4, get=1_000),
        reads=tally(get=20_060),
        upkeep=upkeep,
        disagreements=[],
    )


def cells_of(printed, first):
    """Cells by phase of the lines of one number of streams."""
    lines = [re.split(r" {2,}", line.strip()) for line in printed]
    return {it[1]: it[2:] for it in lines if it[0] == first and len(it) == 6}


def test_each_phase_has_a_price_and_so_has_their_sum():
    found = cells_of(table([made_row()]), "10,000")
    assert found == {
        "upload": ["2.00", "4.00", "0.00", "0.000020"],
        "compaction": ["2.00", "2.00", "500.00", "0.000210"],
        "reads": ["0.50", "0.00", "40,120.00", "0.016048"],
        "sum": ["2.00", "6.00", "40,620.00", "0.016278"],
    }


def test_columns_stay_apart_however_large_the_numbers_are():
    row = made_row(streams=1_000_000_000)
    row.reads = tally(get=300_000)
    row.read_bytes = 1
    lines = table([row])
    heading, *data = lines[:6]
    assert heading.split() == ["streams", "phase", "GiB", "PUT/GiB", "GET/GiB", "$/GiB"]
    assert all(len(re.split(r" {2,}", line.strip())) == 6 for line in data[:4])
    assert len({len(line) for line in data}) == 1


def test_what_upkeep_takes_is_told_by_the_hour_and_in_no_sum():
    (told,) = [it for it in table([made_row()]) if "upkeep" in it]
    # 17 lists an hour, and 60 times a put and a list.
    assert "not in the sum: 137 PUT and 0 GET an hour" in told
    assert f"${137 / 1000 * 0.005 * 730:.2f} a month" in told
    assert "1 sweeps of 9 objects per hour" in told


def test_machines_are_told_the_same():
    found = json.loads(json.dumps(as_json(made_row(streams=1))))
    assert found["upload"]["requests"] == {"put": 8}
    assert found["per_gib"]["reads"] == {
        "put": 0,
        "get": 40_120,
        "price": pytest.approx(40.120 * 0.0004),
    }
    assert found["per_gib"]["sum"]["price"] == pytest.approx(0.01627800)
    assert found["upkeep"]["put_per_hour"] == 137
    assert found["upkeep"]["sweep"] == {"list": 17}
    assert [it["met"] for it in found["marks"]] == [True, False]
