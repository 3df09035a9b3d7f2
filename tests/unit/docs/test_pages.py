"""What the pages name exists: commands, options, targets, modules, files, settings, metrics, links."""

import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

import yaml

from headrace.config.dynamic_keys import DRAIN_KEY
from headrace.config.environment import settings_from
from headrace.config.protection import PROTECTIONS
from headrace.pipeline.jobs import metrics_file
from tests.documentation.command_lines import (
    commands,
    complaints,
    settings,
    top_level,
    usage_complaint,
)
from tests.documentation.pages import Page, page, pages
from tests.documentation.spark_options import DOCUMENTED
from tests.environment import compose
from tests.environment.paths import ROOT
from tests.unit.broker.telemetry.test_operations_guide import collectors

CHANGELOG = "CHANGELOG.md"  # names what was there at its time
# Of clients and of Spark; what is in `meta.properties`, and that file; a module of kafka-python.
FOREIGN_NAMES = {
    "delivery.timeout.ms",
    "directory.id",
    "group.instance.id",
    "a.b",  # a field of a document
    "headrace.source",  # a header of records
    "headrace.stopped",  # a property of tables
    *(
        f"headrace.{it}" for it in ("topic", "partition", "offset", "key", "reason")
    ),  # of dead letters
    "maintenance.interval",  # of a pipeline's configuration
    "kafka.protocol",
    "leader.replication.throttled.rate",  # of Kafka's brokers
    "max.block.ms",  # of Kafka's producers
    "meta.properties",
    "metadata.version",
    "headrace.metadata.version",  # a feature
    "spark.jars.packages",
    "spark.local.dir",
    "spark.sql.catalog.lake",
    "spark.sql.shuffle.partitions",
    DRAIN_KEY,  # of a running broker, never in a file
    *PROTECTIONS,
    *DOCUMENTED,
}
FOREIGN_FILES = {
    "job.py",  # of a reader
    "kafka-cluster.sh",
    "kafka-delete-records.sh",
    "kafka-features.sh",
    "kafka-metadata-quorum.sh",
    "shop.toml",  # of a reader
}
FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."}
FILE = re.compile(r"(?:[\w.-]+/)*[\w.-]+\.(?:py|md|sh|c|yaml|toml|object)|(?:[\w.-]+/)+")
SETTING = re.compile(r"[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*)+")


def current() -> list[Page]:
    return [it for it in pages() if it.name != CHANGELOG]


def test_every_command_line_is_one_that_its_program_takes() -> None:
    wrong = [
        f"{block.place} {complaint}"
        for it in current()
        for block in it.blocks
        if block.language == "sh"
        for words in commands(block.text)
        for complaint in complaints(words)
    ]
    assert not wrong, "\n".join(wrong)


def test_every_command_in_the_text_exists() -> None:
    """In its short forms as well: `wal info | verify PATH`, without arguments."""
    wrong = []
    for it in pages():
        for piece in it.code:
            words = piece.text.split()
            named = words[0] == "headrace" and len(words) > 1
            # `topic create`, and not `wal`, which is a volume, nor `node.id`.
            if named or (words[0] in top_level() and len(words) > 1 and words[1].isalpha()):
                complaint = usage_complaint(piece.text)
                if complaint:
                    wrong.append(f"{piece.place} {piece.text}: {complaint}")
            elif words[0] in ("make", "pytest", "python"):
                wrong += [f"{piece.place} {why}" for why in complaints(shlex.split(piece.text))]
    assert not wrong, "\n".join(wrong)


def test_every_file_exists() -> None:
    """By its path in the repository; a name without a folder, anywhere in it."""
    known = FOREIGN_FILES | {
        path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")
    }
    known |= {path.name for path in ROOT.iterdir()}
    wrong = []
    for it in current():
        for piece in it.code:
            name = piece.text.partition("::")[0]
            if not FILE.fullmatch(name) or name in settings():
                continue
            top, slash, _ = name.partition("/")
            exists = (top not in FOLDERS or (ROOT / name).exists()) if slash else name in known
            if not exists:
                wrong.append(f"{piece.place} {name}")
    assert not wrong, "\n".join(wrong)


