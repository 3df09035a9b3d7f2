"""How much a class does: what it offers, what it holds, and whom it works with."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.tidy.source import Source

_VALUES = {"NamedTuple", "Enum", "IntEnum", "StrEnum", "Flag", "IntFlag", "Struct", "TypedDict"}
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


class Size(NamedTuple):
    """What is limited."""

    methods: int  # public ones; a property is a field that is shown
    fields: int  # of the instance
    collaborators: int  # classes of ours, but for plain values, that it takes or makes to hold


LIMITS = Size(methods=16, fields=20, collaborators=10)  # of a hundred classes one is larger
# Those, with what they have: none grows, and what shrinks is taken out.
LARGER = {
    "broker.coordinator.group.classic.classic_group.ClassicGroup": (
        Size(17, 20, 10),
        "Kafka's group with its states: every change of its members goes through it",
    ),
    "broker.coordinator.group.classic.rebalance.Rebalancer": (
        Size(17, 20, 10),
        "one method for each event of a rebalance; three fields",
    ),
    "broker.coordinator.group.shard.GroupShard": (
        Size(17, 20, 10),
        "one method for each request of the API, and for time",
    ),
    "broker.node.broker_parts.BrokerParts": (Size(16, 20, 16), "makes the parts of a broker"),
    "storage.engine.StorageEngine": (Size(16, 20, 13), "the door to its package: makes the parts"),
    "wal.ring.group_commit.GroupCommit": (
        Size(16, 26, 10),
        "one decision, and the positions it is of",
    ),
    "wal.objects.commit.ObjectCommit": (Size(16, 26, 10), "the same decision, over objects"),
}


class Classes:
    """The classes of the product."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}
        self._classes: dict[tuple[str, str], ast.ClassDef] = {}
        for source in sources:
            self._imports[source.module] = dict(_imported(source.tree))
            for node in source.tree.body:
                if isinstance(node, ast.ClassDef):
                    self._classes[source.module, node.name] = node

    def sizes(self) -> Iterator[tuple[str, Size]]:
        """Measure all classes that do something: values have as many fields as they need."""
        for (module, name), node in self._classes.items():
            if not _is_value(node):
                yield f"{module.removeprefix('headrace.')}.{name}", self._size(module, node)

    def _size(self, module: str, node: ast.ClassDef) -> Size:
        methods, fields, others = set[str](), set[str](), set[tuple[str, str]]()
        for where, each in self._with_bases(module, node):
            methods |= set(_public_methods(each))
            fields |= set(_fields(each))
            others |= {found for name in _held(each) if (found := self._find(where, name))}
        others = {it for it in others if not _is_value(self._classes[it])}
        return Size(len(methods), len(fields), len(others - {(module, node.name)}))

    def _with_bases(self, module: str, node: ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef]]:
        """Return a class and those of ours that it is made of: a mixin makes nothing smaller."""
        yield module, node
        for base in _names(node.bases):
            if (found := self._find(module, base)) and not _is_protocol(self._classes[found]):
                yield from self._with_bases(found[0], self._classes[found])

    def _find(self, module: str, name: str) -> tuple[str, str] | None:
        """Return the class that a name stands for in a module."""
        while (module, name) not in self._classes:
            if (imported := self._imports.get(module, {}).get(name)) is None:
                return None
            module, name = imported
        return module, name


def excesses(
    sizes: Iterable[tuple[str, Size]], allowed: Mapping[str, tuple[Size, str]]
) -> Iterator[str]:
    """Tell which classes do too much, and which are allowed to do more than they do."""
    known = dict(sizes)
    for name, size in known.items():
        limits = allowed[name][0] if name in allowed else LIMITS
        for what, count, most in zip(Size._fields, size, limits, strict=True):
            if count > most:
                yield f"{name} has {count} {what}, of {most}"
    for name, (limits, _) in allowed.items():
        tight = [max(each) for each in zip(known.get(name, LIMITS), LIMITS, strict=True)]
        if tight != list(limits) or tight == list(LIMITS):
            yield f"{name} is allowed {limits}, and needs {tight}"


def _imported(tree: ast.Module) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def _is_value(node: ast.ClassDef) -> bool:
    """Whether a class is a record, an enumeration or an error: it holds data and knows nobody."""
    is_frozen = any("frozen=True" in ast.unparse(it) for it in node.decorator_list)
    bases = list(_names(node.bases))
    return (
        is_frozen
        or bool(_VALUES & {*bases})
        or any(it.endswith(("Error", "Exception")) for it in bases)
    )


def _is_protocol(node: ast.ClassDef) -> bool:
    return "Protocol" in _names(node.bases)


def _names(nodes: Iterable[ast.expr]) -> Iterator[str]:
    """Return the last parts of names: `Struct` of `msgspec.Struct`."""
    for node in nodes:
        match node:
            case ast.Subscript():
                yield from _names([node.value])
            case ast.Attribute():
                yield node.attr
            case ast.Name():
                yield node.id


def _functions(node: ast.ClassDef) -> list[_FUNCTION]:
    return [it for it in node.body if isinstance(it, _FUNCTION)]


def _public_methods(node: ast.ClassDef) -> Iterator[str]:
    for function in _functions(node):
        decorators = {ast.unparse(it) for it in function.decorator_list}
        is_property = decorators & {"property", "cached_property"} or any(
            it.endswith(".setter") for it in decorators
        )
        if not function.name.startswith("_") and not is_property:
            yield function.name


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for each in (it for function in _functions(node) for it in ast.walk(function)):
        match each:
            case ast.Attribute(value=ast.Name(id="self"), ctx=ast.Store()):
                yield each.attr
    for each in node.body:
        match each:
            case ast.AnnAssign(target=ast.Name(id=name)) if "ClassVar" not in ast.unparse(
                each.annotation
            ):
                yield name


def _held(node: ast.ClassDef) -> Iterator[str]:
    """Return the names of classes in annotations of the constructor and of fields, and of what is made."""
    for each in node.body:
        if isinstance(each, ast.AnnAssign):
            yield from _mentioned(each.annotation)
    for function in _functions(node):
        if function.name == "__init__":
            for argument in ast.walk(function.args):
                if isinstance(argument, ast.arg) and argument.annotation:
                    yield from _mentioned(argument.annotation)
        for each in ast.walk(function):
            targets = (
                each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
            )
            if not isinstance(each, ast.Assign | ast.AnnAssign) or not any(map(_is_field, targets)):
                continue
            if isinstance(each, ast.AnnAssign):
                yield from _mentioned(each.annotation)
            if each.value is not None:
                calls = (it.func for it in ast.walk(each.value) if isinstance(it, ast.Call))
                yield from _names(it for it in calls if isinstance(it, ast.Name))


def _is_field(target: object) -> bool:
    match target:
        case ast.Attribute(value=ast.Name(id="self")):
            return True
    return False


def _mentioned(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _mentioned(ast.parse(node.value, mode="eval").body)
