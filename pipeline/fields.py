"""Chooses the field of JSON documents to group by, and the number to sum, from a sample. Pure."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

SAMPLE_DOCUMENTS = 2_000
_PRESENT_IN_SHARE = 0.5  # fraction of the sample; a rarer field is not chosen


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """Names of top-level fields; `number` is None if documents are only counted."""

    group_by: str
    number: str | None


class NoSuchFieldError(Exception):
    """The documents have no suitable field; the message lists their fields."""


def choose_fields(
    lines: Iterable[str], *, group_by: str | None = None, number: str | None = None
) -> FieldChoice:
    """Choose the fields from a sample of JSON lines; a given name is only checked.

    The documents are grouped by the text field with the fewest distinct values (at least two), of
    those that most documents have. The sum is of the number field that is present most often; among
    equals the first.

    Raises:
        NoSuchFieldError: no field is suitable, or none of the sampled documents has a given field.
    """
    documents = [document for line in lines if (document := _parsed(line)) is not None]
    texts: dict[str, Counter[str]] = {}
    numbers: Counter[str] = Counter()
    for document in documents:
        for name, value in document.items():
            if isinstance(value, str):
                texts.setdefault(name, Counter())[value] += 1
            elif isinstance(value, int | float) and not isinstance(value, bool):
                numbers[name] += 1
    known = sorted({name for document in documents for name in document})
    for given in (group_by, number):
        if given is not None and given not in known:
            raise NoSuchFieldError(_message(f"no field {given!r}", known))
    return FieldChoice(
        group_by or _tersest(texts, len(documents), known), number or _most_frequent(numbers)
    )


def _parsed(line: str) -> dict[str, object] | None:
    try:
        document = json.loads(line)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _most_frequent(numbers: Counter[str]) -> str | None:
    return numbers.most_common(1)[0][0] if numbers else None


def _tersest(texts: dict[str, Counter[str]], documents: int, known: list[str]) -> str:
    enough = documents * _PRESENT_IN_SHARE
    fit = {
        name: len(values)
        for name, values in texts.items()
        if values.total() >= enough and 1 < len(values) < values.total()
    }
    if not fit:
        raise NoSuchFieldError(_message("no text field with a few distinct values", known))
    return min(fit, key=lambda name: fit[name])


def _message(missing: str, known: list[str]) -> str:
    return f"{missing} in the documents; they have the fields: {', '.join(known) or 'none'}"
