import pytest

from headrace.metadata.topic_names import collision_key, is_valid_topic_name, topic_name_problem


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "a" * 249, "-", "__consumer_offsets"])
def test_legal_names(name):
    assert is_valid_topic_name(name)
    assert topic_name_problem(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "a" * 250, "a b", "é", "a/b", "a\n", "a:b"])
def test_illegal_names(name):
    assert not is_valid_topic_name(name)
    assert topic_name_problem(name)


def test_names_collide_where_dot_and_underscore_differ():
    assert collision_key("a.b_c") == collision_key("a_b.c") == "a_b_c"
    assert collision_key("abc") is None
    assert collision_key("a-b") is None
