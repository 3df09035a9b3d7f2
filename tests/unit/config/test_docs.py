"""The generated documentation."""

from headrace.config.docs import PATH, main, render
from headrace.config.ignored_keys import IGNORED
from headrace.config.server_keys import SERVER_KEYS
from headrace.config.topic_keys import TOPIC_CONFIGS


def test_the_committed_page_is_up_to_date():
    assert PATH.read_text() == render(), "run `python -m headrace.config.docs`"


def test_every_key_is_on_the_page():
    page = render()
    for name in [*SERVER_KEYS, *TOPIC_CONFIGS, *(n for names in IGNORED.values() for n in names)]:
        assert f"`{name}`" in page, name


def test_every_row_has_the_columns_of_its_table():
    columns = 0
    for line in render().split("\n"):
        cells = line.replace("\\|", "").count("|")
        if not line.startswith("|"):
            columns = 0
        elif columns == 0:
            columns = cells
        else:
            assert cells == columns, line


def test_the_page_is_written_where_it_is_asked_to():
    written = []
    main(written.append)
    assert written == [render()]
