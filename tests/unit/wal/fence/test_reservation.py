"""Taking a device by a reservation: what is sent to it, what is refused, and what the messages say."""

import asyncio
import errno
import os
import struct
import threading
from itertools import repeat
from pathlib import Path

import pytest

from headrace.wal.errors import WalFenceError
from headrace.wal.fence import reservation_calls as calls
from headrace.wal.fence.reservation import ReservationFence
from headrace.wal.fence.reservation_rules import (
    MAX_KEYS,
    Preempt,
    Register,
    Report,
    Reserve,
    epoch_of,
    key_of,
    taking,
)
from tests.simulation.shared_device import PREEMPT, SharedDevice

PLACE = "/dev/shared"
FOREIGN = 0xABC


def fence_of(device: SharedDevice, machine: str, node_id: int = 1) -> ReservationFence:
    return ReservationFence(
        node_id,
        ioctl=device.machine(machine).ioctl,
        open_device=lambda place, flags: os.open("/dev/null", os.O_RDWR),
    )


def take(device: SharedDevice, machine: str, epoch: int) -> None:
    asyncio.run(fence_of(device, machine).take(PLACE, epoch, owner=1))


def refusal(device: SharedDevice, machine: str, epoch: int) -> str:
    with pytest.raises(WalFenceError) as refused:
        take(device, machine, epoch)
    return str(refused.value)


def test_the_calls_are_those_of_the_kernels_headers() -> None:
    """Direction, size, kind and number of each, as linux/pr.h and linux/nvme_ioctl.h make them."""

    def call(direction: int, size: int, kind: str, number: int) -> int:
        return direction << 30 | size << 16 | ord(kind) << 8 | number

    assert call(1, 24, "p", 200) == calls.REGISTER
    assert call(1, 16, "p", 201) == calls.RESERVE
    assert call(1, 24, "p", 203) == PREEMPT
    assert call(1, 24, "p", 204) == calls.PREEMPT_ABORT
    assert call(3, 16, "p", 206) == calls.READ_KEYS
    assert call(2, 16, "p", 207) == calls.READ_RESERVATION
    assert call(0, 0, "N", 0x40) == calls.NVME_NAMESPACE
    assert call(3, 72, "N", 0x43) == calls.NVME_IO_COMMAND
    assert [it.size for it in (calls.REGISTRATION, calls.RESERVATION, calls.PREEMPTION)] == [
        24,
        16,
        24,
    ]
    assert [it.size for it in (calls.KEY_LIST, calls.HELD, calls.NVME_COMMAND)] == [16, 16, 72]


def test_commands_are_sent_byte_by_byte_so() -> None:
    sent: list[tuple[int, bytes]] = []

    def ioctl(fd: int, request: int, argument: bytearray) -> int:
        sent.append((request, bytes(argument)))
        return 0

    for command in (Register(1, 2), Reserve(2), Preempt(2, 3)):
        calls.perform(ioctl, 9, PLACE, command)
    assert sent == [
        (0x401870C8, struct.pack("=QQII", 1, 2, 0, 0)),
        (0x401070C9, struct.pack("=QII", 2, 1, 0)),
        # The caller's own key, which the drivers compare with its registration, is the first.
        (0x401870CC, struct.pack("=QQII", 2, 3, 1, 0)),
    ]


def test_a_key_is_an_epoch_with_a_mark() -> None:
    assert key_of(5) == 0x4852_0000_0000_0005
    assert [epoch_of(key_of(5)), epoch_of(5), epoch_of(FOREIGN)] == [5, None, None]
    for epoch in (-1, 0, 1 << 48):
        with pytest.raises(WalFenceError, match=f"epoch {epoch}"):
            key_of(epoch)


def test_a_free_device_takes_two_commands() -> None:
    steps = taking(PLACE, 5, Report((), 0))
    mine = key_of(5)
    assert next(steps) == Register(0, mine)
    assert steps.send(Report((mine,), 0)) == Reserve(mine)
    with pytest.raises(StopIteration):
        steps.send(Report((mine,), mine))


def test_who_has_it_already_sends_nothing() -> None:
    assert list(taking(PLACE, 5, Report((key_of(5),), key_of(5)))) == []


def test_a_machine_that_has_registered_before_replaces_its_own_key_only() -> None:
    device = SharedDevice()
    take(device, "a", 3)
    take(device, "b", 5)  # which ends the registration of a
    take(device, "a", 7)  # and this that of b
    take(device, "a", 8)
    assert device.keys == {"a": key_of(8)}
    assert device.holder == "a"


def test_a_registration_without_reservation_is_left_alone() -> None:
    device = SharedDevice(keys={"sleeper": key_of(2), "pacemaker": FOREIGN})
    take(device, "a", 5)
    assert device.keys == {"sleeper": key_of(2), "pacemaker": FOREIGN, "a": key_of(5)}
    with pytest.raises(OSError, match=os.strerror(errno.EBADE)):
        device.machine("sleeper").write()


def test_an_older_one_learns_who_has_it_and_changes_nothing() -> None:
    device = SharedDevice()
    take(device, "b", 7)
    sent = len(device.calls)
    assert "taken with epoch 7, newer than 5" in refusal(device, "a", 5)
    assert {request for _, request in device.calls[sent:]} == {
        calls.READ_KEYS,
        calls.READ_RESERVATION,
    }


def test_a_newer_one_that_has_only_registered_is_not_overtaken() -> None:
    device = SharedDevice(keys={"b": key_of(7)})
    assert "epoch 7" in refusal(device, "a", 5)


