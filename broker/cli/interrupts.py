"""Ctrl-C that is not lost: a library underneath may swallow the KeyboardInterrupt and go on."""

import signal
from types import FrameType

# Long enough for a consumer to leave its group in an orderly way.
REPEAT_S = 5.0


class Interrupts:
    """Raises KeyboardInterrupt at Ctrl-C, and again every few seconds until the command has ended."""

    def __init__(self) -> None:
        self.seen = False
        self._before = signal.signal(signal.SIGINT, self._interrupt)
        signal.signal(signal.SIGALRM, self._interrupt)

    def end(self) -> None:
        """The command has ended: further interrupts are the interpreter's."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self.seen = True
        signal.setitimer(signal.ITIMER_REAL, REPEAT_S)
        raise KeyboardInterrupt
