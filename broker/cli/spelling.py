"""The nearest known word to one that is not known; difflib is imported only when it is needed."""

from collections.abc import Iterable


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """Find the word that was most likely meant."""
    from headrace.config.suggest import nearest  # noqa: PLC0415 - only after a mistake

    return nearest(word, known)
