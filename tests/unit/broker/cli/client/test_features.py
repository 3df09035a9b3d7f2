"""The level of the cluster as operators see it and raise it."""

import json
from contextlib import contextmanager

import pytest
from click.testing import CliRunner
from kafka.protocol.admin import UpdateFeaturesResponse

from headrace.broker.cli.client import features as module
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.root import cli

NAME = "headrace.metadata.version"
TOLD = {NAME: {"supported": (1, 2), "finalized": (1, 1), "finalized_epoch": 9}}


class Admin:
    """A cluster at level 1, of nodes that read 1 and 2."""

    def __init__(self):
        self.told = TOLD
        self.code = 0
        self.sent = []
        self._manager = self

    def describe_features(self):
        return self.told

    async def send(self, request):
        self.sent.append(request)
        return UpdateFeaturesResponse(error_code=self.code, error_message="says the broker")

    def run(self, call):
        with pytest.raises(StopIteration) as ended:
            call().send(None)
        return ended.value.value


@pytest.fixture
def admin(monkeypatch):
    made = Admin()

    @contextmanager
    def lend(bootstrap, *, about=""):
        yield made

    monkeypatch.setattr(module, "admin_client", lend)
    return made


def run(*arguments):
    return CliRunner().invoke(cli, ["cluster", *arguments], catch_exceptions=False)


def asked(admin):
    (request,) = admin.sent
    (update,) = request.feature_updates
    return update.feature, update.max_version_level, update.upgrade_type, request.validate_only


def test_the_level_is_shown_with_those_that_are_read(admin):
    assert json.loads(run("features", "-o", "json").stdout) == [
        {"feature": "headrace.metadata.version", "level": 1, "oldest": 1, "newest": 2}
    ]


def test_the_cluster_is_upgraded_to_the_newest_level(admin):
    result = run("upgrade", "-o", "json")

    assert asked(admin) == ("headrace.metadata.version", 2, 1, False)
    assert json.loads(result.stdout) == {
        "feature": "headrace.metadata.version",
        "from": 1,
        "to": 2,
        "result": "upgraded",
    }


def test_a_dry_run_changes_nothing(admin):
    assert "nothing was changed" in run("upgrade", "--dry-run").output
    assert asked(admin) == ("headrace.metadata.version", 2, 1, True)


def test_a_level_may_be_named(admin):
    assert "is at headrace.metadata.version 1" in run("upgrade", "--to", "1").output
    assert asked(admin) == ("headrace.metadata.version", 1, 1, False)
    assert run("upgrade", "--to", "0").exit_code == 2


def test_a_refusal_has_the_reason(admin):
    admin.code = 95
    with pytest.raises(CommandFailedError, match="says the broker"):
        CliRunner().invoke(
            cli, ["cluster", "upgrade"], catch_exceptions=False, standalone_mode=False
        )


def test_a_broker_of_an_earlier_release_says_nothing_of_levels(admin):
    admin.told = {"metadata.version": TOLD[NAME]}  # by which it called its levels
    with pytest.raises(CommandFailedError, match="of an earlier release"):
        CliRunner().invoke(
            cli, ["cluster", "features"], catch_exceptions=False, standalone_mode=False
        )