def module_exists(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    path = ROOT / name.replace(".", "/")
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    source = path.parent.with_suffix(".py")
    return source.is_file() and re.search(rf"\b{path.name}\b", source.read_text()) is not None


def test_every_setting_and_every_module_exists() -> None:
    wrong = []
    for it in current():
        for piece in it.code:
            name, equals, _ = piece.text.partition("=")
            if equals and SETTING.fullmatch(name):
                known = name in settings() | FOREIGN_NAMES
            elif SETTING.fullmatch(name) and not FILE.fullmatch(name):
                known = name in settings() | FOREIGN_NAMES or module_exists(name)
            elif re.fullmatch(r"headrace(\.\w+)+", piece.text):
                known = module_exists(name)
            else:
                continue
            if not known:
                wrong.append(f"{piece.place} {piece.text}")
    assert not wrong, "\n".join(wrong)


def test_every_variable_of_the_environment_exists() -> None:
    """As a setting, or by its name in the code or in the files for containers."""
    sources = [path for folder in ("broker", "config") for path in (ROOT / folder).rglob("*.py")]
    sources += list((ROOT / "docker").iterdir())
    named = set(re.findall(r"HEADRACE_[A-Z0-9_]+", "".join(it.read_text() for it in sources)))
    wrong = [
        f"{it.name} {variable}"
        for it in current()
        for variable in set(re.findall(r"\bHEADRACE_[A-Z0-9_]*[A-Z0-9]", it.text))
        if variable not in named
        and not any(found.key in settings() for found in settings_from({variable: "1"}))
    ]
    assert not wrong, "\n".join(wrong)


def test_what_compose_is_told_exists() -> None:
    services = {name for file in compose_files() for name in compose.load(file)["services"]}
    services |= {
        name
        for block in page("docs/docker.md").blocks
        if block.language == "yaml"
        for name in yaml.safe_load(block.text)["services"]
    }
    found = page("docs/docker.md")
    texts = [(it.place, it.text) for it in [*found.code, *found.blocks]]
    wrong = []
    for place, text in texts:
        for words in commands(text) if "docker compose" in text else []:
            files = [after for word, after in pairwise(words) if word == "-f" and "/" in after]
            named = words[words.index("--no-deps") + 1 :] if "--no-deps" in words else []
            named += [after for word, after in pairwise(words) if word == "exec"]
            wrong += [f"{place} {it}" for it in files if not (ROOT / it).exists()]
            wrong += [f"{place} {it}" for it in named if it not in services]
    assert not wrong, "\n".join(wrong)


def compose_files() -> list[Path]:
    return sorted((ROOT / "docker").glob("compose*.yaml"))


def test_every_metric_exists() -> None:
    shown = {
        f"{family.name}{'_total' if family.type == 'counter' else ''}"
        for collector in collectors()
        for family in collector.collect()
    }
    shown |= {f"headrace_job_{it}" for it in metrics_file.METRICS}
    wrong = []
    for it in current():
        for piece in it.code:
            name = re.fullmatch(r"(headrace_[a-z_]*[a-z_])(\*?)(?:\{.*\})?", piece.text)
            if name is None or name[1] == "headrace_default":  # a network of Compose
                continue
            exists = (
                any(found.startswith(name[1]) for found in shown) if name[2] else name[1] in shown
            )
            if not exists:
                wrong.append(f"{piece.place} {piece.text}")
    assert not wrong, "\n".join(wrong)


def test_every_link_leads_somewhere() -> None:
    anchors = {it.path: it.anchors for it in pages()}
    wrong = []
    for it in pages():
        for link in it.links:
            if link.text.startswith(("http://", "https://")):
                continue
            target, _, anchor = link.text.partition("#")
            path = (it.path.parent / target).resolve() if target else it.path
            if not path.exists() or (anchor and anchor not in anchors.get(path, set())):
                wrong.append(f"{link.place} {link.text}")
    assert not wrong, "\n".join(wrong)


def test_the_versions_of_python_are_those_that_can_be_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == ">=3.11,<3.15"
    assert "(3, 11) <= sys.version_info[:2] <= (3, 14)" in (ROOT / ".ci/setup.sh").read_text()
    assert "Python 3.11, 3.12, 3.13 or 3.14" in page("README.md").text


def test_what_pip_installs_is_this_project() -> None:
    """It is not on PyPI."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    installed = {
        shlex.split(piece.text)[2]
        for found in pages()
        for piece in found.code
        if piece.text.startswith("pip install")
    }
    own = {".", *(f".[{extra}]" for extra in extras["optional-dependencies"])}
    spark = {it for it in extras["optional-dependencies"]["spark"] if it.startswith("pyspark")}
    assert installed <= own | spark | {"./pyspark_headrace"}
