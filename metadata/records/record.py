"""What every record of the metadata log has in common. Pure.

A kind of record is a subclass with a tag of its own. The class also says from which level of the metadata on it may be
written (`headrace.metadata.levels`): nothing else lists kinds but `headrace.metadata.replay`, which has what each does.
"""

from collections.abc import Mapping
from typing import ClassVar

import msgspec


class MetadataRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A change of the metadata. Fields are encoded in the order of the class; only append."""

    LEVEL: ClassVar[int] = 2  # the first one at which it may be written
    # Fields that were added at its end later, and the first level of each. Below it such a field must have its default,
    # and is not written.
    LATER_FIELDS: ClassVar[Mapping[str, int]] = {}
