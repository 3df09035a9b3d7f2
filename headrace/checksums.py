"""CRC32C. Pure.

The function's package looks its own version up when it is run, which takes a twentieth of the time of a start. The
program of a node does not run it: see `headrace.entered_packages`.
"""

try:
    from crc32c._crc32c import crc32c
except ImportError:  # a version of the package in which it lies elsewhere
    from crc32c import crc32c

__all__ = ["crc32c"]
