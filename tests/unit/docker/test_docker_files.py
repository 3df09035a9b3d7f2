import fnmatch
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from headrace.config.load import load
from headrace.config.quorum import is_broker, is_controller, own_voter
from tests.environment import compose
from tests.environment.dockerfile import instructions, read_image
from tests.environment.paths import ROOT

DOCKER = ROOT / "docker"
DOCKERFILE = DOCKER / "Dockerfile"
FILES = sorted(DOCKER.glob("compose*.yaml"))
BIN = Path(sys.executable).parent
SERVICES = [
    pytest.param(file, name, id=f"{file.name}-{name}")
    for file in FILES
    for name in compose.load(file)["services"]
]


def service_of(file, name):
    return compose.load(file)["services"][name]


def own_services(file):
    """The services of one file that run our image, with their configurations."""
    services = compose.load(file)["services"]
    own = {name: it for name, it in services.items() if it["image"] == compose.OWN_IMAGE}
    variables = read_image(DOCKERFILE).environment
    return {
        name: (it, load(environment={**variables, **it["environment"]})) for name, it in own.items()
    }


def test_the_dockerfile_has_no_findings():
    ran = subprocess.run(
        [BIN / "hadolint", "--failure-threshold", "info", DOCKERFILE],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout


def test_the_image_is_small_and_owned_by_nobody_who_matters():
    image = read_image(DOCKERFILE)
    names = [name for name, _ in instructions(DOCKERFILE)]
    sources = [argument for name, argument in instructions(DOCKERFILE) if name == "FROM"]

    assert image.user == "10001:10001"
    assert (image.entrypoint, image.command) == (["headrace"], ["server"])
    assert image.stop_signal == "SIGTERM"
    assert image.healthcheck
    assert image.volumes == ["/data", "/wal"]
    assert names.count("FROM") == 2
    assert len({source.split()[0] for source in sources}) == 1  # built where it runs
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", sources[-1])


def test_the_image_has_every_package_and_needs_nothing_that_is_not_sent_to_the_builder():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"])
    packages |= {link.name for link in (ROOT / "headrace").iterdir() if link.is_symlink()}
    copied = {
        source
        for name, argument in instructions(DOCKERFILE)
        if name == "COPY" and not argument.startswith("--from")
        for source in argument.split()[:-1]
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()

    assert copied == packages | {"pyproject.toml", "README.md", "LICENSE"}
    assert {line[1:] for line in ignored if line.startswith("!")} == copied
    assert "*" in ignored
    for source in copied:
        assert (ROOT / source).exists()
        assert not fnmatch.fnmatch(source, "**/__pycache__")


def test_without_compose_the_image_serves_every_address():
    config = load(environment=read_image(DOCKERFILE).environment).config

    assert [str(it.host) for it in config.network.listeners] == ["0.0.0.0"]
    assert (config.telemetry.admin_host, config.telemetry.admin_port) == ("0.0.0.0", 9644)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_compose_files_are_what_the_specification_allows(file):
    command = [BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", file]
    ran = subprocess.run(command, capture_output=True, text=True)

    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize(("file", "name"), SERVICES)
def test_a_service_is_pinned_bound_to_this_machine_and_names_only_what_there_is(file, name):
    document, service = compose.load(file), service_of(file, name)

    image = service["image"]
    if image != compose.OWN_IMAGE:
        assert re.fullmatch(r"quay\.io/minio/minio:RELEASE\.[\dTZ-]+", image)
    for port in service.get("ports", ()):
        assert port.startswith("127.0.0.1:"), "nothing of this is protected"
    for mount in service["volumes"]:
        assert mount.split(":")[0] in document["volumes"]
    for network in service.get("networks", ()):
        assert network in document["networks"]
    for needed, how in service.get("depends_on", {}).items():
        assert how == {"condition": "service_healthy"}
        assert (
            set(service.get("networks", ())) & set(document["services"][needed].get("networks", ()))
            or "networks" not in document
        )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_our_services_are_configured_without_a_doubt_and_cannot_write_their_image(file):
    for service, loaded in own_services(file).values():
        assert not loaded.warnings
        assert service["read_only"]
        assert service["tmpfs"] == ["/tmp"]
        assert service["cap_drop"] == ["ALL"]
        assert "/data" in {mount.split(":")[1] for mount in service["volumes"]}
        assert "AKIA" not in str(service)
        assert "@" not in loaded.config.storage.bucket_uri


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_one_service_builds_the_image_and_the_others_wait_for_it(file):
    builders = [it for it, _ in own_services(file).values() if "build" in it]

    assert len(builders) == 1
    assert builders[0]["pull_policy"] == "build"
    assert (DOCKER / builders[0]["build"]["context"]).resolve() == ROOT
    assert ROOT / builders[0]["build"]["dockerfile"] == DOCKERFILE
    others = [it for it, _ in own_services(file).values() if "build" not in it]
    assert all(it["pull_policy"] == "never" for it in others)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_clients_of_the_network_and_of_the_host_are_told_what_they_can_reach(file):
    published = []
    for name, (service, loaded) in own_services(file).items():
        if not is_broker(loaded.config):
            continue
        told = {it.name: (it.host, it.port) for it in loaded.config.network.advertised_listeners}
        bound = {it.name: it.port for it in loaded.config.network.listeners}
        assert told["PLAINTEXT"] == (name, bound["PLAINTEXT"])
        assert told["HOST"] == ("localhost", bound["HOST"])
        assert f"127.0.0.1:{bound['HOST']}:{bound['HOST']}" in service["ports"]
        published += service["ports"]
    assert len(published) == len(set(published))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_broker_mounts_the_volume_of_the_wals_and_has_a_file_of_its_own(file):
    brokers = [it for it in own_services(file).values() if is_broker(it[1].config)]

    assert brokers
    for service, loaded in brokers:
        assert "wal:/wal" in service["volumes"]
        assert Path(loaded.config.wal.path).parent == Path("/wal")
    assert len({loaded.config.wal.path for _, loaded in brokers}) == len(brokers)


def test_every_broker_of_the_cluster_reaches_the_logs_of_all_others():
    services = own_services(DOCKER / "compose.cluster.yaml").values()
    brokers = [loaded.config for _, loaded in services if is_broker(loaded.config)]

    assert {config.wal.reach for config in brokers} == {("/wal",)}
    assert all(config.wal.path.startswith("/wal/") for config in brokers)


def test_the_cluster_has_three_controllers_and_three_brokers_in_a_private_network():
    file = DOCKER / "compose.cluster.yaml"
    services = own_services(file)
    controllers = {n: it for n, it in services.items() if is_controller(it[1].config)}
    brokers = {n: it for n, it in services.items() if is_broker(it[1].config)}

    assert (len(controllers), len(brokers), len(services)) == (3, 3, 6)
    assert len({loaded.config.node_id for _, loaded in services.values()}) == 6
    for name, (service, loaded) in controllers.items():
        voter = own_voter(loaded.config)
        assert (voter.host, voter.port) == (
            name,
            loaded.config.metadata.controller_listeners[0].port,
        )
        assert "clients" not in service["networks"]
        assert "ports" not in service
    wanted = {(name, 9093) for name in controllers}
    for _, loaded in brokers.values():
        assert set(loaded.config.metadata.quorum_bootstrap_servers) == wanted
    assert compose.load(file)["networks"]["quorum"] == {"internal": True}
    volumes = [service["volumes"][0] for service, _ in services.values()]
    assert len(set(volumes)) == 6
