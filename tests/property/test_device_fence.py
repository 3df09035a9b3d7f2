"""Machines take a device by reservations in any order of their commands: an older one never writes after a newer has.

Each of a machine's calls is a step of its own, also the two by which it reads who has the device; a machine may be
paused between any two of them, and may try to write at any time, as one that wakes up does.
"""

from collections.abc import Generator

from hypothesis import example, given, settings
from hypothesis import strategies as st

from headrace.wal.errors import WalFenceError
from headrace.wal.fence.reservation_calls import perform
from headrace.wal.fence.reservation_rules import Report, taking
from tests.simulation.shared_device import SharedDevice, Write

PLACE = "/dev/shared"


class Taker:
    """One registration or drain, on a machine."""

    def __init__(self, device: SharedDevice, machine: str, epoch: int) -> None:
        self._device = device
        self.machine = machine
        self.epoch = epoch
        self.has_taken = False
        self.refused = ""
        self._steps = self._taking()

    def step(self, count: int) -> None:
        """Make so many of its calls."""
        for _ in range(count):
            next(self._steps, None)

    def _report(self) -> Generator[None, None, Report]:
        keys = tuple(self._device.keys.values())
        yield
        report = Report(keys, self._device.holder_key)
        yield
        return report

    def _taking(self) -> Generator[None, None, None]:
        ioctl = self._device.machine(self.machine).ioctl
        try:
            steps = taking(PLACE, self.epoch, (yield from self._report()))
            command = next(steps, None)
            while command is not None:
                perform(ioctl, 0, PLACE, command)
                report = yield from self._report()
                try:
                    command = steps.send(report)
                except StopIteration:
                    command = None
            self.has_taken = True
        except WalFenceError as error:
            self.refused = str(error)


def newest_that_has_taken(takers: list[Taker]) -> Taker | None:
    return max((it for it in takers if it.has_taken), key=lambda it: it.epoch, default=None)


def require_right(takers: list[Taker], machine: str) -> None:
    """Who writes is the newest that has taken the device, or somebody newer who is about to."""
    newest = newest_that_has_taken(takers)
    if newest is None or newest.machine == machine:
        return
    assert any(it.machine == machine and it.epoch > newest.epoch for it in takers)


MACHINES = st.lists(st.sampled_from("abc"), min_size=2, max_size=5)
# What is done, by which taker, and how many of its calls it makes before another one comes.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["take", "take", "write", "land"]), st.integers(0, 4), st.integers(1, 8)
    ),
    min_size=10,
    max_size=60,
)


@settings(max_examples=100, deadline=None)
@given(MACHINES, STEPS)
def test_an_older_machine_never_writes_after_a_newer_has_taken_the_device(
    machines: list[str], steps: list[tuple[str, int, int]]
) -> None:
    device = SharedDevice()
    takers = [Taker(device, machine, number + 1) for number, machine in enumerate(machines)]
    inflight: list[Write] = []
    for action, number, count in steps:
        taker = takers[number % len(takers)]
        if action == "take":
            taker.step(count)
        elif action == "write" and any(it.has_taken for it in takers):
            try:
                inflight.append(device.begin_write(taker.machine))
            except OSError:
                continue
            require_right(takers, taker.machine)
        elif action == "land" and inflight:
            write = inflight.pop(number % len(inflight))
            device.land(write)
            if not write.is_aborted:
                require_right(takers, write.machine)


# The machine of the newest was registered when it asked, and is preempted before it registers.
PREEMPTED_MEANWHILE = [*[("take", 0, 1)] * 8, ("take", 2, 3), ("take", 1, 5)]


@settings(max_examples=50, deadline=None)
@given(MACHINES, STEPS)
@example(["a", "b", "a"], PREEMPTED_MEANWHILE)
def test_the_newest_gets_it_once_it_is_left_alone(
    machines: list[str], steps: list[tuple[str, int, int]]
) -> None:
    device = SharedDevice()
    takers = [Taker(device, machine, number + 1) for number, machine in enumerate(machines)]
    for _, number, count in steps:
        takers[number % len(takers)].step(count)
    takers[-1].step(1_000)
    assert takers[-1].has_taken
    device.machine(machines[-1]).write()
