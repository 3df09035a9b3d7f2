"""Ctrl-C ends a command even when a library swallows it."""

import os
import signal

import pytest

from headrace.broker.cli import interrupts


def test_a_swallowed_interrupt_comes_again(monkeypatch):
    monkeypatch.setattr(interrupts, "REPEAT_S", 0.01)
    found = interrupts.Interrupts()
    try:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert found.seen
        with pytest.raises(KeyboardInterrupt):
            signal.pause()  # nobody presses Ctrl-C again
    finally:
        found.end()


def test_afterwards_signals_are_as_they_were():
    before = signal.getsignal(signal.SIGINT)
    found = interrupts.Interrupts()
    assert not found.seen
    found.end()
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
