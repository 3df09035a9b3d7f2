"""Rules that each file keeps on its own: each tells what is wrong with one."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator

from tests.tidy.source import PACKAGES, Source

Rule = Callable[[Source], Iterator[str]]

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
VAGUE_NAMES = {"base", "common", "helper", "helpers", "manager", "misc", "util", "utils"}
# Of documents that are not in the repository. Codes of invariants are those of docs/reliability.md.
DEAD_REFERENCES = (
    r"\bDESIGN\b",
    r"\bkafka-protocol \d",
    r"\b(?!R-)[A-Z]-\d{1,3}\b",
)
_DEAD = re.compile("|".join(DEAD_REFERENCES))
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef


def is_short(source: Source) -> Iterator[str]:
    """Files and functions fit in a head."""
    if source.text.count("\n") > MAX_FILE_LINES:
        yield "split this module by responsibility"
    for node in source.nodes:
        if isinstance(node, _FUNCTION) and code_lines(node) > MAX_FUNCTION_LINES:
            yield f"{node.name} is too long"


def code_lines(node: _FUNCTION) -> int:
    """Lines of a function, its docstring not counted."""
    first = node.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = first.end_lineno - first.lineno + 1 if is_docstring else 0
    return node.end_lineno - node.lineno + 1 - docstring


def is_named_and_described(source: Source) -> Iterator[str]:
    """A module is named after what it holds, and says what that is."""
    if source.path.rpartition("/")[2].removesuffix(".py") in VAGUE_NAMES:
        yield "name the module after what it holds"
    if not ast.get_docstring(source.tree):
        yield "say what this module holds"


_EVASIVE = re.compile(
    r"\b(places?|told|tells?|whoever|whatever|nobody|somebody|anybody)\b(?!`)", re.IGNORECASE
)


def says_what_is_done(source: Source) -> Iterator[str]:
    """First lines of docstrings use the field's words: report, location, leader, not tell, place, whoever."""
    for node in source.nodes:
        if isinstance(node, ast.Module | ast.ClassDef | _FUNCTION):
            first = (ast.get_docstring(node) or "").partition("\n")[0]
            if (found := _EVASIVE.search(first)) is not None:
                yield f"use a Kafka engineer's word for {found[0]!r}: {first}"


def evasive_words(source: Source) -> int:
    """How many such words the comments and docstrings have; `test_evasive_words_become_fewer` bounds them."""
    documented = (
        it for it in source.nodes if isinstance(it, ast.Module | ast.ClassDef | _FUNCTION)
    )
    prose = [ast.get_docstring(it) or "" for it in documented]
    prose += re.findall(r"(?m)(?:^|\s)# .*$", source.text)
    return sum(len(_EVASIVE.findall(it)) for it in prose)


def is_a_facade(source: Source) -> Iterator[str]:
    """A package holds no code: it names what it re-exports, to the type checker maybe in another way."""
    allowed = (ast.Import, ast.ImportFrom, ast.Assign)
    named = [
        it
        for node in source.tree.body[1:]
        for it in ([*node.body, *node.orelse] if isinstance(node, ast.If) else [node])
    ]
    if source.path.endswith("/__init__.py") and not all(isinstance(it, allowed) for it in named):
        yield "a package holds no code"


def leaves_nothing_to_do(source: Source) -> Iterator[str]:
    """Work to do is in an issue."""
    for mark in re.findall(r"\b(?:TODO|FIXME|XXX)\b", source.text):
        yield f"do it, or take {mark} out"


PROGRAM_IMPORT = re.compile(
    rf"^\s*(?:from|import) ((?:{'|'.join(PACKAGES)})\b\S*)(?: import|$)", re.MULTILINE
)


