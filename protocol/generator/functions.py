"""Functions that are the same in several versions are written once. Pure."""

from collections.abc import Iterator

from headrace.protocol.generator.structs import Struct


class Functions:
    """The functions of a module, by what they do; a name ends with the first version that it serves."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self._lines: list[str] = []

    def add(
        self, verb: str, struct: Struct, version: int, head: tuple[str, str], body: list[str]
    ) -> str:
        """Add a function unless there is the same; return its name. `head`: parameters and result."""
        about = struct.path
        key = (verb, about, tuple(body))
        name = self._names.get(key)
        if name is None:
            name = f"_{verb}_{struct.alias.lstrip('_')}_{version}"
            self._names[key] = name
            self._lines.append(f"def {name}({head[0]}) -> {head[1]}:")
            self._lines += [f"    {line}" for line in body]
            self._lines += ["", ""]
        return name

    def lines(self) -> Iterator[str]:
        """Give the lines of all of them."""
        yield from self._lines


class Layouts:
    """The layouts of fixed fields that a module uses, each once."""

    def __init__(self) -> None:
        self._made: dict[str, str] = {}

    def reader(self, codes: str) -> str:
        """Name the layout that is read."""
        return self._name(f"_S_{_named(codes)}", f'Struct(">{codes}")')

    def packer(self, codes: str) -> str:
        """Name what packs a layout."""
        return self._name(f"_P_{_named(codes)}", f'Struct(">{codes}").pack')

    def runs(self, parts: list[tuple[str, bool]]) -> str:
        """Name what packs a run with arrays in it."""
        name = "_R_" + "_".join(_named(codes) for codes, _ in parts)
        codes = ", ".join(f'"{codes}"' for codes, _ in parts)
        flags = ", ".join(str(is_array) for _, is_array in parts)
        comma = "," if len(parts) == 1 else ""
        return self._name(name, f"Runs({codes}, is_array=({flags}{comma}))")

    def lines(self) -> Iterator[str]:
        """Give the lines that define them."""
        for name, value in sorted(self._made.items()):
            yield f"{name}: Final = {value}"

    def _name(self, name: str, value: str) -> str:
        if self._made.setdefault(name, value) != value:
            raise ValueError(f"{name} has two meanings")
        return name


def _named(codes: str) -> str:
    """Return codes as a part of a name, which is case-sensitive."""
    return codes.replace("?", "t").replace("16s", "u")
