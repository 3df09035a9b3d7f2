"""The nearest known word to one that is not known; difflib is imported only when it is needed. Pure."""

from collections.abc import Iterable


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Find the word that was most likely meant."""
    from headrace.config.suggest import nearest

    return nearest(word, known)
