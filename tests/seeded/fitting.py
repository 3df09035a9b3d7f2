"""Finds a snippet in a function by its structure, and puts another one in its place.

Formatting and comments do not count, and neither does a name, as long as it is another one
everywhere: what is renamed in the product needs no change of a table. A text `"..."` stands for any
text, such as an error's. Other constants, built-in names and the structure have to be the same.
"""

import ast
import builtins
import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from textwrap import dedent
from typing import Any

# A name, an attribute and a keyword of a call may be one word and mean three things.
NAMES = {
    (ast.Name, "id"): "name",
    (ast.arg, "arg"): "name",
    (ast.FunctionDef, "name"): "name",
    (ast.AsyncFunctionDef, "name"): "name",
    (ast.ClassDef, "name"): "name",
    (ast.ExceptHandler, "name"): "name",
    (ast.MatchAs, "name"): "name",
    (ast.Attribute, "attr"): "attribute",
    (ast.MatchClass, "kwd_attrs"): "attribute",
    (ast.keyword, "arg"): "keyword",
}
_IGNORED = {"ctx", "kind", "type_comment"}
_FIXED = {*dir(builtins), "self", "cls"}
_ANY_TEXT = "..."
_INDENT = 4
# CPython 3.11 sometimes refuses what it can parse: "AST constructor recursion depth mismatch", where threads parse at
# the same time, or while memory is collected.
MAX_ATTEMPTS = 5


def is_fixed(name: str) -> bool:
    """Return whether nobody renames this."""
    return name in _FIXED


class DoesNotFitError(ValueError):
    """The snippet is not where it should be, or at more than one place."""


@dataclass(slots=True)
class Renaming:
    """What the product has for the names of a snippet, one to one within each kind, and its texts."""

    theirs: dict[tuple[str, str], str] = field(default_factory=dict)
    ours: dict[tuple[str, str], str] = field(default_factory=dict)
    texts: list[ast.expr] = field(default_factory=list)
    is_exact: bool = True

    def allows(self, kind: str, ours: str, theirs: str) -> bool:
        """Take in what a name stands for; return whether nothing contradicts."""
        if ours != theirs:
            self.is_exact = False
            if kind == "name" and (is_fixed(ours) or is_fixed(theirs)):
                return False
        known = self.theirs.setdefault((kind, ours), theirs)
        return known == theirs and self.ours.setdefault((kind, theirs), ours) == ours

    def of(self, nodes: Sequence[ast.AST]) -> list[ast.AST]:
        """Return a snippet's nodes with the names and texts of the product."""
        filled = _Filling(self.texts)
        renamed = [filled.visit(copy.deepcopy(node)) for node in nodes]
        for node in (inner for each in renamed for inner in ast.walk(each)):
            for name in node._fields:
                kind, value = NAMES.get((type(node), name)), getattr(node, name)
                if kind and isinstance(value, list):
                    setattr(node, name, [self.theirs.get((kind, it), it) for it in value])
                elif kind and value is not None:
                    setattr(node, name, self.theirs.get((kind, value), value))
        return renamed


class _Filling(ast.NodeTransformer):
    """Puts the product's texts where a snippet has `"..."`, in their order."""

    def __init__(self, texts: Sequence[ast.expr]) -> None:
        self._texts = list(texts)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return self._texts.pop(0) if node.value == _ANY_TEXT and self._texts else node


@dataclass(frozen=True, slots=True)
class Place:
    """Nodes that a snippet fits: an expression, or some statements in a row."""

    parent: ast.AST
    field: str
    start: int  # in the field's list; -1 if it holds the node itself
    count: int
    renaming: Renaming

    @property
    def first(self) -> Any:
        """The node there, or the first of them."""
        nodes = getattr(self.parent, self.field)
        return nodes if self.start < 0 else nodes[self.start]

    @contextmanager
    def replaced(self, new: Sequence[ast.AST]) -> Iterator[None]:
        """Put other nodes in their place, for a while."""
        before = getattr(self.parent, self.field)
        if self.start < 0:
            setattr(self.parent, self.field, new[0])
        else:
            after = [*before[: self.start], *new, *before[self.start + self.count :]]
            setattr(self.parent, self.field, after or [ast.Pass()])
        yield
        setattr(self.parent, self.field, before)


def replaced(text: str, function: str, old: str, new: str) -> str:
    """Return a module's text with one snippet of a function replaced by another one.

    `function` is a qualified name (`Session.on_answer`), of a class or of a constant if the snippet
    stands in no function. If there is none of that name any more, the snippet must occur once in the
    whole module.

    Raises:
        DoesNotFitError: the snippet does not occur exactly once.
        SyntaxError: a snippet is no code.
    """
    tree = parsed(text)
    place, nodes = found(tree, function, old, new)
    around = _definition_around(tree, place)
    with place.replaced(nodes):
        if around is None:
            changed = ast.unparse(tree)
            compile(changed, "", "exec")
            return changed
        definition = _unparsed(around)
    depth = around.col_offset // _INDENT
    nesting = [" " * _INDENT * it + "if True:\n" for it in range(depth)]
    compile("".join([*nesting, definition]), "", "exec")
    lines = text.splitlines(keepends=True)
    decorators = getattr(around, "decorator_list", ())
    first = min(node.lineno for node in (around, *decorators))
    return "".join([*lines[: first - 1], definition, *lines[around.end_lineno :]])


