"""Ranges that fields must lie in; bytes that break one are malformed."""

from typing import Annotated

import msgspec

INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1

Int64 = Annotated[int, msgspec.Meta(ge=-1, le=INT64_MAX)]  # ids, offsets, epochs; -1: none
Count = Annotated[int, msgspec.Meta(ge=0, le=INT32_MAX)]
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=INT32_MAX)]  # as clients sent it, unchecked
Text = Annotated[str, msgspec.Meta(max_length=1 << 20)]
ShortText = Annotated[str, msgspec.Meta(max_length=1_024)]
