"""A Produce whose batches have been appended, and the answer to it, which waits for their acknowledgements."""

from headrace.broker.network.session import Reply
from headrace.protocol.server_connection import Buffer


class PendingProduce:
    """A request whose batches have been appended, waiting for their acknowledgements."""

    __slots__ = ("_answer", "_reply", "refused", "waiting")

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._answer: list[Buffer] = []
        self.waiting = 1  # batches that are not acknowledged yet, and the answer itself
        self.refused = False  # at least one batch

    def batch_done(self, error: Exception | None) -> None:
        """One batch is acknowledged, or its outcome is unknown."""
        if error is not None:
            self._reply.close()
            return
        self.waiting -= 1
        if not self.waiting:
            self._reply.send(self._answer)

    def seal(self, answer: list[Buffer]) -> None:
        """Every batch has been appended or refused; answer as soon as all are acknowledged."""
        self._answer = answer
        if self.waiting > 1:
            self.waiting -= 1
        else:
            self.batch_done(None)
