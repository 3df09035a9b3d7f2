"""What the tests of the bucket's tools share: a bucket with its metadata, and commands that answer in JSON."""

import json

import pytest

from headrace.broker.cli.root import run
from tests.unit.broker.cli.bucket_scene import BucketScene


@pytest.fixture
def scene(tmp_path):
    """A bucket of two committed objects, and its metadata."""
    made = BucketScene(tmp_path)
    made.commit()
    made.commit()
    made.save()
    yield made
    made.close()


@pytest.fixture
def outcome(capsys):
    """Run a command; return (exit code, document)."""

    def run_json(*arguments):
        code = run([*map(str, arguments), "--json"])
        captured = capsys.readouterr()
        return code, json.loads(captured.out) if captured.out else captured.err

    return run_json
