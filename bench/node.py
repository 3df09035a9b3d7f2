"""`make bench-node`: what one node costs: calls of a request, loop turns, tails, starts, restarts behind many commits, memory.

Each part is a separate program, `python -m bench.PART`, with its own options; here they run one after the other. Each
prints its table.
"""

import argparse
import subprocess
import sys

PARTS = ("calls", "turns", "tails", "start", "commits", "memory")


def main() -> int:
    """Run the parts; return 1 if one failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.node", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts only")
    failed = []
    for part in parser.parse_args().only:
        print(f"== {part} ==", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{part}"], check=False).returncode:
            failed.append(part)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
