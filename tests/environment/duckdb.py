"""DuckDB's extensions for Iceberg and S3, where DuckDB looks for what it has downloaded."""

import platform
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_httpfs
import duckdb_extension_iceberg

_EXTENSIONS = {
    "avro": duckdb_extension_avro,
    "httpfs": duckdb_extension_httpfs,
    "iceberg": duckdb_extension_iceberg,
}
_PLATFORMS = {"x86_64": "linux_amd64", "aarch64": "linux_arm64"}


def provide_duckdb_extensions(home: Path) -> None:
    """Put the extensions where DuckDB of a user with this home finds them, without a network."""
    version, machine = f"v{duckdb.__version__}", _PLATFORMS[platform.machine()]
    directory = home / ".duckdb" / "extensions" / version / machine
    directory.mkdir(parents=True)
    for name, module in _EXTENSIONS.items():
        (path,) = Path(module.__path__[0]).rglob(f"{name}.duckdb_extension")
        (directory / path.name).symlink_to(path)