def imports_our_names(source: Source) -> Iterator[str]:
    """A user's own config.py may come first: ours is `headrace.config`."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = PROGRAM_IMPORT.findall(node.value)  # of programs that tests run
        else:
            continue
        for name in names:
            if name.partition(".")[0] in PACKAGES:
                yield f"import headrace.{name}"


def never_sleeps(source: Source) -> Iterator[str]:
    """A test that sleeps is a test that hopes. (`asyncio.sleep` passes time in a simulated loop.)"""
    for node in source.nodes:
        is_sleep = isinstance(node, ast.Attribute) and node.attr == "sleep"
        if is_sleep and ast.unparse(node) == "time.sleep":
            yield f"line {node.lineno} sleeps on the real clock"


def refers_to_what_is_there(source: Source) -> Iterator[str]:
    """A reader can look up what a comment or docstring refers to."""
    if not _DEAD.search(source.text):
        return  # tokens are slow
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for found in _DEAD.finditer(token.string):
                yield f"line {token.start[0]} refers to {found[0]}, which is not here"


def declares_purity_in_one_way(source: Source) -> Iterator[str]:
    """What is checked is the end of the first line; a claim elsewhere would not be."""
    first, _, rest = (ast.get_docstring(source.tree) or "").partition("\n")
    if re.search(r"\bPure\b", first.removesuffix(" Pure.") + rest):
        yield "say it at the end of the first line: Pure."


def is_declared_pure(source: Source) -> bool:
    """Whether a module (or a package for all its modules) says that it is pure."""
    return (ast.get_docstring(source.tree) or "").partition("\n")[0].endswith(" Pure.")


STATE = ("wal/", "storage/", "metadata/", "broker/")


def asserts_types_only(source: Source) -> Iterator[str]:
    """What state rests on is checked by `python -O`, too; an assert without a message tells mypy a type."""
    if not source.path.startswith(STATE) or source.path.startswith("broker/cli/"):
        return
    functions = (node for node in source.nodes if isinstance(node, _FUNCTION))
    for node in {it for function in functions for it in ast.walk(function)}:
        if isinstance(node, ast.Assert) and not _is_of_type(node.test, node.msg):
            yield f"line {node.lineno} asserts: use `headrace.invariants.require`"


def _is_of_type(test: ast.expr, message: ast.expr | None) -> bool:
    match test:
        case ast.BoolOp(values=values):
            return all(_is_of_type(value, message) for value in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_of_type(operand, message)
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr")):
            return True
        case ast.Compare(ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]):
            return message is None
    return False


def serves_typed_messages(source: Source) -> Iterator[str]:
    """A misspelt field of a message is found by the type checker."""
    if source.path.startswith("broker/api/"):
        for node in source.nodes:
            if isinstance(node, ast.Name) and node.id == "Any":
                yield f"line {node.lineno} says Any: name the message or struct"


def leaves_throttling_to_the_reply(source: Source) -> Iterator[str]:
    """Handlers answer, and whoever keeps quotas says how long the client waits: `Reply.throttle`."""
    if source.path.startswith("broker/api/"):
        for node in source.nodes:
            match node:
                case ast.keyword(arg="throttle_time_ms", value=ast.Constant()):
                    yield f"line {node.lineno} sets throttle_time_ms: the reply has it"


# Places that take any exception and do not pass it on themselves, with what becomes of it.
TAKES_ANY: dict[str, str] = {
    "headrace/daemon_threads.py: DaemonThreads.submit.call": "the future's: its caller gets it",
    "headrace/daemon_threads.py: OneThreadEach._forget": "who still waits for the call gets it",
    "broker/adapters/stream_batches.py: StreamBatches._send_batch": "every caller raises it",
    "broker/telemetry/unexpected_errors.py: ": "this is the one place; the node ends with the first",
    "broker/network/listener.py: Listener._guard": "ends the client's connection, `Session.fail`",
    "broker/api/dispatch.py: ApiDispatcher._answer_made": "ends the client's connection, `Session.fail`",
    "broker/network/session.py: Session": "ends the client's connection, `Session.fail`",
    "storage/append_path.py: AppendPath": "fails the engine, which ends the node",
    "wal/objects/writer.py: ObjectWriter._put": "fails the log, which ends the node",
    "storage/object_store/s3_multipart.py: S3Multipart": "raised once the parts that run have ended; "
    "an upload that could not be aborted is for the sweep, and told in the log",
    "headrace/links/dialling.py: DialledConnection.end": "of a future that it has just set itself",
    "broker/cli/failures.py: ": "the process ends with the text",
}


def expects_by_name(source: Source) -> Iterator[str]:
    """Who takes any exception raises it, hands it to the one place that decides, or is on the list."""
    if not source.path.startswith((*STATE, "headrace/")):
        return
    for name, node in _named(source.tree, ""):
        if any(f"{source.path}: {name}".startswith(it) for it in TAKES_ANY):
            continue
        if isinstance(node, ast.ExceptHandler) and _takes_any(node) and not _passes_on(node):
            yield f"line {node.lineno} takes any exception: name its classes, or `report_error`"
        elif isinstance(node, ast.Expr) and _is_read(node.value):
            yield f"line {node.lineno} drops an exception: `report_unexpected`"


def _named(node: ast.AST, name: str) -> Iterator[tuple[str, ast.AST]]:
    """Yield each node with the qualified name of what it is in."""
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, _FUNCTION | ast.ClassDef):
            inner = f"{name}.{child.name}" if name else child.name
        yield inner, child
        yield from _named(child, inner)


def _takes_any(node: ast.ExceptHandler) -> bool:
    named = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return any(it is None or ast.unparse(it) in {"Exception", "BaseException"} for it in named)


def _passes_on(node: ast.ExceptHandler) -> bool:
    return any(
        isinstance(it, ast.Raise) or _is_call(it, "report_error", "call_exception_handler")
        for it in ast.walk(node)
    )


def _is_read(node: ast.expr) -> bool:
    return _is_call(node, "exception", "result") and not (node.args or node.keywords)


def _is_call(node: ast.AST, *names: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    return ast.unparse(node.func).rpartition(".")[2] in names


_THREADS = "headrace/daemon_threads.py"
_STARTS_THREADS = {
    "threading.Thread",
    "threading.Timer",
    "ThreadPoolExecutor",
    "start_new_thread",
    "to_thread",
}


def borrows_its_threads(source: Source) -> Iterator[str]:
    """A thread that is started while memory is short may never begin: a node starts them ahead, in one place."""
    if not source.path.startswith((*STATE, "headrace/")) or source.path == _THREADS:
        return
    for node in source.nodes:
        if isinstance(node, ast.Attribute | ast.Name):
            name = ast.unparse(node)
            if name in _STARTS_THREADS or name.rpartition(".")[2] in _STARTS_THREADS:
                yield f"line {node.lineno} starts a thread: use `headrace.daemon_threads`"
        elif _is_call(node, "run_in_executor") and ast.unparse(node.args[0]) == "None":
            yield f"line {node.lineno} uses the threads of the loop: use `headrace.daemon_threads`"


# Of the same order in every process; that of objects is an order of addresses, that of strings changes with a seed.
_ORDERED_IN_SETS = {"int", "UUID", "PartitionKey"}


def goes_through_sets_in_order(source: Source) -> Iterator[str]:
    """The same seed gives the same simulation: what goes through objects or strings keeps them in a dict, or sorts."""
    if not source.path.startswith((*STATE, "headrace/")):
        return
    sets = {
        ast.unparse(node.target)
        for node in source.nodes
        if isinstance(node, ast.AnnAssign) and _is_unordered(ast.unparse(node.annotation))
    }
    for node in source.nodes:
        for through in _gone_through(node):
            if ast.unparse(through) in sets:
                yield f"line {through.lineno} goes through a set: use a dict, or sort it"


def _is_unordered(annotation: str) -> bool:
    found = re.fullmatch(r"set\[(.*)\]", annotation)
    return found is not None and found[1] not in _ORDERED_IN_SETS


def _gone_through(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.For(iter=through):
            return [through]
        case ast.ListComp() | ast.DictComp() | ast.GeneratorExp():
            return [it.iter for it in node.generators]
        case ast.Starred(value=through):
            return [through]
        case ast.Call(
            func=ast.Name(id="list" | "tuple" | "iter" | "enumerate"), args=[through, *_]
        ):
            return [through]
        case ast.Call(func=ast.Attribute(value=through, attr="pop"), args=[]):
            return [through]
    return []


_DECOMPRESSOR = "protocol/records/compression.py"
_CODECS = {"cramjam", "gzip", "lz4", "snappy", "zstandard"}


def decompresses_in_one_place(source: Source) -> Iterator[str]:
    """Records are read alike by the broker, by Spark and by the tools, and everywhere within bounds."""
    if source.path == _DECOMPRESSOR or source.path.startswith(("tests/", "bench/")):
        return
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                modules = [it.name for it in names]
            case ast.ImportFrom(module=str(module)):
                modules = [module]
            case ast.Attribute(value=ast.Name(id="zlib"), attr="decompress" | "decompressobj"):
                modules = ["gzip"]
            case _:
                continue
        if any(it.partition(".")[0] in _CODECS for it in modules):
            yield f"line {node.lineno} has a codec of its own: use {_DECOMPRESSOR}"


RULES: tuple[Rule, ...] = (
    decompresses_in_one_place,
    goes_through_sets_in_order,
    borrows_its_threads,
    asserts_types_only,
    expects_by_name,
    is_short,
    is_named_and_described,
    says_what_is_done,
    is_a_facade,
    leaves_nothing_to_do,
    declares_purity_in_one_way,
    serves_typed_messages,
    leaves_throttling_to_the_reply,
)
RULES_OF_ALL_CODE: tuple[Rule, ...] = (imports_our_names, refers_to_what_is_there)
