"""The wheels, installed where a user has modules of his own with the names of our folders."""

import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from tests.environment.wheels import build_wheels, files_of, install

ROOT = Path(__file__).parents[2]
FOREIGN = ("broker", "config", "metadata", "pipeline", "protocol", "storage", "wal")
# What the broker needs, and a Spark job does not. boto3 is for credentials that nobody else finds.
ABSENT = ("aiohttp", "boto3", "click", "headrace", "kafka", "prometheus_client", "rich", "uvloop")

# What Spark 4.0 cannot import; `tests/e2e/test_spark_versions.py` has the newest one.
OF_NEWER_SPARKS = ("pyspark_headrace/headrace/pipeline/source/admitting_reader.py",)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build_wheels(tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def wheel(wheels: tuple[Path, Path]) -> Path:
    return wheels[0]


@pytest.fixture(scope="module")
def spark_wheel(wheels: tuple[Path, Path]) -> Path:
    return wheels[1]


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install it into an environment of its own, which borrows only the libraries of this one."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    libraries = Path(pytest.__file__).parents[1]
    # Not as a site directory: its .pth files would bring the checkout along.
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    return directory / "bin" / "python"


def test_everything_lies_under_one_name(wheel: Path) -> None:
    names = files_of(wheel)
    assert {name.partition("/")[0].split("-")[0] for name in names} == {"headrace"}
    assert "headrace/daemon_threads.py" in names
    for folder in FOREIGN:
        modules = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".py", ".json"}]
        assert modules
        for path in modules:
            assert f"headrace/{path.relative_to(ROOT)}" in names


def test_a_user_s_modules_of_the_same_names_are_no_obstacle(python: Path, tmp_path: Path) -> None:
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text(f"MINE = {name!r}\n")
    program = (
        "import sys\n"
        f"import {', '.join(FOREIGN)}\n"
        "from headrace.broker.cli.root import run\n"
        "import headrace.storage.engine, headrace.pipeline.jobs.export, headrace.broker.app\n"
        f"assert [{', '.join(f'{name}.MINE' for name in FOREIGN)}] == {list(FOREIGN)}\n"
        f"assert {str(ROOT)!r} not in sys.path\n"
        "sys.exit(run(['config', 'check', '--all']))\n"
    )
    done = subprocess.run(
        [python, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "The configuration is valid." in done.stdout + done.stderr


def test_the_command_runs_beside_them(python: Path, tmp_path: Path) -> None:
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")
    done = subprocess.run(
        [python, "-m", "headrace.broker", "config", "check"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_wheels_share_no_file(wheel: Path, spark_wheel: Path) -> None:
    """So that one can be updated or removed without the other."""
    names = files_of(spark_wheel)
    assert {name.partition("/")[0].split("-")[0] for name in names} == {"pyspark_headrace"}
    assert not set(names) & set(files_of(wheel))
    assert "pyspark_headrace/headrace/pipeline/log4j2.properties" in names


def test_the_pipeline_needs_nothing_of_the_broker(spark_wheel: Path, tmp_path: Path) -> None:
    """All modules are imported beside those of a stranger; those of tables need an extra."""
    python = install(spark_wheel, tmp_path / "environment", "pyspark")
    for name in FOREIGN:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was imported')\n")
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in files_of(spark_wheel)
        if name.endswith(".py") and "/pipeline/tables/" not in name and name not in OF_NEWER_SPARKS
    ]
    program = (
        "import importlib, importlib.util\n"
        f"assert not [it for it in {ABSENT} if importlib.util.find_spec(it)]\n"
        f"for name in {modules}: importlib.import_module(name)\n"
        "from pyspark_headrace import DefaultSource\n"
        "assert DefaultSource.name() == 'headrace'\n"
        "assert DefaultSource.__module__.startswith('pyspark_headrace.headrace.pipeline.')\n"
        "from pyspark_headrace.headrace.pipeline.columns import compiled, decoder\n"
        "assert decoder._fastest() is compiled.decode_compiled\n"
        "from pyspark_headrace.headrace.pipeline.source.bucket import OptionError, open_bucket\n"
        "try: open_bucket('s3://logs')\n"
        "except OptionError as error: print(error)\n"
    )
    done = subprocess.run(
        [python, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "pip install boto3" in done.stdout
