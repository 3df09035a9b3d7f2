"""`headrace cluster features` and `headrace cluster upgrade`: the level of the cluster, and raising it."""

from typing import Any

import click

from headrace.broker.cli.client.kafka_clients import admin_client
from headrace.broker.cli.client.quorum import send_change
from headrace.broker.cli.failures import CommandFailedError
from headrace.broker.cli.options import bootstrap_option, output_option
from headrace.broker.cli.output import emit_for_programs, emit_rows, talk

LEVEL_FEATURE = "headrace.metadata.version"

TIMEOUT_MS = 60_000


@click.command()
@bootstrap_option
@output_option
def features(bootstrap: str, output: str) -> None:
    """Show the level of the cluster, and the levels that the release of a broker reads."""
    with admin_client(bootstrap) as admin:
        level, oldest, newest = _levels(admin)
    row = {"feature": LEVEL_FEATURE, "level": level, "oldest": oldest, "newest": newest}
    emit_rows([row], output=output)


@click.command()
@click.option(
    "--to", "wanted", type=click.IntRange(1), metavar="LEVEL",
    help="Level to raise the cluster to; by default the newest that a broker reads.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only check whether every node reads the level.")
@bootstrap_option
@output_option
def upgrade(wanted: int | None, dry_run: bool, bootstrap: str, output: str) -> None:
    """Raise the level of the cluster, once every node runs the new release.

    It cannot be lowered again: nodes of releases that do not read the level are refused from then on.
    """
    with admin_client(bootstrap, about=LEVEL_FEATURE) as admin:
        level, _, newest = _levels(admin)
        wanted = newest if wanted is None else wanted
        from kafka.protocol.admin import UpdateFeaturesRequest

        update = UpdateFeaturesRequest.FeatureUpdateKey(
            feature=LEVEL_FEATURE, max_version_level=wanted
        )
        request = UpdateFeaturesRequest(
            timeout_ms=TIMEOUT_MS,
            feature_updates=[update],
            validate_only=dry_run,
            min_version=1,  # a dry run must not be taken for the real one
        )
        send_change(admin, request)
    result = "unchanged" if wanted == level else "possible" if dry_run else "upgraded"
    told = {"feature": LEVEL_FEATURE, "from": level, "to": wanted, "result": result}
    emit_for_programs(told, output=output)
    talk(
        {
            "unchanged": f"the cluster is at {LEVEL_FEATURE} {level}",
            "possible": f"every node reads {LEVEL_FEATURE} {wanted}; nothing was changed",
            "upgraded": f"the cluster is now at {LEVEL_FEATURE} {wanted}",
        }[result]
    )


def _levels(admin: Any) -> tuple[int, int, int]:
    """The level of the cluster, and the oldest and newest that some broker reads.

    Raises:
        CommandFailedError: the broker reports none.
    """
    told = admin.describe_features().get(LEVEL_FEATURE)
    if told is None:
        raise CommandFailedError(
            f"a broker does not know {LEVEL_FEATURE}: it is of an earlier release. Upgrade every node first"
        )
    (oldest, newest), (_, level) = told["supported"], told["finalized"]
    return int(level), int(oldest), int(newest)
