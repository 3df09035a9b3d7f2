"""Text as Java decodes it: what is no UTF-8 becomes marks (U+FFFD). Pure."""

import codecs
import re
from typing import Final

AS_JAVA: Final = "headrace-as-java"  # how `str` and `decode` treat what is no UTF-8: `errors=`
_MARK: Final = "\N{REPLACEMENT CHARACTER}"
_SURROGATE: Final = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def mark_as_java(error: UnicodeError) -> tuple[str, int]:
    """Put a mark for what is no UTF-8; Java replaces an encoded surrogate by one, Python each of its bytes."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    surrogate = _SURROGATE.match(error.object, error.start)
    return _MARK, surrogate.end() if surrogate else error.end


codecs.register_error(AS_JAVA, mark_as_java)
