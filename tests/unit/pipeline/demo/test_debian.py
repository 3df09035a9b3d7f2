"""Paragraphs of a package index to documents."""

from headrace.pipeline.demo.debian import parse_index

INDEX = """\
Package: 0ad
Installed-Size: 28591
Size: 7891488
Section: games
Homepage: https://play0ad.com/
Tag: game::strategy, interface::graphical,
 uitoolkit::sdl,
 x11::application

Package: odd
Size: unknown
Description:
Version: 1:2.0-3
"""


def test_fields_numbers_and_continued_lines() -> None:
    first, second = parse_index(INDEX.splitlines(keepends=True))
    assert first == {
        "package": "0ad",
        "installed_size": 28591,
        "size": 7891488,
        "section": "games",
        "homepage": "https://play0ad.com/",
        "tag": "game::strategy, interface::graphical,\nuitoolkit::sdl,\nx11::application",
    }
    assert second == {"package": "odd", "size": "unknown", "description": "", "version": "1:2.0-3"}


def test_blank_lines_make_no_documents() -> None:
    assert list(parse_index(["\n", "\n", "Package: a\n", "\n", "\n"])) == [{"package": "a"}]
    assert list(parse_index([])) == []
