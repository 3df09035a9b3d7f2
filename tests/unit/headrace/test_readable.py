"""Sizes and tables as people read them."""

from headrace.readable import size_text, table_lines


def test_sizes() -> None:
    assert [size_text(it) for it in (5, 2_048, 3 << 20, 1 << 51)] == [
        "5 B",
        "2.0 KiB",
        "3.0 MiB",
        "2,048.0 TiB",
    ]


def test_a_table_is_aligned() -> None:
    rows = [{"object_id": 1, "what": None}, {"object_id": 200, "what": ["a", "b"]}]
    assert table_lines(rows, ["object_id", "what"]) == [
        "OBJECT ID  WHAT",
        "        1  -",
        "      200  a,b",
    ]
