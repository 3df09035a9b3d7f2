"""Sizes as people write them on a command line: bytes, or 512MiB. Pure."""

import re

import click

_UNITS = {"": 1, "B": 1, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
_SIZE = re.compile(r"(\d{1,18})\s*([A-Za-z]*)", re.ASCII)


class SizeType(click.ParamType[int]):
    """A number of bytes."""

    name = "size"

    def convert(
        self,
        value: str | int,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        """Read a size; Click reports what is not one."""
        if isinstance(value, int):
            return value
        match = _SIZE.fullmatch(value.strip())
        factor = _UNITS.get(match[2].upper()) if match else None
        if match is None or factor is None:
            self.fail(
                f"{value!r} is not a size: use bytes, or a whole number with KiB, MiB, GiB or TiB, such as 4GiB.",
                param,
                ctx,
            )
        return int(match[1]) * factor


def size_text(size_bytes: int) -> str:
    """Write a size so that `SizeType` reads the same: in the largest unit that divides it."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size_bytes and size_bytes % unit == 0:
            return f"{size_bytes // unit}{name}"
    return str(size_bytes)
