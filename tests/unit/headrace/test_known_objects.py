"""What the metadata know of objects, as the audit takes it."""

from headrace.known_objects import MAX_PUBLISH_MS
from headrace.metadata.leader.publishing import MAX_PUBLISH_S


def test_the_bound_of_a_publication_is_the_publishers() -> None:
    assert MAX_PUBLISH_MS == MAX_PUBLISH_S * 1_000
