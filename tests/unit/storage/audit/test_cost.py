"""Prices by hand."""

import pytest

from headrace.storage.audit.cost import GIB, Prices, request_costs, request_price, storage_price

PRICES = Prices()


def test_a_hundred_gib_for_a_month():
    assert storage_price(100 * GIB, PRICES) == pytest.approx(2.30)


@pytest.mark.parametrize(
    ("operation", "price"),
    [("put", 5.0), ("list", 5.0), ("copy", 5.0), ("get", 0.4), ("head", 0.4), ("delete", 0.0)],
)
def test_a_million_requests(operation, price):
    assert request_price(operation, 1_000_000, PRICES) == pytest.approx(price)


def test_an_operation_that_nobody_knows_is_not_taken_for_free():
    assert request_price("new", 1000, PRICES) == request_price("put", 1000, PRICES) > 0


def test_requests_for_each_gib():
    get, put = request_costs({"put": 31, "get": 12}, 2 * GIB, PRICES)
    assert (get.operation, get.requests, get.per_gib) == ("get", 12, 6)
    assert (put.operation, put.requests, put.per_gib) == ("put", 31, 15.5)
    assert put.price == pytest.approx(31 * 0.005 / 1000)
    assert put.price_per_gib == pytest.approx(put.price / 2)


def test_nothing_ingested():
    (put,) = request_costs({"put": 5}, 0, PRICES)
    assert (put.per_gib, put.price_per_gib) == (0, 0)
