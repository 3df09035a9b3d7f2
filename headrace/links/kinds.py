"""Kinds of links, and the bounds that each user sets for its own. Pure.

A link has one kind, which its hello names; all its frames are of that kind. A kind is of requests, which are answered,
or of messages, which are not. The number is a byte of the wire and never used for anything else again:

| number | user                                                             |
|--------|------------------------------------------------------------------|
| 0      | none: it refuses a link                                          |
| 1      | requests to controllers (`headrace.metadata.net.kinds.RPC`)      |
| 2      | messages of the quorum (`headrace.metadata.net.kinds.PEER`)      |

The bounds of all kinds together:

| what                               | constant                                | at the bound                          |
|------------------------------------|-----------------------------------------|---------------------------------------|
| a hello                            | `framing.MAX_HELLO_BYTES`               | the link ends                         |
| a frame of any kind                | `framing.MAX_BODY_BYTES`                | it is not encoded                     |
| time for a hello                   | `accepted.HELLO_MS`, `dialling.DIAL_MS` | the link ends                         |
| time for a frame                   | `accepted.FRAME_MS`, `PROGRESS_BYTES`   | the link ends                         |
| links to one listener              | `listener.MAX_CONNECTIONS`              | further ones are closed               |
| bytes of requests of all links     | `MAX_REQUEST_BYTES`                     | all wait but the first and small ones |
|                                    | `accepted.SMALL_FRAME_BYTES`            |                                       |
| answers that are not read          | `accepted.MAX_UNREAD_BYTES`             | the link ends                         |
| silence while an answer is due     | `requests.SILENCE_MS`                   | the link ends                         |
| requests without an answer         | `requests.MAX_UNANSWERED`               | the link ends                         |
| messages that wait for one node    | `messages.MAX_QUEUE_MESSAGES`,          | the oldest are dropped                |
|                                    | `messages.MAX_QUEUE_BYTES`              |                                       |
| age of a message at the dial       | `messages.STALE_MS`                     | it is dropped                         |
| pause between attempts to dial     | `messages.MAX_BACKOFF_MS`               | it grows no more                      |
| data that TCP does not acknowledge | `dialling.UNACKNOWLEDGED_MS`            | the link ends                         |
"""

from typing import Final, NamedTuple

MAX_REQUEST_BYTES: Final = 8 * ((8 << 20) + 4096)  # of all links, being read or served
REFUSED: Final = 0  # the kind of the hello that refuses a link


class LinkKind(NamedTuple):
    """One kind of link."""

    number: int
    name: str
    max_body_bytes: int  # of a frame from the dialling end; a longer one ends the link
    max_answer_bytes: int = 0  # of a frame from the accepting end; 0: the kind is of messages
    max_inflight: int = 0  # requests being served for one link; beyond that its socket is not read
    max_inflight_bytes: int = 0  # of these, but for small ones; beyond that the next one waits
    max_links: int | None = None  # to one listener; further ones are refused. None: any number
