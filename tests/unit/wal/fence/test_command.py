"""A fence by a command: its arguments, its end, its output, its time."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from headrace.wal.errors import WalFenceError
from headrace.wal.fence.command import MAX_OUTPUT_BYTES, CommandFence


def take(fence: CommandFence) -> None:
    asyncio.run(fence.take("/dev/shared", 7, owner=3))


def refusal(fence: CommandFence) -> str:
    with pytest.raises(WalFenceError) as refused:
        take(fence)
    return str(refused.value)


def shell(text: str) -> str:
    return f"/bin/sh -c '{text}' name"


def test_it_is_called_with_path_epoch_node_and_owner(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    take(CommandFence(shell(f'echo "$@" > {seen}').replace(" name", " name --zone a"), 1))
    assert seen.read_text() == "--zone a /dev/shared 7 1 3\n"


def test_an_exit_code_is_a_failure_and_its_output_is_told() -> None:
    message = refusal(CommandFence(shell("echo no such volume >&2; exit 3"), 1))
    assert "did not fence /dev/shared at epoch 7" in message
    assert message.endswith("it ended with exit code 3; it wrote: no such volume")


def test_the_end_of_a_long_output_is_told() -> None:
    message = refusal(
        CommandFence(f"{sys.executable} -c \"print('x' * 300_000 + 'end'); exit(1)\"", 1)
    )
    assert message.endswith("xend")
    assert len(message) < MAX_OUTPUT_BYTES + 300


def test_without_output_there_is_none() -> None:
    assert refusal(CommandFence("/bin/false", 1)).endswith("exit code 1")


def test_a_program_that_is_missing_is_named() -> None:
    assert "/no/such/program" in refusal(CommandFence("/no/such/program", 1))


def test_a_command_that_takes_too_long_is_a_failure() -> None:
    assert "it took more than 0.01 s" in refusal(
        CommandFence(shell("sleep 600"), 1, timeout_s=0.01)
    )


async def ended(pid: int) -> None:
    async with asyncio.timeout(20):
        while is_running(pid):
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_what_it_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    take(CommandFence(shell(f"sleep 600 & echo $! > {pid}"), 1))
    left = int(pid.read_text())
    assert is_running(left)
    os.kill(left, 9)


def test_it_is_killed_with_what_it_has_started_when_it_is_given_up(tmp_path: Path) -> None:
    pids = tmp_path / "pids"

    async def main() -> None:
        fence = CommandFence(
            shell(f"sleep 600 & echo $! $$ > {pids}.new; mv {pids}.new {pids}; wait"), 1
        )
        taking = asyncio.create_task(fence.take("/dev/shared", 7, owner=3))
        while not pids.exists():
            await asyncio.sleep(0.01)
        taking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await taking
        for pid in pids.read_text().split():
            await ended(int(pid))

    asyncio.run(main())


def test_the_description_names_it() -> None:
    assert CommandFence("/bin/fence --zone a", 1).description == "the command /bin/fence --zone a"
