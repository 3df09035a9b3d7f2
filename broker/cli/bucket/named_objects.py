"""Finds the objects that a command names, by key or by id."""

from typing import TYPE_CHECKING

from headrace.broker.cli.bucket_argument import only_cluster
from headrace.broker.cli.failures import CommandFailedError
from headrace.storage.audit.inventory import KeyKind, ListedObject, meaning_of
from headrace.storage.audit.lister import find_object
from headrace.storage.objects.keys import object_key

if TYPE_CHECKING:
    from headrace.storage.audit.audited_bucket import AuditedBucket

_ANY_CLUSTER = "any"


async def find_named(place: "AuditedBucket", name: str, cluster: str | None) -> ListedObject:
    """Find one object.

    Args:
        place: the bucket.
        name: a key, or an object id in decimal.
        cluster: whose, where only an id is given and the bucket holds several clusters.

    Raises:
        CommandFailedError: there is none, or it is not clear which.
        ObjectStoreError: the bucket cannot be listed.
    """
    found = await (_find_id if name.isascii() and name.isdigit() else _find_key)(
        place, name, cluster
    )
    if found is None:
        raise CommandFailedError(
            f"there is no object {name}", hint="`headrace bucket ls --long` lists the objects."
        )
    return found


async def _find_key(place: "AuditedBucket", key: str, _: str | None) -> ListedObject | None:
    return await find_object(place.lister, key)


async def _find_id(place: "AuditedBucket", name: str, cluster: str | None) -> ListedObject | None:
    object_id = int(name)
    if cluster is not None:
        try:
            return await find_object(place.lister, object_key(cluster, object_id))
        except ValueError as error:
            raise CommandFailedError(str(error), exit_code=2) from error
    spread = object_key(_ANY_CLUSTER, object_id).partition("/")[0]
    found: dict[str, ListedObject] = {}
    async for page in place.lister.pages(f"{spread}/"):
        for one in page:
            meaning = meaning_of(one.key)
            if meaning.kind == KeyKind.OBJECT and meaning.object_id == object_id:
                found[meaning.cluster_id] = one
    return found[only_cluster(sorted(found), None)] if found else None