def test_another_process_of_this_machine_with_a_newer_epoch_is_not_overtaken() -> None:
    device = SharedDevice()
    take(device, "a", 7)
    assert "epoch 7" in refusal(device, "a", 5)
    assert device.holder_key == key_of(7)


def test_a_device_that_something_else_has_reserved_is_left_to_it() -> None:
    device = SharedDevice(keys={"pacemaker": FOREIGN}, holder="pacemaker", kind=1)
    assert "something else than Headrace (key 0xabc)" in refusal(device, "a", 5)
    assert device.holder == "pacemaker"


def test_a_machine_that_something_else_has_registered_cannot_register() -> None:
    device = SharedDevice(keys={"a": FOREIGN})
    assert "registered with a key of something else" in refusal(device, "a", 5)
    assert device.keys == {"a": FOREIGN}


def test_a_machine_that_is_preempted_before_it_registers_registers_as_a_new_one() -> None:
    """Beside a key of something else, which is on another machine."""
    mine, own_former, other = key_of(7), key_of(3), key_of(5)
    steps = taking(PLACE, 7, Report((FOREIGN, own_former), own_former))
    assert next(steps) == Register(0, mine)
    preempted = Report((FOREIGN, other), other)
    assert steps.send(preempted) == Register(other, mine)
    assert steps.send(preempted) == Register(0, mine)
    assert steps.send(Report((FOREIGN, other, mine), other)) == Preempt(mine, other)


def test_after_an_operator_has_cleared_it_it_is_taken_again() -> None:
    device = SharedDevice()
    take(device, "b", 7)
    device.clear()
    take(device, "a", 5)
    assert device.holder == "a"


def test_writes_of_the_former_holder_that_are_inflight_do_not_land() -> None:
    device = SharedDevice()
    take(device, "a", 5)
    write = device.begin_write("a")
    take(device, "b", 7)
    device.land(write)
    assert device.landed == []


def test_more_machines_than_supported_are_refused() -> None:
    device = SharedDevice(keys={f"{number}": number + 1 for number in range(MAX_KEYS + 1)})
    assert f"{MAX_KEYS + 1} machines" in refusal(device, "a", 5)
    device.reads_by = "nvme"
    assert f"{MAX_KEYS + 1} machines" in refusal(device, "a", 5)


def test_a_device_that_others_reserve_all_the_time_is_given_up() -> None:
    mine = key_of(500)
    steps = taking(PLACE, 500, Report((mine,), key_of(1)))
    next(steps)
    with pytest.raises(WalFenceError, match="could not be reserved with 128 commands"):
        list(map(steps.send, repeat(Report((mine,), key_of(2)), 1_000)))


def test_a_refusal_that_is_no_conflict_is_told() -> None:
    with pytest.raises(WalFenceError, match="answers 'reserve' with status 0x2"):
        calls.perform(lambda *_: 2, 9, PLACE, Reserve(1))


@pytest.mark.parametrize("number", [errno.ENOTTY, errno.EINVAL, errno.EOPNOTSUPP])
def test_a_device_without_reservations_is_refused_with_what_works(number: int) -> None:
    def ioctl(fd: int, request: int, argument: bytearray) -> int:
        raise OSError(number, os.strerror(number))

    fence = ReservationFence(1, ioctl=ioctl, open_device=lambda *_: os.open("/dev/null", os.O_RDWR))
    with pytest.raises(WalFenceError, match="takes no persistent reservations"):
        asyncio.run(fence.take(PLACE, 5, owner=1))


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.EPERM, "not a partition"),
        (errno.EBUSY, "a process of this machine has it open"),
        (errno.EIO, "Input/output error"),
    ],
)
def test_what_the_kernel_refuses_is_told_with_what_to_do(number: int, advice: str) -> None:
    def open_device(place: str, flags: int) -> int:
        raise OSError(number, os.strerror(number))

    fence = ReservationFence(1, open_device=open_device)
    with pytest.raises(WalFenceError, match=advice):
        asyncio.run(fence.take(PLACE, 5, owner=1))


def test_the_device_of_another_node_is_opened_exclusively_and_the_own_is_not() -> None:
    opened: list[int] = []
    device = SharedDevice()

    def open_device(place: str, flags: int) -> int:
        opened.append(flags)
        return os.open("/dev/null", os.O_RDWR)

    fence = ReservationFence(1, ioctl=device.machine("a").ioctl, open_device=open_device)
    asyncio.run(fence.take(PLACE, 5, owner=1))
    asyncio.run(fence.take(PLACE, 6, owner=2))
    assert opened == [os.O_RDWR, os.O_RDWR | os.O_EXCL]


def test_a_file_cannot_be_reserved(tmp_path: Path) -> None:
    path = tmp_path / "wal"
    path.write_bytes(b"")
    with pytest.raises(WalFenceError, match="is not a block device"):
        asyncio.run(ReservationFence(1).take(str(path), 5, owner=1))


def test_a_device_that_hangs_keeps_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.wal.fence.reservation.TAKE_TIMEOUT_S", 0.01)
    let_go, calls_made = threading.Event(), []

    def hang(fd: int, request: int, argument: bytearray) -> int:
        calls_made.append(request)
        let_go.wait(30)
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    fence = ReservationFence(
        1, ioctl=hang, open_device=lambda place, flags: os.open("/dev/null", os.O_RDWR)
    )

    async def main() -> None:
        with pytest.raises(WalFenceError, match="could not be reserved within"):
            await fence.take(PLACE, 5, owner=1)
        with pytest.raises(WalFenceError, match="it hangs: what was asked for earlier"):
            await fence.take(PLACE, 6, owner=1)
        assert len(calls_made) == 1
        let_go.set()

    asyncio.run(main())
