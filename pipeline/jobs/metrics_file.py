"""Metrics of one run of a job, as a file in Prometheus' text format.

A job ends before it could be scraped, so it leaves its metrics in a file that the textfile collector of node_exporter
reads. The file is replaced as a whole, so no reader finds half of it. What a killed job leaves says that it runs, with
the time at which it last wrote the file.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from headrace.pipeline.source.errors import OptionError

SUFFIX: Final = ".prom"  # the collector reads no others
METRICS: Final[Mapping[str, str]] = {
    "running": "1 from the start to the end of a run.",
    "start_time_seconds": "When the run began, in seconds since 1970.",
    "update_time_seconds": "When this file was written, in seconds since 1970.",
    "exit_code": "0 done, 1 something is wrong or failed, 2 wrong usage; not there while the job runs.",
    "done_bytes": "What the present step has read.",
    "total_bytes": "What the present step has to read.",
    "records": "Records that the run has written.",
    "files": "Files that the run has written.",
    "written_bytes": "Bytes that the run has written.",
    "objects": "Objects of the bucket that the run has read.",
    "findings": "What the run has found wrong.",
}


def render(name: str, job: str, values: Mapping[str, float]) -> str:
    """Return the text of a file: each metric is a gauge `headrace_job_*{job, name}`.

    Raises:
        KeyError: `values` has a metric that `METRICS` has not.
    """
    labels = f'{{job="{_escaped(job)}",name="{_escaped(name)}"}}'
    lines = []
    for metric in sorted(values):
        lines += [
            f"# HELP headrace_job_{metric} {METRICS[metric]}",
            f"# TYPE headrace_job_{metric} gauge",
            f"headrace_job_{metric}{labels} {values[metric]:.15g}",
        ]
    return "\n".join(lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class MetricsFile:
    """One per run. Two runs of one job have files of different names."""

    def __init__(self, path: Path, job: str, now_s: Callable[[], float]) -> None:
        """Write the first of it.

        Raises:
            OptionError: it cannot be written, or has another suffix than `SUFFIX`.
        """
        if path.suffix != SUFFIX:
            raise OptionError(
                f"--metrics-file {path}: its name ends with {SUFFIX}, as the collector wants"
            )
        self._path = path
        self._partial = path.with_name(f".{path.name}.partial")
        self._job = job
        self._now_s = now_s
        self._values: dict[str, float] = {"running": 1, "start_time_seconds": now_s()}
        try:
            self._write()
        except OSError as error:
            raise OptionError(f"--metrics-file {path} cannot be written: {error}") from error

    def set(self, **values: float) -> None:
        """Change metrics, and write the file; one that cannot be written any more stays as it is."""
        self._values |= values
        try:
            self._write()
        except OSError:
            return  # `update_time_seconds` shows it; the job goes on

    def end(self, exit_code: int) -> None:
        """Say that the run has ended."""
        self.set(running=0, exit_code=exit_code)

    def _write(self) -> None:
        self._values["update_time_seconds"] = self._now_s()
        self._partial.write_text(render(self._path.stem, self._job, self._values))
        self._partial.replace(self._path)
