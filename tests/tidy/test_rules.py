"""Each rule finds what it is against: a rule that cannot fail is no rule."""

from textwrap import dedent

import grimp
import pytest

from tests.tidy import classes, purity, rules
from tests.tidy.source import Source, source

FUNCTION = "def f():\n" + "    pass\n" * (rules.MAX_FUNCTION_LINES - 1)
DOCUMENTED = FUNCTION.replace("\n", '\n    """Says\n    a lot.\n    """\n', 1)


def found(rule: rules.Rule, text: str, path: str = "storage/stream.py") -> list[str]:
    return list(rule(source(path, text)))


BAD = [
    (rules.is_short, "\n" * 501, "split this module"),
    (rules.is_short, FUNCTION + "    pass\n", "f is too long"),
    (rules.is_short, f"async {DOCUMENTED}    pass\n", "f is too long"),
    (rules.is_named_and_described, "x = 1", "say what"),
    (rules.leaves_nothing_to_do, "# TODO: more", "take TODO out"),
    (rules.leaves_nothing_to_do, "x = 1  # FIXME", "take FIXME out"),
    (rules.asserts_types_only, "def f(x):\n    assert x > 0", "line 2 asserts"),
    (rules.expects_by_name, "try: f()\nexcept Exception: log()", "line 2 takes any"),
    (rules.expects_by_name, "try: f()\nexcept: pass", "line 2 takes any"),
    (rules.expects_by_name, "try: f()\nexcept (A, BaseException): g()", "line 2 takes any"),
    (rules.expects_by_name, "task.exception()", "line 1 drops"),
    (rules.asserts_types_only, "def f(x):\n    assert x is None", "line 2 asserts"),
    (
        rules.asserts_types_only,
        'def f(x):\n    assert x is not None, "it exists"',
        "line 2 asserts",
    ),
    (rules.decompresses_in_one_place, "import zstandard", "line 1 has a codec of its own"),
    (rules.decompresses_in_one_place, "from lz4 import frame", "line 1 has a codec of its own"),
    (rules.decompresses_in_one_place, "x = zlib.decompress(y)", "line 1 has a codec of its own"),
    (rules.borrows_its_threads, "threading.Thread(target=f)", "line 1 starts a thread"),
    (rules.borrows_its_threads, "x: ThreadPoolExecutor", "line 1 starts a thread"),
    (rules.borrows_its_threads, "asyncio.to_thread(f)", "line 1 starts a thread"),
    (rules.borrows_its_threads, "loop.run_in_executor(None, f)", "line 1 uses the threads"),
    (rules.goes_through_sets_in_order, "x: set[A]\nfor it in x: f()", "line 2 goes through"),
    (rules.goes_through_sets_in_order, "s.x: set[str]\ny = [f(it) for it in s.x]", "line 2"),
    (rules.goes_through_sets_in_order, "s.x: set[A] = set()\ny = list(s.x)", "line 2 goes through"),
    (rules.goes_through_sets_in_order, "x: set[A]\ny = [*x]", "line 2 goes through"),
    (rules.goes_through_sets_in_order, "x: set[A]\nx.pop()", "line 2 goes through"),
    (rules.imports_our_names, "import config", "import headrace.config"),
    (rules.imports_our_names, "from storage.engine import x", "import headrace.storage.engine"),
    (rules.imports_our_names, "def f():\n    import wal.log as log", "import headrace.wal.log"),
    (rules.imports_our_names, 'x = """\nfrom broker import app\n"""', "import headrace.broker"),
    (rules.never_sleeps, "import time\ntime.sleep(1)", "line 2 sleeps"),
    (rules.never_sleeps, "wait = time.sleep", "line 1 sleeps"),
    (rules.refers_to_what_is_there, '"""So it is (DESIGN section 7)."""', "DESIGN"),
    (rules.refers_to_what_is_there, "x = 1  # kafka-protocol 2.4", "line 1 refers to kafka-prot"),
    (rules.refers_to_what_is_there, '"""E-23: uploads finish."""', "refers to E-23"),
    (rules.refers_to_what_is_there, 'assert x, "S-3"', "refers to S-3"),
    (rules.declares_purity_in_one_way, '"""Decides. Pure: no clock."""', "end of the first line"),
    (rules.declares_purity_in_one_way, '"""Decides.\n\nPure.\n"""', "end of the first line"),
    (rules.declares_purity_in_one_way, '"""Decides. Pure. Pure."""', "end of the first line"),
    (rules.says_what_is_done, 'def f():\n    """Tell whoever asks."""', "for 'Tell'"),
]


