"""After all scenarios: every record, every answer about metadata, and the controllers' logs."""

import pytest

from tests.cluster.scene import Scene

pytestmark = pytest.mark.timeout(300)


def test_every_record_is_accounted_for_and_the_metadata_was_linearizable(scene: Scene) -> None:
    records = scene.finish()
    print(
        f"\n{records:,} records; {dict(scene.admin.topics.counts())}; {dict(scene.admin.settings.counts())}"
    )
    gaps_s = [it / 1e9 for it in scene.records.longest_gap_ns]
    print(f"clients saw {dict(scene.seen.counts)}; longest gaps {[f'{it:.1f}' for it in gaps_s]} s")
