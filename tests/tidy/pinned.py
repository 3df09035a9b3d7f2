"""Finds the settings of Spark and of brokers that tests of whole programs choose."""

import ast
import re
from collections.abc import Iterator

_SPARK = re.compile(r"(?:^|\s)(spark(?:\.[A-Za-z]\w*){2,})(?==|$)")


def spark_settings(text: str) -> Iterator[str]:
    """Yield the settings of Spark that a module names: as a text, or before `=` in one."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _SPARK.findall(node.value)


def broker_settings(text: str, known: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield name and value, as they are written, of the broker's settings that a module sets."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Dict():
                pairs = list(zip(node.keys, node.values, strict=True))
            case ast.Call(func=ast.Attribute(attr="set"), args=[key, value]):
                pairs = [(key, value)]
            case _:
                continue
        for key, value in pairs:
            if isinstance(key, ast.Constant) and key.value in known:
                yield str(key.value), ast.unparse(value)
