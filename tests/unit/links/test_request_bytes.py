from headrace.links.request_bytes import RequestBytes


def test_a_request_counts_by_what_has_come() -> None:
    counted = RequestBytes(100)
    for number in range(50):
        assert counted.may_go_on(f"declares {number}", 1)
    assert counted.total == 50
    assert counted.may_go_on("declares 7", 40)
    assert counted.total == 89


def test_at_the_limit_the_first_one_goes_on_and_the_others_wait() -> None:
    counted = RequestBytes(100)
    assert counted.may_go_on("first", 40)
    assert counted.may_go_on("second", 40)
    assert not counted.may_go_on("third", 40)
    assert not counted.may_go_on("second", 60)
    assert counted.may_go_on("first", 90)

    size_bytes = counted.begin("first")

    assert size_bytes == 90
    assert not counted.may_go_on("second", 60), "the requests being served are bounded, too"
    counted.end(size_bytes)
    assert counted.may_go_on("second", 60)


def test_who_is_gone_holds_nothing() -> None:
    counted = RequestBytes(100)
    counted.may_go_on("first", 90)
    assert not counted.may_go_on("second", 20)
    assert counted.drop("first") == 90
    assert counted.may_go_on("second", 20)
    assert counted.drop("first") == 0
    assert counted.total == 20
