"""What kcat prints, whatever bytes the records hold."""

import io

import pytest

from headrace.pipeline.demo.clients import parse_kcat
from headrace.pipeline.demo.digests import TopicDigest
from headrace.pipeline.demo.progress import DemoError


def test_bytes_that_look_like_the_format() -> None:
    rows = [(0, 0, b"0 1 2 3\n", b"\n\n"), (5, 0, None, b"x"), (0, 1, b"", b"")]
    printed = b"0 0 8 2\n0 1 2 3\n\n\n\n" + b"5 0 -1 1\nx\n" + b"0 1 0 0\n\n"
    wanted = TopicDigest()
    for row in rows:
        wanted.add(*row)
    assert parse_kcat(io.BytesIO(printed)).differences(wanted) == []


@pytest.mark.parametrize("cut", [b"0 0 1 5\nkval", b"0 0 1 2\nkvalue\n"])
def test_output_that_is_not_what_it_says(cut: bytes) -> None:
    with pytest.raises(DemoError, match="output has the wrong length"):
        parse_kcat(io.BytesIO(cut))
