import time

from headrace.broker.node.environment import NodeEnvironment


def test_the_boot_clock_goes_on_in_suspend_and_cannot_be_set():
    before_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    now_ms = NodeEnvironment().boot_clock_ms()
    after_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)

    assert before_ns // 1_000_000 <= now_ms <= after_ns // 1_000_000
