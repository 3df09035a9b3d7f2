"""In which order a machine takes a device by a persistent reservation. Pure.

A reservation belongs to a machine (NVMe: host identifier, SCSI: initiator), which registers a key and reserves the
device by it. While a reservation of the type "write exclusive" lasts, the device refuses the writes of every other
machine. Another machine that has registered can preempt it; it names the key of the holder, so the device compares and
swaps, and two that preempt the same holder cannot both succeed.

The keys here are epochs. No broker preempts a key that is newer than its own, and none releases a reservation, so the
epoch of the holder only grows. Each epoch has one owner, so a key that was preempted never comes back.

Registering gives no right to write, and a machine has one registration for all of its processes: this does not separate
apart two processes of one machine.

Source: NVM Express Base Specification, "Reservations"; SPC-4, "Persistent reservations".
"""

from collections.abc import Generator
from typing import Final, NamedTuple

from headrace.wal.errors import WalFenceError

MAX_KEYS: Final = 64  # machines that have registered at one device
MAX_COMMANDS: Final = 2 * MAX_KEYS  # others may come between, which costs a command each time
NO_KEY: Final = 0
_EPOCH_BITS: Final = 48
_MARK: Final = 0x4852  # "HR": the upper 16 bits of our keys
_HOW_TO_CLEAR: Final = (
    "`nvme resv-report` shows who has reserved it, and docs/operations.md how to end that by hand"
)


class Report(NamedTuple):
    """What the device reports of its reservation."""

    keys: tuple[int, ...]  # registered, of all machines; not which machine has which
    holder: int  # key of the holder; NO_KEY: it is not reserved


class Register(NamedTuple):
    """Register a key for this machine instead of an old one of its own; NO_KEY: it must have none."""

    old: int
    new: int


class Reserve(NamedTuple):
    """Reserve a device that is not reserved."""

    key: int


class Preempt(NamedTuple):
    """Take the reservation away from the holder of a key, and abort what that one has inflight."""

    key: int
    victim: int


Command = Register | Reserve | Preempt


def key_of(epoch: int) -> int:
    """Return the key that stands for an epoch.

    Raises:
        WalFenceError: no key can stand for it.
    """
    if not 0 < epoch < 1 << _EPOCH_BITS:
        msg = f"no reservation can stand for epoch {epoch}: it takes 1 to {(1 << _EPOCH_BITS) - 1}"
        raise WalFenceError(msg)
    return _MARK << _EPOCH_BITS | epoch


def epoch_of(key: int) -> int | None:
    """Return the epoch that a key stands for; None: it is not one of ours."""
    if key >> _EPOCH_BITS != _MARK:
        return None
    return key & ((1 << _EPOCH_BITS) - 1)


def taking(place: str, epoch: int, report: Report) -> Generator[Command, Report, None]:
    """Yield the commands that take a device; wants the device's report after each, whether or not it worked.

    At its end this machine holds the reservation.

    Args:
        place: of the device, for messages.
        epoch: of the broker that takes it.
        report: what the device reports now.

    Raises:
        WalFenceError: a newer epoch, or another program, has it.
    """
    mine = key_of(epoch)
    tried: list[int] = []  # keys that were not this machine's, in this order
    for _ in range(MAX_COMMANDS):
        _require_older(place, epoch, report)
        if report.holder == mine:
            return
        if mine not in report.keys:
            old = _untried(place, report, tried)
            tried.append(old)
            report = yield Register(old, mine)
        elif report.holder == NO_KEY:
            report = yield Reserve(mine)
        else:
            report = yield Preempt(mine, report.holder)
    msg = f"{place} could not be reserved with {MAX_COMMANDS} commands: others reserve it meanwhile"
    raise WalFenceError(msg)


def _require_older(place: str, epoch: int, report: Report) -> None:
    if report.holder != NO_KEY and epoch_of(report.holder) is None:
        msg = (
            f"{place} is reserved by something else than Headrace (key {report.holder:#x}), which may write to it: "
            f"{_HOW_TO_CLEAR}"
        )
        raise WalFenceError(msg)
    newest = max((epoch_of(key) or 0 for key in (*report.keys, report.holder)), default=0)
    if newest > epoch:
        msg = (
            f"{place} was taken with epoch {newest}, newer than {epoch}: another broker has this log now. If the "
            f"device was used by another cluster before, remove what that has left: {_HOW_TO_CLEAR}"
        )
        raise WalFenceError(msg)


def _untried(place: str, report: Report, tried: list[int]) -> int:
    """Return the next key to be replaced: none, the holder's, which is ours after a restart, or any other."""
    ours = [key for key in (report.holder, *report.keys) if epoch_of(key) is not None]
    untried = [NO_KEY] if not tried else [key for key in ours if key not in tried]
    if untried:
        return untried[0]
    # It has none of these keys: either none at all, since others preempted it meanwhile, or that of something else.
    if tried[-1] != NO_KEY or all(epoch_of(key) is not None for key in report.keys):
        return NO_KEY
    msg = (
        f"this machine cannot register at {place}: it is registered with a key of something else than Headrace; "
        f"{_HOW_TO_CLEAR}"
    )
    raise WalFenceError(msg)
