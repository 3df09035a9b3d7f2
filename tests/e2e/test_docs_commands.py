"""Every command of the documentation is run as it is written, or excused by name."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from headrace.broker.cli.root import run
from headrace.config.load import load
from tests.documentation.outputs import matches
from tests.documentation.pages import Block, page, pages
from tests.e2e.docs_scene import Scene, required_namespaces
from tests.e2e.spark_page import PAGES as SPARK_PAGES
from tests.environment.minio import MinioServer, minio_program
from tests.integration.test_bucket_tools import RIGHTS, client_of, restricted_to
from tests.unit.broker.cli.bucket_scene import BucketScene

pytestmark = pytest.mark.timeout(300)

# What a comment `<!-- not run: ... -->` may say, and why that cannot be run here.
NOT_RUN = {
    "needs an NVMe device": "machines that test this have none that is shared",
    "is what runs this": "the suite would start itself, and the benchmark takes an hour",
    "needs a container engine": "the suite needs none: test_compose.py runs what the files say",
    "needs an AWS account": "the suite has none: test_s3_bucket.py uses MinIO",
    "needs a lost broker": "test_log_loss.py loses one",
    "needs a damaged log": "test_missing_wal.py and test_wal_tools.py make one",
    "needs Apache Kafka's tools": "test_admin_tools.py runs them by their classes",
    "needs machines with systemd": "tests/cluster/test_node_restarts.py restarts processes in turn",
    "needs minutes of traffic": "tests/integration/test_balance.py needs seconds, by other settings",
    "takes minutes": "part of `make test` or `make bench` under another name",
    "takes hours": "part of `make soak`",
}
CLUSTER_HEADING = "## Run a cluster"
CLUSTER_PAGES = ("README.md", "docs/operations.md", "docs/metadata.md")
CLUSTER_ID = "$(sed -n 's/^cluster.id=//p' cluster/controller-2/metadata/meta.properties)"


def runnable() -> list[Block]:
    """All blocks of commands without an excuse, those of the cluster's pages first and in their order."""
    others = [it.name for it in pages() if it.name not in (*CLUSTER_PAGES, *SPARK_PAGES)]
    blocks = [block for name in [*CLUSTER_PAGES, *others] for block in page(name).blocks]
    return [block for block in blocks if block.language == "sh" and block.not_run is None]


def needs_cluster(block: Block) -> bool:
    """Whether a block stands on the README's cluster, and not on its first broker."""
    text = page("README.md").text
    start = text[: text.index(CLUSTER_HEADING)].count("\n")
    return block.page in CLUSTER_PAGES and (block.page != "README.md" or block.line > start)


def play(
    directory: Path,
    blocks: Sequence[Block],
    variables: dict[str, str] | None = None,
    texts: dict[str, str] | None = None,
) -> None:
    scene = Scene(directory, required_namespaces())
    said = scene.run(blocks, variables or {}, texts or {})
    reached = said.splitlines().count("done")
    last = [at for at, block in enumerate(blocks) if block.place in said.splitlines()]
    assert reached, f"{said}\n{scene.output(last[-1]) if last else ''}"
    for number, block in enumerate(blocks):
        if block.output is not None:
            written = scene.output(number)
            assert matches(block.output, written), (
                f"{block.place} shows:\n{block.output}\nand wrote:\n{written}"
            )


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Path]:
    """A directory that is removed at once: write-ahead logs are large."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_what_the_pages_do_with_one_broker(empty: Path, kcat: None) -> None:
    blocks = [block for block in runnable() if not needs_cluster(block)]
    assert {block.page for block in blocks} >= {"README.md", "docs/wal.md", "docs/bucket.md"}
    play(empty, blocks)


def test_what_the_pages_do_with_a_cluster(empty: Path) -> None:
    blocks = [block for block in runnable() if needs_cluster(block)]
    assert {block.page for block in blocks} == set(CLUSTER_PAGES)
    soon = {"HEADRACE_METADATA_SNAPSHOT_PUBLISH_INTERVAL_MS": "1000"}
    play(empty, blocks, soon, {"bCL7Neje9YYknCzMME2y2A": CLUSTER_ID})


def shown(name: str, start: str) -> str:
    """The block of a page that begins with some words."""
    return next(block.text for block in page(name).blocks if block.text.startswith(start))


def test_what_the_page_shows_of_damage(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    scene = BucketScene(tmp_path)
    for _ in range(4):
        object_id = scene.commit()
    content = bytearray(scene.path(object_id).read_bytes())
    content[60] ^= 1
    scene.put(object_id, bytes(content))
    assert run(["object", "verify", scene.url, "--all"]) == 1
    assert matches(shown("docs/bucket.md", "KEY "), "".join(capfd.readouterr()))


@pytest.mark.s3
def test_what_the_page_shows_of_a_missing_right(
    component: Callable[[Callable[[], object]], None],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    component(minio_program)
    with MinioServer(tmp_path) as server:
        client_of(server).create_bucket(Bucket="shown")
        rights = [right for right in RIGHTS if right != "s3:DeleteObject"]
        for name, value in restricted_to(server, rights).items():
            monkeypatch.setenv(name, value)
        url = f"s3://shown?endpoint={server.endpoint}&region=us-east-1"
        assert run(["bucket", "verify", url]) == 1
    assert matches(shown("docs/bucket.md", "OPERATION "), "".join(capfd.readouterr()))


def test_every_configuration_is_accepted(tmp_path: Path) -> None:
    blocks = [it for found in pages() for it in found.blocks if it.language == "properties"]
    assert len(blocks) >= 3
    for number, block in enumerate(blocks):
        file = tmp_path / f"{number}.properties"
        file.write_text(block.text)
        load(file=file, environment={})


def test_every_excuse_is_one_of_the_list() -> None:
    said = {block.not_run for it in pages() for block in it.blocks} - {None}
    assert said == set(NOT_RUN)


@pytest.mark.parametrize(
    ("shown", "written", "same"),
    [
        ("a 1.5 ms", "a 27.25  ms\n", True),
        ("a\n...\nz", "a\nb\nc\nz\n", True),
        ("a\nz", "a\nb\nz\n", False),
        ("3 partitions", "4 partitions", False),
    ],
)
def test_what_is_shown_is_compared(shown: str, written: str, same: bool) -> None:
    assert matches(shown, written) is same
