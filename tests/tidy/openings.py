"""Who opens files, sockets and buckets, starts threads, reads clocks and draws at random: the list is short.

A node takes all of that from its `NodeEnvironment`, so that a simulation can give it another world. What has to be
open for it is in the modules below, and nowhere else.
"""

import ast
from collections.abc import Iterator

from tests.tidy.source import Source

# What runs in a process of its own, makes environments, or looks at a bucket or disk that no node uses.
TOOLS = (
    "broker/cli/",
    "headrace/testing/",
    "metadata/offline/directory.py",
    "metadata/offline/rebuilt_directory.py",
    "storage/audit/",
    "wal/tools/",
)
STATE = ("broker/", "metadata/", "storage/", "wal/", "headrace/")

# Folders and modules that open something, and names in them where not all of a module may; with the reason.
OPENERS: dict[str, str] = {
    "broker/app.py": "the process",
    "broker/telemetry/log_output.py": "the process's log",
    "broker/telemetry/runtime_tuning.py": "the process's limits",
    "broker/telemetry/small_objects.py": "the process's memory",
    "broker/telemetry/unexpected_errors.py: threading": "hooks of the process",
    "broker/node/environment.py": "the environment, and what a node in a process of its own is given",
    "broker/node/private_directories.py": "the directory of a bucket in files, which is opened where it lies",
    "headrace/entered_packages.py": "a lock, for threads that import the same package",
    "headrace/daemon_threads.py": "threads, which are taken by `run_in_executor` of the loop",
    "headrace/network.py": "`NodeEnvironment.network`",
    "metadata/log/os_directory.py": "`NodeEnvironment.open_metadata_directory`",
    "storage/object_store/": "`NodeEnvironment.open_bucket`",
    "storage/sweep/swept_bucket.py": "`NodeEnvironment.open_swept_bucket`",
    "storage/sweep/uploads.py": "likewise",
    "wal/device/aio_device.py": "`NodeEnvironment.open_device`",
    "wal/fence/": "`NodeEnvironment.make_fence`",
    "wal/device/file_device.py": "likewise",
    "wal/device/file_systems.py": "likewise",
    "wal/device/holders.py": "likewise",
    "wal/device/holes.py": "likewise",
    "wal/device/kernel_queue.py": "likewise",
    "wal/device/lock_names.py": "likewise, and `NodeEnvironment.free_lock`",
    "wal/device/open_device.py": "likewise",
    "wal/device/thread_device.py": "likewise",
    "wal/ring/wake_timer.py": "`NodeEnvironment.wake_timer`",
    "wal/ring/log.py: open_device": "by default, for tools and tests: `LogLocation` passes that of the node",
    "wal/ring/log.py: time.perf_counter_ns": "likewise",
    "wal/ring/log.py: precise_timer": "likewise",
    "wal/ring/reader.py: open_device": "by default, for tools and tests: `ForeignLogs` passes that of the node",
}

# Modules of which nothing is used elsewhere, but constants and these names.
OUTSIDE: dict[str, set[str]] = {
    "fcntl": set(),
    "os": {"PathLike", "strerror"},
    "random": {"Random"},
    "resource": set(),
    "secrets": set(),
    "select": set(),
    "shutil": set(),
    "socket": set(),
    "subprocess": set(),
    "tempfile": set(),
    "threading": set(),
    "time": set(),
}
# Of modules that are used otherwise, too.
CALLS = {
    "asyncio.create_subprocess_exec",
    "asyncio.create_subprocess_shell",
    "asyncio.open_connection",
    "asyncio.start_server",
    "asyncio.to_thread",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "random.Random",
    "ctypes.CDLL",
    "ctypes.PyDLL",
    "uuid.uuid1",
    "uuid.uuid4",
    "open",
}
# Methods that nothing but loops and paths have.
METHODS = {
    "create_connection",
    "create_datagram_endpoint",
    "create_server",
    "exists",
    "getaddrinfo",
    "getnameinfo",
    "glob",
    "hardlink_to",
    "is_dir",
    "is_file",
    "iterdir",
    "lstat",
    "mkdir",
    "read_text",
    "rglob",
    "rmdir",
    "sendfile",
    "stat",
    "symlink_to",
    "write_bytes",
    "write_text",
}
# Its `submit` starts a thread at once; a loop's `run_in_executor` lets a simulated loop make the call.
THREADS = "headrace.daemon_threads.DaemonThreads"
# The real implementations of this project.
OURS = {
    "AioDevice",
    "DaemonThread",
    "CommandFence",
    "DirectoryLister",
    "DirectoryUploads",
    "FileObjectStore",
    "is_bucket_in_memory",
    "is_in_memory",
    "KernelTimer",
    "SizedDevice",
    "MemoryObjectStore",
    "OsDirectory",
    "ReservationFence",
    "S3Lister",
    "S3ObjectStore",
    "S3Uploads",
    "SocketNetwork",
    "ThreadDevice",
    "in_daemon_thread",
    "free_lock",
    "lock_name",
    "make_fence",
    "open_bucket",
    "open_device",
    "open_file",
    "open_object_store",
    "open_swept_bucket",
    "precise_timer",
}


def opens_nothing(source: Source) -> Iterator[str]:
    """What is opened comes from the environment, or is a real implementation of it."""
    if not source.path.startswith(STATE) or source.path.startswith(TOOLS):
        return
    names = _imported(source)
    for node in source.nodes:
        opened = _opened(node, names)
        if opened and not any(f"{source.path}: {opened}".startswith(it) for it in OPENERS):
            yield f"line {node.lineno} uses {opened}: take it from `NodeEnvironment`"


def _imported(source: Source) -> dict[str, str]:
    """What the names of a module that come from others stand for."""
    found = {}
    for node in source.nodes:
        if isinstance(node, ast.Import):
            found |= {it.asname or it.name: it.name for it in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {it.asname or it.name: f"{node.module}.{it.name}" for it in node.names}
    return found


def _opened(node: ast.AST, names: dict[str, str]) -> str | None:
    """What is opened here, if something is."""
    match node:
        case ast.Call(func=ast.Name() | ast.Attribute() as function):
            name = _full_name(function, names)
            is_seeded = name == "random.Random" and bool(node.args)
            if name in CALLS and not is_seeded:
                return name
            if isinstance(function, ast.Attribute) and (
                function.attr in METHODS
                or (function.attr == "open" and _opens_path(node))
                or (function.attr == "unlink" and not node.args)
                or (function.attr == "submit" and THREADS in names.values())
            ):
                return ast.unparse(function)
        case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()):
            module, _, last = _full_name(node, names).rpartition(".")
            if module in OUTSIDE and not last.isupper() and last not in OUTSIDE[module]:
                return f"{module}.{last}"
            if module.startswith("headrace.") and last in OURS:
                return last
    return None


def _full_name(node: ast.expr, names: dict[str, str]) -> str:
    """With the name of the module, if it comes from one; something else that has a module's name is marked."""
    first, dot, rest = ast.unparse(node).partition(".")
    if first in names:
        return names[first] + dot + rest
    return f"<local>.{first}.{rest}" if dot else first


def _opens_path(call: ast.Call) -> bool:
    """Whether this is how a path is opened: `open()`, or with a mode."""
    texts = (it.value for it in call.args if isinstance(it, ast.Constant))
    has_mode = any(isinstance(it, str) and set(it) <= set("rwabx+t") for it in texts)
    return has_mode or not (call.args or call.keywords)