@lru_cache(maxsize=4)
def parsed(text: str) -> ast.Module:
    """Read a module, in which several snippets are looked for one after the other."""
    return _parsed(text)


def found(tree: ast.Module, function: str, old: str, new: str) -> tuple[Place, list[ast.AST]]:
    """Find where a snippet of a function is, and what would stand there instead: see `replaced`."""
    old_nodes, new_nodes = _snippets(old, new)
    place = _only_place(tree, function, old_nodes)
    return place, place.renaming.of(new_nodes)


def places(scope: ast.AST, snippet: Sequence[ast.AST]) -> Iterator[Place]:
    """Find all places that a snippet fits, under the same names or others."""
    is_expression = isinstance(snippet[0], ast.expr)
    kinds = ast.expr if _is_any_text(snippet[0]) else type(snippet[0])
    for parent in ast.walk(scope):
        for name in parent._fields:
            value = getattr(parent, name, None)
            if not isinstance(value, list):
                if is_expression and isinstance(value, kinds) and (it := _fitted(snippet, [value])):
                    yield Place(parent, name, -1, 1, it)
                continue
            for start in range(len(value) - len(snippet) + 1):
                if not isinstance(value[start], kinds):
                    continue
                if it := _fitted(snippet, value[start : start + len(snippet)]):
                    yield Place(parent, name, start, len(snippet), it)


def _snippets(old: str, new: str) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """Read both as expressions, or else both as statements."""
    try:
        return [_parsed(old.strip(), "eval").body], [_parsed(new.strip(), "eval").body]
    except SyntaxError:
        return _parsed(dedent(old)).body, _parsed(dedent(new)).body


def _parsed(text: str, mode: str = "exec") -> Any:
    for _ in range(MAX_ATTEMPTS):
        with suppress(SystemError):
            return ast.parse(text, mode=mode)
    msg = f"Python cannot parse what begins with {text[:40]!r}"
    raise SystemError(msg)


def _only_place(tree: ast.Module, function: str, snippet: Sequence[ast.AST]) -> Place:
    scopes = _scopes(tree, function)
    where = function if scopes else f"the module, which has no {function},"
    found = [place for scope in scopes or [tree] for place in places(scope, snippet)]
    found = [place for place in found if place.renaming.is_exact] or found
    if len(found) != 1:
        msg = f"does not fit: the snippet occurs {len(found)} times in {where}"
        raise DoesNotFitError(msg)
    return found[0]


def _scopes(tree: ast.Module, function: str) -> list[ast.AST]:
    """Return what has a qualified name: more than one for a property that can be set."""
    scopes: list[ast.AST] = [tree]
    for part in function.split("."):
        scopes = [
            child
            for scope in scopes
            for child in getattr(scope, "body", ())
            if part in _names(child)
        ]
    return scopes


def _names(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            return [it.id for it in node.targets if isinstance(it, ast.Name)]
        case ast.AnnAssign(target=ast.Name()):
            return [node.target.id]
    return []


def _fitted(snippet: Sequence[ast.AST], nodes: Sequence[Any]) -> Renaming | None:
    renaming = Renaming()
    if all(_fits(ours, theirs, renaming) for ours, theirs in zip(snippet, nodes, strict=True)):
        return renaming
    return None


def _fits(ours: Any, theirs: Any, renaming: Renaming, kind: str | None = None) -> bool:
    if _is_any_text(ours):
        renaming.texts.append(theirs)
        return isinstance(theirs, ast.JoinedStr) or isinstance(getattr(theirs, "value", None), str)
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(
            _fits(one, other, renaming, kind) for one, other in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, ast.AST):
        return all(
            _fits(
                getattr(ours, name), getattr(theirs, name), renaming, NAMES.get((type(ours), name))
            )
            for name in ours._fields
            if name not in _IGNORED
        )
    if kind is not None and ours is not None:
        return renaming.allows(kind, ours, theirs)
    return bool(ours == theirs)


def _is_any_text(snippet: object) -> bool:
    return isinstance(snippet, ast.Constant) and snippet.value == _ANY_TEXT


def _definition_around(tree: ast.Module, place: Place) -> ast.stmt | None:
    """Return the function around a place, or else the statement of a class or of the module."""
    around: ast.AST = tree
    start = (place.first.lineno, place.first.col_offset)
    while isinstance(around, ast.Module | ast.ClassDef) and around is not place.parent:
        inside = [it for it in around.body if _start(it) <= start < _end(it)]
        if not inside:
            break
        around = inside[0]
    return around if isinstance(around, ast.stmt) else None


def _start(statement: ast.stmt) -> tuple[int, int]:
    first = min((statement, *getattr(statement, "decorator_list", ())), key=lambda it: it.lineno)
    return first.lineno, first.col_offset


def _end(statement: ast.stmt) -> tuple[int, int]:
    return statement.end_lineno or 0, statement.end_col_offset or 0


def _unparsed(definition: ast.stmt) -> str:
    """Return the lines of a definition, at its depth and with its docstring as it was."""
    depth = definition.col_offset // _INDENT
    for _ in range(depth):
        definition = ast.If(ast.Constant(value=True), [definition], [])
    lines = ast.unparse(ast.fix_missing_locations(definition)).splitlines(keepends=True)
    while lines[0].strip() in ("", "if True:"):
        lines.pop(0)
    return "".join([*lines, "\n"])