@pytest.mark.parametrize(("rule", "text", "says"), BAD)
def test_what_breaks_a_rule_is_found(rule: rules.Rule, text: str, says: str) -> None:
    (only,) = found(rule, text)
    assert says in only


@pytest.mark.parametrize("path", ["storage/utils.py", "storage/helper.py", "wal/objects/base.py"])
def test_a_vague_name_is_found(path: str) -> None:
    assert found(rules.is_named_and_described, '"""Holds."""', path) == [
        "name the module after what it holds"
    ]


def test_code_in_a_package_is_found() -> None:
    text = '"""Holds."""\nfrom x import y\n__all__ = ["y"]\n'
    path = "storage/__init__.py"
    assert not found(rules.is_a_facade, text, path)
    assert found(rules.is_a_facade, f"{text}def f(): ...\n", path) == ["a package holds no code"]
    assert not found(rules.is_a_facade, f"{text}def f(): ...\n", "storage/stream.py")
    chosen = f"{text}if TYPE_CHECKING:\n    from x import *\nelse:\n    from x import z\n"
    assert not found(rules.is_a_facade, chosen, path)
    assert found(rules.is_a_facade, f"{text}if x:\n    f()\n", path)


def test_a_message_without_a_type_is_found() -> None:
    text = "def f(request: Any) -> Any: ...\n"
    told = ["line 1 says Any: name the message or struct"] * 2
    assert found(rules.serves_typed_messages, text, "broker/api/heartbeat.py") == told
    assert not found(rules.serves_typed_messages, text, "broker/network/session.py")


def test_a_handler_that_throttles_is_found() -> None:
    text = "answer = HeartbeatResponse(throttle_time_ms=0)\n"
    told = ["line 1 sets throttle_time_ms: the reply has it"]
    assert found(rules.leaves_throttling_to_the_reply, text, "broker/api/heartbeat.py") == told
    assert not found(rules.leaves_throttling_to_the_reply, text, "protocol/produce.py")
    passed_on = "f(throttle_time_ms=reply.throttle_ms)\n"
    assert not found(rules.leaves_throttling_to_the_reply, passed_on, "broker/api/fetch.py")


def test_every_rule_has_a_bad_example() -> None:
    tried = {rule for rule, _, _ in BAD} | {
        rules.is_a_facade,
        rules.serves_typed_messages,
        rules.leaves_throttling_to_the_reply,
    }
    assert tried == {*rules.RULES, *rules.RULES_OF_ALL_CODE, rules.never_sleeps}


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (rules.is_short, "\n" * 500),
        (rules.is_short, FUNCTION),
        (rules.is_short, DOCUMENTED),
        (rules.imports_our_names, "import headrace.wal.log\nfrom configparser import x"),
        (rules.never_sleeps, "await asyncio.sleep(1)"),
        (rules.expects_by_name, "try: f()\nexcept Exception as e: report_error('f', e)"),
        (rules.expects_by_name, "try: f()\nexcept BaseException:\n  tidy()\n  raise"),
        (rules.expects_by_name, "try: f()\nexcept (OSError, ValueError): log()"),
        (rules.expects_by_name, "error = task.exception()"),
        (rules.goes_through_sets_in_order, "x: set[int]\nfor it in x: f()"),
        (rules.goes_through_sets_in_order, "x: set[str]\ny = sorted(x)\nz = {f(it) for it in x}"),
        (rules.refers_to_what_is_there, "# KIP-227, R-6, UTF-8, CRC-32, section 4.1 of the thesis"),
        (rules.refers_to_what_is_there, "x = S-3"),
        (rules.declares_purity_in_one_way, '"""Decides. Pure.\n\nPurely so.\n"""'),
        (rules.declares_purity_in_one_way, '"""What is purely passed on."""'),
    ],
)
def test_what_keeps_a_rule_is_left_alone(rule: rules.Rule, text: str) -> None:
    assert not found(rule, text)


