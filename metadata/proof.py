"""Proofs of who sends a request to the controller, and of whose lock a process holds. Pure.

A process draws a secret for its registration. It sends the secret with every request that speaks for the registration,
and nothing else contains it: what is recorded, and can be read by all that read the metadata, is a digest of it, the
incarnation id. The digest is a UUID of version 8. Earlier versions drew ids of version 4 and proved nothing, so the
record itself says whether a registration proves who it is. The same holds for names of locks: a process sends the name
with its registration, and a digest of it is recorded.
"""

import hashlib
import hmac
from collections.abc import Collection
from typing import TYPE_CHECKING, Final
from uuid import UUID

from headrace.metadata.errors import RefusedError
from headrace.metadata.image import MetadataImage
from headrace.metadata.rpc.requests import RegisterBroker, ReportEnd, Speaking
from headrace.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from random import Random

SECRET_BYTES: Final = 16
_DIGEST_VERSION: Final = 8  # RFC 9562: what the bits mean is up to the application
_LOCK_DIGEST: Final = "sha256:"  # no name of a lock begins so


def new_secret(rng: "Random") -> bytes:
    """Draw the secret of a registration."""
    return rng.getrandbits(8 * SECRET_BYTES).to_bytes(SECRET_BYTES)


def incarnation_of(secret: bytes) -> UUID:
    """Return the incarnation id that a process with this secret registers with."""
    digest = bytearray(hashlib.sha256(secret).digest()[:16])
    digest[6] = _DIGEST_VERSION << 4 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F  # the variant of the RFC
    return UUID(bytes=bytes(digest))


def recorded_lock(name: str) -> str:
    """Return what is recorded of the name of a lock."""
    return _LOCK_DIGEST + hashlib.sha256(name.encode()).hexdigest()


def require_sender(request: Speaking, secret: bytes | None, image: MetadataImage) -> None:
    """Return only if the sender of a request may speak for the registration that it names, or that one is over.

    Who names a registration that is over gets nothing: the decision refuses it, as epochs only grow. One that the image
    does not have yet is refused here, since it may be there when the decision is made.

    Raises:
        RefusedError: CLUSTER_AUTHORIZATION_FAILED, it does not prove it; STALE_BROKER_EPOCH, no broker has this epoch.
    """
    node_id, node_epoch = request.node_id, request.node_epoch
    if node_epoch > image.index:
        raise RefusedError(
            ErrorCode.STALE_BROKER_EPOCH,
            f"broker {node_id} has no epoch {node_epoch}: the log ends at entry {image.index}",
        )
    broker = image.brokers.get(node_id)
    if broker is not None and broker.epoch == node_epoch:
        _require_proof(node_id, broker.incarnation_id, secret)


def require_own_id(request: RegisterBroker, secret: bytes | None) -> None:
    """Return only if the sender may register with the incarnation id that it names.

    Raises:
        RefusedError: CLUSTER_AUTHORIZATION_FAILED, it does not prove it.
    """
    _require_proof(request.node_id, request.incarnation_id, secret)


def shown_locks(request: RegisterBroker) -> frozenset[str]:
    """Return what is recorded of the locks that a registration proves: digests, or names as earlier versions did."""
    names = {*request.locks, *request.lock_names}
    open_names = {name for name in names if not name.startswith(_LOCK_DIGEST)}
    return frozenset(open_names | set(map(recorded_lock, request.lock_names)))


def is_lock_known(request: ReportEnd, locks: Collection[str]) -> bool:
    """Whether a report shows one of the locks that were recorded: by its name, if a digest was recorded.

    A name that an earlier version recorded is enough as it is, as it can be read in the metadata.
    """
    if not request.lock.startswith(_LOCK_DIGEST):
        return request.lock in locks
    shown = recorded_lock(request.lock_name).encode()
    return any(hmac.compare_digest(shown, lock.encode()) for lock in locks)


def _require_proof(node_id: int, incarnation_id: UUID, secret: bytes | None) -> None:
    if incarnation_id.version != _DIGEST_VERSION:
        return  # a process of an earlier version registered
    found = b"" if secret is None else incarnation_of(secret).bytes
    if not hmac.compare_digest(found, incarnation_id.bytes):
        raise RefusedError(
            ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            f"the request does not prove that it is of the process that registered as broker {node_id}",
        )
