"""What S3 charges: requests as they arrive, by operation, class and size."""

import pytest

from bench.s3_requests import (
    GIB,
    Mark,
    Request,
    Tally,
    parse_log,
    parse_request,
    request_marks,
)
from headrace.storage.audit.cost import Prices

COPY = {
    "x-amz-copy-source": "b/k",
    "x-amz-copy-source-range": "bytes=0-1023",
    "content-length": "0",
}


@pytest.mark.parametrize(
    ("method", "target", "headers", "expected"),
    [
        ("PUT", "/b", {}, Request("create bucket", 0)),
        ("PUT", "/b/k%2Fx", {"content-length": "7"}, Request("put", 7)),
        ("PUT", "/b/k?partNumber=1&uploadId=u", {"content-length": "9"}, Request("upload part", 9)),
        ("PUT", "/b/k?partNumber=1&uploadId=u", COPY, Request("copy part", 1024)),
        ("PUT", "/b/k", COPY, Request("copy", 0)),
        ("POST", "/b/k?uploads", {"content-length": "0"}, Request("create upload", 0)),
        ("POST", "/b/k?uploadId=u", {"content-length": "99"}, Request("complete upload", 0)),
        ("POST", "/b?delete", {"content-length": "99"}, Request("delete", 0)),
        ("GET", "/b/k", {"range": "bytes=10-19"}, Request("get", 10)),
        ("GET", "/b/k", {"range": "bytes=-48"}, Request("get", 48)),
        ("GET", "/b/k", {}, Request("get", 0)),
        ("GET", "/b?list-type=2&prefix=", {}, Request("list", 0)),
        ("GET", "/b/?uploads", {}, Request("list", 0)),
        ("HEAD", "/b/k", {}, Request("head", 0)),
        ("DELETE", "/b/k", {}, Request("delete", 0)),
        ("DELETE", "/b/k?uploadId=u", {}, Request("abort", 0)),
    ],
)
def test_a_request_is_known_by_method_path_and_headers(method, target, headers, expected):
    assert parse_request(method, target, headers) == expected


def test_what_is_no_request_of_ours_is_not_counted_as_something():
    with pytest.raises(ValueError, match="PATCH"):
        parse_request("PATCH", "/b/k", {})


def tally(**counts):
    return Tally.of(
        Request(name.replace("_", " "), 10) for name, it in counts.items() for _ in range(it)
    )


def test_all_but_reads_and_deletions_are_charged_as_puts():
    found = tally(
        put=1,
        upload_part=2,
        copy_part=4,
        create_upload=8,
        complete_upload=16,
        list=32,
        get=3,
        head=5,
        delete=7,
        abort=9,
    )
    assert (found.puts, found.gets) == (63, 8)
    assert found.price(Prices(put_per_1000=1.0, get_per_1000=0.1)) == pytest.approx(0.063 + 0.0008)


def test_sizes_are_means_over_operations():
    found = Tally.of([Request("put", 10), Request("upload part", 30), Request("get", 5)])
    assert found.mean_bytes("put", "upload part") == 20
    assert found.mean_bytes("copy part") == 0


def test_an_upload_is_one_call_and_so_is_a_copied_object():
    upload = tally(put=2, create_upload=3, upload_part=12, complete_upload=3, get=4)
    assert upload.calls == {
        "put_requests": 5,
        "copy_requests": 0,
        "get_requests": 4,
        "list_requests": 0,
    }
    copied = tally(put=2, create_upload=3, copy_part=30, complete_upload=3)
    assert (copied.calls["put_requests"], copied.calls["copy_requests"]) == (2, 3)


def test_a_log_is_read_line_by_line():
    lines = [
        '["PUT", "/b/k", {"content-length": "7"}]\n',
        '["GET", "/b/k", {"range": "bytes=0-4"}]\n',
    ]
    assert parse_log(lines) == [Request("put", 7), Request("get", 5)]


def test_one_stream_is_to_take_half_of_what_is_published_compaction_included():
    met = request_marks(1, tally(put=15), tally(copy_part=16, get=12), 2 * GIB)
    assert [(it.value, it.limit, it.is_met) for it in met] == [(15.5, 15.5, True), (6, 6, True)]
    missed = request_marks(1, tally(put=16), tally(copy_part=16, get=13), 2 * GIB)
    assert [it.is_met for it in missed] == [False, False]


def test_many_streams_are_to_take_no_more_than_published_for_their_upload():
    marks = request_marks(100, tally(put=31), tally(put=500, get=500), GIB)
    assert [(it.value, it.limit, it.is_met) for it in marks] == [(31, 31, True), (0, 12, True)]


def test_a_mark_says_what_it_is():
    assert str(Mark("share", 0.85, 0.9, at_least=True)) == "NOT MET: share: 0.85 (at least 0.9)"
    assert str(Mark("share", 0.9, 0.9, at_least=True)) == "met: share: 0.90 (at least 0.9)"
