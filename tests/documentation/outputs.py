"""Compares what commands write with what a page shows."""

import re


def matches(shown: str, written: str) -> bool:
    """Whether commands wrote what a page shows: words with digits may differ, `...` is one line or more."""
    lines = []
    for line in shown.strip().splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?.*")
            continue
        words = [r"\S+" if re.search(r"\d\S|\S\d", it) else re.escape(it) for it in line.split()]
        lines.append(r"[ \t]*" + r"[ \t]+".join(words) + r"[ \t]*")
    return re.fullmatch(r"\n".join(lines), written.strip()) is not None
