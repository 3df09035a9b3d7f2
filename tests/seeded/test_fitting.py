"""Where a snippet fits, where it does not, and what stands there afterwards."""

import ast
import re

import pytest

from tests.seeded.fitting import DoesNotFitError, replaced

MODULE = '''"""A module."""

LIMITS = (1, 2)  # of something


class Lease:
    """Runs out."""

    def extend(self, sent_ms: int) -> None:
        """Extend it,
        unless it has ended.
        """
        if not self._ended:  # and never again
            self._until_ms = max(
                self._until_ms,
                sent_ms + self._length_ms,
            )
        elif self._told:
            raise RuntimeError(f"ended at {self._until_ms}")

    def end(self) -> None:
        """End it."""
        self._ended = True


class Other:
    """Has a method of the same name."""

    def end(self) -> None:
        """End it."""
        self._ended = True
'''


def tree_after(text: str, function: str, old: str, new: str) -> str:
    return ast.dump(ast.parse(replaced(text, function, old, new)))


def tree_of(text: str) -> str:
    return ast.dump(ast.parse(text))


class TestWhatIsReplaced:
    def test_an_expression(self) -> None:
        expected = MODULE.replace("not self._ended", "True")
        assert tree_after(MODULE, "Lease.extend", "not self._ended", "True") == tree_of(expected)

    def test_only_the_function_is_written_anew(self) -> None:
        changed = replaced(MODULE, "Lease.end", "self._ended = True", "self._ended = False")
        assert changed == MODULE.replace("self._ended = True", "self._ended = False", 1)
        assert "# and never again" in changed

    def test_its_docstring_stays(self) -> None:
        changed = replaced(MODULE, "Lease.extend", "not self._ended", "True")
        assert '"""Extend it,\n        unless it has ended.\n        """' in changed

    def test_decorators_are_not_doubled(self) -> None:
        text = MODULE.replace("    def end", "    @final\n    @override\n    def end", 1)
        changed = replaced(text, "Lease.end", "self._ended = True", "pass")
        assert changed == text.replace("self._ended = True", "pass", 1)

    @pytest.mark.parametrize("old", ["self._until_ms=max(self._until_ms,sent_ms+self._length_ms)", """
            # Comments and lines
            self._until_ms = max(self._until_ms,
                                 sent_ms + self._length_ms)"""])  # fmt: skip
    def test_formatting_does_not_count(self, old: str) -> None:
        expected = MODULE.replace("self._until_ms = max(", "self._until_ms = min(")
        new = "self._until_ms = min(self._until_ms, sent_ms + self._length_ms)"
        assert tree_after(MODULE, "Lease.extend", old, new) == tree_of(expected)

    def test_one_statement_by_several_and_by_none(self) -> None:
        changed = replaced(MODULE, "Lease.end", "self._ended = True", "a()\nb()")
        assert "        a()\n        b()\n\n\nclass Other" in changed
        gone = replaced(MODULE, "Lease.end", "self._ended = True", "")
        assert gone == MODULE.replace("        self._ended = True\n", "", 1)
        text = "def f():\n    if x:\n        g()\n"
        assert replaced(text, "f", "g()", "") == "def f():\n    if x:\n        pass\n"

    def test_a_branch_by_several_statements(self) -> None:
        old = 'if self._told:\n    raise RuntimeError("...")'
        changed = replaced(MODULE, "Lease.extend", old, "a()\nb()")
        assert "        else:\n            a()\n            b()\n" in changed

    def test_a_constant_of_the_module(self) -> None:
        assert replaced(MODULE, "LIMITS", "(1, 2)", "(2, 1)") == MODULE.replace(
            "(1, 2)  # of something", "(2, 1)"
        )

    def test_a_method_of_a_class(self) -> None:
        text = "class A:\n    x = 1\n    y = 2\n"
        assert replaced(text, "A", "x = 1\ny = 2", "y = 2").split() == [
            "class",
            "A:",
            "y",
            "=",
            "2",
        ]

    def test_a_text_of_any_kind(self) -> None:
        old, new = 'raise RuntimeError("...")', 'raise ValueError("...")'
        expected = MODULE.replace("RuntimeError", "ValueError")
        assert tree_after(MODULE, "Lease.extend", old, new) == tree_of(expected)
        assert "'plain'" in replaced("def f():\n    g('plain')\n", "f", 'g("...")', 'h("...")')
        with pytest.raises(DoesNotFitError, match="occurs 0 times"):
            replaced("def f():\n    g(b'plain')\n", "f", 'g("...")', 'h("...")')


