"""Calls a handler as the dispatcher does, however it answers."""

import asyncio
from typing import Any

from headrace.broker.network.request_context import Handler, RequestContext, ShortAnswer
from headrace.protocol import messages


async def response_of(handler: Handler, context: RequestContext, request: Any) -> Any:
    """Give the response to a request."""
    answer = handler.handle(context, request)
    if isinstance(answer, messages.KafkaMessage):
        return answer
    if isinstance(answer, ShortAnswer):
        await asyncio.wait((answer.waits_for,))
        return answer.make(answer.waits_for)
    return await answer