class TestClasses:
    TEXT = dedent('''
        """Holds."""
        from headrace.wal.log import Log
        from headrace.wal.errors import Lost, LostError

        class Base:
            def __init__(self) -> None:
                self.inherited = 1

            def of_base(self): ...

        class Port(Protocol):
            def promised(self): ...

        class Settings(NamedTuple):
            many: int

        @dataclass(frozen=True)
        class Range:
            start: int

        class Engine(Base, Port):
            """Does."""
            COUNT: ClassVar[int] = 1
            log: "Log | None"

            def __init__(self, port: Port, settings: Settings, ranges: list[Range]) -> None:
                self._port, self._settings = port, settings
                self._other: Other = make()
                self._lost = [Lost(it) for it in ranges]
                raise LostError

            @property
            def shown(self): ...

            def public(self) -> Unknown:
                self._count += 1

            async def waits(self): ...

            def _private(self):
                self._port.field = 1

        class Other: ...
    ''')
    LOG = '"""Log."""\nclass Log: ...\nclass Lost: ...\nclass LostError(ValueError): ...\n'

    def sources(self) -> list[Source]:
        facade = '"""Door."""\nfrom headrace.wal.log import Lost, LostError\n'
        return [
            source("wal/engine.py", self.TEXT),
            source("wal/log.py", self.LOG),
            source("wal/errors.py", facade),
        ]

    def test_what_is_counted(self) -> None:
        sizes = dict(classes.Classes(self.sources()).sizes())
        assert sizes["wal.engine.Engine"] == classes.Size(
            methods=3,  # public, waits, of_base
            fields=7,  # log, _port, _settings, _other, _lost, _count, inherited
            collaborators=4,  # Log, Port, Other, Lost
        )
        assert sizes["wal.log.Log"] == classes.Size(0, 0, 0)
        assert "wal.engine.Settings" not in sizes
        assert "wal.engine.Range" not in sizes
        assert "wal.log.LostError" not in sizes

    @pytest.mark.parametrize("what", classes.Size._fields)
    def test_too_much_of_anything_is_found(self, what: str) -> None:
        most = getattr(classes.LIMITS, what)
        within = [("wal.log.Log", classes.LIMITS)]
        beyond = [("wal.log.Log", classes.LIMITS._replace(**{what: most + 1}))]
        assert not list(classes.excesses(within, {}))
        assert list(classes.excesses(beyond, {})) == [
            f"wal.log.Log has {most + 1} {what}, of {most}"
        ]

    def test_an_exception_is_no_larger_than_it_needs_to_be(self) -> None:
        larger = classes.LIMITS._replace(fields=30)
        allowed = {"wal.log.Log": (larger, "a reason")}
        assert not list(classes.excesses([("wal.log.Log", larger)], allowed))
        for size in (larger._replace(fields=31), larger._replace(fields=29), classes.LIMITS):
            assert list(classes.excesses([("wal.log.Log", size)], allowed))
        assert list(classes.excesses([], allowed)), "a class that is gone"


class TestPurity:
    def test_modules_and_packages_declare_it(self) -> None:
        pure = '"""Decides. Pure.\n\nAnd more.\n"""'
        driver = '"""Performs what is pure."""'
        files = [
            source("wal/recovery.py", pure),
            source("wal/log.py", driver),
            source("storage/objects/__init__.py", pure),
            source("storage/objects/footer.py", driver),
            source("storage/objects_of_others.py", driver),
        ]
        assert purity.declared(files) == {
            "headrace.wal.recovery",
            "headrace.storage.objects",
            "headrace.storage.objects.footer",
        }

    def test_effects_are_found_through_other_modules(self) -> None:
        graph = grimp.ImportGraph()
        for module in ("core", "format", "driver", "time", "struct"):
            graph.add_module(module)
        for importer, imported in [("core", "format"), ("core", "struct"), ("driver", "time")]:
            graph.add_import(importer=importer, imported=imported)
        assert not purity.impurities(graph, {"core"})
        graph.add_import(importer="format", imported="driver")
        assert purity.impurities(graph, {"core"}) == ["core -> format -> driver -> time"]

    def test_the_product_s_own_drivers_are_found(self) -> None:
        graph = purity.import_graph()
        (chain,) = {
            it
            for it in purity.impurities(graph, {"headrace.wal.ring.log"})
            if it.endswith("-> threading")
        }
        assert chain.startswith("headrace.wal.ring.log -> ")
        assert {effect for effect in purity.EFFECTS if effect in graph.modules} >= {"asyncio", "os"}

    def test_imports_for_types_do_not_count(self) -> None:
        assert not purity.impurities(purity.import_graph(), {"headrace.metadata.raft.core"})