class TestNames:
    @pytest.mark.parametrize(
        ("was", "becomes"),
        [
            ("sent_ms", "at_ms"),  # an argument
            ("_until_ms", "_end_ms"),  # an attribute
            ("extend", "prolong"),  # the method itself
            ("Lease", "BrokerLease"),  # and its class
        ],
    )
    def test_what_is_renamed_is_found_and_keeps_its_new_name(self, was: str, becomes: str) -> None:
        old = "self._until_ms = max(self._until_ms, sent_ms + self._length_ms)"
        new = "self._until_ms = sent_ms"
        expected = ast.unparse(ast.parse(replaced(MODULE, "Lease.extend", old, new)))
        changed = replaced(MODULE.replace(was, becomes), "Lease.extend", old, new)
        assert ast.unparse(ast.parse(changed)) == expected.replace(was, becomes)

    def test_one_name_is_not_two(self) -> None:
        text = "def f(a, b):\n    return a + b\n"
        with pytest.raises(DoesNotFitError, match="occurs 0 times in f"):
            replaced(text, "f", "x + x", "x")

    def test_two_names_are_not_one(self) -> None:
        with pytest.raises(DoesNotFitError, match="occurs 0 times in f"):
            replaced("def f(a):\n    return a + a\n", "f", "x + y", "x")

    def test_a_name_an_attribute_and_a_keyword_are_three_things(self) -> None:
        text = "def f(at):\n    return g(time=at.time)\n"
        changed = replaced(text, "f", "g(now=now.now)", "g(now=-now.now)")
        assert changed == text.replace("at.time", "-at.time")

    def test_the_same_names_are_preferred(self) -> None:
        text = "def f(a, b):\n    return a < b or b < a\n"
        assert replaced(text, "f", "b < a", "b <= a") == text.replace("b < a", "b <= a")

    @pytest.mark.parametrize(
        ("old", "text"),
        [("max(a, b)", "min(a, b)"), ("self.a(b)", "other.a(b)"), ("a(b)", "len(b)")],
    )
    def test_built_in_names_and_self_mean_what_they_say(self, old: str, text: str) -> None:
        with pytest.raises(DoesNotFitError):
            replaced(f"def f(self, a, b, other):\n    return {text}\n", "f", old, "a")

    def test_names_inside_functions_and_patterns(self) -> None:
        text = (
            "def f(x):\n"
            "    try:\n"
            "        match x:\n"
            "            case Point(left=0) as it:\n"
            "                return lambda at: at + it.left\n"
            "    except OSError as error:\n"
            "        raise ValueError from error\n"
        )
        snippet = text.partition("\n")[2]
        for was, becomes in [("it", "one"), ("left", "top"), ("at", "place"), ("error", "why")]:
            renamed = re.sub(rf"\b{was}\b", becomes, text)
            assert "pass" in replaced(renamed, "f", snippet, "pass")


class TestWhatDoesNotFit:
    @pytest.mark.parametrize(
        "text",
        ["a < 2", "a <= 1", "1 < a", "a < True", "a.b < 1", "a < 1.0"],
    )
    def test_another_logic(self, text: str) -> None:
        with pytest.raises(DoesNotFitError, match="does not fit: the snippet occurs 0 times in f"):
            replaced(f"def f(a):\n    return ({text}) + 1\n", "f", "a < 1", "b")

    @pytest.mark.parametrize("text", ["a < 1 or a < 1", "b < 1 or c < 1"])
    def test_two_places_under_the_same_names_or_under_others(self, text: str) -> None:
        with pytest.raises(DoesNotFitError, match="does not fit: the snippet occurs 2 times in f"):
            replaced(f"def f(a, b, c):\n    return {text}\n", "f", "a < 1", "b")

    def test_a_place_in_another_function(self) -> None:
        with pytest.raises(DoesNotFitError, match=r"occurs 0 times in Lease\.extend"):
            replaced(MODULE, "Lease.extend", "self._ended = True", "pass")

    def test_a_function_that_is_gone_and_two_that_it_could_be(self) -> None:
        with pytest.raises(
            DoesNotFitError, match=r"2 times in the module, which has no Lease\.finish"
        ):
            replaced(MODULE, "Lease.finish", "self._ended = True", "pass")

    def test_what_is_no_code(self) -> None:
        with pytest.raises(SyntaxError):
            replaced(MODULE, "Lease.end", "self._ended = True", "(")
