"""`make bench-storage`: requests, uploads, compaction, cold reads and their effect on producers, and which marks are met.

Each part is a separate program, `python -m bench.storage_...`, with its own options; here they run one after the
other, some with fewer runs than by default. Each prints its table; the marks of all parts are in one table at the end.
"""

import argparse
import re
import subprocess
import sys
import time

# Fewer runs than by default, so that all parts take minutes.
PARTS = {
    "requests": ("storage_requests",),
    "upload": ("storage_upload", "--runs", "3"),
    "compaction": ("storage_compaction",),
    "cold-read": ("storage_cold_read", "--runs", "3"),
    "cold-read-distant": ("storage_cold_read", "--distant", "--runs", "3"),
    "isolation": ("storage_isolation", "--runs", "3", "--seconds", "8"),
}
# A line that begins or ends with the verdict.
VERDICTS = (
    re.compile(r"^(?P<verdict>met|NOT MET): (?P<text>.*)$"),
    re.compile(r"^(?P<text>.*): (?P<verdict>met|MISSED)$"),
)


def run(part: str) -> list[tuple[bool, str]]:
    """Run one program and print its output; return whether each of its marks is met, and its text."""
    module, *options = PARTS[part]
    command = [sys.executable, "-m", f"bench.{module}", *options]
    marks = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            for found in filter(None, (it.match(line) for it in VERDICTS)):
                marks.append((found["verdict"] == "met", found["text"]))
    if process.returncode and all(met for met, _ in marks):
        marks.append((False, f"the program failed with exit code {process.returncode}"))
    return marks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.storage", description=__doc__)
    parser.add_argument("--only", choices=PARTS, nargs="*", default=list(PARTS))
    arguments = parser.parse_args()
    marks: list[tuple[str, bool, str]] = []
    began = time.monotonic()
    for part in arguments.only:
        print(f"\n=== {part}", flush=True)
        marks += [(part, *mark) for mark in run(part)]
    print(f"\n{'part':20}{'mark':9}what ({time.monotonic() - began:.0f} s in all)")
    for part, met, text in marks:
        print(f"{part:20}{'met' if met else 'NOT MET':9}{text}")
    return 0 if all(met for _, met, _ in marks) else 1


if __name__ == "__main__":
    sys.exit(main())
