"""Commands that fetch from a network, which are run again when it fails for a while."""

import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.environment.paths import MissingComponentError

# Before each further attempt: a name server that is silent for two minutes stops nobody.
PAUSES_S: Final = (2, 5, 15, 30, 60)


def run_download(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Run a command that fetches something, up to six times.

    Raises:
        MissingComponentError: it failed each time; the message has the end of its last output.
    """
    shown = " ".join(map(str, command))
    for pause_s in (*PAUSES_S, None):
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            return
        said = f"{ran.stdout}\n{ran.stderr}".strip()[-2000:]
        if pause_s is None:
            msg = f"{shown} failed {len(PAUSES_S) + 1} times, at last with:\n{said}"
            raise MissingComponentError(msg)
        last_line = said.rpartition("\n")[2]
        print(f"setup: again in {pause_s} s: {shown}: {last_line}", file=sys.stderr, flush=True)
        sleep(pause_s)
